# SPDX-License-Identifier: MIT
"""replay_runtime.py FOLDER: the casts of recorded scenarios, played by our runtime.

Publishers, channels and subscribers of ezmsg 3.9.0 are replaced by ours; every byte they sent, to the
graph server and to each other, must come again, per connection, names of segments, ports and process
ids aside. Payloads are the recorded ones, given as ready buffers.
"""
import json
import os
import struct
import sys

from fake_graph import WAIT_S, FakeGraph
from runtime_peer import Peer

# As against any server that isn't known to be ours.
PLAIN = {"EZPROF_HELLO": "0", "EZMSG_LOGLEVEL": "WARNING"}


def parse_marshalled(data):
    """(id, buffers) of the message at the beginning of data."""
    assert data[:2] == b"EZ"
    number, count = struct.unpack("<QQ", data[2:18])
    lengths = struct.unpack(f"<{count}Q", data[18:18 + 8 * count])
    at, buffers = 18 + 8 * count, []
    for length in lengths:
        buffers.append(data[at:at + length])
        at += length
    return number, buffers


def raw(buffers):
    return "raw " + ",".join(buffer.hex() for buffer in buffers)


class Scene:
    """One scenario: a fake server and the processes of ours that talk to it."""

    def __init__(self, folder, name):
        self.folder = folder
        self.graph = FakeGraph(os.path.join(folder, name + ".jsonl"))
        self.peers = []

    def peer(self):
        self.peers.append(Peer(self.graph.address, PLAIN))
        self.graph.pids = [peer.process.pid for peer in self.peers]
        return self.peers[-1]

    def wait_link_end(self, index):
        (proxy,) = self.graph.proxies.values()
        assert proxy.ended[index].wait(WAIT_S), "the link goes on"

    def segment(self):
        (segment,) = self.graph.segments.values()
        return segment.content()

    def close(self):
        for peer in self.peers:
            peer.__exit__()
        self.graph.close()


def s02_publisher_create(scene):
    publisher = scene.peer()
    publisher.tell("pub TOPIC_A 0")
    publisher.quit()


def s03_subscriber_create(scene):
    subscriber = scene.peer()
    subscriber.tell("sub TOPIC_A")
    subscriber.quit()


def s04_shm_flow(scene):
    with open(os.path.join(scene.folder, "s04_shm_segment.json"), encoding="utf-8") as file:
        recorded = json.load(file)
    after = bytes.fromhex(recorded["after_5_messages"]["hex"])
    slots = [parse_marshalled(after[i * 1088 + 16:(i + 1) * 1088]) for i in range(4)]
    payloads = {number: buffers for number, buffers in slots}
    publisher, subscriber = scene.peer(), scene.peer()
    publisher.tell("pub T 4 shm 1024")
    assert scene.segment() == bytes.fromhex(recorded["fresh"]["hex"])
    subscriber.tell("sub T")
    for number in range(5):
        # Message 0 was overwritten by 4; it was b'hello'.
        buffers = payloads.get(number) or [bytes.fromhex("80059509000000000000004305") + b"hello\x94."]
        publisher.tell(raw(buffers), "sent 1")
        subscriber.tell("recv 1", "got 1")
    assert scene.segment() == after, "the segment's bytes differ"
    subscriber.quit()
    publisher.quit()


def s07_force_tcp(scene):
    (link,) = [n for n in scene.graph.recording.names("p") if ".2:" in n]
    stream = scene.graph.recording.stream(link, "s2c")
    at = stream.index(b"\x0d" + bytes(8), 9)
    publisher, subscriber = scene.peer(), scene.peer()
    publisher.tell("pub T 4 tcp 1024")
    subscriber.tell("sub T")
    for number in range(4):
        size = int.from_bytes(stream[at + 9:at + 17], "little")
        _, buffers = parse_marshalled(stream[at + 17:at + 17 + size])
        at += 17 + size
        if number == 0:
            # Before the first message, not the last: ours sends nothing to its own process unless
            # somebody listens there, ezmsg sends it always.
            publisher.tell("sub T")
        publisher.tell(raw(buffers), "sent 1")
        subscriber.tell("recv 1", "got 1")
    publisher.tell("recv 3", "got 3")
    publisher.tell("take 0", "took 3")
    publisher.quit()
    subscriber.quit()


def s08_connect_disconnect(scene):
    publisher, subscriber, driver = scene.peer(), scene.peer(), scene.peer()
    publisher.tell("pub A 4 shm 1024")
    subscriber.tell("sub B")
    driver.tell("connect A B")
    driver.tell("connect B A", "error -40")
    driver.tell("connect A A", "error -40")
    driver.tell("connect A B")
    driver.tell("disconnect A B")
    scene.wait_link_end(1)
    publisher.tell("send 1 3", "sent 1")
    driver.tell("disconnect X Y")
    publisher.quit()
    subscriber.quit()
    driver.quit()


def s12_backpressure(scene):
    publisher, subscriber = scene.peer(), scene.peer()
    publisher.tell("pub T 2 shm 1024")
    subscriber.tell("sub T")
    publisher.tell("send 2 1", "sent 2")
    publisher.send("send 1 1")
    subscriber.tell("recv 1", "got 1")
    publisher.expect("sent 1")
    subscriber.kill()
    publisher.quit()


def s16_two_subs_one_process(scene):
    publisher, subscribers = scene.peer(), scene.peer()
    publisher.tell("pub T 4 shm 1024")
    subscribers.tell("sub T")
    subscribers.tell("sub T")
    publisher.tell("send 1 1", "sent 1")
    subscribers.tell("recv 1 0", "got 1")
    subscribers.tell("recv 1 1", "got 1")
    subscribers.tell("unsub 0")
    subscribers.tell("unsub 1")
    subscribers.quit()
    publisher.quit()


SCENARIOS = (s02_publisher_create, s03_subscriber_create, s04_shm_flow, s07_force_tcp,
             s08_connect_disconnect, s12_backpressure, s16_two_subs_one_process)


def main():
    failed = 0
    for scenario in SCENARIOS:
        scene = Scene(sys.argv[1], scenario.__name__)
        try:
            scenario(scene)
            count = scene.graph.finish()
            print(f"{scenario.__name__}: all requests, and {count} bytes between publisher and channels, equal")
        except AssertionError as error:
            failed += 1
            print(f"{scenario.__name__}: {error}", *scene.graph.problems, sep="\n  ")
        finally:
            scene.close()
    return 1 if failed else 0


sys.exit(main())
