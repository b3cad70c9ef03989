# SPDX-License-Identifier: MIT
"""The scripts of docs/bpftrace/ on a real ezmsg graph with our extension, by pid: the truth of it."""

import os
import re
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests/python"))

import cookbook
import environment
import harness
from cookbook import Script, run_all, wait_until_left_alone
from require import require, skip

GRAPHS = harness.HERE / "why_graphs.py"
SECONDS = 2
# What they rely on isn't so in Python, as they say.
NOT_HERE = ("blockers", "latency", "oncpu")
ARGUMENTS = {"held": (10,), "percentiles": ("SLOW/INPUT",), "gaps": (10,)}


def run(scenario, names):
    """What the scripts say of the only process of a graph of why_graphs.py, and its pid."""
    python = environment.ensure("3.9.0")
    with harness.Program(python, GRAPHS, scenario, "FOLDER") as program:
        program.wait_for("up")
        [pid] = program.pids()
        outputs = run_all([Script(name, 0, "", *ARGUMENTS.get(name, ()), pid=pid) for name in names], pid,
                          lambda: time.sleep(SECONDS))
        wait_until_left_alone(pid)
        program.finish()
        assert "Traceback" not in program.text(), program.text()
    return outputs, str(pid)


def slow_among_fast():
    """SRC waits for SLOW, which takes 20 ms for each message; QUICK takes 1 ms, FAST none."""
    names = [name for name in cookbook.SCRIPTS if name not in NOT_HERE]
    outputs, pid = run("slow_among_fast", names)
    source = ("SRC/OUTPUT", pid)
    assert outputs["missed"].map("missed") == {source: 0}, outputs["missed"].text
    assert outputs["missed"].map("seen")[source] > 10, outputs["missed"].text
    rates = outputs["rates"].all("messages", *source)
    assert rates and 5 < max(rates) < 51, outputs["rates"].text
    assert outputs["sizes"].map("largest") == {("SRC/OUTPUT",): 64}, outputs["sizes"].text
    assert outputs["gaps"].map("gaps")[source] > 10, outputs["gaps"].text
    blocked = outputs["blocked"]
    assert blocked.mode("each_us", *source) in (16384, 32768) and set(blocked.map("waits")) == {source}, blocked.text
    assert outputs["subscribers"].mode("processing_us", "SLOW/INPUT") in (16384, 32768)
    assert outputs["subscribers"].mode("processing_us", "FAST/INPUT") < 4096
    assert outputs["subscribers"].mode("processing_us", "QUICK/INPUT") in (1024, 2048)
    assert outputs["subscribers"].mode("queue_us", "SLOW/INPUT") >= 65536
    assert outputs["inuse"].mode("in_use", "SLOW/INPUT") == 8, outputs["inuse"].text
    busy = outputs["slowest"].all("busy", "SLOW/INPUT", pid)
    assert busy and max(busy) > 400, outputs["slowest"].text
    assert max(busy) == max(value for _, _, value in outputs["slowest"].values)
    p50 = int(re.search(r"^p50 below (\d+) us$", outputs["percentiles"].text, re.M)[1])
    assert 20000 < p50 < 50000, outputs["percentiles"].text
    held = set(re.findall(r"(\S+) \(pid \d+\) held message", outputs["held"].text))
    assert "SLOW/INPUT" in held, outputs["held"].text
    of_thread = {keys[3]: keys[:2] for keys in outputs["threads"].map("messages")}
    assert set(of_thread) == {"SLOW/INPUT", "FAST/INPUT", "QUICK/INPUT"}, outputs["threads"].text
    assert len(set(of_thread.values())) == 1, outputs["threads"].text
    assert not outputs["drops"].map("dropped"), outputs["drops"].text


def leaky():
    """500 messages a second, of which a leaky SINK can take 50."""
    outputs, pid = run("leaky", ["drops", "missed"])
    sink = ("SINK/INPUT", pid)
    dropped, taken = (outputs["drops"].map(name)[sink] for name in ("dropped", "taken"))
    assert dropped > 2 * taken > 40, outputs["drops"].text
    assert outputs["missed"].map("missed") == {("SRC/OUTPUT", pid): 0}, outputs["missed"].text


def main():
    require("bpf", "interop")
    if not shutil.which("bpftrace"):
        skip("bpftrace is not installed", "EZPROF_REQUIRE_BPF")
    for story in (slow_among_fast, leaky):
        began = time.monotonic()
        story()
        print(f"{story.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)
    return 0


sys.exit(main())
