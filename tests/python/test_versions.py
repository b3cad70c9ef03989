# SPDX-License-Identifier: MIT
"""Every release that is known: counts to the message and byte on every transport, in both modes."""

import os
import pickle
import socket
import sys

import environment
import harness
import registry
from require import require

LOWLEVEL = harness.HERE / "lowlevel.py"
COUNT = 1007


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def marshalled():
    return sum(26 + len(pickle.dumps(b"x" * (i % 100), 5)) for i in range(COUNT))


class Nodes:
    """Server, source and sink in one folder."""

    def __init__(self, python, mode="", roles=("source", "sink")):
        self.address = f"127.0.0.1:{free_port()}"
        self.server = harness.Program(python, LOWLEVEL, "serve", "FOLDER", self.address, COUNT,
                                      probes=False)
        self.server.wait_for("server-up")
        env = {"EZPROF_SEAMS": mode} if mode else {}
        self.nodes = {}
        for role in roles:
            self.nodes[role] = harness.Program(python, LOWLEVEL, role, self.server.folder,
                                               self.address, COUNT, **env)
            self.server.wait_for(f"{role}-up")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in (*self.nodes.values(), self.server):
            program.__exit__()

    def go(self, *names):
        self.server.touch("go")
        for name in names:
            self.server.wait_for(f"{name}.json")
        return {name: self.server.facts(name) for name in names}

    def finish(self):
        """
        Subscribers before publishers, and the server last: a subscriber of ezmsg's that closes
        while its publisher leaves may wait for ever (its close() cancels Channel.wait_closed(),
        which swallows that), with probes or without.
        """
        for role in sorted(self.nodes):
            self.server.touch(f"stop-{role}")
            self.nodes[role].finish()
        self.server.touch("stop")
        for program in self.nodes.values():
            assert "Traceback" not in program.text(), program.text()
            assert "ezmsg_usdt:" not in program.text(), program.text()


def check_transports(version, mode):
    python = environment.ensure(version)
    plain = sum(i % 100 for i in range(COUNT))
    with Nodes(python, mode) as graph, \
            harness.Agent(*(p.pid for p in graph.nodes.values())) as agent:
        facts = graph.go("source", "sink")
        assert facts["source"]["bytes"] == facts["sink"]["shm"][1] == plain
        entries = registry.read(graph.nodes["source"].pid)
        document = agent.profile(4.0, graph.address)
        assert entries.graph_address == graph.address
        assert document.data["lost"] == 0 and not document.data["errors"]
        for topic, transport, size in (("LOCAL", "local", plain), ("SHM", "shm", marshalled()),
                                       ("TCP", "tcp", marshalled())):
            publisher = document.publishers[topic]
            for found in (publisher["measured"], {k: publisher[k]["total"]
                                                  for k in ("messages", "bytes")}):
                assert found == {"messages": COUNT, "bytes": size}, (version, topic, found, size)
            reader = document.subscriber(topic)
            assert reader["messages"]["total"] == reader["measured"]["messages"] == COUNT, reader
            assert reader["bytes"]["total"] == size, (topic, reader["bytes"], size)
            used = {link["transport"] for link in publisher["links"] if link["samples"]}
            assert transport in used, (topic, publisher["links"])
            assert reader["in_flight"] == 0 and publisher["backpressure"]["in_flight"] == 0
            assert reader["unmatched"] == 0, reader
        assert document.subscriber("LOCAL")["handle"] == "near"
        assert document.subscriber("SHM")["handle"] == "far"
        assert document.subscriber("TCP")["handle"] == "TCP"
        assert document.subscriber("SHM")["processing"]["samples"] == COUNT
        # The last one's callback ends with the next recv(), which never comes.
        assert document.subscriber("TCP")["processing"]["samples"] == COUNT - 1
        graph.finish()
        assert agent.stop() == 0


def check_sync(version):
    with Nodes(environment.ensure(version), roles=("sync",)) as graph, \
            harness.Agent(graph.nodes["sync"].pid) as agent:
        graph.go("sync")
        document = agent.profile(4.0, graph.address)
        assert document.publishers["SYNC"]["measured"] == {"messages": COUNT, "bytes": 10 * COUNT}
        assert document.subscriber("SYNC")["measured"]["messages"] == COUNT
        graph.finish()


def test_transports():
    for version in environment.VERSIONS:
        for mode in ("", "wrap"):
            check_transports(version, mode)
            print(f"     {version} {mode or 'replace'}", flush=True)


def test_sync_api():
    check_sync("3.9.0")
    check_sync("3.10.0b5")


TESTS = (test_transports, test_sync_api)

if __name__ == "__main__":
    require("bpf")
    sys.exit(harness.run_tests(TESTS))
