# SPDX-License-Identifier: MIT
"""`ezprof record` under test, and what its JSON files say."""

import json
import os
import re
import signal
from collections import Counter, defaultdict

from agent import messages_of
from graph import BIN, Program, wait_until


class Recorder(Program):
    """with Recorder("--address", a, "-o", path) as r: it records; r.end() -> exit status."""

    def __init__(self, *arguments, wait=True, env=None):
        super().__init__([os.path.join(BIN, "ezprof"), "record", *map(str, arguments)], env)
        if wait:
            wait_until(lambda: self.said("recording") or self.process.poll() is not None, 30,
                       "the recording has begun")
            assert self.process.poll() is None, messages_of(self)

    def said(self, text):
        return text in messages_of(self)

    def end(self, how=signal.SIGINT):
        """Ends it; its exit status and what it printed."""
        if self.process.poll() is None and how:
            self.process.send_signal(how)
        text, _ = self.process.communicate(timeout=60)
        return self.process.returncode, text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class Recording:
    """A JSON file, checked as far as every one must be right."""

    def __init__(self, path):
        with open(path) as file:
            document = json.load(file)
        assert document["displayTimeUnit"] == "ns", document["displayTimeUnit"]
        self.about = document["otherData"]
        self.tracks, self.processes = {}, {}
        self.slices, self.arrows, self.counters, self.lost = [], defaultdict(list), [], []
        for event in document["traceEvents"]:
            self._take(event)
        self._check_arrows()
        self._check_tracks()

    def _take(self, event):
        phase, place = event["ph"], (event["pid"], event["tid"])
        if phase == "M":
            if event["name"] == "thread_name":
                self.tracks[place] = event["args"]
            elif event["name"] == "process_name":
                self.processes[event["pid"]] = event["args"]["name"]
            return
        at_ns = round(event["ts"] * 1000)
        assert at_ns >= 0, event
        if phase == "X":
            self.slices.append((place, event["name"], at_ns, at_ns + round(event["dur"] * 1000),
                                event.get("args", {}).get("message")))
        elif phase in "stf":
            self.arrows[event["id"]].append((phase, place, at_ns))
        elif phase == "C":
            self.counters.append((event["pid"], event["name"], event["id"], at_ns, event["args"]))
        else:
            assert (phase, event["name"]) == ("i", "lost"), event
            self.lost.append(event["args"]["lost"])

    def _check_arrows(self):
        """Each begins once, then ends, at a slice that begins at that moment, and never goes back."""
        begins = {(place, begin) for place, _, begin, _, _ in self.slices}
        for number, ends in self.arrows.items():
            phases = Counter(phase for phase, _, _ in ends)
            assert phases["f"] <= 1 and phases["s"] <= 1, (number, ends)
            for _, place, at_ns in ends:
                assert (place, at_ns) in begins, (number, place, at_ns)
            times = [at for wanted in "stf" for phase, _, at in ends if phase == wanted]
            assert times == sorted(times), (number, ends)

    def _check_tracks(self):
        """What is on one track doesn't overlap, but for the wait within a publish."""
        by_track = defaultdict(list)
        for place, name, begin, end, _ in self.slices:
            assert begin <= end, (place, name, begin, end)
            assert place in self.tracks, place
            if name != "blocked":
                by_track[place].append((begin, end))
        for place, all_of_it in by_track.items():
            all_of_it.sort()
            for (_, end), (begin, _) in zip(all_of_it, all_of_it[1:]):
                assert end <= begin, (place, end, begin)

    def of(self, name, kind):
        """[(message, begin, end)] of the slices of that endpoint and kind, by message."""
        return sorted((message, begin, end) for place, what, begin, end, message in self.slices
                      if what == kind and self.tracks[place]["name"] == name)

    def complete_arrows(self, name, kind):
        """How many arrows end in slices of that endpoint and kind and begin somewhere."""
        return sum(1 for ends in self.arrows.values()
                   for phase, place, _ in ends
                   if phase == "f" and self.tracks[place]["name"] == name
                   and self.tracks[place]["track"] == kind and any(p == "s" for p, _, _ in ends))

    def in_flight(self, name):
        """The values of the counter, by time."""
        return [args["in flight"] for _, who, _, _, args in self.counters
                if who == name and "in flight" in args]


def summary_of(text):
    """{"A -> B": {"arrival": (n, p50, p90, p99, max), "early": n}} of --summary, without pids."""
    found, path = {}, None
    for line in text.splitlines()[1:]:
        row = re.match(r"  (arrival|done) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", line)
        if row:
            found[path][row[1]] = (int(row[2]), *map(float, row.groups()[2:]))
        elif line.endswith(" more that had arrived before their hand-over was noted"):
            found[path]["early"] = int(line.split()[0])
        elif not line.startswith(" "):
            path = re.sub(r" \(\d+\)", "", line)
            found[path] = {}
    return found
