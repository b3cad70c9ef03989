# SPDX-License-Identifier: MIT
"""Which graph is meant where nobody says so: all commands choose the same one, and never another user's."""

import json
import os
import signal

from agent import Player
from graph import BIN, wait_until
from hosts import Host, require_namespaces
from require import require

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
SHORT = ("--window", "0.3")
COMMANDS = (("graph",), ("graph", "--live", *SHORT), ("profile", *SHORT), ("why", *SHORT), ("top", "--once", *SHORT),
            ("report", "--duration", "0.3", "-o", "-", *SHORT))
USUAL = "127.0.0.1:25978"


class Alone(Host):
    """No graph, agent or mark of others: what is found here was put here."""

    def __init__(self):
        super().__init__("alone", None, [f for f in ("/run", "/tmp") if not BIN.startswith(f + "/")])

    def serve(self, as_user=()):
        server = self.start("ezprof-graphserver", "--address", "127.0.0.1:0", before=as_user)
        return server, server.line()

    def start(self, name, *arguments, env=None, before=()):
        wrapper = self.wrapper
        self.wrapper = [*wrapper, *before]
        try:
            return super().start(name, *arguments, env=env)
        finally:
            self.wrapper = wrapper

    def foreign(self):
        """A server that left no mark, as Python's own leaves none."""
        server, address = self.serve()
        self.run("rm", f"/run/ezprof/server-{address.rsplit(':', 1)[1]}")
        return server, address

    def node(self, address, *arguments, before=()):
        node = self.start("ezmsg-node", *arguments, env={"EZMSG_GRAPHSERVER_ADDR": address}, before=before)
        assert json.loads(node.line() or "{}").get("type") == "ready", node.stderr()
        return node

    def doctor(self, name):
        [check] = [c for c in json.loads(self.output("ezprof", "doctor", "--json").stdout)["checks"]
                   if c["name"] == name]
        return check

    def agent(self, *pids):
        agent = self.start("ezprof-bpf", "attach", *pids)
        wait_until(lambda: "ready" in agent.stderr() or agent.process.poll() is not None, 30, "the agent is ready")
        assert agent.process.poll() is None, agent.stderr()
        return agent


def all_choose(host, address):
    for words in COMMANDS:
        result = host.output("ezprof", *words, "--address", address)
        chosen = host.output("ezprof", *words)
        assert chosen.returncode == result.returncode, (words, chosen, result)
        assert USUAL not in chosen.stdout + chosen.stderr and "nobody listens" not in chosen.stderr, (words, chosen)
    assert host.doctor("graph")["text"] == f"{address}, the only one that was found here", host.doctor("graph")


def by_its_processes():
    """A graph with a server of its own, as ez.run makes it: its processes say where that is, then an agent does."""
    with Alone() as host:
        server, address = host.foreign()
        source = host.node(address, "source", "T", "--count", 5)
        all_choose(host, address)
        host.agent(source.pid)
        all_choose(host, address)
        assert '"T"' in host.output("ezprof", "profile").stdout
        result = host.output("ezprof", "shutdown")
        assert result.returncode == 0, result
        server.process.wait(20)


def by_an_agent_alone():
    """Its processes name no graph: the agent was told which one it is."""
    with Alone() as host, Player(*host.wrapper) as player:
        server, address = host.foreign()
        player.do("open", 1, 8)
        host.agent("--address", address, player.pid)
        all_choose(host, address)
        assert host.output("ezprof", "shutdown").returncode == 0
        server.process.wait(20)


def of_several():
    """Each is named, and none is taken, least of all to be ended; whose server is gone doesn't count."""
    with Alone() as host:
        marked, one = host.serve()
        server, other = host.foreign()
        node = host.node(other, "sink", "T")
        for words in (*COMMANDS, ("shutdown",)):
            result = host.output("ezprof", *words)
            assert result.returncode == 2 and result.stdout == "", (words, result)
            assert one in result.stderr and other in result.stderr, (words, result)
        node.process.send_signal(signal.SIGSTOP)  # it would end with its server
        server.process.kill()
        server.process.wait()
        all_choose(host, one)
        assert marked.process.poll() is None
        node.process.kill()


