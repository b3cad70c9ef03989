# SPDX-License-Identifier: MIT
"""Our publishers and subscribers with those of the real ezmsg 3.9.0, through our graph server.

Every message is counted, on both sides and in the profile, over shm and tcp, bytes and numpy arrays.
"""
import json
import sys
import time

from graph_client import Server
from require import require
from runtime_peer import EzmsgPeer, Peer

COUNT = 1007
BYTES, ELEMENTS = 321, 100
# How only our publishers send.
OURS = ("bytes by slots", "numpy by slots", "bytes by descriptor")
ARRAY_SUM = ELEMENTS * (ELEMENTS - 1) // 2


def sent_and_sum(kind):
    """The command that sends, and the content that arrives."""
    if "bytes" in kind:
        how = "slot" if "slots" in kind else "poll" if "descriptor" in kind else "send"
        return f"{how} {COUNT} {BYTES}", COUNT * BYTES
    return f"{'slotarray' if 'slots' in kind else 'array'} {COUNT} {ELEMENTS}", COUNT * ARRAY_SUM


def pass_messages(publisher, subscriber, transport, kind):
    command, content = sent_and_sum(kind)
    publisher.tell(f"pub T 8 {transport}")
    subscriber.tell("sub T")
    subscriber.send(f"sum {COUNT}")
    publisher.tell(command, f"sent {COUNT}")
    subscriber.expect(f"sum {COUNT} {content}")


def profile(peer):
    document = json.loads(peer.tell("profile", "{"))
    assert document["errors"] == [], document["errors"]
    return document


def check_publisher_profile(ours):
    (publisher,) = profile(ours)["publishers"]
    assert publisher["messages"]["total"] == COUNT, publisher
    assert publisher["bytes"]["total"] > COUNT * 18, publisher
    assert publisher["topic"] == "T" and publisher["source"] == "process", publisher


def check_channel_profile(ours, transport):
    # The last release is counted before the next one is received, not before this is asked.
    for _ in range(100):
        (channel,) = profile(ours)["channels"]
        (subscriber,) = channel["subscribers"]
        if subscriber["in_flight"] == 0:
            break
        time.sleep(0.02)
    assert channel["messages"]["total"] == COUNT, channel
    assert channel["mode"] == transport, channel
    assert subscriber["messages"]["total"] == COUNT, subscriber
    assert subscriber["bytes"]["total"] == channel["bytes"]["total"], channel


def run(direction, transport, kind):
    with Server("--profile-deadline-ms", "10000") as server, Peer(server.address) as ours, EzmsgPeer(server.address) as theirs:
        if direction == "to Python":
            pass_messages(ours, theirs, transport, kind)
            check_publisher_profile(ours)
        else:
            pass_messages(theirs, ours, transport, kind)
            check_channel_profile(ours, transport)
        ours.quit()
        theirs.quit()


def main():
    require("interop")
    failed = 0
    for direction in ("to Python", "from Python"):
        for transport in ("shm", "tcp"):
            for kind in ("bytes", "numpy") + (OURS if direction == "to Python" else ()):
                try:
                    run(direction, transport, kind)
                    print(f"{direction}, {transport}, {kind}: {COUNT} messages")
                except AssertionError as error:
                    failed += 1
                    print(f"{direction}, {transport}, {kind}: {error}")
    return 1 if failed else 0


sys.exit(main())
