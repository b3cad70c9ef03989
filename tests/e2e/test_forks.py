# SPDX-License-Identifier: MIT
"""A thousand forks while attached, from Python and by multiprocessing: no child dies, the parent is
exact, children count as themselves or not at all."""

import time

from agent import Agent, publisher
from python_node import LIBRARY, Node
from graph import Graph
from require import require

FORKS = 1000


def forks(graph, how, *options):
    with Node(graph) as node:
        node.do("load", LIBRARY)
        node.do("open", "PARENT")
        with Agent(*options, node.pid) as agent:
            before = publisher(agent.ask(), "PARENT")["measured"]["messages"]
            began = time.monotonic()
            words = (how, "PARENT", FORKS) + ((0,) if how == "fork" else ())
            assert node.do(*words) == 0
            print(f"{FORKS} by {how}: {time.monotonic() - began:.1f} s", flush=True)
            document = agent.ask()
            [found] = [p for p in document["publishers"] if p["pid"] == node.pid]
            assert found["measured"]["messages"] == before + FORKS, (before, found["measured"])
            assert found["lost"] == 0, found
            for other in document["publishers"]:
                assert other["pid"] == node.pid or other["measured"]["messages"] <= 1, other


def main():
    require("bpf")
    with Graph() as graph:
        forks(graph, "fork")
        forks(graph, "pool")
        forks(graph, "pool", "--children")


main()
