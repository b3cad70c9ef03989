# SPDX-License-Identifier: MIT
"""Publishers and channels that break the rules, or speak another release's dialect, against the runtime."""
import json
import os
import random
import secrets
import socket
import sys
import threading
import time

from fake_ends import (AXIS_RESEND, ELIDE_OK, NUM_BUFFERS, SHM_ATTACH_FAILED, FakeChannel, FakePublisher, Stream,
                       expect_ack, marshalled, publish, run_cases, subscribe_to, tcp, write_slot)
from graph_client import CHANNEL, RX_ACK, SHM_OK, TX_SHM, TX_TCP, string, u64


# ---- publishers ----

def broken_frames(server, peer):
    """Each ends this link, and no other."""
    whole = marshalled(7)
    frames = (
        bytes([TX_TCP]) + u64(0) + u64(1 << 63),
        bytes([TX_TCP]) + u64(0) + u64(0),
        bytes([TX_TCP]) + u64(0) + u64(len(whole)) + whole,  # the header says 7
        bytes([TX_TCP]) + u64(0) + u64(30) + b"EZ" + u64(0) + u64(1 << 62) + bytes(12),
        bytes([TX_TCP]) + u64(0) + u64(30) + b"EZ" + u64(0) + u64(1) + u64(1 << 63) + bytes(4),
        bytes([TX_SHM]) + u64(0) + u64(1 << 63),
        b"\xee" + u64(0) + u64(0),
    )
    with FakePublisher(server) as good:
        link, _ = subscribe_to(server, peer, good)
        for frame in frames:
            with FakePublisher(server) as bad:
                bad_link, _ = bad.accept()
                bad_link.send(frame)
                bad_link.expect_closed()
        tcp(link, 0)
        peer.tell("recv 1", "got 1")
        expect_ack(link, 0)


def stale_and_unknown_segments(server, peer):
    """What can't be read is acknowledged and lost; the next message is not."""
    with FakePublisher(server) as publisher:
        name = publisher.make_segment(server)
        link, answer = subscribe_to(server, peer, publisher, names=("T", name))
        assert answer == SHM_OK, answer
        link.send(TX_SHM, u64(0), string(name))  # nothing there
        expect_ack(link, 0)
        write_slot(name, 1, marshalled(5))
        link.send(TX_SHM, u64(1), string(name))  # another message
        expect_ack(link, 1)
        write_slot(name, 2, b"EZ" + u64(2) + u64(1) + u64(1 << 40))
        link.send(TX_SHM, u64(2), string(name))  # longer than the slot
        expect_ack(link, 2)
        link.send(TX_SHM, u64(3), string("psm_" + secrets.token_hex(4)))
        expect_ack(link, 3)
        for bad in ("../../etc/passwd", "", "."):
            link.send(TX_SHM, u64(3), string(bad))
            expect_ack(link, 3)
        write_slot(name, 4, marshalled(4))
        link.send(TX_SHM, u64(4), string(name))
        peer.tell("recv 1", "got 1 37 shm")
        expect_ack(link, 4)


def odd_segments(server, peer):
    """A segment whose header is nonsense is as good as none: TCP is asked for."""
    with FakePublisher(server) as publisher:
        subscribe_to(server, peer, publisher)
    for header in (u64(0) + u64(0), u64(1 << 40) + u64(1 << 40), u64(4) + u64(8), u64(4) + u64(1 << 20), b""):
        with FakePublisher(server) as publisher:
            name = publisher.make_segment(server)
            with open("/dev/shm/" + name, "r+b") as file:
                if header:
                    file.write(header)
                else:
                    file.truncate(3)
            _, answer = publisher.accept(names=("T", name))
            assert answer == SHM_ATTACH_FAILED, (header, answer)


def truncated_segments(server, peer):
    """Cut short under a reader: what is gone reads as zeros, that link ends, and no other."""
    size = 20000
    with FakePublisher(server) as good, FakePublisher(server) as bad:
        name = bad.make_segment(server, buf_size=size)
        peer.send("sub T")
        good_link, _ = good.accept()
        link, answer = bad.accept(names=("T", name))
        assert answer == SHM_OK, answer
        peer.expect("ok")
        for number in (0, 1):
            write_slot(name, number, marshalled(number, b"\1" * 10000), size)
            link.send(TX_SHM, u64(number), string(name))
        peer.tell("take", "took 0")
        peer.tell("look", "saw 10000")
        os.truncate("/dev/shm/" + name, 4096)
        seen = int(peer.tell("look", "saw ").split()[1])
        assert 3000 < seen < 4096, seen
        peer.tell("release", "released")
        link.send(TX_SHM, u64(2), string(name))
        assert link.read(9) == bytes([RX_ACK]) + u64(0)
        link.expect_closed()
        tcp(good_link, 0)
        peer.tell("recv 1", "got 1 37 tcp")
        expect_ack(good_link, 0)


