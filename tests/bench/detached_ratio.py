# SPDX-License-Identifier: MIT
"""Messages per second with the probes compiled in and nobody attached, relative to without them.

Two pairs of publisher and subscriber process, one of each build, take turns in chunks of a few
milliseconds; publishers share one CPU and subscribers another. Where things lie in memory, and who
wakes whom, differs from process to process by more than the probes cost: so the pairs are made anew
every few turns. Each pair of pairs gives one ratio, of the medians of its chunks, and the median of
many of them counts. It stops when that is known well enough to tell it from the bar, at the latest after LIMIT_S.
"""
import os
import statistics
import sys
import time
from contextlib import ExitStack

from bench_graph import PLAIN, PROBES, Node, median_error, row, server

BAR = 0.99
CHUNK_NS = 5e6
TURNS = 8
LEAST_RATIOS, LIMIT_S, WANTED_ERROR = 60, 240, 0.002
CPUS = sorted(os.sched_getaffinity(0))


def pair(stack, address, build, transport, topic):
    """A publisher whose messages a subscriber of the same build gets."""
    sink = stack.enter_context(Node(build, address, "sink", topic))
    publisher = stack.enter_context(Node(build, address, transport, topic))
    sink.pin(CPUS[-1])
    publisher.pin(CPUS[0])
    publisher.run(200)
    return publisher


def ratio(address, transport, number):
    """Of one set of processes; who is made and who runs first alternates."""
    times = {PROBES: [], PLAIN: []}
    order = [PROBES, PLAIN] if number % 2 else [PLAIN, PROBES]
    with ExitStack() as stack:
        nodes = {build: pair(stack, address, build, transport, f"{transport}/{number}/{build}") for build in order}
        size = max(50, int(500 * CHUNK_NS / nodes[PLAIN].run(500)))
        for turn in range(TURNS):
            for build in order if turn % 2 else reversed(order):
                times[build].append(nodes[build].run(size))
    return statistics.median(times[PLAIN]) / statistics.median(times[PROBES])


def known(values):
    """Is the median clear of the bar, or as good as it needs to be?"""
    error = median_error(values)
    return error < WANTED_ERROR or abs(statistics.median(values) - BAR) > 4 * error


def measure(address, transport):
    end = time.monotonic() + LIMIT_S
    values = []
    while time.monotonic() < end:
        values.append(ratio(address, transport, len(values)))
        if len(values) >= LEAST_RATIOS and known(values):
            break
    value = statistics.median(values)
    print(f"{transport}: median of {len(values)} ratios {value:.4f}, standard error {median_error(values):.4f}")
    row(f"kernel.detached_ratio.{transport}", round(value, 4), "messages/s, relative", f">= {BAR}", value >= BAR)


def main():
    with server() as graph:
        address = graph.line()
        for transport in ("shm", "tcp"):
            measure(address, transport)
    return 0


sys.exit(main())
