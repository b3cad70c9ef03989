# SPDX-License-Identifier: MIT
"""What instrumented ezmsg costs beside plain ezmsg: instructions per message, and wall time.

Instructions: callgrind, difference of two run lengths, so free of start-up and of the machine's
mood. Wall time: runs of both kinds interleaved, median of their ratios.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import elf_sites
import environment
import harness

NODE = Path(__file__).with_name("bench_node.py")
SHORT, LONG = 500, 1500
PAIR_SHORT, PAIR_LONG = 100, 400
WALL_MESSAGES, WALL_ROUNDS = 20000, 9


def row(name, value, bar):
    print(json.dumps({"name": f"python.{name}", "value": round(value, 4), "unit": "ratio",
                      "bar": f"<= {bar:.2f}", "holds": value <= bar}), flush=True)


def modes(python):
    """Name -> interpreter, environment."""
    return {
        "plain": (python, harness.environment(probes=False)),
        "detached": (python, harness.environment()),
        "wrap": (python, harness.environment(EZPROF_SEAMS="wrap")),
    }


BOUNDARIES = ("publish", "lease", "free", "callback_begin", "callback_end", "backpressure_begin",
              "backpressure_end", "endpoint_open", "endpoint_close")


def raise_semaphores(pid, probes):
    """As the kernel does it for an attached agent. A real one can't be there: valgrind would run
    into its breakpoints. So this is what the process does while somebody listens, no more."""
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as mem:
        for elf, start, offset in elf_sites.instrumented_maps(pid):
            vaddr = next(v - (o - offset) for v, o, _f, _m in elf.segments if o <= offset + 4095)
            for site in elf.sites():
                if site.provider == "ezmsg" and site.name in probes:
                    mem.seek(site.semaphore + start - (vaddr & ~0xfff))
                    mem.write(b"\1\0")


class Bench:
    def __init__(self, python):
        self.modes = modes(python)
        other = os.environ.get("EZPROF_PR206")
        if other:
            self.modes["pr206"] = (python, harness.environment(
                probes=False, PYTHONPATH=str(Path(other) / "src")))
        self.server, self.address = self._serve(python)

    @staticmethod
    def _serve(python):
        from test_versions import LOWLEVEL, free_port
        address = f"127.0.0.1:{free_port()}"
        server = harness.Program(python, LOWLEVEL, "serve", "FOLDER", address, 0, probes=False)
        server.wait_for("server-up")
        return server, address

    def close(self):
        self.server.finish()
        self.server.__exit__()

    def start(self, mode, arguments, callgrind=None, **options):
        python, env = self.modes[mode]
        command = [python, str(NODE), *map(str, arguments)]
        if callgrind:
            command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={callgrind}",
                       *command]
        env = env | {"EZMSG_GRAPHSERVER_ADDR": self.address, "PYTHONHASHSEED": "0",
                     "EZMSG_LOGLEVEL": "ERROR"}
        return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, text=True, **options)

    def _collected(self, process):
        _, errors = process.communicate(timeout=300)
        found = re.search(r"Collected : (\d+)", errors)
        assert process.returncode == 0 and found, errors[-2000:]
        return int(found.group(1))

    def _run_local(self, mode, count, listened_to):
        with tempfile.NamedTemporaryFile() as out, tempfile.TemporaryDirectory() as folder:
            gate = [] if not listened_to else [folder]
            process = self.start(mode, ["local", count, *gate], out.name,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if not listened_to:
                return self._collected(process)
            harness.eventually(lambda: (Path(folder) / "up").exists(), 120)
            raise_semaphores(process.pid, listened_to)
            (Path(folder) / "go").touch()
            return self._collected(process)

    def local(self, mode, listened_to=()):
        """Instructions per 64-byte message, publisher and subscriber in one process."""
        short, long = (self._run_local(mode, n, listened_to) for n in (SHORT, LONG))
        return (long - short) / (LONG - SHORT)

    def _run_pair(self, mode, transport, count):
        with tempfile.NamedTemporaryFile() as a, tempfile.NamedTemporaryFile() as b:
            sub = self.start(mode, ["sub", count], a.name, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
            assert sub.stdout.readline() == "ready\n", sub.stderr.read()[-2000:]
            pub = self.start(mode, ["pub", transport, count], b.name,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            return self._collected(pub) + self._collected(sub)

    def pair(self, mode, transport):
        """The same of both processes together."""
        short, long = (self._run_pair(mode, transport, n) for n in (PAIR_SHORT, PAIR_LONG))
        return (long - short) / (PAIR_LONG - PAIR_SHORT)

    def wall(self, mode, attached=False):
        with tempfile.TemporaryDirectory() as folder:
            process = self.start(mode, ["local", WALL_MESSAGES, folder], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
            harness.eventually(lambda: (Path(folder) / "up").exists(), 60)
            agent = harness.Agent(process.pid) if attached else None
            try:
                (Path(folder) / "go").touch()
                out, _ = process.communicate(timeout=120)
                assert process.returncode == 0
                return [float(seconds) for seconds in out.split()]
            finally:
                if agent:
                    agent.__exit__()


def bpf_is_there():
    return subprocess.run([os.environ["EZPROF_TEST_BIN_DIR"] + "/require", "bpf"],
                          stdout=subprocess.DEVNULL).returncode == 0


def instructions(bench, plain):
    row("detached_ratio", bench.local("detached") / plain, 0.80)
    row("wrap_ratio", bench.local("wrap") / plain, 1.05)
    row("attached_ratio", bench.local("detached", ("window",)) / plain, 0.85)
    row("attached_boundary_ratio", bench.local("detached", BOUNDARIES) / plain, 0.85)
    if "pr206" in bench.modes:
        row("detached_vs_pr206_ratio", bench.local("detached") / bench.local("pr206"), 1.00)
    for transport in ("shm", "tcp"):
        ratio = bench.pair("detached", transport) / bench.pair("plain", transport)
        row(f"{transport}_ratio", ratio, 1.00)


def wall_time(bench):
    wall, cpu = [], []
    for _ in range(WALL_ROUNDS):
        plain, attached = bench.wall("plain"), bench.wall("detached", attached=True)
        wall.append(attached[0] / plain[0])
        cpu.append(attached[1] / plain[1])
    print(f"wall time, attached / plain: {[round(r, 3) for r in wall]}; processor time, which other "
          f"programs disturb less: {statistics.median(cpu):.3f}")
    row("attached_wall_ratio", statistics.median(wall), 1.00)


def main():
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        return 77
    attach = bpf_is_there()
    if attach:
        harness.own_sockets()
    bench = Bench(environment.ensure("3.9.0"))
    try:
        plain = bench.local("plain")
        print(f"plain ezmsg 3.9.0: {plain:.0f} instructions per message")
        instructions(bench, plain)
        if attach:
            wall_time(bench)
    finally:
        bench.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