def scribble(name, end):
    """Over headers, lengths and pickles of all slots, while somebody reads them."""
    chance = random.Random(7)
    stride = 1024 + 16 * NUM_BUFFERS
    while not end.is_set():
        data = chance.choice([u64(chance.randrange(64)), u64((1 << 64) - 1), chance.randbytes(2), b"\x80\5", b"."])
        with open("/dev/shm/" + name, "r+b") as file:
            file.seek(chance.randrange(NUM_BUFFERS) * stride + 16 + chance.randrange(120))
            file.write(data)


def scribbled_on(server, peer):
    """What is checked and what is used then may differ: a message is whole, or lost, or odd, and that is all."""
    end = threading.Event()
    read = {"shm": 0, "tcp": 0}
    with FakePublisher(server) as publisher:
        name = publisher.make_segment(server)
        link, _ = subscribe_to(server, peer, publisher, names=("T", name))
        scribbler = threading.Thread(target=scribble, args=(name, end))
        scribbler.start()
        try:
            for number in range(400):
                write_slot(name, number, marshalled(number, bytes(90)))
                link.send(TX_SHM, u64(number), string(name))
                tcp(link, number)
                for via in (peer.tell("recv 1", "got 1").split()[-1] for _ in range(2)):
                    read[via] += 1
                    if via == "tcp":
                        break
                expect_ack(link, number)
                expect_ack(link, number)
        finally:
            end.set()
            scribbler.join()
    assert read["tcp"] == 400 and read["shm"] > 20, read


def truncated_at_once(server, peer):
    """Before anything is read there: the link's first message ends it."""
    with FakePublisher(server) as publisher:
        name = publisher.make_segment(server)
        link, answer = subscribe_to(server, peer, publisher, names=("T", name))
        assert answer == SHM_OK, answer
        os.truncate("/dev/shm/" + name, 0)
        link.send(TX_SHM, u64(0), string(name))
        link.expect_closed()


def handshakes(server, peer):
    """A number of buffers that can't be ends the link; the subscriber comes up all the same."""
    with FakePublisher(server) as none, FakePublisher(server) as many, FakePublisher(server) as good:
        peer.send("sub T")
        bad = [none.accept(num_buffers=0)[0], many.accept(num_buffers=1 << 63)[0]]
        link, _ = good.accept()
        peer.expect("ok")
        for broken in bad:
            broken.expect_closed()
        tcp(link, 0)
        peer.tell("recv 1", "got 1 37 tcp")


def unreachable(server, peer):
    """A publisher that refuses, one that is silent: skipped, and not for ever."""
    with FakePublisher(server, listening=False), FakePublisher(server) as silent, FakePublisher(server) as good:
        peer.send("sub T")
        quiet = silent.listener.accept()[0]
        link, _ = good.accept()
        start = time.monotonic()
        peer.expect("ok")
        assert time.monotonic() - start < 9
        tcp(link, 0)
        peer.tell("recv 1", "got 1")
        quiet.close()


def old_handshake(server, peer):
    """Pull request 206 names its segment and no topic."""
    with FakePublisher(server) as publisher:
        name = publisher.make_segment(server)
        link, answer = subscribe_to(server, peer, publisher, names=(name,))
        assert answer == SHM_OK, answer
        write_slot(name, 0, marshalled(0))
        link.send(TX_SHM, u64(0), string(name))
        peer.tell("recv 1", "got 1 37 shm")
        expect_ack(link, 0)


def repeated_ids(server, peer):
    """A publisher whose broadcast failed half-way sends the same id again."""
    with FakePublisher(server) as publisher:
        link, _ = subscribe_to(server, peer, publisher)
        tcp(link, 0)
        tcp(link, 0)
        tcp(link, 1)
        peer.tell("recv 3", "got 3")
        for number in (0, 0, 1):
            expect_ack(link, number)


