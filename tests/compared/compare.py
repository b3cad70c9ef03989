# SPDX-License-Identifier: MIT
"""Runs the tools of docs/compared.md on the same job and prints what each says: `compare.py [--list] [TOOL...]`.

scripts/compare.sh makes what they need and calls this. A tool that isn't there is said to be missing, and left out.
The jobs: compared_graph.py (Python; somebody slow, or stuck), and the graph of scripts/demo.sh (C; worker-slow).
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
BIN = Path(os.environ.get("EZPROF_BIN_DIR", SOURCE / "build/bin"))
SECONDS = 2.0
# Interpreters, set by scripts/compare.sh: ezmsg 3.9.0 with our package and py-spy; the dashboard with its ezmsg.
PYTHON = os.environ.get("EZPROF_COMPARED_PYTHON")
DASHBOARD = os.environ.get("EZPROF_COMPARED_DASHBOARD")
PR206 = os.environ.get("EZPROF_PR206")


def say(tool, what, value):
    print(f"{tool:12} {what:34} {value}", flush=True)


def run(*command, seconds=60, env=None):
    """(stdout and stderr, seconds that it took)."""
    began = time.monotonic()
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=seconds, env={**os.environ, **(env or {})})
    return done.stdout, time.monotonic() - began


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)


def answers(port):
    with socket.socket() as link:
        return link.connect_ex(("127.0.0.1", port)) == 0


class PythonJob:
    """The Python graph with a graph server of its own ezmsg."""

    def __init__(self, mode, python, probes=False, source=None):
        self.folder = Path(tempfile.mkdtemp(prefix="ezprof-compared-"))
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self.env = {"EZMSG_GRAPHSERVER_ADDR": self.address, **({"EZPROF_USDT": "1"} if probes else {}),
                    **({"PYTHONPATH": str(Path(source) / "src")} if source else {})}
        self.python = python
        self.server = self.start("-m", "ezmsg.core", "serve", "--address", self.address)
        wait_for(lambda: answers(port), "the graph server")
        self.graph = self.start(HERE / "compared_graph.py", mode, self.folder)
        self.pid = self.graph.pid
        wait_for(lambda: (self.folder / "up").exists(), "the graph")
        time.sleep(1)

    def start(self, *arguments):
        return subprocess.Popen([self.python, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **self.env})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        (self.folder / "stop").touch()
        for process in (self.graph, self.server):
            try:
                process.wait(0.5 if process is self.server else 5)
            except subprocess.TimeoutExpired:
                process.terminate()
                process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)


class CJob:
    """The graph of scripts/demo.sh. node: another build of examples/node.c; env: for all nodes."""

    NODES = ("source samples --rate 250 --bytes 4096 --monitor --wait-channels 3",
             "relay samples features/fast --work-ms 0.5 --handle worker-fast --tcp",
             "relay samples features/slow --work-ms 5 --handle worker-slow --tcp",
             "sink features/fast features/slow --handle sink")

    def __init__(self, node=None, env=None):
        self.programs = [subprocess.Popen([BIN / "ezprof-graphserver", "--address", "127.0.0.1:0"],
                                          stdout=subprocess.PIPE, text=True)]
        self.address = self.programs[0].stdout.readline().strip()
        for arguments in self.NODES:
            self.programs.append(subprocess.Popen(
                [node or BIN / "ezmsg-node", *arguments.split(), "--address", self.address],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**os.environ, **(env or {})}))
            self.programs[-1].stdout.readline()
        self.pids = [program.pid for program in self.programs[1:]]
        time.sleep(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in reversed(self.programs):
            program.terminate()
            program.communicate(timeout=20)


def first_of_why(pids, address):
    """(seconds from the first command to the answer, its first sentence)."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as log:
        agent = subprocess.Popen([BIN / "ezprof-bpf", "attach", *map(str, pids), "--address", address], stderr=log)
        try:
            wait_for(lambda: "ready" in os.pread(log.fileno(), 1 << 20, 0).decode(), "the agent")
            text, _ = run(BIN / "ezprof", "why", "--json", "--address", address)
            took = time.monotonic() - began
        finally:
            agent.send_signal(signal.SIGINT)
            agent.wait(20)
    findings = json.loads(text)["findings"]
    return took, findings[0]["sentence"] if findings else "nothing"


def ezprof():
    with CJob() as job:
        took, sentence = first_of_why(job.pids, job.address)
        say("ezprof", "C: attach, why", f"{took:.1f} s: {sentence}")
    for mode in ("sleep", "busy", "stuck") if PYTHON else ():
        with PythonJob(mode, PYTHON, probes=True) as job:
            took, sentence = first_of_why([job.pid], job.address)
            say("ezprof", f"Python, {mode}: attach, why", f"{took:.1f} s: {sentence}")


