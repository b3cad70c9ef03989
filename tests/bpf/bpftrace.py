# SPDX-License-Identifier: MIT
"""bpftrace on a running node, by pid and by path: the counts, and topic and handle as strings."""

import re
import shutil
import signal
import sys

from elf_sites import semaphores
from graph import Graph, wait_until
from require import require, skip

COUNT = 1003
SCRIPT = """
usdt:{lib}:ezmsg:publish {{ @publish[str(arg4)] = count(); @bytes = sum(arg2); }}
usdt:{lib}:ezmsg:lease /arg5 != 0/ {{ @lease[str(arg4)] = count(); }}
usdt:{lib}:ezmsg:callback_end {{ @done[str(arg3), str(arg4)] = count(); }}
"""
WATCHED = ("publish", "lease", "callback_end")


def library_of(pid):
    with open(f"/proc/{pid}/maps") as maps:
        return next(line.split()[-1] for line in maps if "/libezmsg.so" in line)


def trace(graph, pid, by_pid):
    script = SCRIPT.format(lib=library_of(pid))
    tracer = graph.program("bpftrace", *(["-p", str(pid)] if by_pid else []), "-e", script)
    wait_until(lambda: all(semaphores(pid)[name] for name in WATCHED), 30, "semaphores up")
    return tracer


def run(by_pid):
    with Graph() as graph:
        source = graph.node("source", "TOP/IC", "--monitor", "--count", COUNT,
                            "--wait-channels", 2)
        tracer = trace(graph, source.pid, by_pid)
        sink = graph.node("sink", "TOP/IC", "--handle", "SYS/SINK")
        assert semaphores(sink.pid)["publish"] == (0 if by_pid else 1)
        Graph.sent(source)
        graph.sync()
        out = tracer.stop(signal.SIGINT, 60)
        wait_until(lambda: not any(semaphores(source.pid).values()), 10, "semaphores down")
        (published, *_rest) = Graph.counts(source)
        Graph.counts(sink)
    check(out, published, by_pid)


def check(out, published, by_pid):
    found = {m[1]: int(m[2]) for m in re.finditer(r"^@(\w+(?:\[.*\])?): (\d+)$", out, re.M)}
    assert found.get("publish[TOP/IC]") == COUNT == published["messages"], (out, published)
    assert found.get("bytes") == published["bytes"], (out, published)
    assert found.get("done[TOP/IC, TOP/IC]") == COUNT, out
    assert ("done[TOP/IC, SYS/SINK]" in found) == (not by_pid), out
    if not by_pid:
        assert found["done[TOP/IC, SYS/SINK]"] == COUNT, out


def main():
    require("bpf")
    if not shutil.which("bpftrace"):
        skip("bpftrace is not installed", "EZPROF_REQUIRE_BPF")
    for by_pid in (True, False):
        run(by_pid)
        print("by pid" if by_pid else "by path", "exact")


if __name__ == "__main__":
    sys.exit(main())
