# SPDX-License-Identifier: MIT
"""Runs inside a mount namespace whose /dev/shm holds 16 MiB; called by test_segments.py."""
import os

from graph_client import COMPLETE, SHM_CREATE, Server, u64


def main():
    with Server() as server:
        fits = server.segment(1, 4 << 20)
        with server.link() as link:
            link.send(SHM_CREATE, u64(1), u64(15 << 20))
            link.expect_closed()
        # Two at a time that would each fit alone: at most one comes through, and nothing is left of the other.
        links = [server.link(), server.link()]
        for link in links:
            link.send(SHM_CREATE, u64(1), u64(10 << 20))
        outcomes = [link.socket.recv(1) for link in links]
        assert outcomes.count(bytes([COMPLETE])) <= 1, outcomes
        names = os.listdir("/dev/shm")
        assert len(names) == 1 + outcomes.count(bytes([COMPLETE])), (names, outcomes)
        assert fits.name in names
        assert server.connect("A", "B") == COMPLETE
        server.stop()
        assert "No space left" in server.log, server.log
    assert os.listdir("/dev/shm") == []
    print("small file system: ok")


main()
