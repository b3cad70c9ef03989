# SPDX-License-Identifier: MIT
"""Graphs whose true cause is known, profiled by the agent: numbers and names are what they are."""

import os
import pickle
import sys

import environment
import harness
from require import require

GRAPHS = harness.HERE / "graphs.py"
VERSION = os.environ.get("EZPROF_PYTHON_EZMSG", "3.9.0")
MODE = os.environ.get("EZPROF_PYTHON_SEAMS", "")


def measured(scenario, window=4.0, apart=(), options=()):
    """The document and the program's own facts, once everything has arrived."""
    python = environment.ensure(VERSION)
    with harness.Program(python, GRAPHS, scenario, "FOLDER", *apart,
                         **({"EZPROF_SEAMS": MODE} if MODE else {})) as program:
        program.wait_for("up")
        with harness.Agent(*program.pids(), *options) as agent:
            program.touch("go")
            program.wait_for("ready")
            document = agent.profile(window)
            assert agent.stop() == 0, (agent.process.returncode, agent.text())
        facts = {p.stem: program.facts(p.stem) for p in program.folder.glob("*.json")}
        program.finish()
        assert "Traceback" not in program.text(), program.text()
    return document, facts


def counts_match(document, facts, marshalled=False):
    publisher, source = document.publishers["SRC/OUTPUT"], dict(facts["source"])
    if marshalled:  # "EZ", id, number of buffers, one length, pickle
        source["bytes"] = source["messages"] * (26 + len(pickle.dumps(b"x" * 64, 5)))
    for key in ("messages", "bytes"):
        assert publisher[key]["total"] == source[key], (key, publisher, source)
        assert publisher["measured"][key] == source[key], (key, publisher, source)
    assert document.data["lost"] == 0, document.data["lost"]
    assert document.data["errors"] == []
    # The Python server knows no PROFILE; the topology is what its DAG says.
    assert document.data["graph_source"] == "dag"
    assert document.data["graph"]["SRC/OUTPUT"], document.data["graph"]
    assert publisher["pid"] == source["pid"]


def delivered(subscriber, facts):
    assert subscriber["messages"]["total"] == facts["messages"], (subscriber, facts)
    assert subscriber["measured"]["messages"] == facts["messages"]
    assert subscriber["bytes"]["total"] == facts["bytes"]


def test_innocent_relay():
    document, facts = measured("relay")
    counts_match(document, facts)
    assert document.publishers["SRC/OUTPUT"]["serialise"]["total_ms"] is None  # local only
    relay, sink = document.subscriber("FLT/INPUT"), document.subscriber("SINK/INPUT")
    delivered(sink, facts["sink"])
    assert relay["processing"]["avg_ms"] < 1.0, relay["processing"]
    assert 20.0 <= sink["processing"]["avg_ms"] < 30.0, sink["processing"]
    assert document.publishers["FLT/OUTPUT"]["blocked"]["time_ms"] > 500.0
    assert relay["task"] == "FLT:relay" and sink["task"] == "SINK:work"
    assert document.publishers["FLT/OUTPUT"]["task"] == "FLT:relay"


def test_relay_in_three_processes():
    document, facts = measured("relay", apart=("SRC,FLT,SINK",))
    counts_match(document, facts, marshalled=True)
    assert document.subscriber("SINK/INPUT")["messages"]["total"] == facts["sink"]["messages"]
    relay = document.subscriber("FLT/INPUT")
    assert relay["processing"]["avg_ms"] < 5.0, relay["processing"]
    assert len({p["pid"] for p in document.publishers.values()}) == 2
    serialise = document.publishers["SRC/OUTPUT"]["serialise"]["total_ms"]
    # Of some 200 bytes each; the waiting for FLT is not in it.
    assert 0.0 < serialise < 2.0 * facts["source"]["messages"], serialise
    links = document.publishers["SRC/OUTPUT"]["links"]
    assert "shm" in {link["transport"] for link in links}, links


def test_sleeper():
    document, facts = measured("sleeper", options=("--sched",))
    counts_match(document, facts)
    sink = document.subscriber("SINK/INPUT")
    delivered(sink, facts["sink"])
    # The unit tells what its sleeps really took: on a busy machine that is more than 5 ms.
    took = facts["sink"]["seconds"] * 1000 / facts["sink"]["messages"]
    assert took >= 5.0
    assert took <= sink["processing"]["avg_ms"] < took + 1.0, (sink["processing"], took)
    # Its coroutine is put aside meanwhile: what the loop's thread does is none of its business.
    sched = sink["processing"]["sched"]
    assert sched["other_ms"] > 0.7 * sched["time_ms"] > 0.0, sched
    assert sched["blocked_ms"] < 0.1 * sched["time_ms"], sched


