# SPDX-License-Identifier: MIT
"""`ezprof top` on a graph that is measured: the culprit is on the screen, and it is that of docs/using.md."""
import os
import re
import sys

from agent import Agent
from graph import BIN, Graph
from require import require
from vt_screen import Terminal


def document():
    """Of docs/using.md: the command lines of a graph's nodes, and the lines of the screen."""
    path = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "docs/using.md")
    with open(path, encoding="utf-8") as file:
        found = re.search(r"(?s)```\n((?:ezmsg-node [^\n]* &\n){4})```\n.*?`ezprof top` on that graph.*?```\n(.*?)```\n",
                          file.read())
    assert found, "docs/using.md shows no graph and no screen any more"
    return [line.split()[1:-1] for line in found[1].splitlines()], found[2].splitlines()


NODES, SCREEN = document()


def words(line):
    """What of a line is no figure, no bar and no trend, all of which change."""
    return [word for word in line.split() if not re.search("[0-9▁▂▃▄▅▆▇█░#]", word)]


def rows(text):
    """(mark, publisher, subscriber, rest)"""
    return re.findall(r"(?m)^[ >]([-!>~ ]) (\S+) +(\S+) +\d.*? (\w*)$", text)


def shows_culprit(text):
    return ("!", "samples", "worker-slow", "slow") in rows(text) and len(rows(text)) == 5


def is_like_document(text):
    """A moment's screen: on a busy machine others have a state for a while, and rank higher."""
    shown, lines = [words(line) for line in text.splitlines()], SCREEN
    # The sentence is wrapped where its figures let it.
    heading = next(i for i, line in enumerate(lines) if line.endswith("process v"))
    edges = sorted(words(line)[-3:-1] for line in lines[heading + 2:-2])
    return all(words(line) in shown for line in lines[heading:heading + 3]) and \
        edges == sorted(list(row[1:3]) for row in rows(text)) and words(lines[-1]) == shown[-1]


def main():
    require("bpf")
    with Graph() as g:
        nodes = [g.node(*arguments) for arguments in NODES]
        pids = [node.pid for node in nodes]
        slow = nodes[next(i for i, arguments in enumerate(NODES) if "worker-slow" in arguments)]
        with Agent(*pids, "--address", g.address), \
                Terminal([os.path.join(BIN, "ezprof"), "top", "--address", g.address]) as terminal:
            terminal.wait_for(shows_culprit, 60)
            # Once all buffers wait for it.
            terminal.wait_for(f"! samples waits for worker-slow on samples (pid {slow.pid}): blocked", 60)
            # Rates over time, and that buffers are used up.
            terminal.wait_for(lambda text: re.search(r"worker-slow +\d+ +[▁-█]{3,} █████ 3[12]/32", text), 60)
            terminal.wait_for(lambda text: shows_culprit(text) and is_like_document(text), 60)
            terminal.type("q")
            assert terminal.end() == 0 and terminal.modes_are_as_before()
    return 0


sys.exit(main())
