# SPDX-License-Identifier: MIT
"""`ezprof graph`: every edge in every format, whatever the topics are called."""
import json
import os
import shutil
import subprocess

from graph_client import COMPLETE, Server, run_tests

ODD = ['a"b', "a\\b", "line\nbreak", "tab\tand\x01", "\N{SNAKE}", "</script>", "", "x", "x "]


def ezprof_graph(server, *arguments):
    program = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")
    return subprocess.run([program, "graph", "--address", server if isinstance(server, str) else server.address,
                           *arguments], capture_output=True, text=True, timeout=10)


def printed(server, *arguments):
    result = ezprof_graph(server, *arguments)
    assert result.returncode == 0 and result.stderr == "", result
    return result.stdout


def test_formats():
    with Server() as server:
        assert printed(server) == ""
        assert json.loads(printed(server, "--format", "json")) == {"topics": [], "edges": []}
        for edge in (("SRC", "MID"), ("MID", "DST"), ("SRC", "DST")):
            assert server.connect(*edge) == COMPLETE
        assert sorted(printed(server).splitlines()) == ["MID -> DST", "SRC -> DST", "SRC -> MID"]
        mermaid = printed(server, "--format", "mermaid").splitlines()
        assert mermaid[0] == "flowchart LR"
        names = dict(line.strip().removesuffix('"]').split('["') for line in mermaid if "[" in line)
        edges = [line.strip().split(" --> ") for line in mermaid if "-->" in line]
        assert sorted((names[a], names[b]) for a, b in edges) == [("MID", "DST"), ("SRC", "DST"), ("SRC", "MID")]
        assert printed(server, "--format", "dot").count(" -> ") == 3


def test_odd_names():
    with Server() as server:
        for name in ODD:
            assert server.connect("SRC", name) == COMPLETE
        document = json.loads(printed(server, "-f", "json"))
        assert sorted(document["topics"]) == sorted(ODD + ["SRC"])
        assert sorted(edge["to"] for edge in document["edges"]) == sorted(ODD)
        lines = printed(server).splitlines()
        assert len(lines) == len(set(lines)) == len(ODD)
        assert not any(ord(c) < 32 for line in lines for c in line)
        dot = printed(server, "-f", "dot")
        assert dot.count("label=") == len(ODD) + 1
        if shutil.which("dot"):
            subprocess.run(["dot", "-Tplain"], input=dot, text=True, check=True, stdout=subprocess.DEVNULL)
        mermaid = printed(server, "-f", "mermaid")
        assert "</script>" not in mermaid and mermaid.count("-->") == len(ODD)


def test_failures():
    with Server() as server:
        result = ezprof_graph(server, "--format", "svg")
        assert result.returncode == 2 and "svg" in result.stderr
        address = server.address
    result = ezprof_graph(address)
    assert result.returncode == 1 and address in result.stderr and result.stderr.count("\n") == 1


run_tests(globals())