def stays():
    """Who asks again and again stays with the graph that it has found, and looks for one where that is gone."""
    with Alone() as host:
        server, one = host.serve()
        watcher = host.start("ezprof", "profile", "--interval", "0.3", "--format", "jsonl", "--window", "0.3")
        host.node(one, "source", "FIRST", "--rate", "10")
        wait_until(lambda: "FIRST" in watcher.line(), 20, "the first graph is watched")
        other, address = host.serve()
        host.node(address, "source", "SECOND", "--rate", "10")
        for _ in range(4):
            assert "SECOND" not in watcher.line()
        assert watcher.process.poll() is None, watcher.stderr()
        server.process.kill()
        server.process.wait()
        assert host.output("ezprof", "graph").returncode == 0


def of_another_user():
    """Root without SUDO_UID: what others say of a server isn't believed, but told, with what to do."""
    with Alone() as host:
        server, address = host.serve(NOBODY)
        for nodes in (0, 1):
            if nodes:
                host.node(address, "sink", "T", before=NOBODY)
            for words in (("graph",), ("profile",), ("why",), ("shutdown",)):
                result = host.output("ezprof", *words)
                assert result.returncode == 1 and f"{USUAL}: nobody listens there" in result.stderr, (words, result)
                assert f"a graph server of user nobody is at {address}" in result.stderr, (words, result)
                assert f"give --address {address}" in result.stderr and "ezprof serve" not in result.stderr, result
            [row] = [line for line in host.output("ezprof", "ps").stdout.splitlines() if " server " in line]
            assert row.split()[0] == str(server.pid) and address in row and "user nobody's" in row, row
            check = host.doctor("server")
            assert f"user nobody at {address}" in check["text"] and check["text"].endswith("not asked"), check
            check = host.doctor("graph")
            assert check["status"] == "warn" and address in check["fix"], check
            assert host.output("ezprof", "graph", "--address", address).returncode == 0
        hello = host.output("ezprof", "profile", "--address", address, env={"EZPROF_HELLO": "1"})
        assert json.loads(hello.stdout)["tool"] == "ezprof-graphserver", hello
        sudo = host.output("ezprof", "graph", env={"SUDO_UID": "65534"})
        assert sudo.returncode == 0, sudo
        own, mine = host.serve()
        assert host.doctor("graph")["text"].startswith(f"{mine}, "), mine
        assert own.process.poll() is None and server.process.poll() is None


def by_a_false_mark():
    """A mark that names somebody else's process is none, whoever wrote it."""
    with Alone() as host:
        server, address = host.foreign()
        folder, port = "/tmp/ezprof-65534", address.rsplit(":", 1)[1]
        with open(f"/proc/{server.pid}/stat", encoding="utf-8") as stat:
            start = stat.read().rsplit(")", 1)[1].split()[19]
        netns = os.stat(f"/proc/{server.pid}/ns/net").st_ino
        line = f"pid={server.pid} start={start} netns={netns}"
        host.run(*NOBODY, "sh", "-c", f"mkdir -m 700 {folder} && echo '{line}' > {folder}/server-{port}")
        result = host.output("ezprof", "graph")
        assert "no graph server or agent was found" in result.stderr and address not in result.stderr, result
        assert str(server.pid) not in host.output("ezprof", "ps").stdout.split()
        host.run("rm", "-r", folder)


def main():
    require("bpf")
    require_namespaces()
    for name in ("SUDO_UID", "EZMSG_GRAPHSERVER_ADDR", "EZPROF_HELLO"):
        os.environ.pop(name, None)
    for story in (by_its_processes, by_an_agent_alone, of_several, stays, of_another_user,
                  by_a_false_mark):
        story()
        print(f"{story.__name__}: ok", flush=True)


main()
