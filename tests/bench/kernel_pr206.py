# SPDX-License-Identifier: MIT
"""What a local message costs more while it is measured, beside the telemetry of ezmsg's pull request 206, which is
always on. EZPROF_PR206 names a checkout of that branch; what its publisher and channel call for each message is
called here, on its own objects: a lease and its free on either side, and the message itself.
"""
import importlib.util
import os
import statistics
import sys
import time
import uuid

from graph import Graph
from require import require
from streams import Agent, Stream, added, at_most

ROUNDS, CHUNKS, MESSAGES, BUFFERS = 5, 20, 20000, 32
# So short that each message takes the place of one that leaves the window, as it is after a while.
WINDOW_S = 0.02


def load(checkout):
    path = os.path.join(checkout, "src", "ezmsg", "core", "profiling.py")
    spec = importlib.util.spec_from_file_location("pr206_profiling", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def chunk_ns(publisher, channel, ids, messages):
    """ns per message."""
    clock = time.perf_counter
    began = time.perf_counter_ns()
    for message in range(messages):
        buffer = message % BUFFERS
        publisher.backpressure.on_lease(ids[0], buffer, clock())
        channel.leases.on_lease(ids[1], buffer, clock())
        publisher.record_message(None)
        channel.leases.on_free(ids[1], buffer, clock())
        publisher.backpressure.on_free(ids[0], buffer, clock())
    return (time.perf_counter_ns() - began) / messages


def empty_ns(messages):
    began = time.perf_counter_ns()
    for message in range(messages):
        _ = message % BUFFERS
    return (time.perf_counter_ns() - began) / messages


def theirs(module):
    publisher, channel = module.PublisherTelemetry(WINDOW_S), module.ChannelTelemetry(WINDOW_S)
    ids = uuid.uuid1(), uuid.uuid1()
    chunk_ns(publisher, channel, ids, MESSAGES)
    with_it = statistics.median(chunk_ns(publisher, channel, ids, MESSAGES) for _ in range(CHUNKS))
    return with_it - statistics.median(empty_ns(MESSAGES) for _ in range(CHUNKS))


def main():
    require("bpf")
    module = load(os.environ["EZPROF_PR206"])
    with Graph() as graph:
        stream = Stream(graph.address)
        stream.chunks(20, 20000)
        ours, others = [], []
        for _ in range(ROUNDS):
            ours.append(added(stream, Agent([stream.pid], "--probes", "window"), 1, 40, 20000))
            others.append(theirs(module))
        stream.stop()
    ours, others = statistics.median(ours), statistics.median(others)
    print(f"added by windows {ours:.1f} ns, by pull request 206 {others:.0f} ns")
    at_most("kernel.attached_vs_pr206", ours / others, "ratio", 1 / 20)


sys.exit(main())
