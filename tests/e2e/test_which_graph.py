# SPDX-License-Identifier: MIT
"""Which graph is meant where nobody says so: all commands choose the same one, and never another user's."""

import json
import os
import signal
import subprocess

from agent import Player
from graph import wait_until
from hosts import Host, require_namespaces
from require import require

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
SHORT = ("--window", "0.3")
COMMANDS = (("graph",), ("graph", "--live", *SHORT), ("profile", *SHORT), ("why", *SHORT), ("top", "--once", *SHORT),
            ("report", "--duration", "0.3", "-o", "-", *SHORT))
USUAL = "127.0.0.1:25978"
SCRAPE = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:9464/metrics', timeout=20).read().decode())"


class Alone(Host):
    """No graph, agent or mark of others: what is found here was put here."""

    def __init__(self):
        super().__init__("alone", None, ("/run", "/tmp"))

    def serve(self, as_user=(), address="127.0.0.1:0"):
        server = self.start("ezprof-graphserver", "--address", address, before=as_user)
        return server, server.line()

    def start(self, name, *arguments, env=None, before=()):
        wrapper = self.wrapper
        self.wrapper = [*wrapper, *before]
        try:
            return super().start(name, *arguments, env=env)
        finally:
            self.wrapper = wrapper

    def foreign(self, asked="127.0.0.1:0"):
        """A server that left no mark, as Python's own leaves none."""
        server, address = self.serve(address=asked)
        self.run("rm", f"/run/ezprof/server-{address.rsplit(':', 1)[1]}")
        return server, address

    def node(self, address, *arguments, before=()):
        node = self.start("ezmsg-node", *arguments, env={"EZMSG_GRAPHSERVER_ADDR": address}, before=before)
        assert json.loads(node.line() or "{}").get("type") == "ready", node.stderr()
        return node

    def doctor(self, name, env=None):
        [check] = [c for c in json.loads(self.output("ezprof", "doctor", "--json", env=env).stdout)["checks"]
                   if c["name"] == name]
        return check

    def scrape(self):
        """What `ezprof export` says in here."""
        return subprocess.run([*self.wrapper, "python3", "-c", SCRAPE], stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30).stdout

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
        host.start("ezprof", "export", "--window", "0.3")
        watcher = host.start("ezprof", "profile", "--interval", "0.3", "--format", "jsonl", "--window", "0.3")
        host.node(one, "source", "FIRST", "--rate", "10")
        wait_until(lambda: "FIRST" in watcher.line(), 20, "the first graph is watched")
        wait_until(lambda: "FIRST" in host.scrape(), 20, "the first graph is exported")
        other, address = host.serve()
        host.node(address, "source", "SECOND", "--rate", "10")
        for _ in range(4):
            assert "SECOND" not in watcher.line()
        assert "FIRST" in host.scrape() and "SECOND" not in host.scrape()
        assert watcher.process.poll() is None, watcher.stderr()
        server.process.terminate()
        server.process.wait()
        wait_until(lambda: "SECOND" in host.scrape(), 20, "the second graph is exported")
        assert other.process.poll() is None


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


def of_another_user_at_the_usual_address():
    """Where everybody looks first it isn't taken either, unless somebody says so."""
    with Alone() as host:
        server, address = host.serve(NOBODY, USUAL)
        assert address == USUAL
        for words in (*COMMANDS, ("shutdown",)):
            result = host.output("ezprof", *words)
            assert result.returncode == 1 and result.stdout == "", (words, result)
            assert f"a graph server of user nobody is at {USUAL}; it isn't taken" in result.stderr, (words, result)
        check = host.doctor("graph")
        assert check["status"] == "warn" and check["text"].startswith("none is chosen"), check
        assert f"={USUAL}, and" in check["fix"], check
        assert host.doctor("server")["text"].endswith("not asked")
        said = {"EZMSG_GRAPHSERVER_ADDR": USUAL}
        assert ": ezmsg 3" in (text := host.doctor("server", said)["text"]), text
        assert "nobody's" not in (result := host.output("ezprof", "ps", env=said)).stdout, result
        assert host.output("ezprof", "graph", env=said).returncode == 0
        assert server.process.poll() is None
        own, mine = host.serve()
        assert host.doctor("graph")["text"].startswith(f"{mine}, "), mine
        assert host.output("ezprof", "shutdown").returncode == 0
        own.process.wait(20)
        assert server.process.poll() is None


def by_a_false_word():
    """Root's own server, without a mark, isn't another user's because one of that user's processes names it."""
    with Alone() as host:
        server, address = host.foreign(USUAL)
        host.node(address, "sink", "T", before=NOBODY)
        [row] = [line for line in host.output("ezprof", "ps").stdout.splitlines() if " server " in line]
        assert "not known as ezprof's" in row and "nobody" not in row, row
        assert "not asked" not in (text := host.doctor("server")["text"]), text
        assert host.output("ezprof", "shutdown").returncode == 0
        server.process.wait(20)


def by_many_false_words():
    """However many graphs another user's processes name, there is room for one's own."""
    with Alone() as host:
        _, address = host.serve(NOBODY, "0.0.0.0:0")
        port = address.rsplit(":", 1)[1]
        nodes = [host.start("ezmsg-node", "sink", "T", env={"EZMSG_GRAPHSERVER_ADDR": f"127.0.0.{n + 1}:{port}"},
                            before=NOBODY) for n in range(64)]
        for node in nodes:
            assert json.loads(node.line() or "{}").get("type") == "ready", node.stderr()
        _, own = host.foreign()
        host.node(own, "sink", "T")
        assert host.doctor("graph")["text"] == f"{own}, the only one that was found here", host.doctor("graph")


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


def by_a_linked_folder():
    """A folder for marks that is a link to another one is none."""
    with Alone() as host:
        _, address = host.serve()
        assert host.output("ezprof", "graph").returncode == 0
        host.run("sh", "-ec", "mv /run/ezprof /tmp/elsewhere; ln -s /tmp/elsewhere /tmp/ezprof-0")
        result = host.output("ezprof", "graph")
        assert result.returncode == 1 and address not in result.stderr, result
        host.run("sh", "-ec", "rm /tmp/ezprof-0; mv /tmp/elsewhere /tmp/ezprof-0")
        assert host.output("ezprof", "graph").returncode == 0


def main():
    require("bpf")
    require_namespaces()
    for name in ("SUDO_UID", "EZMSG_GRAPHSERVER_ADDR", "EZPROF_HELLO"):
        os.environ.pop(name, None)
    for story in (by_its_processes, by_an_agent_alone, of_several, stays, of_another_user,
                  of_another_user_at_the_usual_address, by_a_false_word, by_many_false_words, by_a_false_mark,
                  by_a_linked_folder):
        story()
        print(f"{story.__name__}: ok", flush=True)


main()
