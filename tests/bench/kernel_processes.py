# SPDX-License-Identifier: MIT
"""Does it cost a process more when others are measured too; and how long attach and detach take."""
import statistics
import time

from graph import Graph
from require import require
from streams import Agent, Stream, at_most

PROCESSES = 50
ROUNDS = 5


def added(stream, pids):
    """(ns more per message, seconds from start to ready, seconds from the end's signal to the end)."""
    before = stream.chunks(20, 20000)
    agent = Agent(pids)
    start = time.monotonic()
    with agent:
        ready = time.monotonic() - start
        attached = stream.chunks(40, 20000)
        start = time.monotonic()
    gone = time.monotonic() - start
    after = stream.chunks(20, 20000)
    return statistics.median(attached) - statistics.median(before + after), ready, gone


def main():
    require("bpf")
    with Graph() as graph:
        streams = [Stream(graph.address, topic=f"T{n}") for n in range(PROCESSES)]
        pids = [stream.pid for stream in streams]
        one, many = [], []
        for _ in range(ROUNDS):
            one.append(added(streams[0], pids[:1]))
            many.append(added(streams[0], pids))
        alone, crowd = (statistics.median(r[0] for r in runs) for runs in (one, many))
        print(f"added {alone:.1f} ns with one process, {crowd:.1f} ns with {PROCESSES}")
        at_most("kernel.attached_50_processes", crowd / alone, "ratio", 1.2)
        at_most("kernel.attach_50_s", statistics.median(r[1] for r in many), "s, agent's start included",
                1.0)
        at_most("kernel.detach_50_s", statistics.median(r[2] for r in many), "s, agent's end included",
                1.0)
        for stream in streams:
            stream.stop()


main()
