# SPDX-License-Identifier: MIT
"""What a message costs more while a tool looks, in Python: 64 bytes, publisher and subscriber in one process of ezmsg
3.9.0, whose processor time is taken. `compared_cost.py [ROUNDS]`; the ways take turns. With a FOLDER and N it is that
process: `compared_cost.py local N FOLDER WAY`.

(In C: scripts/bench.sh --only kernel.attached, and --only kernel.bpftrace.)
"""

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MESSAGES = 20000


async def local(count, folder, way):
    import ezmsg.core as ez

    host, port = os.environ["EZMSG_GRAPHSERVER_ADDR"].split(":")
    payload = b"x" * 64
    async with ez.GraphContext((host, int(port))) as context:
        subscriber, publisher = await context.subscriber("COST"), await context.publisher("COST")
        if way == "ezmsg's trace":
            from ezmsg.core.graphmeta import ProfilingTraceControl
            from ezmsg.core.profiling import PROFILES
            PROFILES.set_trace_control(ProfilingTraceControl(enabled=True))
        (folder / "up").touch()
        while not (folder / "go").exists():
            time.sleep(0.02)
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(count):
            await publisher.broadcast(payload)
            async with subscriber.recv_zero_copy() as message:
                assert message is payload
        print((time.perf_counter() - wall) / count * 1e6, (time.process_time() - cpu) / count * 1e6)


def watchers(way, pid):
    """Starts what looks; a function that ends it."""
    from compare import BIN, PYTHON, SOURCE, wait_for
    log = tempfile.TemporaryFile("w+")
    commands = {
        "ezprof-bpf attach": [BIN / "ezprof-bpf", "attach", str(pid)],
        "bpftrace subscribers.bt": ["bpftrace", "-p", str(pid), SOURCE / "docs/bpftrace/subscribers.bt"],
        "py-spy record -r 100": [Path(PYTHON).with_name("py-spy"), "record", "-d", "60", "-f", "raw", "-o", "/dev/null",
                                 "--pid", str(pid)],
        "py-spy, --nonblocking": [Path(PYTHON).with_name("py-spy"), "record", "--nonblocking", "-d", "60", "-f", "raw",
                                  "-o", "/dev/null", "--pid", str(pid)],
    }
    if way not in commands:
        return lambda: None
    process = subprocess.Popen(commands[way], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    if way.startswith("ezprof"):
        wait_for(lambda: "ready" in os.pread(log.fileno(), 1 << 20, 0).decode(), "the agent")
    else:
        time.sleep(2)

    def end():
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return end


# way: (with our package, another source of ezmsg)
WAYS = {"plain": (False, None), "ezmsg's trace": (False, None), "ezmsg-usdt": (True, None),
        "ezprof-bpf attach": (True, None), "bpftrace subscribers.bt": (True, None),
        "py-spy record -r 100": (False, None), "py-spy, --nonblocking": (False, None),
        "pull request 206": (False, os.environ.get("EZPROF_PR206"))}


def measure(way, address):
    from compare import PYTHON, wait_for
    probes, source = WAYS[way]
    env = {**os.environ, "EZMSG_GRAPHSERVER_ADDR": address, "EZMSG_LOGLEVEL": "ERROR"}
    env.update({"EZPROF_USDT": "1"} if probes else {})
    env.update({"PYTHONPATH": str(Path(source) / "src")} if source else {})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        process = subprocess.Popen([PYTHON, __file__, "local", str(MESSAGES), name, way], env=env, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        wait_for(lambda: (folder / "up").exists(), "the process")
        end = watchers(way, process.pid)
        try:
            (folder / "go").touch()
            out, _ = process.communicate(timeout=120)
        finally:
            end()
    return [float(word) for word in out.split()]


def main():
    from compare import PYTHON, answers, free_port, wait_for
    if not PYTHON:
        print("cost         missing: EZPROF_COMPARED_PYTHON doesn't name an interpreter")
        return 0
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    port = free_port()
    address = f"127.0.0.1:{port}"
    server = subprocess.Popen([PYTHON, "-m", "ezmsg.core", "serve", "--address", address], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: answers(port), "the graph server")
        ways = [way for way in WAYS if way != "pull request 206" or WAYS[way][1]]
        figures = {way: [] for way in ways}
        for _ in range(rounds):
            for way in ways:
                figures[way].append(measure(way, address))
    finally:
        server.terminate()
        server.wait(20)
    plain = [statistics.median(column) for column in zip(*figures["plain"])]
    for way, values in figures.items():
        wall, cpu = (statistics.median(column) for column in zip(*values))
        print(f"cost         {way:26} {wall:7.1f} us wall ({wall - plain[0]:+.1f}), {cpu:7.1f} us CPU "
              f"({cpu - plain[1]:+.1f}) per message", flush=True)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["local"]:
        asyncio.run(local(int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]))
    else:
        sys.exit(main())
