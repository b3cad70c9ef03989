# SPDX-License-Identifier: MIT
"""The graph that docs/bpftrace/ is tried on, and what is true of it.

Every message is sent while the scripts listen: what they count must be what the nodes counted, to the last
message. Times are those of `ezprof record`, which listens to another probe and takes the process's own
clock readings.
"""

import json
import os
import sys
import time
from collections import Counter

sys.path.insert(0, os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests/python"))

import registry
from graph import wait_until

SAMPLES, BEATS, BURST, BUFFERS = 800, 200, 10, 32
MIXED = {100: 40, 3000: 30}  # content: messages
WENT = ("stuck", "holder", *(f"mixed {content}" for content in MIXED))
GIVES_UP_NS = 50_000_000  # a node's time-out when it publishes
VIEWER_MS, COMPUTER_MS, SLOW_MS, STARTER_MS = 20, 2, 5, 1


class Nodes:
    """The demo's graph, and beside it a stream in bursts with a leaky and a computing subscriber."""

    def __init__(self, graph):
        self.graph, self.nodes, self.entries, self.tasks, self.said, self.life = graph, {}, {}, {}, {}, {}
        self.start("samples", "source", "samples", "--rate", 250, "--bytes", 4096, "--monitor",
                   "--count", SAMPLES, "--wait-channels", 4)
        self.start("worker-fast", "relay", "samples", "features/fast", "--work-ms", 0.5,
                   "--handle", "worker-fast", "--tcp")
        self.start("worker-slow", "relay", "samples", "features/slow", "--work-ms", SLOW_MS,
                   "--handle", "worker-slow", "--tcp")
        self.start("sink", "sink", "features/fast", "features/slow", "--handle", "sink")
        self.start("beat", "source", "beat", "--rate", 50, "--burst", BURST, "--count", BEATS,
                   "--wait-channels", 4)
        self.start("viewer", "sink", "beat", "--work-ms", VIEWER_MS, "--leaky", "--handle", "viewer")
        self.start("computer", "sink", "beat", "--work-ms", COMPUTER_MS, "--spin", "--handle", "computer")

    def start(self, name, *arguments):
        self.life[name] = [time.monotonic(), None]
        self.nodes[name] = self.graph.node(*arguments)

    def pids(self):
        return [node.pid for node in self.nodes.values()]

    def go(self):
        """The channel that both sources lack; others come, and all go but those of the beginning."""
        self.start("starter", "sink", "samples", "beat", "--handle", "starter", "--work-ms", STARTER_MS)
        self.start("holder", "sink", "stuck", "--stall-first", "--handle", "holder")
        self.start("stuck", "source", "stuck", "--rate", 100, "--wait-channels", 2)
        for content, count in MIXED.items():
            name = f"mixed {content}"
            self.start(name, "source", "mixed", "--bytes", content, "--count", count)
            self.graph.sent(self.nodes[name])
        self.arrive()
        for name in list(self.nodes):
            self.look(name)
        for name in WENT:
            self.stop(name)

    def arrive(self):
        """Until every message has been taken or dropped."""
        def settled(name, count):
            clients = registry.read(self.nodes[name].pid).of("client")
            return all(c.leases == c.frees == count for c in clients)

        wait_until(lambda: all(settled(name, SAMPLES) for name in ("samples", "worker-slow", "worker-fast", "sink")),
                   90, "all samples have arrived")
        wait_until(lambda: all(settled(name, BEATS) for name in ("viewer", "computer")), 90, "all beats have arrived")

    def look(self, name):
        """What can be seen from outside while it lives."""
        pid = self.nodes[name].pid
        self.entries[name] = registry.read(pid).entries
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as comm:
                self.tasks[str(pid), tid] = comm.read().strip()

    def stop(self, name):
        """And what it says at its end."""
        if name not in self.said:
            self.said[name] = [json.loads(line) for line in self.nodes[name].stop().splitlines()]
            self.life[name][1] = time.monotonic()


class Truth:
    """Keys are the scripts': (topic, pid) or (handle, pid), of the processes that they listen to."""
    gap_limit_ms, gaps_off = 100, 1

    def __init__(self, nodes, recording, pids=None):
        self.recording, self.entries = recording, nodes.entries
        self.pid = {name: str(node.pid) for name, node in nodes.nodes.items()}
        self.scope = {str(pid) for pid in pids or self.pid.values()}
        self.came, self.went = ("starter", *WENT), WENT
        self.tasks, self.life = nodes.tasks, nodes.life
        self.published, self.taken, self.dropped = {}, Counter(), Counter()
        for name, said in nodes.said.items():
            if self.pid[name] in self.scope:
                for counts in said:
                    self._add(name, counts)

    def _add(self, name, counts):
        if counts["type"] == "publisher":
            self.published[counts["topic"], self.pid[name]] = (counts["messages"], counts["bytes"])
        elif counts["type"] == "subscriber":
            key = (name, self.pid[name])
            # The holder's others wait in its queue, neither taken nor dropped.
            taken = 1 if name == "holder" else counts["messages"] - counts["drops"]
            self.taken += Counter({key: taken})
            self.dropped += Counter({key: counts["drops"]})

    def heard(self, names):
        return [name for name in names if self.pid[name] in self.scope]

    def topics(self):
        """Whose publishers are recorded."""
        return [topic for topic, name in (("samples", "samples"), ("beat", "beat"), ("features/fast", "worker-fast"),
                                          ("features/slow", "worker-slow")) if self.heard([name])]

    def handles(self):
        """Subscribers that are recorded; their process has the same name."""
        return self.heard(["samples", "worker-fast", "worker-slow", "sink", "viewer", "computer"])

    def lengths_ns(self, name, kind):
        return [end - begin for _, begin, end in self.slices(name, kind)]

    def slices(self, name, kind, topic=None):
        """[(message, begin, end)], by time."""
        tracks = {place for place, track in self.recording.tracks.items()
                  if track["name"] == name and topic in (None, track["topic"])}
        return sorted(((message, begin, end) for place, what, begin, end, message in self.recording.slices
                       if what == kind and place in tracks), key=lambda s: s[1])

    def waits(self, topic):
        """[(message, begin, end)] of each time that its publisher was blocked."""
        publishes = self.slices(topic, "publish")
        return [(next(m for m, _, until in publishes if until >= end), begin, end)
                for _, begin, end in self.slices(topic, "blocked")]

    def gaps_ms(self, topic):
        """{message: the time since the one before}."""
        ends = [(end, message) for message, _, end in self.slices(topic, "publish")]
        return {message: (end - before) / 1e6 for (before, _), (end, message) in zip(ends, ends[1:])}

    def in_use(self, handle):
        """How many messages are in its hands when one more comes; from the first that it gave back on."""
        leases = sorted(begin for kind in ("queue", "dropped") for _, begin, _ in self.slices(handle, kind))
        frees = sorted(end for kind in ("process", "dropped") for _, _, end in self.slices(handle, kind))
        found = []
        for number, lease in enumerate(leases):
            before = sum(free <= lease for free in frees)
            if before:
                found.append(number + 1 - before)
        return found

    def arrivals_ns(self, topic, handle):
        """From the hand-over to the subscriber's code."""
        sent = {message: begin for message, begin, _ in self.slices(topic, "publish")}
        sent.update({message: end for message, _, end in self.waits(topic)})
        return [begin - sent[message] for message, begin, _ in self.slices(handle, "process", topic)]

    def blockers_ms(self, topic, handles):
        """{who was the last to give back the buffer: time waited}."""
        ends, waited = {}, Counter()
        for handle in handles:
            for message, _, end in self.slices(handle, "process", topic) + self.slices(handle, "dropped", topic):
                ends.setdefault(message, {})[handle] = end
        for message, begin, end in self.waits(topic):
            held = ends.get(message - BUFFERS)
            if held:
                waited[max(held, key=held.get)] += (end - begin) / 1e6
        return waited

    def life_ms(self, name):
        begin, end = self.life[name]
        return (end - begin) * 1000

    def blocked_ns(self, name):
        [entry] = [e for e in self.entries[name] if e.kind == "publisher"]
        return entry.blocked_ns

