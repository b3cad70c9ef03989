# SPDX-License-Identifier: MIT
"""On every transport, however the source is scheduled: kernel, registry and program count the same."""

from agent import Agent, Player, profile, publisher, subscribers
from graph import Graph
from require import require

COUNT = 10007
SCHEDULES = {
    "pinned": ("--pin-cpu", 0),
    "migrating": ("--migrate",),
    "8 threads": ("--threads", 8),
}


def run(transport, schedule):
    with Graph() as graph:
        sinks = []
        options = list(SCHEDULES[schedule])
        if transport == "local":
            options.append("--monitor")
        else:
            sinks.append(graph.node("sink", "T", "--handle", "SINK"))
        if transport == "tcp":
            options.append("--tcp")
        # It has a channel to itself; the one that is still missing sets it off.
        source = graph.node("source", "T", "--count", COUNT, "--wait-channels", len(sinks) + 2,
                            *options)
        with Agent(source.pid, *(sink.pid for sink in sinks)) as agent:
            graph.node("sink", "T", "--handle", "STARTER")
            Graph.sent(source)
            graph.sync()
            document = agent.ask()
            served = profile(graph.address)
        (sent, *local) = Graph.counts(source)
        received = local or Graph.counts(sinks[0])
    assert sent["messages"] == COUNT
    for shown in (document, served):
        check(shown, transport, sent, received[0])
    print(f"{transport}, {schedule}: {COUNT} messages, {sent['bytes']} bytes", flush=True)


def check(document, transport, sent, received):
    """Everything came after the attach, so kernel and registry count the same."""
    pub = publisher(document, "T")
    found = subscribers(document)
    found.pop("STARTER", None)
    [sub] = found.values()
    assert pub["messages"]["total"] == sent["messages"], (pub["messages"], sent)
    assert pub["bytes"]["total"] == sent["bytes"], (pub["bytes"], sent)
    assert sub["messages"]["total"] == received["messages"] == sent["messages"], (sub, received)
    assert sub["bytes"]["total"] == received["bytes"], (sub, received)
    for endpoint in (pub, sub):
        assert endpoint["measured"]["messages"] == endpoint["messages"]["total"], endpoint
        assert endpoint["measured"]["bytes"] == endpoint["bytes"]["total"], endpoint
        assert (endpoint["lost"], endpoint["lost_exact"]) == (0, True), endpoint
    assert document["lost"] == 0 and document["errors"] == [], document["errors"]
    modes = {channel["mode"] for channel in document["channels"]
             if sub in channel["subscribers"]}
    assert modes == {transport}, modes


def never_more_than_all(endpoints=400, rounds=20):
    """Counters are read before pages, so that what goes by in between could be in those alone."""
    with Player() as player:
        for _ in range(endpoints):
            player.do("open", 1, 32)
        with Agent(player.pid, "--max-endpoints", endpoints) as agent:
            player.do("pace", 10000)
            player.start("publish", endpoints - 1, 20000, 1)
            busy = 0
            for _ in range(rounds):
                found = max(agent.ask(16)["publishers"], key=lambda p: p["messages"]["total"])
                messages, measured = found["messages"], found["measured"]
                assert messages["window"] <= messages["total"], found
                assert measured["messages"] <= messages["total"], found
                assert measured["bytes"] <= found["bytes"]["total"], found
                assert found["lost"] == 0, found
                busy += 0 < measured["messages"] < 20000
            assert busy, "never seen at work"
            player.answer()
    print(f"{busy} documents of it at work, none with more in the window than in all", flush=True)


def main():
    require("bpf")
    for transport in ("local", "shm", "tcp"):
        for schedule in SCHEDULES:
            run(transport, schedule)
    never_more_than_all()


main()
