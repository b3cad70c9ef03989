# SPDX-License-Identifier: MIT
"""`ezprof graph --live` and `--compact`: what is measured stands on nodes and edges."""
import json
import re
import shutil
import subprocess
import time

from agent import Agent, command
from graph import Graph
from graph_client import Server
from require import require

ODD = 'SYS/"odd"\n</script>/OUT'


def graph(address, *options):
    done = command("ezprof", "graph", "--address", address, *options)
    assert done.returncode == 0 and done.stderr == "", (done.returncode, done.stderr)
    return done.stdout


def numbers(address):
    drawn = json.loads(graph(address, "--live", "--format", "json"))
    nodes = {n["name"]: n for n in drawn["nodes"]}
    assert set(nodes) == {"ONE/OUT", ODD, "flt", "sink"}, nodes
    sink, relay = nodes["sink"], nodes["flt"]
    assert 15 <= sink["process_avg_ms"] <= 200 and relay["process_avg_ms"] < sink["process_avg_ms"]
    assert nodes["ONE/OUT"]["blocked_share"] > 0.1 and nodes[ODD]["rate_hz"] > 1, nodes
    edges = {(e["from"], e["to"]): e for e in drawn["edges"]}
    assert set(edges) == {("ONE/OUT", "flt"), ("flt", ODD), (ODD, "sink")}, edges
    assert edges[ODD, "sink"]["transport"] == "shm" and edges[ODD, "sink"]["queue_avg_ms"] > 5
    assert edges["flt", ODD]["inferred"] is True


def texts(address):
    lines = graph(address, "--live").splitlines()
    assert len(lines) == 4 + 3 and not any(ord(c) < 32 for line in lines for c in line), lines
    assert [line for line in lines if re.match(r"^sink \[\S+ ms each, busy \S+ %\]$", line)], lines
    assert [line for line in lines if line.startswith("flt ~> SYS/")], lines
    dot = graph(address, "--live", "--format", "dot")
    assert dot.count("fillcolor") == 4 and dot.count(" -> ") == 3 and "style=dotted" in dot, dot
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tplain"], input=dot, text=True, check=True,
                       stdout=subprocess.DEVNULL)
    mermaid = graph(address, "--live", "--format", "mermaid")
    assert "</script>" not in mermaid and mermaid.count("style n") == 4, mermaid
    assert mermaid.count("-->|") == 2 and mermaid.count("-.->") == 1, mermaid


def compact(address):
    drawn = json.loads(graph(address, "--live", "--compact", "--format", "json"))
    assert {n["name"] for n in drawn["nodes"]} == {"ONE", ODD.rsplit("/", 1)[0], "flt", "sink"}


def edges_without_anybody():
    """What the server alone knows is drawn without figures, and compacted too."""
    with Server() as server:
        for edge in (("SYS/A/OUT", "SYS/B/IN"), ("SYS/B/OUT", "SYS/C/IN"), ("SYS/B/LOOP", "SYS/B/IN")):
            server.connect(*edge)
        assert graph(server.address, "--compact").splitlines() == \
            ["SYS/A -> SYS/B", "SYS/B -> SYS/C"]
        live = command("ezprof", "graph", "--live", "--address", server.address)
        assert live.returncode == 0 and "SYS/A/OUT -> SYS/B/IN\n" in live.stdout, live


def subscriber_with_two_inputs():
    """It is one node, at which both edges arrive."""
    with Graph() as g:
        pair = g.node("sink", "IN", "--work-ms", 1, "--handle", "pair")
        sources = [g.node("source", "IN", "--rate", 50) for _ in range(2)]
        with Agent(pair.pid, *(source.pid for source in sources)):
            time.sleep(1.0)
            drawn = json.loads(graph(g.address, "--live", "--format", "json"))
        nodes = sorted(n["name"].split(" ")[0] for n in drawn["nodes"])
        assert nodes == ["IN", "IN", "pair"], drawn
        assert [e["to"] for e in drawn["edges"]] == ["pair", "pair"], drawn
    print("subscriber_with_two_inputs: ok", flush=True)


def main():
    require("bpf")
    edges_without_anybody()
    subscriber_with_two_inputs()
    with Graph() as g:
        sink = g.node("sink", ODD, "--work-ms", 20, "--handle", "sink")
        relay = g.node("relay", "ONE/OUT", ODD, "--handle", "flt")
        source = g.node("source", "ONE/OUT", "--rate", 200, "--wait-channels", 2)
        with Agent(sink.pid, relay.pid, source.pid):
            time.sleep(2.0)
            for story in (numbers, texts, compact):
                story(g.address)
                print(f"{story.__name__}: ok", flush=True)


main()
