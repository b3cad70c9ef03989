# SPDX-License-Identifier: MIT
"""ezmsg-sigproc's filter and spectrum, fed with AxisArrays, against what the units counted."""

import subprocess
import sys

import environment
import harness
from require import require

SCRIPT = harness.HERE / "signal_chain.py"


def installed(python):
    code = "from importlib.metadata import version as v; print(v('ezmsg'), v('ezmsg-sigproc'))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True,
                          check=True).stdout.strip()


def test_signal_chain():
    python = environment.ensure("3.10.0b5", "ezmsg-sigproc", name="-sigproc")
    with harness.Program(python, SCRIPT, "FOLDER") as program:
        program.wait_for("up", 60)
        with harness.Agent(program.pid) as agent:
            program.touch("go")
            program.wait_for("ready", 60)
            document = agent.profile(8.0)
            assert agent.stop() == 0, agent.text()
        source, sink = program.facts("source"), program.facts("sink")
        program.finish()
        assert "Traceback" not in program.text(), program.text()
    assert document.data["lost"] == 0 and document.data["errors"] == []
    publishers = list(document.publishers.values())
    first = document.publishers["SRC/OUTPUT"]
    assert first["measured"] == {"messages": source["messages"], "bytes": source["bytes"]}, first
    last = document.subscriber("SINK/INPUT")
    assert last["messages"]["total"] == sink["messages"] == source["messages"], last
    assert last["bytes"]["total"] == sink["bytes"] and sink["finite"], (last, sink)
    # Every stage saw every block, and worked on it for a time that fits into the run.
    stages = [s for (topic, _), s in document.subscribers.items() if topic.endswith("INPUT_SIGNAL")]
    assert len(stages) == 2, list(document.subscribers)
    for stage in stages:
        assert stage["measured"]["messages"] == source["messages"], stage
        busy = stage["processing"]["avg_ms"] * stage["processing"]["samples"]
        assert 0.0 < busy < source["seconds"] * 1000, (stage, source)
    gap = source["seconds"] / source["messages"] * 1000
    assert abs(first["gap"]["avg_ms"] - gap) < 0.1 * gap, (first["gap"], gap)
    print("    ", installed(python), [p["topic"] for p in publishers])


TESTS = (test_signal_chain,)

if __name__ == "__main__":
    require("bpf")
    sys.exit(harness.run_tests(TESTS))
