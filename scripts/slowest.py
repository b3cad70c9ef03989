#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slowest.py FILE: names the slowest subscriber of a PROFILE document in one sentence."""
import json
import sys


def slowness(subscriber):
    """Time in its own code where that was measured, else time from queued to released."""
    processing = (subscriber.get("processing") or {}).get("avg_ms")
    return processing if processing is not None else subscriber["avg_ms"]


def sentence(document):
    rows = [(channel, subscriber) for channel in document["channels"] for subscriber in channel["subscribers"]]
    if not rows:
        return "There is no subscriber."
    channel, slowest = max(rows, key=lambda row: slowness(row[1]))
    text = (f"The slowest subscriber is {slowest['handle']} (pid {channel['pid']}): {slowness(slowest):.2f} ms for each "
            f"message of {channel['topic']}, by {channel['mode']}")
    blocked = [(publisher.get("blocked") or {}).get("share") for publisher in document["publishers"]
               if publisher["id"] == channel["pub_id"]]
    if blocked and blocked[0]:
        text += f"; its publisher stood blocked {blocked[0]:.0%} of the time"
    return text + "."


with open(sys.argv[1], encoding="utf-8") as file:
    print(sentence(json.load(file)))
