# SPDX-License-Identifier: MIT
"""What the scripts of docs/bpftrace/ must say of cookbook_units.py: by its own clock and its registry."""

import re

import cookbook_checks as checks
import registry
from cookbook_checks import LIMIT_HELD_MS, MS, READINGS_NS, US, outliers, same, within

COUNT, SLOW_MS = 100, 20
NOTHING_MS = 4  # what takes no time takes less, but for a few


class Truth:
    """Keys are the scripts': (topic, pid) or (handle, pid)."""
    # The event loop may do something else before SRC comes to reading the clock.
    gap_limit_ms, gaps_off = 10, 4

    def __init__(self, pid, facts):
        self.pid, self.facts = str(pid), facts
        entries = registry.read(pid)
        self.publishers = {e.topic: e for e in entries.of("publisher")}
        self.published = {(topic, self.pid): (e.messages, e.bytes) for topic, e in self.publishers.items()}
        self.taken = {(f"{name}/INPUT", self.pid): len(worked) for name, worked in facts["worked_ns"].items()}
        self.dropped = {(e.handle, self.pid): e.drops for e in entries.of("client") if e.drops}
        assert {counts[0] for counts in self.published.values()} == {COUNT} == {
            len(sent) for sent in facts["sent_ns"].values()}, self.published
        assert sum(self.taken.values()) + sum(self.dropped.values()) == 5 * COUNT, (self.taken, self.dropped)

    def topics(self):
        return ["SRC/OUTPUT"]

    def gaps_ms(self, topic):
        sent = self.facts["sent_ns"][topic.split("/")[0]]
        return {message: (at - before) / MS for message, (before, at) in enumerate(zip(sent, sent[1:]), 1)}

    def lengths_ns(self, name):
        return [end - begin for begin, end in self.facts["worked_ns"][name]]

    def waits_ns(self):
        """How long each message was on its way from RELAY into SLOW's code."""
        worked, sent = self.facts["worked_ns"]["SLOW"], self.facts["sent_ns"]["RELAY"]
        return [begin - at for (begin, _), at in zip(worked, sent)]


def few_beyond(buckets, ms, out):
    """RELAY computes nothing; that it is blocked when it publishes isn't its work."""
    beyond = sum(count for lower, count in buckets.items() if lower >= ms * 1024)
    assert beyond <= outliers(COUNT), (buckets, out.text)


def blocked(out, truth):
    each, total, longest = out.histograms("each_us"), out.map("total_us"), out.map("longest_us")
    same({key: sum(buckets.values()) for key, buckets in each.items()}, out.map("waits"), out)
    same(set(total), set(truth.published), out)
    for (topic, pid), us in total.items():
        waits, real_us = out.map("waits")[topic, pid], truth.publishers[topic].blocked_ns / US
        within(0.98 * real_us, us, 1.02 * real_us + READINGS_NS / US * waits, out, topic)
        assert COUNT / 2 < waits <= COUNT, out.text
        highest = max(lower for lower, count in each[topic, pid].items() if count)
        within(highest, longest[topic, pid], 2 * highest - 1, out, topic)
        # 20 ms less what SRC sleeps meanwhile.
        assert out.mode("each_us", topic, pid) in (8192, 16384, 32768), out.text
    for now, since in checks.now_each_second(out):
        for key, ms in since.items():
            within(now - longest[key] / 1000 - 1000, ms, now + 1000, out, key)


def subscribers(out, truth):
    processing, queued = out.histograms("processing_us"), out.histograms("queue_us")
    for histograms in (processing, queued):
        same({key: sum(buckets.values()) for key, buckets in histograms.items()}, truth.taken, out)
    checks.same_times(processing, {(f"{name}/INPUT", truth.pid): truth.lengths_ns(name)
                                   for name in ("FAST", "QUICK", "SLOW", "LEAKY")}, out, "processing_us")
    few_beyond(processing["RELAY/INPUT", truth.pid], NOTHING_MS, out)
    few_beyond(queued["FAST/INPUT", truth.pid], NOTHING_MS, out)
    checks.same_times(queued, {("SLOW/INPUT", truth.pid): truth.waits_ns()}, out, "queue_us")


