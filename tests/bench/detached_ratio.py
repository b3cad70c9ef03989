# SPDX-License-Identifier: MIT
"""Messages per second with the probes compiled in and nobody attached, relative to without them.

Two pairs of publisher and subscriber process, one of each build, take turns in chunks of a few
milliseconds; each turn gives one ratio, and the median of many counts. Publishers have one CPU and
subscribers another, and the processes are new every ROUND_S: where the scheduler puts them, and where
things happen to lie in their memory, makes more of a difference than a probe. It stops when the median
is known well enough, at the latest after LIMIT_S.
"""
import os
import statistics
import sys
import time

from bench_graph import PLAIN, PROBES, Node, median_error, row, server

BAR = 0.99
CHUNK_NS = 8e6
LIMIT_S = 60
ROUND_S = 3
WANTED_ERROR = 0.0015
LEAST_TURNS = 200
LEAST_ROUNDS = 4
CPUS = sorted(os.sched_getaffinity(0))


def chunk_size(node):
    """Messages that take about CHUNK_NS, and a warm-up by the way."""
    node.run(500)
    return max(50, int(2000 * CHUNK_NS / node.run(2000)))


def take_turns(probes, plain, values):
    """Appends the ratios of one round."""
    size = chunk_size(plain)
    chunk_size(probes)
    end = time.monotonic() + ROUND_S
    while time.monotonic() < end:
        # Who comes first alternates, so that a drift of the machine favours neither.
        if len(values) % 2:
            with_probes, without = probes.run(size), plain.run(size)
        else:
            without, with_probes = plain.run(size), probes.run(size)
        values.append(without / with_probes)


def play_round(address, transport, number, values):
    a, b = f"{transport}/a{number}", f"{transport}/b{number}"
    with Node(PROBES, address, "sink", a) as sink_a, Node(PLAIN, address, "sink", b) as sink_b, \
            Node(PROBES, address, transport, a) as probes, Node(PLAIN, address, transport, b) as plain:
        for node, cpu in ((sink_a, CPUS[-1]), (sink_b, CPUS[-1]), (probes, CPUS[0]), (plain, CPUS[0])):
            node.pin(cpu)
        take_turns(probes, plain, values)


def measure(address, transport):
    values, rounds, end = [], 0, time.monotonic() + LIMIT_S
    while time.monotonic() < end and (rounds < LEAST_ROUNDS or len(values) < LEAST_TURNS or
                                      median_error(values) > WANTED_ERROR):
        play_round(address, transport, rounds, values)
        rounds += 1
    value = statistics.median(values)
    print(f"{transport}: median of {len(values)} turns in {rounds} rounds {value:.4f}, "
          f"standard error {median_error(values):.4f}")
    row(f"kernel.detached_ratio.{transport}", value, "messages/s, relative", f">= {BAR}", value >= BAR)


def main():
    with server() as graph:
        address = graph.line()
        for transport in ("shm", "tcp"):
            measure(address, transport)
    return 0


sys.exit(main())