def own_answer(name, text):
    facts = json.loads(text.splitlines()[-1])
    if "publishers" in facts:
        say(name, "publishers", json.dumps(facts["publishers"]))
        say(name, "messages received", json.dumps(facts["received"]))
    for key, (mean, count) in facts["mean_ms"].items():
        say(name, key, f"mean {mean} ms of {count}")


def ezmsg():
    for mode in ("sleep", "busy", "stuck"):
        with PythonJob(mode, PYTHON) as job:
            text, took = run(PYTHON, HERE / "compared_own.py", job.address, SECONDS)
            say(f"ezmsg {mode}", "seconds to an answer", f"{took:.1f}")
            own_answer(f"ezmsg {mode}", text)


def dashboard():
    for mode in ("sleep", "stuck"):
        with PythonJob(mode, DASHBOARD) as job:
            port = free_port()
            server = job.start("-m", "ezmsg.core", "dashboard", "--graph-address", job.address, "--port", port)
            try:
                wait_for(lambda: answers(port), "the dashboard")
                text, took = run(DASHBOARD, HERE / "compared_dashboard.py", port, SECONDS)
                say(f"dash {mode}", "seconds to an answer", f"{took:.1f}")
                own_answer(f"dash {mode}", text)
                if mode == "sleep" and "EZPROF_TEST_BIN_DIR" in os.environ:
                    picture = Path(tempfile.gettempdir()) / "ezprof-compared-dashboard.png"
                    text, _ = run(sys.executable, HERE / "compared_page.py", port, picture, seconds=120)
                    say("dash page", str(picture), text.strip())
            finally:
                server.terminate()
                server.wait(20)


def pr206():
    for mode in ("sleep", "busy", "stuck"):
        with PythonJob(mode, PYTHON, source=PR206) as job:
            text, took = run(PYTHON, "-m", "ezmsg.core", "profile", "--window", SECONDS, "--address", job.address,
                             env=job.env)
            document = json.loads(text[text.index("{"):])
            say(f"pr206 {mode}", "seconds to an answer", f"{took:.1f}")
            for entry in document["publishers"]:
                say(f"pr206 {mode}", entry["topic"], {key: entry[key] for key in
                                                      ("message_rate_hz", "byte_rate_per_s", "backpressure")})
            for channel in document["channels"]:
                for entry in channel["subscribers"]:
                    say(f"pr206 {mode}", entry["handle"], {key: entry[key] for key in
                                                           ("avg_ms", "max_ms", "samples", "in_flight")})


def py_spy():
    for mode in ("busy", "sleep", "stuck"):
        with PythonJob(mode, PYTHON) as job:
            tool = Path(PYTHON).with_name("py-spy")
            text, took = run(tool, "dump", "--pid", job.pid)
            lines = [line.strip() for line in text.splitlines() if "compared_graph" in line]
            say(f"py-spy {mode}", "dump: lines of the graph", f"{took:.1f} s: {lines}")
            raw = job.folder / "raw"
            run(tool, "record", "-d", 3, "-r", 100, "-f", "raw", "-o", raw, "--pid", job.pid)
            samples = Counter()
            for line in raw.read_text().splitlines() if raw.exists() else ():
                stack, count = line.rsplit(" ", 1)
                samples["all"] += int(count)
                for frame in re.findall(r"(\w+ \(compared_graph\.py:\d+\))", stack)[-1:]:
                    samples[frame] += int(count)
            say(f"py-spy {mode}", "record: samples of 300", dict(samples.most_common(4)))


def bpftrace():
    script = SOURCE / "docs/bpftrace"
    library = BIN.parent / "lib/libezmsg.so"
    with CJob():
        for name in ("slowest", "blockers"):
            text, took = run("bpftrace", script / f"{name}.bt", 3, library)
            last = [line for line in text.splitlines() if re.match(r"@\w+\[.*worker-slow", line)][-1:]
            say("bpftrace", f"C: {name}.bt", f"{took:.1f} s: {last}")
    for mode in ("sleep", "busy", "stuck") if PYTHON else ():
        with PythonJob(mode, PYTHON, probes=True) as job:
            text, took = run("bpftrace", "-p", job.pid, script / "slowest.bt", 3)
            last = [line for line in text.splitlines() if re.match(r"@\w+\[", line)][-1:]
            say("bpftrace", f"Python, {mode}: slowest.bt", f"{took:.1f} s: {last}")


