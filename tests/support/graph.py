# SPDX-License-Identifier: MIT
"""A graph of our own programs for tests: server and nodes on ephemeral ports, ended by their pids."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import time

BIN = os.environ.get("EZPROF_BIN_DIR", "")
# Limits of time are this many times as long where the machine is emulated, with other work beside it.
PATIENCE = 5 if os.environ.get("EZPROF_TEST_EMULATED") else 1


def wait_until(condition, seconds=20, what="the condition"):
    """The condition's first true value; a bounded wait."""
    end = time.monotonic() + seconds * PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(f"{what}: not within {seconds * PATIENCE} s")


def cpu_s(process):
    """What it has computed so far: other work on the machine doesn't make it more."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Program:
    """A child whose stdout is read by line; ended and reaped at the latest by its graph."""

    def __init__(self, arguments, env=None):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env={**os.environ, **(env or {})})
        self.pid = self.process.pid

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def stop(self, signum=signal.SIGTERM, seconds=20):
        """Ends it; what it still wrote on stdout."""
        if self.process.poll() is None:
            self.process.send_signal(signum)
        try:
            rest, _ = self.process.communicate(timeout=seconds * PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return rest or ""

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read()


def end_all(programs):
    """The last one first; who doesn't end in time is killed."""
    for program in reversed(programs):
        if program.process.poll() is None:
            program.process.terminate()
    for program in reversed(programs):
        try:
            program.process.communicate(timeout=20 * PATIENCE)
        except subprocess.TimeoutExpired:
            program.process.kill()
            program.process.communicate()


class Graph:
    """with Graph() as g: g.node("source", "T", "--count", 5)"""

    def __init__(self, *server_arguments):
        self.programs = []
        self.server = self._start([os.path.join(BIN, "ezprof-graphserver"), "--address",
                                   "127.0.0.1:0", *server_arguments])
        self.address = self.server.line()

    def _start(self, arguments, env=None):
        program = Program([str(a) for a in arguments], env)
        self.programs.append(program)
        return program

    def program(self, *arguments, env=None):
        """Any program, with the graph's address in its environment."""
        return self._start(arguments, {"EZMSG_GRAPHSERVER_ADDR": self.address, **(env or {})})

    def node(self, *arguments):
        """An ezmsg-node that has said that it is ready."""
        node = self.program(os.path.join(BIN, "ezmsg-node"), *arguments)
        line = node.line()
        assert json.loads(line or "{}").get("type") == "ready", (line, node.stderr())
        return node

    def sync(self, seconds=30):
        """Pauses all publishers; returns when every message has been released."""
        host, port = self.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=seconds) as server:
            server.sendall(b"\x07")
            greeting = b""
            while len(greeting) < 8 or len(greeting) < 9 + int.from_bytes(greeting[:8], "little"):
                part = server.recv(64)
                assert part, "the server closed the connection"
                greeting += part
            assert greeting[-1:] == b"\0", greeting

    @staticmethod
    def sent(node):
        """Waits until a source with --count has sent everything."""
        assert json.loads(node.line() or "{}").get("type") == "sent", node.stderr()

    @staticmethod
    def counts(node):
        """Ends a node; what it counted, as objects."""
        objects = [json.loads(line) for line in node.stop().splitlines()]
        return [o for o in objects if o["type"] in ("publisher", "subscriber")]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end_all(self.programs)
