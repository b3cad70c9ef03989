# SPDX-License-Identifier: MIT
"""What is unknown, stuck, silent, young or nobody's business is shown as that."""

import os
import signal
import time

from agent import Agent, Player, profile, publisher, subscribers
from graph import Graph, wait_until
from require import require

PUBLISHER = 1


def stalled():
    """A subscriber that never gives its first message back, also when that was before the attach."""
    with Graph() as graph:
        sink = graph.node("sink", "T", "--handle", "STUCK", "--stall-first")
        source = graph.node("source", "T", "--rate", 200, "--num-buffers", 8,
                            "--wait-channels", 1)
        time.sleep(0.5)
        with Agent(source.pid, sink.pid):
            first = profile(graph.address, 0.5)
            time.sleep(0.3)
            second = profile(graph.address, 0.5)
        for document in (first, second):
            stuck = subscribers(document)["STUCK"]
            assert stuck["in_flight"] == 8 and stuck["messages"]["total"] == 0, stuck
            assert stuck["samples"] == 0 and stuck["processing"]["samples"] == 0, stuck
            assert publisher(document, "T")["backpressure"]["in_flight"] == 8
            assert publisher(document, "T")["blocked"]["now_ms"] > 0
        age = [subscribers(d)["STUCK"]["oldest_lease_ms"] for d in (first, second)]
        assert age[0] > 200 and age[1] - age[0] >= 290, age
        lease = publisher(second, "T")["oldest_lease_ms"]
        assert lease > 200, lease


def holder_left():
    """Buffers of a subscriber that went away are told as that, with an agent and without."""
    with Graph() as graph:
        sink = graph.node("sink", "T", "--stall-first")
        source = graph.node("source", "T", "--count", 8, "--num-buffers", 8, "--wait-channels", 1)
        Graph.sent(source)
        with Agent(source.pid) as agent:
            sink.process.kill()
            wait_until(lambda: not publisher(agent.ask(), "T")["backpressure"]["in_flight"], 10)
            measured = publisher(agent.ask(), "T")
        assert measured["source"] == "bpf" and measured["disconnects"] == 8, measured
        assert measured["backpressure"]["samples"] == 0 and measured["lost"] == 0, measured
        own = publisher(profile(graph.address), "T")
        assert own["source"] == "process" and own["disconnects"] == 8, own


def young():
    with Graph() as graph:
        source = graph.node("source", "T", "--rate", 500)
        with Agent(source.pid):
            time.sleep(0.5)
            document = profile(graph.address, 4.0)
        pub = publisher(document, "T")
        assert pub["warming_up"] and pub["window"]["covered_s"] < 4.0, pub["window"]
        assert pub["window"]["requested_s"] == 4.0
        assert pub["message_rate_hz"] > 250, "diluted: by the whole window"


def without_agent():
    with Graph() as graph:
        sink = graph.node("sink", "T", "--handle", "ME")
        source = graph.node("source", "T", "--count", 1003, "--wait-channels", 1)
        Graph.sent(source)
        graph.sync()
        document = profile(graph.address)
        pub, sub = publisher(document, "T"), subscribers(document)["ME"]
        assert pub["source"] == sub["source"] == "process"
        assert pub["messages"] == {"total": 1003, "window": 0}, pub["messages"]
        assert sub["messages"]["total"] == 1003, sub["messages"]
        assert pub["measured"] == {"messages": None, "bytes": None}
        assert pub["lost"] is None and document["lost"] is None and document["agents"] == []
        Graph.counts(sink)


def silent():
    """A stopped process: named by the server, measured all the same by an agent."""
    with Graph() as graph:
        sink = graph.node("sink", "T", "--handle", "ME")
        source = graph.node("source", "T", "--count", 11, "--wait-channels", 1)
        Graph.sent(source)
        graph.sync()
        os.kill(sink.pid, signal.SIGSTOP)
        try:
            document = profile(graph.address, status=5)
            assert any(e["reason"] == "timeout" for e in document["errors"]), document["errors"]
            with Agent(source.pid, sink.pid) as agent:
                assert subscribers(agent.ask())["ME"]["messages"]["total"] == 11
                document = profile(graph.address, status=5)
                assert subscribers(document)["ME"]["source"] == "bpf"
        finally:
            os.kill(sink.pid, signal.SIGCONT)


def seen_by(uid, agent):
    """How many publishers and processes the agent shows to a user."""
    with os.fdopen(os.memfd_create("seen"), "r+") as file:
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            document = agent.ask()
            text = f"{len(document['publishers'])} {len(document['agents'][0]['attached'])}"
            os.pwrite(file.fileno(), text.encode(), 0)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        file.seek(0)
        return tuple(map(int, file.read().split()))


def other_users():
    """Over the socket, a stranger sees the processes of their own user and no others."""
    owned = ("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups")
    with Player() as ours, Player(*owned) as theirs:
        for player in (ours, theirs):
            player.do("open", PUBLISHER, 8)
        with Agent(ours.pid, theirs.pid) as agent:
            assert seen_by(12345, agent) == (1, 1)
            assert seen_by(12346, agent) == (0, 0)
            assert seen_by(0, agent) == (2, 2)


def main():
    require("bpf")
    for story in (stalled, holder_left, young, without_agent, silent,
                  other_users):
        story()
        print(f"{story.__name__}: ok", flush=True)


main()
