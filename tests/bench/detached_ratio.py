# SPDX-License-Identifier: MIT
"""Messages per second with the probes compiled in and nobody attached, relative to without them.

Two pairs of publisher and subscriber process, one of each build, take turns in chunks of a few
milliseconds; each turn gives one ratio, and the median of many counts. It stops when that is known
well enough, at the latest after LIMIT_S.
"""
import statistics
import sys
import time

from bench_graph import PLAIN, PROBES, Node, median_error, row, server

BAR = 0.99
CHUNK_NS = 8e6
LIMIT_S = 60
WANTED_ERROR = 0.0015
LEAST_TURNS = 200


def chunk_size(node):
    """Messages that take about CHUNK_NS, and a warm-up by the way."""
    node.run(500)
    return max(50, int(2000 * CHUNK_NS / node.run(2000)))


def ratios(probes, plain):
    size = chunk_size(plain)
    chunk_size(probes)
    end = time.monotonic() + LIMIT_S
    values = []
    while time.monotonic() < end:
        # Who comes first alternates, so that a drift of the machine favours neither.
        if len(values) % 2:
            with_probes, without = probes.run(size), plain.run(size)
        else:
            without, with_probes = plain.run(size), probes.run(size)
        values.append(without / with_probes)
        if len(values) >= LEAST_TURNS and len(values) % 50 == 0 and median_error(values) < WANTED_ERROR:
            break
    return values


def measure(address, transport):
    with Node(PROBES, address, "sink", f"{transport}/a"), Node(PLAIN, address, "sink", f"{transport}/b"), \
            Node(PROBES, address, transport, f"{transport}/a") as probes, \
            Node(PLAIN, address, transport, f"{transport}/b") as plain:
        values = ratios(probes, plain)
    value = statistics.median(values)
    print(f"{transport}: median of {len(values)} turns {value:.4f}, standard error {median_error(values):.4f}")
    row(f"kernel.detached_ratio.{transport}", value, "messages/s, relative", f">= {BAR}", value >= BAR)


def main():
    with server() as graph:
        address = graph.line()
        for transport in ("shm", "tcp"):
            measure(address, transport)
    return 0


sys.exit(main())
