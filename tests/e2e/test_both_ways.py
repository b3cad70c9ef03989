# SPDX-License-Identifier: MIT
"""Windows and boundaries, measured at once on the same traffic, give the same document."""

import time

from agent import Agent, publisher, subscribers, wait_until
from graph import Graph
from require import require

WINDOW_S = 16.0
CLOSE_MS = 0.010
BIN = 0.0625


def close(a, b):
    """10 us and one bin: between the two readings of a clock a thread may be stopped."""
    return abs(a - b) <= CLOSE_MS + BIN * max(a, b)


def same_interval(window, boundary, where):
    assert window["samples"] == boundary["samples"] > 0, (where, window, boundary)
    assert close(window["avg_ms"], boundary["avg_ms"]), (where, window, boundary)
    # A maximum is one message's: it may have been stopped between the two readings.
    assert window["max_ms"] <= boundary["max_ms"] + 20, (where, window, boundary)
    assert boundary["p50_ms"] is None and window["p50_ms"] > 0, where
    assert window["min_ms"] <= window["p50_ms"] <= window["p99_ms"] <= window["max_ms"], window


def same_counts(window, boundary):
    for key in ("messages", "bytes", "measured"):
        assert window[key] == boundary[key], (key, window[key], boundary[key])
    for document in (window, boundary):
        assert (document["lost"], document["lost_exact"]) == (0, True), document


def compare(window, boundary):
    pubs = [publisher(d, "T") for d in (window, boundary)]
    same_counts(*pubs)
    assert pubs[0]["measured"]["messages"] == 1501, pubs[0]
    same_interval(pubs[0]["gap"], pubs[1]["gap"], "gap")
    same_interval(pubs[0]["lease"], pubs[1]["lease"], "lease")
    for mine, other in zip(pubs[0]["links"], pubs[1]["links"]):
        assert mine["channel_id"] == other["channel_id"]
        assert mine["samples"] == other["samples"] == 1501, (mine, other)
        assert close(mine["avg_ms"], other["avg_ms"]), (mine, other)
    assert abs(pubs[0]["blocked"]["time_ms"] - pubs[1]["blocked"]["time_ms"]) < 5, pubs
    for handle, mine in subscribers(window).items():
        other = subscribers(boundary)[handle]
        same_counts(mine, other)
        assert mine["samples"] == other["samples"] == 1501, (mine, other)
        for key in ("queue", "processing", "gap"):
            same_interval(mine[key], other[key], (handle, key))


def main():
    require("bpf")
    with Graph() as graph:
        slow = graph.node("sink", "T", "--handle", "SLOW", "--work-ms", 1)
        quick = graph.node("sink", "T", "--handle", "QUICK")
        # It waits for its channels, so that everything it sends comes after the attach.
        source = graph.node("source", "T", "--rate", 500, "--count", 1501, "--monitor",
                            "--wait-channels", 4)
        pids = (source.pid, slow.pid, quick.pid)
        with Agent(*pids, "--probes", "window") as one, \
                Agent(*pids, "--probes", "boundary") as other:
            late = graph.node("sink", "T", "--handle", "LATE")
            wait_until(lambda: publisher(one.ask(), "T")["messages"]["total"] == 1501, 30, "all sent")
            time.sleep(0.5)
            window, boundary = one.ask(WINDOW_S), other.ask(WINDOW_S)
            late.stop()
        assert window["agents"][0]["probes"] == "window"
        assert boundary["agents"][0]["probes"] == "boundary"
        compare(window, boundary)
        assert window["agents"][0]["cost"]["hits"] < boundary["agents"][0]["cost"]["hits"] / 20
    print("both ways: ok")


main()