def wild_ids(server, peer):
    """Any number is a message's id as far as a receiver is concerned; it is acknowledged as it came."""
    ids = (1 << 63, (1 << 64) - 1, 0, 5, (1 << 64) - 1)
    with FakePublisher(server) as publisher:
        name = publisher.make_segment(server)
        link, _ = subscribe_to(server, peer, publisher, names=("T", name))
        for number in ids:
            tcp(link, number)
            write_slot(name, number, marshalled(number))
            link.send(TX_SHM, u64(number), string(name))
            peer.tell("recv 1", "got 1 37 tcp")
            peer.tell("recv 1", "got 1 37 shm")
            expect_ack(link, number)
            expect_ack(link, number)


def byte_by_byte(server, peer):
    with FakePublisher(server) as publisher:
        link, _ = subscribe_to(server, peer, publisher)
        data = marshalled(0)
        for byte in bytes([TX_TCP]) + u64(0) + u64(len(data)) + data:
            link.send(byte)
        peer.tell("recv 1", "got 1")
        expect_ack(link, 0)


# ---- channels ----

def odd_channels(server, peer):
    """Garbage ends that link; who says nothing more is left in peace, and holds nobody up."""
    publisher_id = publish(server, peer)
    silent = FakeChannel(server, publisher_id, answer=None)
    good = FakeChannel(server, publisher_id)
    for first in (b"\x00", b"\xff" * 64, bytes([CHANNEL]) + u64(1 << 63), bytes([CHANNEL]) + string("no id")):
        bad = Stream(socket.create_connection(silent.socket.getpeername()))
        bad.send(first)
        bad.expect_closed()
    peer.tell("try 1 5000", "sent 1")
    good.expect_shm(0)
    good.ack(0)
    silent.expect_closed()


def odd_acknowledgements(server, peer):
    """Unknown, repeated and future ones free nothing; unknown bytes are skipped singly."""
    channel = FakeChannel(server, publish(server, peer))
    assert channel.num_buffers == 2
    channel.send(ELIDE_OK)
    peer.tell("send 2 1", "sent 2")
    for number in (2, 4, (1 << 64) - 1, 1 << 63):
        channel.ack(number)
    channel.send(AXIS_RESEND, 0xEE)
    peer.tell("try 1 200", "error -110")
    channel.ack(0)
    channel.ack(0)
    peer.tell("try 1 5000", "sent 1")
    channel.ack(0)  # message 2 is in that buffer now
    peer.tell("try 1 200", "error -110")
    channel.ack(1)
    channel.send(AXIS_RESEND)
    channel.ack(2)
    peer.tell("send 2 1", "sent 2")
    for number in range(5):
        channel.expect_shm(number)
    channel.close()


def foreign_acknowledgements(server, peer):
    """One channel's acknowledgements, however many, free nothing that another one holds."""
    publisher_id = publish(server, peer)
    eager, lazy = FakeChannel(server, publisher_id), FakeChannel(server, publisher_id)
    peer.tell("send 2 1", "sent 2")
    for number in (0, 1, 0, 1, 0, 1, 2, 3):
        eager.ack(number)
    peer.tell("try 1 200", "error -110")
    lazy.ack(0)
    peer.tell("try 1 5000", "sent 1")
    eager.ack(2)
    eager.ack(2)
    peer.tell("try 1 200", "error -110")
    eager.close()
    peer.tell("try 1 200", "error -110")
    lazy.close()
    peer.tell("try 1 5000", "sent 1")


def own_segment_truncated(server, peer):
    """By a channel that wants to hurt: the publisher moves to another segment; what goes by TCP is whole."""
    publisher_id = publish(server, peer)
    bad = FakeChannel(server, publisher_id)
    other = FakeChannel(server, publisher_id, SHM_ATTACH_FAILED)
    os.truncate("/dev/shm/" + bad.segment.decode(), 0)
    peer.tell("send 1 3000", "sent 1")
    bad.expect_shm(0)
    assert other.expect_tcp(0) == marshalled(0, bytes(3000))
    peer.tell("send 1 3000", "sent 1")
    bad.expect(TX_SHM)
    assert bad.read_u64() == 1
    name = bad.read_str()
    assert name != bad.segment, name
    with open("/dev/shm/" + name.decode(), "rb") as file:
        assert marshalled(1, bytes(3000)) in file.read()
    assert other.expect_tcp(1) == marshalled(1, bytes(3000))
    for channel in (bad, other):
        channel.close()