def test_event_loop_hog():
    document, facts = measured("hog", options=("--sched",))
    counts_match(document, facts)
    longest = max(document.tasks.values(), key=lambda t: t["hold_max_ms"])
    assert longest["task"] == "HOG:work", document.tasks
    assert 60.0 <= longest["hold_max_ms"] < 600.0, longest
    innocent = document.subscriber("SINK/INPUT")
    assert innocent["processing"]["avg_ms"] < 5.0 < innocent["queue"]["avg_ms"], innocent
    sched = document.subscriber("HOG/INPUT")["processing"]["sched"]
    assert sched["on_cpu_ms"] + sched["runnable_ms"] > 0.8 * sched["time_ms"] > 0.0, sched
    assert sched["on_cpu_ms"] > 0.2 * sched["time_ms"], sched
    assert document.publishers["SRC/OUTPUT"]["blocked"]["total_ms"] == 0.0


def test_whose_thread():
    """The thread's word stands only while the unit's own coroutine has the thread."""
    document, _ = measured("relay", options=("--sched",))
    # It awaits a sleep of 20 ms: others have the thread then, or nobody.
    sched = document.subscriber("SINK/INPUT")["processing"]["sched"]
    assert sched["other_ms"] > 0.5 * sched["time_ms"] > 0.0, sched
    assert sched["on_cpu_ms"] + sched["runnable_ms"] < 0.5 * sched["time_ms"], sched
    # A relay's own coroutine never sleeps: where its word stays, it has the loop's sleep.
    relay = document.subscriber("FLT/INPUT")["processing"]["sched"]
    assert relay["blocked_ms"] < 0.5 * relay["time_ms"], relay
    waits = document.publishers["FLT/OUTPUT"]["blocked"]["sched"]
    assert waits["other_ms"] > 0.9 * waits["time_ms"] > 0.0, waits


def test_two_tasks():
    document, facts = measured("tasks")
    counts_match(document, facts)
    sink = document.subscriber("SINK/INPUT")
    assert set(sink["task"].split(", ")) == {"SINK:work", "SINK:slow"}, sink["task"]
    work, slow = document.tasks["SINK:work"], document.tasks["SINK:slow"]
    assert work["calls"] == slow["calls"] == 40
    assert slow["busy_ms"] / 40 >= 10.0 > 1.0 > work["busy_ms"] / 40, (work, slow)
    assert 10.0 <= sink["processing"]["avg_ms"], sink["processing"]


def test_leaky():
    document, facts = measured("leaky", window=6.0)
    counts_match(document, facts)
    sink = document.subscriber("SINK/INPUT")
    released, drops = sink["messages"]["total"], sink["drops"]["total"]
    sent, processed = facts["source"]["messages"], facts["sink"]["messages"]
    assert sent - 2 <= released + sink["in_flight"] <= sent, (released, facts)
    assert processed <= released - drops <= processed + 1, (released, drops, facts)
    assert 10.0 <= sink["processing"]["avg_ms"] < 40.0, sink["processing"]
    assert sink["processing"]["samples"] >= processed - 1, sink
    assert sink["unmatched"] <= 1, sink


def test_tcp_drain():
    document, facts = measured("drain", window=8.0, apart=("SRC,SINK",))
    counts = document.publishers["SRC/OUTPUT"]
    assert counts["messages"]["total"] == facts["source"]["messages"]
    assert counts["bytes"]["total"] > facts["source"]["bytes"]  # marshalled
    assert counts["blocked"]["total_ms"] > 0.0, counts["blocked"]
    # Serialising and copying is apart from both: together no longer than the whole of it took.
    apart = counts["serialise"]["total_ms"]
    assert apart > 0.0 and apart + counts["blocked"]["total_ms"] <= facts["source"]["took_ms"], \
        (counts["serialise"], counts["blocked"], facts)
    assert "tcp" in {link["transport"] for link in counts["links"]}


TESTS = (test_innocent_relay, test_relay_in_three_processes, test_sleeper, test_event_loop_hog,
         test_whose_thread, test_two_tasks, test_leaky, test_tcp_drain)

if __name__ == "__main__":
    require("bpf")
    sys.exit(harness.run_tests(TESTS))
