# SPDX-License-Identifier: MIT
"""`ezprof top` on a graph that is measured: the culprit is on the screen, and it is the README's."""
import os
import re
import sys

from agent import Agent
from graph import BIN, Graph
from require import require
from vt_screen import Terminal


def readme():
    """The lines of the README's screen."""
    path = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "README.md")
    with open(path, encoding="utf-8") as file:
        found = re.search(r"(?s)`ezprof top` on that graph.*?```\n(.*?)```\n", file.read())
    assert found, "the README shows no screen any more"
    return found.group(1).splitlines()


def words(line):
    """What of a line is no figure, no bar and no trend, all of which change."""
    return [word for word in line.split() if not re.search("[0-9▁▂▃▄▅▆▇█░#]", word)]


def rows(text):
    """(mark, publisher, subscriber, rest)"""
    return re.findall(r"(?m)^[ >]([-!>~ ]) (\S+) +(\S+) +\d.*? (\w*)$", text)


def shows_culprit(text):
    return ("!", "samples", "worker-slow", "slow") in rows(text) and len(rows(text)) == 5


def is_like_readme(text):
    """A moment's screen: on a busy machine others have a state for a while, and rank higher."""
    shown, lines = [words(line) for line in text.splitlines()], readme()
    # The sentence is wrapped where its figures let it.
    heading = next(i for i, line in enumerate(lines) if line.endswith("process v"))
    edges = sorted(words(line)[-3:-1] for line in lines[heading + 2:-2])
    return all(words(line) in shown for line in lines[heading:heading + 3]) and \
        edges == sorted(list(row[1:3]) for row in rows(text)) and words(lines[-1]) == shown[-1]


def main():
    require("bpf")
    with Graph() as g:
        source = g.node("source", "samples", "--rate", 250, "--bytes", 4096, "--monitor")
        fast = g.node("relay", "samples", "features/fast", "--work-ms", 0.5, "--handle", "worker-fast", "--tcp")
        slow = g.node("relay", "samples", "features/slow", "--work-ms", 5, "--handle", "worker-slow", "--tcp")
        sink = g.node("sink", "features/fast", "features/slow", "--handle", "sink")
        pids = [node.pid for node in (source, fast, slow, sink)]
        with Agent(*pids, "--address", g.address), \
                Terminal([os.path.join(BIN, "ezprof"), "top", "--address", g.address]) as terminal:
            terminal.wait_for(shows_culprit, 60)
            # Once all buffers wait for it.
            terminal.wait_for(f"! samples waits for worker-slow on samples (pid {slow.pid}): blocked", 60)
            # Rates over time, and that buffers are used up.
            terminal.wait_for(lambda text: re.search(r"worker-slow +\d+ +[▁-█]{3,} █████ 3[12]/32", text), 60)
            terminal.wait_for(lambda text: shows_culprit(text) and is_like_readme(text), 60)
            terminal.type("q")
            assert terminal.end() == 0 and terminal.modes_are_as_before()
    return 0


sys.exit(main())
