# SPDX-License-Identifier: MIT
"""Rules that two ends must agree on, with the real ezmsg 3.9.0 as the other one (docs/conformance.md)."""
import sys
import traceback

from graph_client import Closed, Server, eventually
from require import require
from runtime_peer import EzmsgPeer, Peer

TOPICS = ("*", "#", "A/B/C", "A,B", "psm_0123abcd", "\u00fc\u20ac\U0001f600", "x" * 50)
BUFFERS, COUNT = 4, 107


def attempt(peer, size, milliseconds, expected):
    peer.tell(f"{'attempt' if isinstance(peer, EzmsgPeer) else 'try'} {size} {milliseconds}", expected)


def odd_topics(ours, theirs):
    """A topic is a name and nothing else."""
    for topic in TOPICS:
        ours.tell("rejoin", "ready")
        ours.tell(f"pub {topic} {BUFFERS}")
        ours.tell(f"sub {topic}/back")
        theirs.tell(f"sub {topic}")
        theirs.tell(f"pub {topic}/back {BUFFERS} shm")
        ours.tell("send 3 10", "sent 3")
        theirs.tell("sum 3", "sum 3 30")
        theirs.tell("send 3 10", "sent 3")
        ours.tell("sum 3", "sum 3 30")
        theirs.tell("end")


def leaky(publisher, subscriber):
    """The oldest unread one is dropped and acknowledged; the publisher waits for nothing."""
    publisher.tell(f"pub T {BUFFERS} shm")
    subscriber.tell("sub T leaky")
    publisher.tell(f"send {COUNT} 10", f"sent {COUNT}")
    subscriber.tell("sum 1", "sum 1 10")
    publisher.tell("send 1 77", "sent 1")
    # Whatever was still on its way: the last one is among those that are left.
    eventually(lambda: subscriber.tell("sum 1", "sum 1 ").endswith(" 77"))


def start_paused(publisher, subscriber):
    """Nothing leaves before RESUME, here from the subscriber's process."""
    publisher.tell(f"pub T {BUFFERS} paused")
    subscriber.tell("sub T")
    attempt(publisher, 10, 200, "error -110")
    subscriber.tell("resume")
    attempt(publisher, 10, 10000, "sent 1")
    subscriber.tell("sum 1", "sum 1 10")


def sync(publisher, subscriber):
    """Answered when everything was released; the publisher stays paused until RESUME; then PAUSE, and again."""
    publisher.tell(f"pub T {BUFFERS} shm")
    subscriber.tell("sub T")
    attempt(publisher, 10, 10000, "sent 1")
    subscriber.tell("sum 1", "sum 1 10")
    subscriber.tell("sync 10000")
    attempt(publisher, 10, 200, "error -110")
    subscriber.tell("resume")
    attempt(publisher, 10, 10000, "sent 1")
    subscriber.tell("sum 1", "sum 1 10")
    subscriber.tell("pause")
    eventually(lambda: is_paused(publisher, subscriber))
    subscriber.tell("resume")
    attempt(publisher, 10, 10000, "sent 1")
    subscriber.tell("sum 1", "sum 1 10")


def is_paused(publisher, subscriber):
    """PAUSE isn't answered: a message or two may still go."""
    publisher.send(f"{'attempt' if isinstance(publisher, EzmsgPeer) else 'try'} 10 200")
    if publisher.expect().startswith("error -110"):
        return True
    subscriber.tell("sum 1", "sum 1 10")
    return False


def one_channel(publisher, subscriber):
    """Per process and publisher, however many subscribers; beside the one that a publisher has to itself."""
    publisher.tell(f"pub T {BUFFERS} shm")
    for topic in ("T", "U", "V"):
        subscriber.tell(f"sub {topic}")
        if topic != "T":
            subscriber.tell(f"connect T {topic}")
    eventually(lambda: publisher.tell("channels", "") == "2")
    publisher.tell("send 3 10", "sent 3")
    subscriber.tell("sum 3", "sum 3 30")


def killed_reader(publisher, subscriber):
    """Everything that it held is free again. A publisher of 3.9.0 may fail then: the set of its channels changes while
    it goes through it."""
    publisher.tell(f"pub T {BUFFERS} shm")
    subscriber.tell("sub T")
    publisher.tell(f"send {BUFFERS} 10", f"sent {BUFFERS}")
    attempt(publisher, 10, 200, "error -110")
    subscriber.kill()
    publisher.tell(f"send {3 * BUFFERS} 10", f"sent {3 * BUFFERS}")


BOTH_WAYS = (leaky, start_paused, sync, one_channel)


def run(rule, name, forwards):
    with Server() as server, Peer(server.address) as ours, EzmsgPeer(server.address) as theirs:
        try:
            rule(*((ours, theirs) if forwards else (theirs, ours)))
            for peer in (ours, theirs):
                if peer.process.poll() is None:
                    peer.quit()
            print(f"{name}: as it should be", flush=True)
            return 0
        except (AssertionError, Closed, OSError):
            print(f"{name}:\n{traceback.format_exc()}", flush=True)
            return 1


def main():
    require("interop")
    failed = run(odd_topics, "odd_topics", True)
    failed += run(killed_reader, "killed_reader, C to Python", True)
    for rule in BOTH_WAYS:
        failed += run(rule, f"{rule.__name__}, C to Python", True)
        failed += run(rule, f"{rule.__name__}, Python to C", False)
    return 1 if failed else 0


sys.exit(main())
