# SPDX-License-Identifier: MIT
"""The scripts of docs/bpftrace/ on the graph of cookbook_graph.py: what they print, and the truth."""

import os
import shutil
import tempfile
import time
from pathlib import Path

import cookbook
import cookbook_checks as checks
from agent import Agent, messages_of
from cookbook import Script, run_all, wait_for_reports, wait_until_left_alone
from cookbook_graph import Nodes, Truth
from graph import BIN, Graph
from recording import Recorder, Recording

SECONDS = 2
# These ask how processes belong together, or of what a relay by itself doesn't do.
OF_ALL_PROCESSES = ("blockers", "latency")
ARGUMENTS = {"held": (checks.LIMIT_HELD_MS,), "percentiles": ("worker-slow",)}
# What else is asked of a script: label -> its name, arguments, edits.
BESIDE = {"percentiles_of_all": ("percentiles", (), ()),
          "missed_late": ("missed", (), (("publish\n", "publish /arg1 >= 100/\n"),)),
          "missed_with_loss": ("missed", (), (("publish\n", "publish /arg1 % 10 != 9/\n"),))}


def own_library(folder):
    """Programs that start from now on map a copy, so that no others on the machine are "all processes"."""
    for path in Path(BIN).parent.glob("lib/libezmsg.so*"):
        shutil.copy2(path, folder, follow_symlinks=False)
    os.environ["LD_LIBRARY_PATH"] = folder


def library_of(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "/libezmsg.so" in line)


def story(start, listened_to):
    """
    A graph's life, recorded, while the scripts run that start(nodes) starts: what they print, and the truth
    of those processes whose pids listened_to(nodes) gives.
    """
    with tempfile.TemporaryDirectory() as folder, Graph() as graph:
        own_library(folder)
        nodes, path = Nodes(graph), os.path.join(folder, "recording.json")
        of_the_beginning = nodes.pids()
        with Agent("--graph", graph.address) as agent, \
                Recorder("--address", graph.address, "-o", path) as recorder:
            assert all(agent.said(f"process {pid} (ezmsg-node)") for pid in of_the_beginning), messages_of(agent)
            scripts = start(nodes)

            def meanwhile():
                nodes.go()
                wait_for_reports(scripts)

            outputs = run_all(scripts, nodes.nodes["worker-slow"].pid, meanwhile)
            status, _ = recorder.end()
            assert status == 0, messages_of(recorder)
        wait_until_left_alone(*of_the_beginning)
        for name in list(nodes.nodes):
            nodes.stop(name)
        recording = Recording(path)
        assert recording.about["lost"] == 0, recording.about
        return outputs, Truth(nodes, recording, listened_to(nodes))


def by_path(mutants=None):
    """All scripts, or those that are made wrong: {label: edits}."""
    def start(nodes):
        path = library_of(nodes.nodes["samples"].pid)
        every = {name: (name, ARGUMENTS.get(name, ()), ()) for name in cookbook.SCRIPTS} | BESIDE
        return [Script(name, 0, path, *arguments, label=label, edits=(*edits, *(mutants or {}).get(label, ())))
                for label, (name, arguments, edits) in every.items() if mutants is None or label in mutants]
    return story(start, lambda nodes: None)


def by_pid():
    """The slow worker alone."""
    def start(nodes):
        pid = nodes.nodes["worker-slow"].pid
        return [Script(name, 0, "", *ARGUMENTS.get(name, ()), pid=pid) for name in cookbook.SCRIPTS
                if name not in OF_ALL_PROCESSES]
    return story(start, lambda nodes: [nodes.nodes["worker-slow"].pid])


def as_documented():
    """Without any argument until Ctrl-C, and with a time and a file until they end by themselves."""
    with tempfile.TemporaryDirectory() as folder, Graph() as graph:
        own_library(folder)
        source = graph.node("source", "T", "--rate", 50, "--monitor", "--wait-channels", 1)
        bare = [Script(name, pid=source.pid) for name in cookbook.SCRIPTS if name not in OF_ALL_PROCESSES]
        run_all(bare, source.pid, lambda: wait_for_reports(bare))
        began = time.monotonic()
        timed = [Script(name, SECONDS, library_of(source.pid)) for name in cookbook.SCRIPTS]
        try:
            for script in timed:
                script.finish()
                assert time.monotonic() - began >= SECONDS, script.name
        finally:
            for script in timed:
                script.kill()
        wait_until_left_alone(source.pid)


CHECKS = {label: getattr(checks, label) for label in (*cookbook.SCRIPTS, *BESIDE)}