def instrumented_node(folder):
    """examples/node.c once more, with a call at every function's begin and end, which LTTng-UST can record."""
    node = Path(folder) / "ezmsg-node"
    sources = [SOURCE / f"examples/{name}.c" for name in ("node", "node_options", "node_roles", "node_source")]
    text, _ = run("cc", "-g", "-O1", "-D_GNU_SOURCE", '-DEZPROF_VERSION="compared"', "-finstrument-functions", "-I", SOURCE / "base", "-I",
        SOURCE / "runtime/include", *sources, BIN.parent / "lib/libez_base.a", "-L", BIN.parent / "lib", "-lezmsg",
        f"-Wl,-rpath,{BIN.parent / 'lib'}", "-lm", "-no-pie", "-rdynamic", "-o", node)
    assert node.exists(), text
    return node


def symbols_of(node):
    text, _ = run("nm", "--defined-only", node)
    return {int(line.split()[0], 16): line.split()[2] for line in text.splitlines() if len(line.split()) == 3}


def lttng():
    with tempfile.TemporaryDirectory(prefix="ezprof-lttng-") as folder:
        node = instrumented_node(folder)
        env = {"LTTNG_HOME": folder, "HOME": folder}
        daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env={**os.environ, **env},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: "daemon" not in run("lttng", "list", env=env)[0], "lttng-sessiond")
            began = time.monotonic()
            for words in (["create", "job", "-o", f"{folder}/trace"],
                          ["enable-event", "-u", "lttng_ust_cyg_profile_fast:*"],
                          ["add-context", "-u", "-t", "vpid", "-t", "vtid"], ["start"]):
                run("lttng", *words, env=env)
            with CJob(node, {**env, "LD_PRELOAD": "liblttng-ust-cyg-profile-fast.so"}):
                time.sleep(SECONDS)
            run("lttng", "stop", env=env)
            run("lttng", "destroy", env=env)
            text, _ = run("babeltrace2", f"{folder}/trace")
            for line in text.splitlines():
                if "discarded" in line:
                    say("lttng", "lost", line)
            say("lttng", "C: functions of examples/node.c", f"{time.monotonic() - began:.1f} s, 9 commands, "
                f"{text.count(chr(10))} events, {slowest_functions(text, symbols_of(node))}")
        finally:
            daemon.terminate()
            daemon.wait(30)


def slowest_functions(text, symbols):
    """Pairs begin with end, thread by thread, which is left to whoever reads a trace."""
    stacks, spans = {}, {}
    event = re.compile(r"\[(\d+):(\d+):(\d+\.\d+)\].*func_(entry|exit): .*vpid = (\d+), vtid = (\d+) \}(.*)")
    for match in event.finditer(text):
        hours, minutes, seconds, kind, pid, tid, fields = match.groups()
        now = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        stack = stacks.setdefault(tid, [])
        if kind == "entry":
            address = re.search(r"addr = (0x[0-9A-Fa-f]+)", fields)
            stack.append((symbols.get(int(address[1], 16), "?") if address else "?", now))
        elif stack:
            name, since = stack.pop()
            spans.setdefault((name, pid), []).append(now - since)
    means = {key: (1000 * sum(times) / len(times), len(times)) for key, times in spans.items() if len(times) > 50}
    slowest = sorted(means.items(), key=lambda item: -item[1][0])[:3]
    return [f"{name}() in {pid}: mean {mean:.2f} ms of {count}" for (name, pid), (mean, count) in slowest]


def program(name):
    return lambda: None if shutil.which(name) else f"{name} is not installed"


def variable(value, name):
    return lambda: None if value and Path(value).exists() else f"{name} doesn't name it"


# tool: (what is missing, what runs it)
TOOLS = {
    "ezprof": (lambda: None if os.geteuid() == 0 else "needs root", ezprof),
    "ezmsg": (variable(PYTHON, "EZPROF_COMPARED_PYTHON"), ezmsg),
    "dashboard": (variable(DASHBOARD, "EZPROF_COMPARED_DASHBOARD"), dashboard),
    "pr206": (variable(PR206, "EZPROF_PR206"), pr206),
    "py-spy": (variable(PYTHON and Path(PYTHON).with_name("py-spy"), "EZPROF_COMPARED_PYTHON"), py_spy),
    "bpftrace": (program("bpftrace"), bpftrace),
    "lttng": (program("lttng-sessiond"), lttng),
}


def main():
    wanted = [argument for argument in sys.argv[1:] if argument != "--list"] or list(TOOLS)
    for name in wanted:
        missing = TOOLS[name][0]()
        if missing or "--list" in sys.argv:
            say(name, "missing" if missing else "here", missing or "")
            continue
        TOOLS[name][1]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
