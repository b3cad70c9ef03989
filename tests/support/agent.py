# SPDX-License-Identifier: MIT
"""Agents and their profiles, for end-to-end tests."""

import json
import os
import signal
import subprocess

import profile_schema
from graph import BIN, PATIENCE, Program, wait_until

TEST_BIN = os.environ.get("EZPROF_TEST_BIN_DIR", "")


def messages_of(program):
    """What a program has written on stderr so far. pread: the child shares our file position."""
    return os.pread(program.errors.fileno(), 1 << 20, 0).decode(errors="replace")


def command(*arguments, seconds=60, env=None, **keywords):
    """Runs one of our programs to its end."""
    return subprocess.run([os.path.join(BIN, str(arguments[0])), *map(str, arguments[1:])],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=seconds * PATIENCE, env={**os.environ, **(env or {})}, **keywords)


def checked(text):
    """A document of ours, after the schema check."""
    document = profile_schema.load(text)
    faults = list(profile_schema.check(document, ours=True))
    assert not faults, faults
    return document


def profile(address=None, window=2.0, status=0):
    """`ezprof profile`: the document. status None: 0, or 5, somebody being silent."""
    where = ["--address", address] if address else []
    result = command("ezprof", "profile", "--window", window, *where)
    expected = (0, 5) if status is None else (status,)
    assert result.returncode in expected, (result.returncode, result.stderr)
    return checked(result.stdout)


class Agent(Program):
    """with Agent(pid...) as agent: it is ready; at the end it is interrupted if it still runs."""

    def __init__(self, *arguments, test_hooks=False, env=None, wait=True):
        path = os.path.join(TEST_BIN, "ezprof-bpf-test") if test_hooks else \
            os.path.join(BIN, "ezprof-bpf")
        super().__init__([path, "attach", *map(str, arguments)], env)
        if wait:
            wait_until(lambda: self.said("ready") or self.process.poll() is not None, 30,
                       "the agent is ready")
            assert self.process.poll() is None, messages_of(self)

    def said(self, text):
        return text in messages_of(self)

    def socket_path(self):
        return f"/run/ezprof/agent-{self.pid}.sock"

    def ask(self, window=2.0):
        """The document by its socket."""
        import socket
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(20 * PATIENCE)
            link.connect(self.socket_path())
            link.sendall(b"\x15" + int(window * 1000).to_bytes(8, "little"))
            with link.makefile("rb") as answer:
                head = answer.read(9)
                assert head[:1] == b"\x16", head
                text = answer.read(int.from_bytes(head[1:], "little"))
                assert answer.read(1) == b"\0"
        return checked(text.decode())

    def helper_pid(self):
        """The privileged half."""
        with open(f"/proc/{self.pid}/task/{self.pid}/children") as children:
            return int(children.read().split()[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop(signal.SIGINT)
        self.process.stdout.close()


class Player:
    """probe_player: a process that does what it is told, with the calls of endpoint.h alone."""

    def __init__(self, *prefix):
        self.process = subprocess.Popen([*prefix, os.path.join(TEST_BIN, "probe_player")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def do(self, *words):
        self.start(*words)
        return self.answer()

    def start(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self):
        answer = self.process.stdout.readline().split()
        assert answer[:1] == ["ok"], answer
        return [int(word) for word in answer[1:]]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def publisher(document, topic):
    [found] = [p for p in document["publishers"] if p["topic"] == topic]
    return found


def subscribers(document):
    """{handle: subscriber} over all channels; handles are unique in these tests."""
    found = {}
    for channel in document["channels"]:
        for subscriber in channel["subscribers"]:
            assert subscriber["handle"] not in found, subscriber["handle"]
            found[subscriber["handle"]] = subscriber
    return found


def bpf_programs():
    """Ids of the loaded BPF programs that are ours."""
    text = subprocess.run(["bpftool", "-j", "prog", "list"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return {p["id"] for p in json.loads(text) if p.get("name", "").startswith("ezprof")}
