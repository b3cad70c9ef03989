# SPDX-License-Identifier: MIT
"""Attaching after everything has been opened and sent shows what attaching first shows."""

from agent import Agent, Player, checked, command, profile, publisher, subscribers
from graph import Graph
from require import require

COUNT = 10007
PUBLISHER, CLIENT = 1, 4


def listed(document):
    """Endpoints and totals, without what depends on when one looked."""
    found = {}
    for p in document["publishers"]:
        found["pub", p["id"], p["topic"]] = (p["messages"]["total"], p["bytes"]["total"],
                                             p["num_buffers"], p["backpressure"]["in_flight"],
                                             len(p["links"]))
    for c in document["channels"]:
        found["chan", c["channel_id"], c["topic"]] = (c["mode"], c["messages"], c["bytes"])
        for s in c["subscribers"]:
            found["sub", s["subscriber_id"], s["handle"]] = (
                s["messages"]["total"], s["bytes"]["total"], s["in_flight"], s["drops"])
    return found


def whole_graph():
    with Graph() as graph:
        sinks = [graph.node("sink", "T", "--handle", handle) for handle in ("ONE", "TWO")]
        source = graph.node("source", "T", "--monitor", "--count", COUNT, "--wait-channels", 4)
        pids = [node.pid for node in (source, *sinks)]
        with Agent(*pids) as early:
            last = graph.node("sink", "T", "--handle", "THREE")
            Graph.sent(source)
            graph.sync()
            with Agent(*pids) as late:
                a, b = early.ask(), late.ask()
                assert listed(a) == listed(b), (listed(a), listed(b))
                assert len(a["publishers"]) == 1 and len(a["channels"]) == 3, listed(a)
                assert publisher(a, "T")["measured"]["messages"] == COUNT
                assert publisher(b, "T")["measured"]["messages"] == 0
                assert publisher(b, "T")["messages"]["total"] == COUNT
                assert a["lost"] == b["lost"] == 0, (a["lost"], b["lost"])
                served = profile(graph.address)
                assert len(served["agents"]) == 2 and len(served["publishers"]) == 1
                assert subscribers(served)["THREE"]["source"] == "process", "nobody attached to it"
        Graph.counts(last)


def before_the_first_endpoint():
    """Attached to a process that has no endpoint yet."""
    with Player() as player:
        with Agent(player.pid) as early:
            assert early.ask()["publishers"] == []
            player.do("open", PUBLISHER, 8)
            player.do("open", CLIENT, 8)
            player.do("publish", 0, COUNT, 3)
            player.do("roundtrip", 1, COUNT, 5)
            a = early.ask()
            with Agent(player.pid) as late:
                b = late.ask()
            assert listed(a) == listed(b)
            [pub] = a["publishers"]
            assert pub["measured"] == {"messages": COUNT, "bytes": 3 * COUNT}, pub
            assert (pub["lost"], pub["lost_exact"]) == (0, True), pub


def once():
    """--once: one document, and nothing else on stdout."""
    with Player() as player:
        player.do("open", PUBLISHER, 8)
        player.do("publish", 0, 7, 3)
        result = command("ezprof-bpf", "attach", player.pid, "--once", "--window", 0.2)
        assert result.returncode == 0, result.stderr
        assert result.stdout.count("\n") == 1
        assert checked(result.stdout)["publishers"][0]["messages"]["total"] == 7


def main():
    require("bpf")
    whole_graph()
    before_the_first_endpoint()
    once()


main()
