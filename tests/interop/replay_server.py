# SPDX-License-Identifier: MIT
"""replay_server.py CAPTURE|FOLDER...: plays recorded clients of ezmsg against our graph server.

Every byte that the recorded server sent must come from ours, per connection and in order, ids, names of
segments and ports aside; and an id that stood for another one does so throughout. One difference is wanted:
when a publisher leaves, ours tells the subscribers downstream of it.
"""
import glob
import json
import os
import re
import select
import socket
import sys

from graph_client import COMPLETE, UPDATE, WAIT_S, Server, string

# What the recorded server chose at random; and the proxy's ports in front of the publishers' own.
CHOSEN = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|psm_[0-9a-f]{8}")
PROXY_PORT = re.compile(rb"127\.0\.0\.1:27(\d{3})")


class Mismatch(Exception):
    pass


class Connection:
    """One connection to the graph server, played."""

    def __init__(self, replay, name):
        self.replay = replay
        self.name = name
        self.request = name.split(":")[1]
        host, port = replay.server.address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=WAIT_S)
        self.recorded = b""  # all that the recorded server sent, as ours should
        self.left = False   # the recorded client
        self.ended = False  # our server

    def receive(self, recorded):
        expected = self.replay.expected(recorded)
        got = b""
        while len(got) < len(expected):
            try:
                piece = self.socket.recv(len(expected) - len(got))
            except TimeoutError:
                piece = b""
            if not piece:
                raise Mismatch(f"{self.name}: expected {expected!r}, got {got!r} and no more")
            got += piece
        self.replay.compare(self.name, recorded, expected, got)
        self.recorded += got

    def expect_end(self):
        try:
            rest = self.socket.recv(4096)
        except ConnectionResetError:
            rest = b""
        except TimeoutError:
            raise Mismatch(f"{self.name}: not closed") from None
        if rest:
            raise Mismatch(f"{self.name}: {rest!r} instead of the end")
        self.ended = True

    def publishers(self):
        """The list of a subscriber's last UPDATE: what follows its id, greeting and all UPDATEs before."""
        data, last = self.recorded, []
        pos = 8 + int.from_bytes(data[:8], "little")
        pos += 8 + int.from_bytes(data[pos:pos + 8], "little")
        while pos < len(data):
            command, pos = data[pos], pos + 1
            if command == UPDATE:
                size = int.from_bytes(data[pos:pos + 8], "little")
                text = data[pos + 8:pos + 8 + size].decode()
                last, pos = text.split(",") if text else [], pos + 8 + size
        return last


class Replay:
    def __init__(self, path, server):
        self.path = path
        self.server = server
        self.connections = {}
        self.ours, self.theirs = {}, {}  # recorded -> ours, and back
        self.bytes = 0

    def expected(self, recorded):
        recorded = PROXY_PORT.sub(rb"127.0.0.1:26\1", recorded)
        return CHOSEN.sub(lambda match: self.ours.get(match[0], match[0]), recorded)

    def compare(self, name, recorded, expected, got):
        """Equal but for what the server chose; remembers what ours chose."""
        if CHOSEN.sub(b"?", got) != CHOSEN.sub(b"?", expected):
            raise Mismatch(f"{name}: expected {expected!r}, got {got!r}")
        for theirs, ours in zip(CHOSEN.findall(recorded), CHOSEN.findall(got)):
            if self.ours.setdefault(theirs, ours) != ours or self.theirs.setdefault(ours, theirs) != theirs:
                raise Mismatch(f"{name}: {ours!r} instead of what stands for {theirs!r}")
        self.bytes += len(got)

    def play(self):
        with open(self.path) as f:
            for line in f:
                event = json.loads(line)
                if event["dir"] != "note" and event["conn"].startswith("g"):
                    self.play_event(event["conn"], event["dir"], bytes.fromhex(event["hex"]))
        for connection in self.connections.values():
            if not connection.ended and select.select([connection.socket], [], [], 0)[0]:
                raise Mismatch(f"{connection.name}: more than was recorded: {connection.socket.recv(4096)!r}")
            connection.socket.close()

    def play_event(self, name, direction, data):
        if name not in self.connections:
            self.connections[name] = Connection(self, name)
        connection = self.connections[name]
        if direction == "s2c" and data:
            connection.receive(data)
        elif direction == "s2c":
            connection.expect_end()
        elif data:
            connection.socket.sendall(self.expected(data))
        elif not connection.ended:
            self.end(connection)

    def end(self, connection):
        connection.left = True
        connection.socket.shutdown(socket.SHUT_WR)
        if connection.request == "PUBLISH":
            self.expect_farewell(connection)

    def expect_farewell(self, publisher):
        """Ours tells the subscribers that had it on their list."""
        gone = CHOSEN.findall(publisher.recorded)[0].decode()
        for connection in self.connections.values():
            if connection.request != "SUBSCRIBE" or connection.left or connection.ended:
                continue
            left = [p for p in connection.publishers() if p != gone]
            if len(left) == len(connection.publishers()):
                continue
            message = bytes([UPDATE]) + string(",".join(left))
            got = connection.socket.recv(len(message), socket.MSG_WAITALL)
            if got != message:
                raise Mismatch(f"{connection.name}: expected the farewell {message!r}, got {got!r}")
            connection.recorded += got
            connection.socket.sendall(bytes([COMPLETE]))


def captures():
    for path in sys.argv[1:]:
        if os.path.isdir(path):
            yield from sorted(glob.glob(os.path.join(path, "*.jsonl")))
        else:
            yield path


def main():
    failed, count = 0, 0
    for path in captures():
        count += 1
        with Server("--departure-delay-ms", "0") as server:
            replay = Replay(path, server)
            try:
                replay.play()
                print(f"{os.path.basename(path)}: {len(replay.connections)} connections, {replay.bytes} bytes equal")
            except Mismatch as mismatch:
                failed += 1
                print(f"{os.path.basename(path)}: {mismatch}")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
