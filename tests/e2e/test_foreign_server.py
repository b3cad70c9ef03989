# SPDX-License-Identifier: MIT
"""A graph server that isn't known as ours: left alone, and profiled through agents all the same."""

import glob
import os
import signal
import socket

from agent import Agent, Player, checked, command, profile, publisher, subscribers, wait_until
from graph import Graph
from require import require


def forget(graph):
    """Takes the server's mark away: now it is as good as a Python one."""
    port = graph.address.rsplit(":", 1)[1]
    marks = [path for folder in ("/run/ezprof", "/run/user/*/ezprof", "/tmp/ezprof-*")
             for path in glob.glob(f"{folder}/server-{port}")]
    assert marks
    for path in marks:
        os.unlink(path)


def through_agents():
    with Graph() as graph, Graph() as other:
        forget(graph)
        one = graph.node("source", "ONE", "--count", 103)
        two = graph.node("source", "TWO", "--count", 7)
        alien = other.node("source", "ALIEN", "--count", 5)
        for node in (one, two, alien):
            Graph.sent(node)
        result = command("ezprof", "profile", "--address", graph.address)
        assert result.returncode == 4 and "No agent is attached" in result.stderr, result.stderr
        with Agent(one.pid, alien.pid) as first, Agent(two.pid):
            assert first.said("left alone") and first.said(f"{other.address}: registered")
            document = profile(graph.address)
            assert {p["topic"] for p in document["publishers"]} == {"ONE", "TWO"}, document
            assert publisher(document, "ONE")["messages"]["total"] == 103
            assert len(document["agents"]) == 2 and document["tool"] == "ezprof-bpf"
            assert {p["topic"] for p in profile(other.address)["publishers"]} == {"ALIEN"}
        greetings = graph.server.stderr()
        assert "e0" not in greetings and "HELLO" not in greetings, greetings


def server_hangs():
    """It is known as ours and says nothing: agents tell, within seconds, and the document says so."""
    with Graph() as graph:
        source = graph.node("source", "T", "--count", 5)
        Graph.sent(source)
        with Agent(source.pid):
            graph.server.process.send_signal(signal.SIGSTOP)
            try:
                result = command("ezprof", "profile", "--address", graph.address)
            finally:
                graph.server.process.send_signal(signal.SIGCONT)
            assert result.returncode == 5 and "no graph server answers there" in result.stderr, result
            document = checked(result.stdout)
            assert publisher(document, "T")["messages"]["total"] == 5
            [error] = document["errors"]
            assert (error["who"], error["reason"]) == ("server", "timeout"), error
            document = profile(graph.address)
            assert document["tool"] == "ezprof-graphserver" and not document["errors"]


def server_is_not_there():
    """One line that says what was tried and what came of it, from every command."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))  # and doesn't listen
        address = "127.0.0.1:%d" % sock.getsockname()[1]
        for name in ("profile", "graph", "shutdown"):
            for where, what in ((address, "nobody listens there"), ("nosuchhost.invalid:1", "no such host")):
                result = command("ezprof", name, "--address", where)
                assert result.returncode == 1 and result.stdout == "", result
                [line] = result.stderr.splitlines()
                assert where in line and what in line, line


def server_comes_back():
    """The agent registers again when its server is there again."""
    # With a port of its own choice it could not have the same one at once again.
    with socket.create_server(("127.0.0.1", 0)) as sock:
        address = "127.0.0.1:%d" % sock.getsockname()[1]
    with Graph("--address", address) as graph:
        source = graph.node("source", "T", "--count", 5)
        Graph.sent(source)
        with Agent(source.pid) as agent:
            assert agent.said("registered")
            graph.server.process.kill()
            graph.server.process.wait()
            wait_until(lambda: agent.said("trying again"), 10, "the loss is noticed")
            assert publisher(agent.ask(), "T")["messages"]["total"] == 5
            again = graph._start([os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof-graphserver"),
                                  "--address", graph.address])
            line = again.line()
            assert line == graph.address, (line, again.stderr())

            def registered():
                document = command("ezprof", "profile", "--address", graph.address)
                return document.returncode in (0, 5) and '"T"' in document.stdout

            wait_until(registered, 30, "registered again")


def address_given():
    """All that such an agent measures belongs to that graph, whatever the processes say."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        nobody = "127.0.0.1:%d" % sock.getsockname()[1]
    with Graph() as graph, Player() as player:
        player.do("open", 1, 8)
        source = graph.node("source", "T", "--count", 5)
        Graph.sent(source)
        with Agent("--address", nobody, source.pid) as one, Agent("--address", nobody, player.pid):
            document = profile(nobody)
            assert {p["topic"] for p in document["publishers"]} == {"T", "player/topic"}, document
            os.kill(one.pid, signal.SIGSTOP)
            try:
                [found] = profile(nobody)["publishers"]
            finally:
                os.kill(one.pid, signal.SIGCONT)
            assert found["topic"] == "player/topic", found


def main():
    require("bpf")
    for story in (through_agents, server_hangs, server_is_not_there, server_comes_back, address_given):
        story()
        print(f"{story.__name__}: ok", flush=True)


main()
