# SPDX-License-Identifier: MIT
"""Publishers and channels that a test plays byte by byte, with whatever it likes to break."""
import socket
import traceback

from graph_client import (CHANNEL, COMPLETE, PUBLISH, RX_ACK, SHM_OK, SUBSCRIBE, TX_SHM, TX_TCP, WAIT_S, Closed, Link,
                          Server, string, u64)
from runtime_peer import Peer

SHM_ATTACH_FAILED, ELIDE_OK, AXIS_RESEND = 0x14, 0x29, 0x2A
NUM_BUFFERS = 4


def pickled(content):
    """A pickle of bytes."""
    return b"\x80\x05B" + len(content).to_bytes(4, "little") + content + b"."


def marshalled(number, content=b"abc"):
    payload = pickled(content)
    return b"EZ" + u64(number) + u64(1) + u64(len(payload)) + payload


class Stream(Link):
    """A connection without a greeting."""

    def __init__(self, connected):  # pylint: disable=super-init-not-called
        self.socket = connected
        self.socket.settimeout(WAIT_S)


class FakePublisher:
    """Registered at the server; channels of ours connect to it, and it may misbehave."""

    def __init__(self, server, topic="T", listening=True):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(WAIT_S)
        address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        if not listening:
            self.listener.close()
        self.graph = Link(server.address)
        self.graph.send(PUBLISH, string(topic))
        self.id = self.graph.read_str()
        self.graph.send(string(address))
        self.segment = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.graph.close()
        if self.segment:
            self.segment.close()

    def make_segment(self, server, num_buffers=NUM_BUFFERS, buf_size=1024):
        """Real shared memory, from the server; its name."""
        self.segment = Link(server.address)
        self.segment.send(0x0F, u64(num_buffers), u64(buf_size))
        self.segment.expect(COMPLETE)
        return self.segment.read_str().decode()

    def accept(self, names=("T", "psm_00000000"), num_buffers=NUM_BUFFERS):
        """The handshake. Returns the link, and what the channel said of the segment."""
        link = Stream(self.listener.accept()[0])
        link.expect(CHANNEL)
        link.read_str()
        link.send(b"".join(string(name) for name in names))
        answer = link.read_u8()
        link.read_u64()
        link.send(COMPLETE, u64(num_buffers))
        return link, answer


class FakeChannel(Stream):
    """Connected to a publisher of ours, after the handshake."""

    def __init__(self, server, publisher_id, answer=SHM_OK, pid=1, topic=b"T", number=None):
        self.graph = Link(server.address)
        self.graph.send(CHANNEL, string(publisher_id))
        self.graph.expect(COMPLETE)
        own_number = self.graph.read_str()
        number = number or own_number
        host, port = self.graph.read_str().decode().rsplit(":", 1)
        super().__init__(socket.create_connection((host, int(port))))
        self.send(CHANNEL, string(number))
        assert topic is None or self.read_str() == topic
        self.segment = self.read_str()
        if answer is None:
            return
        self.send(answer, u64(pid))
        self.expect(COMPLETE)
        self.num_buffers = self.read_u64()

    def close(self):
        super().close()
        self.graph.close()

    def expect_shm(self, number):
        self.expect(TX_SHM)
        assert self.read_u64() == number
        assert self.read_str() == self.segment

    def expect_tcp(self, number):
        self.expect(TX_TCP)
        assert self.read_u64() == number
        return self.read_str()

    def ack(self, number):
        self.send(RX_ACK, u64(number))


# ---- what tests do with them ----

def write_slot(name, number, data, buf_size=1024):
    stride = buf_size + 16 * NUM_BUFFERS
    with open("/dev/shm/" + name, "r+b") as file:
        file.seek(number % NUM_BUFFERS * stride + 16)
        file.write(data)


def expect_ack(link, number):
    link.expect(RX_ACK)
    assert link.read_u64() == number


def subscribe_to(server, peer, publisher, **handshake):
    peer.send("sub T")
    link, answer = publisher.accept(**handshake)
    peer.expect("ok")
    return link, answer


def tcp(link, number, content=b"abc"):
    data = marshalled(number, content)
    link.send(TX_TCP, u64(number), u64(len(data)), data)


def publish(server, peer, options=""):
    """Our publisher's id: a subscriber of our own is told it."""
    peer.tell(f"pub T 2 {options}")
    with Link(server.address) as subscriber:
        subscriber.send(SUBSCRIBE, string("T"))
        subscriber.read_str()
        (publisher_id,) = subscriber.read_update()
        subscriber.confirm()
        subscriber.expect(COMPLETE)
    return publisher_id


def run_cases(cases):
    """Each is a function of a server and a process of ours, and that process's environment. An exit status."""
    failed = 0
    for case, env in cases:
        with Server() as server, Peer(server.address, env) as peer:
            try:
                case(server, peer)
                peer.quit()
                print(f"{case.__name__}: as it should be", flush=True)
            except (AssertionError, Closed, OSError):
                failed += 1
                print(f"{case.__name__}:\n{traceback.format_exc()}", flush=True)
    return 1 if failed else 0
