# SPDX-License-Identifier: MIT
"""A graph server of ours as a context manager, and a client that speaks its protocol byte by byte.

Written from the description of the protocol, apart from the C code on purpose: the two check each other.
"""
import json
import os
import select
import signal
import socket
import struct
import subprocess
import time

COMPLETE, PUBLISH, SUBSCRIBE, CONNECT, DISCONNECT, CYCLIC, PAUSE, SYNC, RESUME, UPDATE, DAG = range(11)
TX_SHM, TX_TCP, RX_ACK, SHM_CREATE, SHM_ATTACH, SHUTDOWN, CHANNEL, SHM_OK = range(12, 20)
SESSION = PROFILE = 0x15
SESSION_CONNECT = PROFILE_DATA = 0x16
HELLO = 0xE0
WAIT_S = 10


def u64(value):
    return struct.pack("<Q", value)


def string(text):
    data = text.encode() if isinstance(text, str) else text
    return u64(len(data)) + data


class Closed(Exception):
    """The server closed the connection."""


class Link:
    """One connection to a graph server; its greeting is read and kept."""

    def __init__(self, address, greet=True):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host.strip("[]"), int(port)), timeout=WAIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.version = self.read_str().decode() if greet else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, *parts):
        self.socket.sendall(b"".join(bytes([p]) if isinstance(p, int) else p for p in parts))

    def read(self, count):
        data = b""
        while len(data) < count:
            try:
                piece = self.socket.recv(min(count - len(data), 1 << 20))
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise Closed(data)
            data += piece
        return data

    def read_u8(self):
        return self.read(1)[0]

    def read_u64(self):
        return struct.unpack("<Q", self.read(8))[0]

    def read_str(self):
        return self.read(self.read_u64())

    def expect(self, *values):
        got = [self.read_u8() for _ in values]
        assert got == list(values), f"expected {values}, got {got}"

    def expect_closed(self):
        """Nothing more comes but the end."""
        try:
            data = self.socket.recv(1)
        except ConnectionResetError:
            data = b""
        assert data == b"", data

    def is_silent(self, seconds=0.15):
        return not select.select([self.socket], [], [], seconds)[0]

    def read_update(self):
        self.expect(UPDATE)
        text = self.read_str().decode()
        return text.split(",") if text else []

    def confirm(self):
        self.send(COMPLETE)


class Server:
    """ezprof-graphserver on a free port; ended by its own process id."""

    def __init__(self, *arguments, env=None, address="127.0.0.1:0", log="info"):
        program = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof-graphserver")
        self.process = subprocess.Popen(
            [program, "--address", address, "--log-level", log, *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**os.environ, **(env or {})})
        self.address = self.process.stdout.readline().decode().strip()
        self.log = None
        assert self.address, self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        if self.process.returncode is None:
            status = self.stop()
            # A sanitizer or a leak checker has its say here.
            assert failure or status == 0, f"the server ended with {status}: {self.log}"

    def stop(self, number=signal.SIGTERM):
        """Ends the server; returns its exit status. What it said is in self.log then."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self):
        _, error = self.process.communicate(timeout=WAIT_S)
        self.log = error.decode()
        return self.process.returncode

    def link(self):
        return Link(self.address)

    def connect(self, source, target, command=CONNECT):
        with self.link() as link:
            link.send(command, string(source), string(target))
            answer = link.read_u8()
            link.expect_closed()
            return answer

    def publisher(self, topic, port=1, mark=False):
        """The link of a publisher that nobody can connect to, up to its COMPLETE."""
        link = self.link()
        link.send(PUBLISH, string(topic))
        link.id = link.read_str().decode()
        link.send(string(f"127.0.0.1:{port}"))
        link.expect(COMPLETE)
        if mark:
            link.send(PROFILE_DATA, string(json.dumps({"type": "hello", "program": "test", "pid": 4242})))
        return link

    def publisher_into(self, topic, subscriber):
        """A publisher whose COMPLETE waits for this subscriber's confirmation."""
        link = self.link()
        link.send(PUBLISH, string(topic))
        link.id = link.read_str().decode()
        link.send(string("127.0.0.1:1"))
        subscriber.publishers = subscriber.read_update()
        subscriber.confirm()
        link.expect(COMPLETE)
        return link

    def subscriber(self, topic):
        link = self.link()
        link.send(SUBSCRIBE, string(topic))
        link.id = link.read_str().decode()
        link.publishers = link.read_update()
        link.confirm()
        # Others may join meanwhile, each with an UPDATE of its own.
        while (command := link.read_u8()) != COMPLETE:
            assert command == UPDATE, command
            text = link.read_str().decode()
            link.publishers = text.split(",") if text else []
            link.confirm()
        return link

    def channel(self, publisher_id, mark=False):
        link = self.link()
        link.send(CHANNEL, string(publisher_id))
        link.expect(COMPLETE)
        link.id = link.read_str().decode()
        link.publisher_address = link.read_str().decode()
        if mark:
            link.send(PROFILE_DATA, string(json.dumps({"type": "hello", "program": "test", "pid": 4243})))
        return link

    def hello(self, role, **more):
        link = self.link()
        link.send(HELLO, string(json.dumps({"program": "test", "version": "1", "role": role, **more})))
        link.expect(HELLO)
        link.server = json.loads(link.read_str())
        return link

    def segment(self, num_buffers=4, buffer_bytes=1024):
        link = self.link()
        link.send(SHM_CREATE, u64(num_buffers), u64(buffer_bytes))
        link.expect(COMPLETE)
        link.name = link.read_str().decode()
        return link

    def profile(self, window_ms=2000):
        """The document, asked for as ezmsg's branch does."""
        with self.link() as link:
            link.send(PROFILE, u64(window_ms))
            return read_profile(link)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def read_profile(link):
    link.expect(PROFILE_DATA)
    document = json.loads(link.read_str())
    link.expect(COMPLETE)
    return document


def eventually(condition, seconds=WAIT_S):
    """Waits for something that another process does soon."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def run_tests(names):
    """Runs all functions test_... of a module's globals."""
    for name, function in list(names.items()):
        if name.startswith("test_"):
            start = time.monotonic()
            function()
            print(f"{name}: ok, {time.monotonic() - start:.2f} s", flush=True)
