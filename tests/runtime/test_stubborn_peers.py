# SPDX-License-Identifier: MIT
"""Peers that keep to the grammar and wear their partner out: floods, drops of bytes, borrowed names, hoards."""
import contextlib
import json
import os
import resource
import secrets
import select
import socket
import sys
import threading
import time

from fake_ends import (ELIDE_OK, NUM_BUFFERS, SHM_ATTACH_FAILED, FakeChannel, FakePublisher, Stream, expect_ack,
                       marshalled, publish, run_cases, subscribe_to, tcp, write_slot)
from graph import cpu_s
from graph_client import CHANNEL, RX_ACK, SHM_OK, TX_SHM, TX_TCP, eventually, string, u64

SETUP_S = 5  # what a handshake may take


FLOODS = 3  # at the same time, so that there is always something to read


class Flood:
    """A thread that sends the same bytes for as long as somebody takes them."""

    def __init__(self, link, data):
        self.link, self.data, self.bytes, self.end = link, data, 0, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.end:
            try:
                if select.select([], [self.link.socket], [], 0.1)[1]:
                    self.bytes += self.link.socket.send(self.data, socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
            except OSError:
                break

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end = True
        self.thread.join()


def timed(peer, command):
    """How long a command takes that ends with a time-out."""
    start = time.monotonic()
    peer.tell(command, "error -110")
    return time.monotonic() - start


def is_closed(link):
    """Whatever else comes first."""
    try:
        while link.socket.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    return True


# ---- publishers ----

def flood_of_a_message(server, peer):
    """One that has no end: a time-out is kept, others are heard meanwhile."""
    with contextlib.ExitStack() as stack:
        good, *bad = (stack.enter_context(FakePublisher(server)) for _ in range(1 + FLOODS))
        peer.send("sub T")
        good_link, *links = (publisher.accept()[0] for publisher in (good, *bad))
        peer.expect("ok")
        for link in links:
            link.send(TX_TCP, u64(0), u64(1 << 30))
        floods = [stack.enter_context(Flood(link, bytes(1 << 20))) for link in links]
        took = timed(peer, "recvfor 200")
        tcp(good_link, 0)
        peer.tell("recv 1", "got 1 37 tcp")
        expect_ack(good_link, 0)
    assert all(flood.bytes > 1 << 20 for flood in floods)
    assert took < 10, took


def hoard(server, peer):
    """A publisher that doesn't wait for acknowledgements is stopped before it fills the memory."""
    with FakePublisher(server) as good, FakePublisher(server) as bad:
        peer.send("sub T")
        good_link, _ = good.accept()
        link, _ = bad.accept()
        peer.expect("ok")
        data = marshalled(0, bytes(2000))
        with Flood(link, bytes([TX_TCP]) + u64(0) + u64(len(data)) + data):
            assert is_closed(link)
        # What it sent is read, then the other one.
        tcp(good_link, 0)
        before = int(peer.tell("drain 37", "drained ").split()[1])
        assert 2 * NUM_BUFFERS < before < 2000, before
        expect_ack(good_link, 0)


def dribbling_publisher(server, peer):
    """A handshake whose every step takes as long as it may: one deadline for all of it."""
    with FakePublisher(server) as slow, FakePublisher(server) as good:
        peer.send("sub T")
        link = Stream(slow.listener.accept()[0])
        good_link, _ = good.accept()
        start = time.monotonic()
        link.read(1 + 8 + 36)
        # The beginning of a segment's name, late: it might be the whole of an old handshake.
        time.sleep(SETUP_S - 0.5)
        link.send(string("psm_0000"))
        time.sleep(0.05)
        try:
            while time.monotonic() - start < 4 * SETUP_S:
                link.send(0)
                time.sleep(0.2)
        except OSError:
            pass
        took = time.monotonic() - start
        assert took < SETUP_S + 3, took
        peer.expect("ok")
        tcp(good_link, 0)
        peer.tell("recv 1", "got 1 37 tcp")


def absurd_new_segments(server, peer):
    """A publisher moves to shared memory that is nonsense: acknowledged, lost; and back, and all is well."""
    with FakePublisher(server) as publisher:
        name = publisher.make_segment(server)
        link, answer = subscribe_to(server, peer, publisher, names=("T", name))
        assert answer == SHM_OK, answer
        number = 0
        for header in (u64(0) + u64(0), u64(1 << 60) + u64(1 << 60), u64(4) + u64(1), u64(1 << 63) + u64(2), b""):
            odd = server.segment(NUM_BUFFERS, 1024)
            with open("/dev/shm/" + odd.name, "r+b") as file:
                file.write(header) if header else file.truncate(7)
            link.send(TX_SHM, u64(number), string(odd.name))
            expect_ack(link, number)
            odd.close()
            write_slot(name, number + 1, marshalled(number + 1))
            link.send(TX_SHM, u64(number + 1), string(name))
            peer.tell("recv 1", "got 1 37 shm")
            expect_ack(link, number + 1)
            number += 2
        # A header that says more buffers than there are: those that lie outside are lost.
        small = server.segment(2, 1024)
        link.send(TX_SHM, u64(3), string(small.name))
        expect_ack(link, 3)
        small.close()


def shm_after_refusal(server, peer):
    """TX_SHM though the channel said that it can't: it tries again, as ezmsg 3.10 does."""
    with FakePublisher(server) as publisher:
        link, answer = subscribe_to(server, peer, publisher, names=("T", "psm_" + secrets.token_hex(4)))
        assert answer == SHM_ATTACH_FAILED, answer
        name = publisher.make_segment(server)
        write_slot(name, 0, marshalled(0))
        link.send(TX_SHM, u64(0), string(name))
        peer.tell("recv 1", "got 1 37 shm")
        expect_ack(link, 0)


def in_one_breath(server, peer):
    """Frames right behind the handshake's last one: all are delivered, in order."""
    with FakePublisher(server) as publisher:
        peer.send("sub T")
        link = Stream(publisher.listener.accept()[0])
        link.expect(CHANNEL)
        link.read_str()
        data = [marshalled(number) for number in range(3)]
        link.send(string("T"), string("psm_" + secrets.token_hex(4)))
        link.read(9)
        link.send(0, u64(NUM_BUFFERS), *(bytes([TX_TCP]) + u64(n) + u64(len(d)) + d for n, d in enumerate(data)))
        peer.expect("ok")
        for number in range(3):
            peer.tell("take", f"took {number}")
            peer.tell("release", "released")
            expect_ack(link, number)


def shared_channel(server, peer):
    """Three subscribers of a process have one channel and one acknowledgement; it ends with the last of them."""
    with FakePublisher(server) as publisher:
        link, _ = subscribe_to(server, peer, publisher)
        peer.tell("sub T")
        peer.tell("sub T leaky")
        publisher.listener.settimeout(0.2)
        try:
            publisher.listener.accept()
            raise AssertionError("a second channel")
        except TimeoutError:
            pass
        tcp(link, 0)
        peer.tell("recv 1 0", "got 1")
        peer.tell("recv 1 2", "got 1")
        assert link.is_silent()
        peer.tell("recv 1 1", "got 1")
        expect_ack(link, 0)
        # Who leaves without reading gives it back.
        tcp(link, 1)
        peer.tell("recv 1 0", "got 1")
        peer.tell("recv 1 2", "got 1")
        assert link.is_silent()
        peer.tell("unsub 1")
        expect_ack(link, 1)
        peer.tell("unsub 0")
        assert link.is_silent()
        peer.tell("unsub 2")
        link.expect_closed()


# ---- channels ----

def flood_of_nothing(server, peer):
    """Bytes that mean nothing, without end, while the publisher waits for a buffer: its time-out is kept."""
    publisher_id = publish(server, peer)
    lazy, *noisy = (FakeChannel(server, publisher_id) for _ in range(1 + FLOODS))
    peer.tell("send 2 1", "sent 2")
    for channel in noisy:
        channel.ack(0)
        channel.ack(1)
    with contextlib.ExitStack() as stack:
        floods = [stack.enter_context(Flood(channel, bytes([ELIDE_OK]) * (1 << 20))) for channel in noisy]
        took = timed(peer, "try 1 200")
        lazy.ack(0)
        peer.tell("try 1 10000", "sent 1")
    assert all(flood.bytes > 1 << 20 for flood in floods)
    assert took < 10, took
    for channel in (lazy, *noisy):
        channel.close()


def borrowed_channel_id(server, peer):
    """Somebody gives the id of the publisher's own channel for its own: no business of the local subscribers."""
    publisher_id = publish(server, peer)
    peer.tell("sub T")
    (channel,) = json.loads(peer.tell("profile", "{"))["channels"]
    for answer in (SHM_OK, SHM_ATTACH_FAILED):
        thief = FakeChannel(server, publisher_id, answer=None, number=channel["channel_id"])
        thief.send(answer, u64(peer.process.pid))
        thief.expect(0)
        assert thief.read_u64() == 2
        peer.tell("send 1 3", "sent 1")
        peer.tell("recv 1", "got 1 44 local")
        assert thief.read_u8() in (TX_SHM, TX_TCP)
        thief.close()
        eventually(lambda: len(json.loads(peer.tell("profile", "{"))["channels"]) == 1)
        for _ in range(3):
            peer.tell("try 3 5000", "sent 1")
            peer.tell("recv 1", "got 1 44 local")


def dribbling_channels(server, peer):
    """Handshakes by single bytes end after their time; whoever greets properly meanwhile is served."""
    publisher_id = publish(server, peer)
    good = FakeChannel(server, publisher_id)
    where = good.socket.getpeername()
    slow = [Stream(socket.create_connection(where)) for _ in range(20)]
    frame = bytes([CHANNEL]) + string("0" * 36)
    start = time.monotonic()
    alive, sent = slow, 0
    while alive and time.monotonic() - start < 4 * SETUP_S:
        for link in list(alive):
            try:
                link.send(frame[sent])
            except OSError:
                alive.remove(link)
        sent += sent < len(frame) - 1
        if sent % 5 == 0:
            peer.tell("try 1 5000", "sent 1")
            good.expect(TX_SHM)
            good.ack(good.read_u64())
            good.read_str()
        time.sleep(0.25)
    assert not alive and time.monotonic() - start < SETUP_S + 4
    good.close()


def crowd_at_the_door(server, peer):
    """More silent connections than there are descriptors: they are shown out, who comes properly gets in; idle meanwhile."""
    publisher_id = publish(server, peer)
    good = FakeChannel(server, publisher_id)
    where = good.socket.getpeername()
    used = len(os.listdir(f"/proc/{peer.process.pid}/fd"))
    resource.prlimit(peer.process.pid, resource.RLIMIT_NOFILE, (used + 20, used + 20))
    crowd = []
    for _ in range(100):
        crowd.append(socket.socket())
        crowd[-1].setblocking(False)
        crowd[-1].connect_ex(where)
    before = cpu_s(peer.process)
    peer.tell("try 1 5000", "sent 1")
    good.expect_shm(0)
    good.ack(0)
    time.sleep(1)
    spent = cpu_s(peer.process) - before
    assert spent < 0.5, spent
    for link in crowd[40:]:
        link.close()
    late = FakeChannel(server, publisher_id)
    peer.tell("try 1 5000", "sent 1")
    late.expect_shm(1)
    for link in (*crowd, late, good):
        link.close()


def swallowed_acknowledgements(server, peer):
    """A channel that acknowledges and then closes in the middle of a frame frees what it held."""
    publisher_id = publish(server, peer)
    channel = FakeChannel(server, publisher_id)
    peer.tell("send 2 1", "sent 2")
    channel.send(RX_ACK, bytes(5))
    peer.tell("try 1 200", "error -110")
    channel.close()
    peer.tell("send 5 1", "sent 5")


CASES = ((flood_of_a_message, {}), (hoard, {}), (dribbling_publisher, {}), (absurd_new_segments, {}),
         (shm_after_refusal, {}), (in_one_breath, {}), (shared_channel, {}), (flood_of_nothing, {}),
         (borrowed_channel_id, {}), (dribbling_channels, {}), (crowd_at_the_door, {}),
         (swallowed_acknowledgements, {}))

sys.exit(run_cases(CASES))
