# SPDX-License-Identifier: MIT
"""The test's end of ctypes_node.py."""

import json
import os
import subprocess
import sys

from graph import BIN
from preload import preloaded

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = os.path.join(HERE, "ctypes_node.py")
LIBRARY = os.path.join(os.path.dirname(BIN), "lib", "libezmsg.so")


class Node:
    """A Python process of its own that is told what to load, open and publish."""

    def __init__(self, graph, *prefix):
        self.process = subprocess.Popen([*prefix, sys.executable, NODE], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env=preloaded({**os.environ, "EZMSG_GRAPHSERVER_ADDR": graph.address}))
        self.pid = self.process.pid
        assert self.answer() == "ready"

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def send(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def do(self, *words):
        self.send(*words)
        return self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