def slowest(out, truth):
    seconds = checks.each_second(out)
    for name in ("SLOW", "LEAKY", "QUICK"):
        # A unit's own readings lie within those of the script.
        checks.busy_as_long(out, seconds, (f"{name}/INPUT", truth.pid), truth.lengths_ns(name), 1)
    relay = sum(value for _, keys, value in out.values if keys[0] == "RELAY/INPUT")
    within(0, relay, NOTHING_MS * COUNT, out, "RELAY")


def percentiles(out, truth):
    same(checks.same_percentiles(out, truth.lengths_ns("SLOW")), COUNT, out)
    assert int(re.search(r"p50 below (\d+)", out.text)[1]) > SLOW_MS * 1000, out.text


def percentiles_of_relay(out, _truth):
    assert int(re.search(r"p90 below (\d+)", out.text)[1]) <= NOTHING_MS * 1024, out.text
    same(int(re.search(r"^@messages: (\d+)$", out.text, re.M)[1]), COUNT, out)


def held(out, truth):
    """SLOW holds each for its time; so does RELAY while it waits for SLOW. LEAKY gives back at once."""
    listed = {}
    for m in re.finditer(r"^\d\d:\d\d:\d\d (\w+)/INPUT \(pid (\d+)\) held message (\d+) for (\d+) ms$", out.text, re.M):
        same(m[2], truth.pid, out)
        listed.setdefault(m[1], {})[int(m[3])] = int(m[4])
    slow = listed.get("SLOW", {})
    same(sorted(slow), list(range(COUNT)), out)
    real_ms = [ns / MS for ns in truth.lengths_ns("SLOW")]
    off = [message for message, ms in slow.items() if abs(ms - real_ms[message]) > 3 + real_ms[message] / 20]
    assert len(off) <= outliers(COUNT) and min(slow.values()) >= SLOW_MS, (off, out.text)
    assert len(listed.get("RELAY", ())) > COUNT / 2 and "LEAKY" not in listed, out.text
    for name in ("FAST", "QUICK"):
        surely = sum(ns > (LIMIT_HELD_MS + 5) * MS for ns in truth.lengths_ns(name))
        within(surely - outliers(COUNT), len(listed.get(name, ())), surely + outliers(COUNT), out, name)
    assert any(keys[0] == "SLOW/INPUT" for _, taken in checks.now_each_second(out) for keys in taken), out.text


def inuse(out, truth):
    """All buffers of RELAY's are SLOW's; what FAST takes it gives back before the next one comes."""
    slow, fast = out.histogram("in_use", "SLOW/INPUT", truth.pid), out.histogram("in_use", "FAST/INPUT", truth.pid)
    assert slow.get(8, 0) > 0.8 * COUNT and max(lower for lower, n in slow.items() if n) == 8, out.text
    assert COUNT - 8 <= sum(slow.values()) < COUNT and fast.get(0, 0) >= COUNT - 1 - outliers(COUNT), out.text
    within(COUNT - 8, sum(fast.values()), COUNT - 1, out, "FAST")


def drops(out, truth):
    same(out.map("dropped"), truth.dropped, out)
    same(out.map("taken"), truth.taken, out)


def endpoints(out, _truth):
    assert not out.values and not re.search(r"\(pid", out.text), out.text


def threads(out, truth):
    """All in one event loop."""
    found = out.map("messages")
    same({(keys[3], keys[0]): count for keys, count in found.items()}, truth.taken, out)
    same({keys[1:3] for keys in found}, {(str(truth.facts["thread"]), "python")}, out)


CHECKS = {name: globals()[name] for name in (
    "blocked", "subscribers", "slowest", "percentiles", "percentiles_of_relay", "held", "inuse", "drops", "endpoints",
    "threads")} | {name: getattr(checks, name) for name in ("rates", "sizes", "missed", "gaps")}