def attach_failed(server, peer):
    """A channel without shared memory is served by TCP, beside one that has it."""
    publisher_id = publish(server, peer)
    without = FakeChannel(server, publisher_id, SHM_ATTACH_FAILED)
    having = FakeChannel(server, publisher_id)
    peer.tell("send 1 3", "sent 1")
    having.expect_shm(0)
    assert without.expect_tcp(0)[:2] == b"EZ"
    without.close()
    having.close()


def same_pid(server, peer):
    """An equal process id alone doesn't make it the same process: messages travel."""
    channel = FakeChannel(server, publish(server, peer), SHM_OK, peer.process.pid)
    peer.tell("send 1 3", "sent 1")
    channel.expect_shm(0)
    channel.close()


def slow_reader(server, peer):
    """A full socket holds the publisher up, until its reader reads on or leaves; that is blocked time."""
    publisher_id = publish(server, peer, "tcp")
    channel, other = FakeChannel(server, publisher_id), FakeChannel(server, publisher_id)
    peer.send("send 2 20000000")
    for each in (channel, other):
        each.socket.recv(1, socket.MSG_PEEK)
    time.sleep(0.2)
    assert len(channel.expect_tcp(0)) > 20000000
    channel.ack(0)
    other.close()
    channel.expect_tcp(1)
    peer.expect("sent 2")
    (profile,) = json.loads(peer.tell("profile", "{"))["publishers"]
    assert profile["blocked"]["total_ms"] > 150, profile["blocked"]
    channel.close()


def lost_lease(server, peer):
    """EZ_LEASE_TIMEOUT_MS: a buffer that is never given back is taken back."""
    channel = FakeChannel(server, publish(server, peer))
    peer.tell("send 2 1", "sent 2")
    start = time.monotonic()
    peer.tell("send 2 1", "sent 2")
    assert time.monotonic() - start >= 0.29
    for number in range(4):
        channel.expect_shm(number)
    channel.close()


def old_channel(server, peer):
    """EZ_HANDSHAKE=pr206: the segment is all that is named."""
    channel = FakeChannel(server, publish(server, peer), topic=None)
    assert channel.segment.startswith(b"psm_"), channel.segment
    peer.tell("send 1 3", "sent 1")
    channel.expect_shm(0)
    channel.close()


def count_only(server, peer):
    """EZ_COUNT_ONLY: says once that references are fine, and refuses who would read payloads."""
    peer.tell("sub T", "error -1 ")
    with FakePublisher(server) as publisher:
        peer.send("sub T count")
        link, _ = publisher.accept()
        link.expect(ELIDE_OK)
        peer.expect("ok")
        tcp(link, 0)
        peer.tell("recv 1", "got 1 37 tcp")
        expect_ack(link, 0)
        peer.tell("unsub 0")
        link.expect_closed()


def elision_disabled(server, peer):
    """EZMSG_DISABLE_AXIS_ELISION: the same without saying that."""
    with FakePublisher(server) as publisher:
        peer.send("sub T count")
        link, _ = publisher.accept()
        peer.expect("ok")
        tcp(link, 0)
        peer.tell("recv 1", "got 1 37 tcp")
        expect_ack(link, 0)


CASES = ((broken_frames, {}), (stale_and_unknown_segments, {}), (odd_segments, {}),
         (truncated_segments, {}), (truncated_at_once, {}), (scribbled_on, {}), (own_segment_truncated, {}),
         (foreign_acknowledgements, {}),
         (handshakes, {}),
         (unreachable, {}), (old_handshake, {}), (repeated_ids, {}), (wild_ids, {}), (byte_by_byte, {}),
         (odd_channels, {}),
         (odd_acknowledgements, {}), (attach_failed, {}), (same_pid, {}), (slow_reader, {}),
         (count_only, {"EZ_COUNT_ONLY": "1"}),
         (elision_disabled, {"EZ_COUNT_ONLY": "1", "EZMSG_DISABLE_AXIS_ELISION": ""}), (old_channel, {"EZ_HANDSHAKE": "pr206"}),
         (lost_lease, {"EZ_LEASE_TIMEOUT_MS": "150"}))


sys.exit(run_cases(CASES))
