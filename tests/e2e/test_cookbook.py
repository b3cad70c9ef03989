# SPDX-License-Identifier: MIT
"""Every script of docs/bpftrace/ on a graph whose truth is known, all processes by path and one by pid."""

import json
import re
import shutil
import sys
import time

import cookbook
from cookbook import Script, run_all, wait_until_left_alone
from graph import Graph
from require import require, skip

SECONDS = 4
# These ask how processes belong together, or of what a relay by itself doesn't do.
OF_ALL_PROCESSES = ("blockers", "latency")
ARGUMENTS = {"held": (10,), "percentiles": ("worker-slow",)}


class Truth:
    """The demo's graph, and beside it a stream in bursts with a leaky and a computing subscriber."""

    def __init__(self, graph):
        self.graph = graph
        self.nodes = {}
        self.start("samples", "source", "samples", "--rate", 250, "--bytes", 4096, "--monitor",
                   "--wait-channels", 3)
        self.start("worker-fast", "relay", "samples", "features/fast", "--work-ms", 0.5,
                   "--handle", "worker-fast", "--tcp")
        self.start("worker-slow", "relay", "samples", "features/slow", "--work-ms", 5,
                   "--handle", "worker-slow", "--tcp")
        self.start("sink", "sink", "features/fast", "features/slow", "--handle", "sink")
        self.start("beat", "source", "beat", "--rate", 50, "--burst", 10, "--wait-channels", 2)
        self.start("viewer", "sink", "beat", "--work-ms", 20, "--leaky", "--handle", "viewer")
        self.start("computer", "sink", "beat", "--work-ms", 2, "--spin", "--handle", "computer")
        self.counts = {}

    def start(self, name, *arguments):
        self.nodes[name] = self.graph.node(*arguments)

    def pid(self, name):
        return str(self.nodes[name].pid)

    def end(self):
        for name, node in self.nodes.items():
            self.counts[name] = [json.loads(line) for line in node.stop().splitlines()]

    def published(self, name):
        [found] = [o for o in self.counts[name] if o["type"] == "publisher"]
        return found


def library_of(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "/libezmsg.so" in line)


def by_path(truth):
    """All at once; meanwhile a publisher and a subscriber that sticks come and go."""
    def come_and_go():
        holder = truth.graph.node("sink", "stuck", "--stall-first", "--handle", "holder")
        stuck = truth.graph.node("source", "stuck", "--rate", 100, "--wait-channels", 1)
        time.sleep(SECONDS)
        truth.holder, truth.stuck = str(holder.pid), str(stuck.pid)
        stuck.stop()
        holder.stop()

    source = truth.nodes["samples"].pid
    path = library_of(source)
    outputs = run_all([Script(name, 0, path, *ARGUMENTS.get(name, ())) for name in cookbook.SCRIPTS], source,
                      come_and_go)
    wait_until_left_alone(*(node.pid for node in truth.nodes.values()))
    return outputs


def by_pid(truth):
    """The slow worker alone."""
    pid = truth.nodes["worker-slow"].pid
    names = [name for name in cookbook.SCRIPTS if name not in OF_ALL_PROCESSES]
    outputs = run_all([Script(name, 0, "", *ARGUMENTS.get(name, ()), pid=pid) for name in names], pid,
                      lambda: time.sleep(2))
    # After so many seconds it ends by itself.
    Script("rates", 1, pid=pid).finish()
    wait_until_left_alone(*(node.pid for node in truth.nodes.values()))
    return outputs


