# SPDX-License-Identifier: MIT
"""test_blame.py [SECONDS]: one of three subscribers is stopped for a while, and killed then.

The profile points at it and not at the publisher, which goes on when it is dead; the others lose nothing. B50 of the
collected reports, where it is 10 s.
"""
import json
import signal
import sys
import time

from agent import Agent, command, profile, publisher, subscribers
from graph import Graph, wait_until
from require import require

RATE_HZ = 1000
BUFFERS = 16


def link_of(document, pid):
    return next((link for link in publisher(document, "T")["links"] if link["pid"] == pid), None)


def check_stopped(document, pid):
    """Its publisher stands, blocked; all that is held is held by the one link, and its subscriber's row says who."""
    source = publisher(document, "T")
    assert source["blocked"]["now_ms"] > 0, source["blocked"]
    link = link_of(document, pid)
    assert link["in_flight"] == BUFFERS and link["oldest_lease_ms"] > 0, link
    assert all(other["in_flight"] == 0 for other in source["links"] if other["pid"] != pid), source["links"]
    [channel] = [c for c in document["channels"] if c["channel_id"] == link["channel_id"]]
    assert channel["pid"] == pid and [row["handle"] for row in channel["subscribers"]] == ["slow"], channel
    # It may have taken some of them off its socket.
    held = {handle for handle, row in subscribers(document).items() if row["in_flight"]}
    assert held <= {"slow"}, held


def main():
    require("bpf")
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with Graph() as graph:
        names = ("one", "two", "slow")
        sinks = {name: graph.node("sink", "T", "--handle", name) for name in names}
        source = graph.node("source", "T", "--rate", RATE_HZ, "--num-buffers", BUFFERS, "--wait-channels", 3)
        slow = sinks["slow"].pid
        with Agent(source.pid, *(sink.pid for sink in sinks.values())):
            wait_until(lambda: publisher(profile(graph.address), "T")["messages"]["total"] > 100)
            sinks["slow"].process.send_signal(signal.SIGSTOP)
            wait_until(lambda: link_of(profile(graph.address, status=None), slow)["in_flight"] == BUFFERS)
            for _ in range(seconds):
                time.sleep(1)
                check_stopped(profile(graph.address, status=None), slow)
            why = command("ezprof", "why", "--address", graph.address)
            assert "slow" in why.stdout and str(slow) in why.stdout, why
            stood = publisher(profile(graph.address, status=None), "T")["messages"]["total"]
            sinks["slow"].process.kill()
            sinks["slow"].process.wait()

            def goes_on():
                document = profile(graph.address, status=None)
                return publisher(document, "T")["messages"]["total"] > stood + RATE_HZ // 4 and document
            document = wait_until(goes_on, 30, "the publisher goes on")
            assert link_of(document, slow) is None and "slow" not in subscribers(document), document
        graph.sync()
        sent, = graph.counts(source)
        for name in ("one", "two"):
            received, = graph.counts(sinks[name])
            assert received["messages"] == sent["messages"], (name, received, sent)
    print(json.dumps({"stood_at": stood, "sent": sent["messages"]}))


main()
