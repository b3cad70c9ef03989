# SPDX-License-Identifier: MIT
"""Who is measured besides the named processes, and what becomes instrumented after the attach."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from agent import Agent, command, profile, publisher, wait_until
from elf_sites import semaphores
from graph import BIN, PATIENCE, Graph
from python_node import LIBRARY, NODE, Node
from require import require

def measured(document, topic):
    return publisher(document, topic)["measured"]["messages"]


def has(agent, topic):
    """It is there, and its first whole bucket has begun."""
    return any(p["topic"] == topic and p["window"]["covered_s"]
               for p in agent.ask(0.5)["publishers"])


def check(agent, node, topic, count=1009, tell=()):
    """All that is published from now on is counted, exactly; nothing is lost."""
    wait_until(lambda: has(agent, topic), 15, f"{topic} is measured")
    before = measured(agent.ask(), topic)
    node.do(*tell, "publish", topic, count)
    found = publisher(agent.ask(), topic)
    assert found["measured"]["messages"] == before + count, (found, before)
    assert found["lost"] == 0, found
    return found


def late_libraries():
    """A library loaded after the attach; another copy of it; one that is only in memory."""
    with Graph() as graph, Node(graph) as node, tempfile.TemporaryDirectory() as folder:
        node.do("load", LIBRARY)
        with Agent(node.pid) as agent:
            node.do("open", "FIRST")
            check(agent, node, "FIRST")
            second = os.path.join(folder, "libother.so")
            shutil.copy(LIBRARY, second)
            node.do("load", second)
            node.do("open", "SECOND")
            check(agent, node, "SECOND")
            os.remove(second)
            node.do("memfd", LIBRARY)
            node.do("open", "THIRD")
            check(agent, node, "THIRD")
            assert measured(agent.ask(), "FIRST") == 1009
            assert agent.ask()["agents"][0]["losses"]["not_a_target"] == 0
            with Agent(node.pid) as late:
                assert len(late.ask()["publishers"]) == 3
                for topic in ("FIRST", "SECOND", "THIRD"):
                    check(late, node, topic, 11)


def exec_named():
    """A named process that executes the same program, another one, and at last none of ours."""
    with Graph() as graph, Node(graph) as node:
        node.do("load", LIBRARY)
        node.do("open", "BEFORE")
        with Agent(node.pid) as agent:
            check(agent, node, "BEFORE")
            assert node.do("exec", sys.executable, NODE) == "ready"
            node.do("load", LIBRARY)
            node.do("open", "AFTER")
            check(agent, node, "AFTER")
            assert not has(agent, "BEFORE")
            node.send("exec", "sleep", "1.5")
            wait_until(lambda: agent.said("no process is left"), 10, "the end")
            agent.process.wait(10 * PATIENCE)
            assert agent.process.returncode == 0, agent.stderr()


def children():
    """Children of before and after the attach, a grandchild, one that executes; nobody else."""
    with Graph() as graph, Node(graph) as node, Node(graph) as stranger:
        stranger.do("load", LIBRARY)
        stranger.do("open", "STRANGER")
        first = node.do("spawn")
        with Agent("--children", node.pid) as agent:
            assert agent.said("waiting for one")
            assert agent.said(f"process {node.pid}: has no ezprof probes: searched "), agent.stderr()
            assert agent.said("a Python program is to be started by: ezprof run -- python ..."), agent.stderr()
            node.do("tell", "load", LIBRARY)
            node.do("tell", "open", "OLD")
            found = check(agent, node, "OLD", tell=("tell",))
            assert found["pid"] == first
            second = node.do("spawn")
            node.do("tell", "load", LIBRARY)
            node.do("tell", "open", "YOUNG")
            assert check(agent, node, "YOUNG", tell=("tell",))["pid"] == second
            node.do("tell", "spawn")
            node.do("tell", "tell", "load", LIBRARY)
            node.do("tell", "tell", "open", "GRANDCHILD")
            check(agent, node, "GRANDCHILD", tell=("tell", "tell"))
            node.do("load", LIBRARY)
            node.do("open", "ROOT")
            check(agent, node, "ROOT")
            # Its first message of a later bucket hands the earlier one over.
            stranger.do("publish", "STRANGER", 17)
            time.sleep(0.2)
            stranger.do("publish", "STRANGER", 1)
            document = agent.ask()
            assert {p["topic"] for p in document["publishers"]} == {"OLD", "YOUNG", "GRANDCHILD",
                                                                    "ROOT"}
            assert document["agents"][0]["losses"]["not_a_target"] >= 1


def by_graph():
    """Every process of one graph, those of now and those to come; none of another."""
    with Graph() as graph, Graph() as other:
        result = command("ezprof-bpf", "attach", "--graph", graph.address, "--once")
        assert result.returncode == 4 and graph.address in result.stderr, result
        graph.node("source", "NOW", "--rate", 100)
        strange = other.node("source", "ELSEWHERE", "--rate", 100)
        with Agent("--graph", graph.address) as agent:
            assert has(agent, "NOW") and not has(agent, "ELSEWHERE")
            graph.node("source", "LATER", "--rate", 100)
            wait_until(lambda: has(agent, "LATER"), 15, "the new process")
            time.sleep(0.6)
            document = agent.ask(0.5)
            assert {p["topic"] for p in document["publishers"]} == {"NOW", "LATER"}
            for topic in ("NOW", "LATER"):
                assert publisher(document, topic)["lost"] == 0
            assert strange.pid not in {a["pid"] for a in document["agents"][0]["attached"]}
            agent.stop(signal.SIGINT)
            assert agent.process.returncode == 0
        wait_until(lambda: not any(semaphores(strange.pid).values()), 10, "semaphores down")


def marks_of_others():
    """The agent is nobody by the time it meets a graph whose mark only its owner may read."""
    other = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", "env",
             "-u", "XDG_RUNTIME_DIR"]
    with Graph() as graph, Agent("--all") as agent:
        server = graph.program(*other, os.path.join(BIN, "ezprof-graphserver"), "--address",
                               "127.0.0.1:0")
        address = server.line()
        node = graph.program(*other, os.path.join(BIN, "ezmsg-node"), "source", "OTHERS", "--rate",
                             100, "--address", address)
        assert "ready" in node.line(), node.stderr()
        wait_until(lambda: agent.said(f"{address}: registered"), 15, "registered")
        assert measured(profile(address, 0.5), "OTHERS") >= 0
    shutil.rmtree("/tmp/ezprof-12345", ignore_errors=True)


def everything():
    with Graph() as graph, Graph() as other, Agent("--all") as agent:
        graph.node("source", "ONE", "--rate", 100)
        other.node("source", "TWO", "--rate", 100)
        wait_until(lambda: has(agent, "ONE") and has(agent, "TWO"), 15, "both graphs")
    result = command("ezprof-bpf", "attach")
    assert result.returncode == 2 and "--all" in result.stderr


def churn():
    """Short-lived children, one after the other: each is counted as itself or not at all."""
    with Graph() as graph, Node(graph) as node:
        node.do("load", LIBRARY)
        node.do("open", "PARENT")
        with Agent("--children", node.pid) as agent:
            wait_until(lambda: has(agent, "PARENT"), 15, "the parent")
            before = measured(agent.ask(), "PARENT")
            assert node.do("fork", "PARENT", 40, 20) == 0
            found = publisher(agent.ask(), "PARENT")
            assert found["measured"]["messages"] == before + 40 and found["lost"] == 0, found
            assert len(agent.ask()["publishers"]) == 1


def named_without_probes():
    """However many files each maps, it is one cause, and each counts."""
    programs = [["sleep", "60"]] * 9 + [[sys.executable, "-c", "input()"]]
    processes = [subprocess.Popen(program, stdin=subprocess.PIPE) for program in programs]
    try:
        with Agent("--children", *(process.pid for process in processes)) as agent:
            assert agent.said("waiting for one")
            told = [line for line in agent.stderr().splitlines() if "has no ezprof probes" in line]
            assert len(told) == 1 and " and 2 more: " in told[0], told
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def main():
    require("bpf")
    for story in (late_libraries, exec_named, children, named_without_probes, by_graph,
                  marks_of_others, everything, churn):
        began = time.monotonic()
        story()
        print(f"{story.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)


main()