def rates(out, truth):
    messages, content = out.all("messages", "beat"), out.all("bytes", "beat")
    assert len(messages) >= 2 and 25 < sorted(messages)[len(messages) // 2] < 75, out.text
    beat = truth.published("beat")
    each = beat["bytes"] // beat["messages"]
    assert content == [each * n for n in messages], out.text
    assert sum(messages) <= beat["messages"]


def sizes(out, truth):
    for topic in ("samples", "beat"):
        count = truth.published(topic)
        assert out.map("largest")[(topic,)] == count["bytes"] // count["messages"], out.text


def missed(out, truth):
    for topic, node in (("samples", "samples"), ("features/slow", "worker-slow"), ("beat", "beat")):
        key = (topic, truth.pid(node))
        assert out.map("missed")[key] == 0 and out.map("seen")[key] > 20 * SECONDS, out.text
        assert 0 < out.map("published_total")[key] <= truth.published(node)["messages"], out.text


def gaps(out, truth):
    """Bursts of ten at 50 Hz: a pause of 0.2 s before every tenth message."""
    found = [(int(m[1]), int(m[2])) for m in
             re.finditer(r"^\d\d:\d\d:\d\d beat \(pid \d+\): nothing for (\d+) ms before message (\d+)$",
                         out.text, re.M)]
    of_burst = [ms for ms, message in found if message % 10 == 0]
    assert len(of_burst) >= SECONDS * 2 and len(of_burst) > len(found) / 2, out.text
    assert 150 < sorted(of_burst)[len(of_burst) // 2] < 300, out.text
    assert out.map("gaps")[("beat", truth.pid("beat"))] == len(found), out.text


def blocked(out, truth):
    total, key, stuck = out.map("total_us"), ("samples", truth.pid("samples")), ("stuck", truth.stuck)
    assert total[key] > SECONDS * 1e6 / 2, out.text
    assert out.mode("each_us", *key) == 4096, out.text
    assert sum(out.histogram("each_us", *key).values()) == out.map("waits")[key], out.text
    # It looks up from its endless wait every 50 ms.
    assert total[stuck] > SECONDS * 1e6 / 4, out.text
    assert out.mode("each_us", *stuck) >= 32 * 1024 and stuck in out.map("waiting_since_ms"), out.text


def blockers(out, truth):
    waited = {keys: value for keys, value in out.map("waited_us").items() if keys[0] == "samples"}
    key = ("samples", "worker-slow", truth.pid("worker-slow"))
    assert max(waited, key=waited.get) == key, out.text
    # On a busy machine others are the last to release now and then, and that is so.
    assert waited[key] > 0.6 * sum(waited.values()), out.text


def subscribers(out, _truth):
    assert out.mode("processing_us", "worker-slow") == 4096, out.text
    assert out.mode("processing_us", "worker-fast") in (512, 1024), out.text
    assert out.mode("queue_us", "worker-slow") >= 128 * 1024, out.text
    assert out.mode("queue_us", "worker-fast") < 32768, out.text


def slowest(out, truth):
    """The last line of each second is the busiest."""
    seconds = re.findall(r"^\d\d:\d\d:\d\d .*:\n((?:@busy.*\n)+)", out.text, re.M)
    last = [second.splitlines()[-1] for second in seconds]
    slow = [line for line in last if line.startswith(f"@busy[worker-slow, {truth.pid('worker-slow')}]")]
    assert len(last) >= 2 and len(slow) > len(last) / 2, out.text


def percentiles(out, _truth):
    found = [int(m) for m in re.findall(r"^p\d\d below (\d+) us$", out.text, re.M)]
    assert len(found) == 3 and found == sorted(found), out.text
    assert 5000 < found[0] <= 6144, out.text
    assert int(re.search(r"^(\d+) messages$", out.text, re.M)[1]) > 20 * SECONDS, out.text


def held(out, truth):
    key = ("holder", truth.holder)
    since = out.all("taken_at_ms", *key)
    assert len(since) >= 2 and len(set(since)) == 1, out.text
    assert {keys[3] for keys in out.map("taken_at_ms") if keys[:2] == key} == {"0"}, out.text
    kept = [int(m) for m in re.findall(r"viewer \(pid \d+\) held message \d+ for (\d+) ms", out.text)]
    assert len(kept) > SECONDS and 19 <= sorted(kept)[len(kept) // 2] < 100, out.text


def inuse(out, _truth):
    assert out.mode("in_use", "worker-slow") == 32, out.text
    assert out.mode("in_use", "worker-fast") == 0, out.text


def drops(out, truth):
    dropped, key = out.map("dropped"), ("viewer", truth.pid("viewer"))
    assert set(dropped) == {key}, out.text
    [viewer] = [o for o in truth.counts["viewer"] if o["type"] == "subscriber"]
    assert SECONDS * 5 < dropped[key] <= viewer["drops"], (out.text, viewer)
    assert out.map("taken")[key] <= viewer["messages"], (out.text, viewer)


def endpoints(out, truth):
    """The holder's subscriber isn't closed: its process ends, with a message that is still held."""
    for sign, kind, name, pid in (("+", "publisher", "stuck stuck", truth.stuck),
                                  ("-", "publisher", "stuck stuck", truth.stuck),
                                  ("+", "subscriber", "stuck holder", truth.holder)):
        assert re.search(rf"^\d\d:\d\d:\d\d \{sign} {kind} +{name} \(pid {pid}\)$", out.text,
                         re.M), (sign, kind, out.text)


def latency(out, _truth):
    assert out.mode("us", "samples", "worker-slow") >= 128 * 1024, out.text
    assert out.mode("us", "features/slow", "sink") < 4096, out.text


def oncpu(out, truth):
    """worker-slow sleeps in its 5 ms; the computer's 2 ms are CPU time."""
    code, cpu = out.map("in_code_ms"), out.map("on_cpu_ms")
    slow, computer = (("worker-slow", truth.pid("worker-slow")), ("computer", truth.pid("computer")))
    assert cpu.get(slow, 0) < 0.2 * code[slow], out.text
    [messages] = [o["messages"] for o in truth.counts["computer"]]
    assert 2 * 25 * SECONDS < cpu[computer] < 2 * 1.5 * messages, (messages, out.text)


def threads(out, truth):
    of_sink = [keys for keys in out.map("messages") if keys[3] == "sink"]
    assert {keys[0] for keys in of_sink} == {truth.pid("sink")}, out.text
    pid = truth.pid("worker-slow")
    assert (pid, pid, "ezmsg-node", "worker-slow") in out.map("messages"), out.text


def check_one(outputs, truth):
    """By pid: what there is is the slow worker's, and right."""
    pid = truth.pid("worker-slow")
    for name in ("rates", "missed", "gaps", "drops", "slowest"):
        for _, keys, _ in outputs[name].values:
            assert keys[-1] == pid, outputs[name].text
    assert outputs["missed"].map("missed")[("features/slow", pid)] == 0, outputs["missed"].text
    assert outputs["subscribers"].mode("processing_us", "worker-slow") == 4096
    assert outputs["inuse"].mode("in_use", "worker-slow") == 32
    assert {keys[0] for keys in outputs["threads"].map("messages")} == {pid}
    assert not outputs["blocked"].map("total_us"), outputs["blocked"].text


def main():
    require("bpf")
    if not shutil.which("bpftrace"):
        skip("bpftrace is not installed", "EZPROF_REQUIRE_BPF")
    assert len(cookbook.SCRIPTS) >= 10
    checks = {name: globals()[name] for name in cookbook.SCRIPTS}
    with Graph() as graph:
        truth = Truth(graph)
        began = time.monotonic()
        all_of_them = by_path(truth)
        between = time.monotonic()
        one = by_pid(truth)
        print(f"by path {between - began:.1f} s, by pid {time.monotonic() - between:.1f} s")
        truth.end()
    for name, check in checks.items():
        check(all_of_them[name], truth)
        print(name, "ok", flush=True)
    check_one(one, truth)
    return 0


sys.exit(main())
