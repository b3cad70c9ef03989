# SPDX-License-Identifier: MIT
"""What a message costs more while it is measured, beside other ways of looking at it."""
import shutil
import sys

from graph import Graph
from require import require
from streams import Agent, Bpftrace, Lttng, Stream, added, at_most, row

ROUNDS = 5


def measure_ours(stream):
    return added(stream, Agent([stream.pid], "--probes", "window"), 1, 40, 20000)


def measure_lttng(address):
    """None where this build or machine has no LTTng."""
    if not shutil.which("lttng-sessiond") or len(sys.argv) < 2 or sys.argv[1] != "lttng":
        return None
    lttng = Lttng()
    try:
        stream = Stream(address, "bench_stream_lttng")
        # So few that the buffers hold them all: none is discarded, which would be cheaper.
        values = added(stream, lttng, ROUNDS, 20, 10000, 2000)
        stream.stop()
        return values
    finally:
        lttng.close()


def main():
    require("bpf")
    with Graph() as graph:
        stream = Stream(graph.address)
        stream.chunks(20, 20000)
        ours, bpftrace, clock = [], [], []
        for _ in range(ROUNDS):
            ours.append(measure_ours(stream))
            bpftrace.append(added(stream, Bpftrace(stream.pid), 1, 20, 20000, 2000))
            clock += stream.ask("clock")
        ours, bpftrace, clock = (sorted(v)[len(v) // 2] for v in (ours, bpftrace, clock))
        print(f"added by windows {ours:.1f} ns, by bpftrace {bpftrace:.0f} ns, "
              f"one clock_gettime {clock:.1f} ns")
        at_most("kernel.attached_vs_bpftrace", ours / bpftrace, "ratio", 1 / 40)
        at_most("kernel.attached_clock_reads", ours / clock, "clock_gettime", 2.0)
        stream.stop()
        other = measure_lttng(graph.address)
        if other is None:
            row("kernel.attached_vs_lttng", None, "no LTTng-UST here", "<= 1/6", False)
        else:
            print(f"added by LTTng-UST {other:.0f} ns")
            at_most("kernel.attached_vs_lttng", ours / other, "ratio", 1 / 6)


main()
