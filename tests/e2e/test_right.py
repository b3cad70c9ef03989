# SPDX-License-Identifier: MIT
"""Known workloads: a slow subscriber and its quick sibling, a paced publisher, blame."""

import time

from agent import Agent, profile, publisher, subscribers
from graph import Graph
from require import require

WINDOW_S = 2.0


def sleeper():
    with Graph() as graph:
        slow = graph.node("sink", "T", "--handle", "SLOW", "--work-ms", 5)
        quick = graph.node("sink", "T", "--handle", "QUICK")
        source = graph.node("source", "T", "--rate", 50, "--wait-channels", 2)
        with Agent(source.pid, slow.pid, quick.pid):
            time.sleep(WINDOW_S + 0.2)
            document = profile(graph.address, WINDOW_S)
        found = subscribers(document)
        assert found["SLOW"]["processing"]["samples"] > 50, found["SLOW"]
        assert 5 <= found["SLOW"]["processing"]["avg_ms"] <= 6, found["SLOW"]
        assert 5 <= found["SLOW"]["avg_ms"] <= 7, found["SLOW"]
        assert found["QUICK"]["processing"]["avg_ms"] < 2.5, found["QUICK"]
        pub = publisher(document, "T")
        assert pub["source"] == "bpf" and pub["lost"] == 0, pub
        leases = sorted(link["avg_ms"] for link in pub["links"])
        assert leases[-1] >= 5 and leases[0] < 4, leases


def paced():
    with Graph() as graph:
        sink = graph.node("sink", "T")
        source = graph.node("source", "T", "--rate", 1000, "--wait-channels", 1)
        with Agent(source.pid, sink.pid):
            time.sleep(WINDOW_S + 0.3)
            document = profile(graph.address, WINDOW_S)
        pub = publisher(document, "T")
        assert not pub["warming_up"], pub["window"]
        assert pub["window"]["covered_s"] >= WINDOW_S, pub["window"]
        assert abs(pub["message_rate_hz"] - 1000) <= 10, pub["message_rate_hz"]
        assert pub["gap"]["avg_ms"] is not None and 0.98 < pub["gap"]["avg_ms"] < 1.02, pub["gap"]


def blocked():
    """A publisher without a pause in front of a slow subscriber is blocked nearly all the time."""
    with Graph() as graph:
        sink = graph.node("sink", "T", "--handle", "SLOW", "--work-ms", 20)
        source = graph.node("source", "T", "--num-buffers", 4, "--wait-channels", 1)
        with Agent(source.pid, sink.pid):
            time.sleep(1.2)
            document = profile(graph.address, 1.0)
        pub = publisher(document, "T")
        assert 0.8 < pub["blocked"]["share"] <= 1, pub["blocked"]
        assert pub["blocked"]["time_ms"] <= pub["window"]["covered_s"] * 1000
        assert pub["backpressure"]["in_flight"] in (3, 4), pub["backpressure"]
        assert subscribers(document)["SLOW"]["queue"]["avg_ms"] > 20


def main():
    require("bpf")
    sleeper()
    paced()
    blocked()


main()
