# SPDX-License-Identifier: MIT
"""replay_pr206.py FOLDER: plays recorded publishers, channels and PROFILE clients of pull request 206.

Our server must ask and answer byte for byte as recorded, but for the profile itself: that one must hold all that
the recorded one holds, with equal values, and may hold more.
"""
import json
import os
import sys

from graph_client import Server
from replay_server import Mismatch, Replay

# Captures without the faults that aren't copied (a stopped client, a client that dies while it is asked).
NAMES = ("p01_profile_live", "p03_cli", "p04_disconnect_sample", "p06_two_requesters")


def contains(ours, theirs, where):
    if isinstance(theirs, dict):
        for key, value in theirs.items():
            if key not in ours:
                raise Mismatch(f"{where}: no {key}")
            contains(ours[key], value, f"{where}.{key}")
    elif isinstance(theirs, list):
        if len(ours) != len(theirs):
            raise Mismatch(f"{where}: {len(ours)} instead of {len(theirs)}")
        for i, value in enumerate(theirs):
            contains(ours[i], value, f"{where}[{i}]")
    elif ours != theirs:
        raise Mismatch(f"{where}: {ours!r} instead of {theirs!r}")


class ProfileReplay(Replay):
    profiles = 0
    pending = None

    def play_event(self, name, direction, data):
        """What a PROFILE client is sent after the greeting is gathered until it is whole."""
        self.pending = self.pending or {}
        connection = self.connections.get(name)
        if name.split(":")[1] != "PROFILE" or direction != "s2c" or connection is None or not connection.recorded:
            super().play_event(name, direction, data)
            return
        got = self.pending.setdefault(name, bytearray())
        got += data
        if not data:
            connection.expect_end()
        elif len(got) >= 9 and len(got) == 10 + int.from_bytes(got[1:9], "little"):
            self.compare_profiles(connection, json.loads(self.expected(bytes(got[9:-1]))))

    def compare_profiles(self, connection, recorded):
        head = self.read(connection, 9)
        assert head[0] == 0x16
        profile = json.loads(self.read(connection, int.from_bytes(head[1:], "little")))
        assert self.read(connection, 1) == b"\0"
        contains(profile, recorded, connection.name)
        if profile["errors"]:
            raise Mismatch(f"{connection.name}: {profile['errors']}")
        self.profiles += 1

    def read(self, connection, count):
        data = b""
        while len(data) < count:
            piece = connection.socket.recv(count - len(data))
            if not piece:
                raise Mismatch(f"{connection.name}: ended after {data!r}")
            data += piece
        return data


def main():
    profiles = 0
    for name in NAMES:
        path = os.path.join(sys.argv[1], name + ".jsonl")
        with Server("--dialect", "pr206", "--announce-version", "3.6.2") as server:
            replay = ProfileReplay(path, server)
            replay.play()
            print(f"{name}: {replay.bytes} bytes, {replay.profiles} profiles")
            profiles += replay.profiles
    assert profiles >= 10, profiles
    return 0


sys.exit(main())
