# SPDX-License-Identifier: MIT
"""Clients that register with a graph server: one after the other, and all at once."""
import select
import time

from graph_client import COMPLETE, PUBLISH, SUBSCRIBE, Link, string

GREETING_BYTES, ID_BYTES, EMPTY_UPDATE_BYTES = 13, 44, 9


def one_by_one(address, n):
    """n publishers, then n subscribers, each up to its COMPLETE: the links, publishers first."""
    links = []
    for i in range(n):
        link = Link(address)
        link.send(PUBLISH, string(f"P{i}"), string("127.0.0.1:1"))
        link.read_str()
        link.expect(COMPLETE)
        links.append(link)
    for i in range(n):
        link = Link(address)
        link.send(SUBSCRIBE, string(f"S{i}"))
        link.read_str()
        link.read_update()
        link.confirm()
        link.expect(COMPLETE)
        links.append(link)
    return links


class Client:
    """One that registers in steps, whenever its bytes have come; publishers and subscribers in turn."""

    def __init__(self, address, i):
        self.link = Link(address, greet=False)
        self.steps = self.publish(i) if i % 2 else self.subscribe(i)
        self.expected = next(self.steps)
        self.data = b""

    def publish(self, i):
        yield GREETING_BYTES
        self.link.send(PUBLISH, string(f"P{i}"), string("127.0.0.1:1"))
        yield ID_BYTES + 1

    def subscribe(self, i):
        yield GREETING_BYTES
        self.link.send(SUBSCRIBE, string(f"S{i}"))
        yield ID_BYTES + EMPTY_UPDATE_BYTES
        self.link.confirm()
        yield 1

    def is_done(self):
        """Takes what has come; True with the last of it."""
        piece = self.link.socket.recv(4096)
        assert piece, "the server closed the connection"
        self.data += piece
        while len(self.data) >= self.expected:
            self.data = self.data[self.expected:]
            self.expected = next(self.steps, None)
            if self.expected is None:
                assert not self.data
                return True
        return False


def at_once(address, n):
    """n publishers and n subscribers connect without waiting for each other: seconds until all are registered."""
    start = time.monotonic()
    epoll, clients = select.epoll(), {}
    for i in range(2 * n):
        client = Client(address, i)
        clients[client.link.socket.fileno()] = client
        epoll.register(client.link.socket, select.EPOLLIN)
    left = 2 * n
    while left:
        for fd, _ in epoll.poll():
            left -= clients[fd].is_done()
    passed = time.monotonic() - start
    epoll.close()
    for client in clients.values():
        client.link.close()
    return passed
