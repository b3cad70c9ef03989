# SPDX-License-Identifier: MIT
"""
A .pftrace by Perfetto's own message definitions: it is well-formed, complete, and says the same as
the JSON file that another recorder made of the same traffic at the same time.
"""

import json
import os
import subprocess
import tempfile
import time
from collections import Counter, defaultdict

from agent import Agent, profile, subscribers
from graph import Graph, wait_until
from recording import Recorder, Recording
from require import require, skip

COUNT = 2003
VENV = os.environ.get("EZPROF_PERFETTO_VENV", "")


def decode(path):
    script = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "support", "pftrace.py")
    text = subprocess.run([os.path.join(VENV, "bin", "python"), script, path], check=True,
                          stdout=subprocess.PIPE, text=True, timeout=60).stdout
    return json.loads(text)


def endpoint_of(trace, track):
    """(pid, name of the endpoint, kind of the track)."""
    lane = trace["tracks"][str(track)]
    endpoint = trace["tracks"][str(lane["parent"])]
    process = trace["tracks"][str(endpoint["parent"])]
    return process["pid"], endpoint["name"].split(" (")[0], lane["name"]


def slices_of(trace):
    """What both formats say of a slice; times since the recording's first event."""
    first = min(s["begin"] for s in trace["slices"])
    return sorted((*endpoint_of(trace, s["track"]), s["name"], s["begin"] - first,
                   s["end"] - first, s["notes"].get("message", -1)) for s in trace["slices"])


def slices_of_json(recording):
    return sorted((pid, recording.tracks[(pid, tid)]["name"], recording.tracks[(pid, tid)]["track"],
                   name, begin, end, -1 if message is None else message)
                  for (pid, tid), name, begin, end, message in recording.slices)


def flows(trace):
    """Every arrow: begins before it ends, ends once; counted by the endpoint where it ends."""
    begins, ended = defaultdict(list), Counter()
    for s in trace["slices"]:
        for flow in s["flows"]:
            begins[flow].append(s["begin"])
    for s in trace["slices"]:
        for flow in s["ends"]:
            assert flow in begins and max(begins[flow]) <= s["begin"], (flow, s)
            ended[endpoint_of(trace, s["track"])[1:]] += 1
    flows_ended = [flow for s in trace["slices"] for flow in s["ends"]]
    assert len(flows_ended) == len(set(flows_ended))
    return ended


def counters(trace):
    found = {}
    for track, values in trace["counters"].items():
        info = trace["tracks"][track]
        endpoint = trace["tracks"][str(info["parent"])]["name"]
        times = [at for at, _ in values]
        assert times == sorted(times), (endpoint, info)
        found[endpoint, info["name"], info["unit"]] = [value for _, value in values]
    return found


def check(trace, recording):
    assert set(trace["clocks"]) == {"1", "3", "6"}
    assert abs(trace["clocks"]["3"] - time.clock_gettime_ns(time.CLOCK_MONOTONIC)) < 600e9
    [about] = [i["notes"] for i in trace["instants"] if i["name"] == "recorded by ezprof"]
    assert about["lost"] == 0 and about["spans"] == recording.about["spans"], about
    ours, theirs = slices_of(trace), slices_of_json(recording)
    assert len(ours) == len(theirs) and ours == theirs, [p for p in zip(ours, theirs)
                                                         if p[0] != p[1]][:3]
    ended = flows(trace)
    assert ended["FLT", "process"] == ended["SINK", "process"] == COUNT, ended
    assert ended["SYS/OUT", "publish"] >= 0.99 * COUNT, ended
    values = counters(trace)
    [in_flight] = [v for (name, what, unit), v in values.items()
                   if name.startswith("SYS/IN") and (what, unit) == ("in flight", "messages")]
    assert in_flight == recording.in_flight("SYS/IN")
    assert in_flight[-1] == 0 and 1 <= max(in_flight) <= 32
    [rate] = [v for (name, what, unit), v in values.items()
              if name.startswith("SYS/IN") and (what, unit) == ("rate", "messages/s")]
    assert round(sum(rate) / 10) == COUNT, rate
    processes = {t["pid"]: t["process"] for t in trace["tracks"].values() if t["pid"]}
    assert len(processes) == 3 and set(processes.values()) == {"ezmsg-node"}, processes


def main():
    require("bpf")
    if not os.path.exists(os.path.join(VENV, "bin", "python")):
        reason = VENV + ".reason"
        skip(open(reason).read().strip() if os.path.exists(reason)
             else "no package perfetto: scripts/perfetto-venv.sh", "EZPROF_REQUIRE_INTEROP")
    with tempfile.TemporaryDirectory() as folder, Graph() as graph:
        one, other = os.path.join(folder, "a.pftrace"), os.path.join(folder, "a.json")
        sink = graph.node("sink", "SYS/OUT", "--handle", "SINK")
        relay = graph.node("relay", "SYS/IN", "SYS/OUT", "--handle", "FLT")
        source = graph.node("source", "SYS/IN", "--count", COUNT, "--wait-channels", 3)
        with Agent(source.pid, relay.pid, sink.pid), \
                Recorder("--address", graph.address, "-o", one) as first, \
                Recorder("--address", graph.address, "-o", other) as second:
            graph.node("sink", "SYS/IN", "--handle", "STARTER")
            Graph.sent(source)
            wait_until(lambda: subscribers(profile(graph.address))["SINK"]["messages"]["total"]
                       == COUNT, 60, "all messages at the sink")
            assert first.end()[0] == second.end()[0] == 0, (first.stderr(), second.stderr())
        check(decode(one), Recording(other))
    print(f"{COUNT} messages over two hops: both files say the same")


main()
