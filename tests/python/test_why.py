# SPDX-License-Identifier: MIT
"""`ezprof why` on real ezmsg graphs whose true cause is known: the unit that it is gets named."""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import environment
import harness
from require import require

GRAPHS = harness.HERE / "why_graphs.py"
VERSION = os.environ.get("EZPROF_PYTHON_EZMSG", "3.9.0")
WINDOW_S = 1.5
AT_ONCE = 3
TRIES = 3


def ask(address, window=WINDOW_S, status=0):
    done = subprocess.run(
        [harness.BIN / "ezprof", "why", "--json", "--window", str(window), "--address", address],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (done.returncode, done.stderr)
    return json.loads(done.stdout)["findings"]


def text(findings):
    return "\n".join(f'{f["kind"]}: {f["sentence"]}' for f in findings)


def about(scenario, apart=(), settle=1.0, also=None):
    """The findings on a running scenario, attached late, and its processes' pids."""
    python = environment.ensure(VERSION)
    with harness.Program(python, GRAPHS, scenario, "FOLDER", *apart) as program:
        program.wait_for("up")
        time.sleep(settle)
        pids = program.pids()
        with harness.Agent(*pids) as agent:
            time.sleep(WINDOW_S + 0.3)
            findings = ask(agent.address)
            if also:
                also(agent.address)
        program.finish()
        assert "Traceback" not in program.text(), program.text()
    return findings, pids


def check_top(address, wanted):
    """top --once says so as well, which takes it a second look."""
    done = subprocess.run([harness.BIN / "ezprof", "top", "--once", "--wide", "--address", address],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and wanted in done.stdout, done


def problems(findings):
    """Without gaps: a machine under load stutters for real."""
    return [f for f in findings if f["weight"] == "problem" and f["kind"] != "gap"]


def first(findings, kind, name, waiting=()):
    assert problems(findings), text(findings)
    top = problems(findings)[0]
    assert top["kind"] == kind and name in top["sentence"], text(findings)
    assert {w["topic"] for w in top["waiting"]} == set(waiting), text(findings)
    return top


def test_slow_among_fast():
    findings, pids = about("slow_among_fast")
    top = first(findings, "slow_subscriber", f"SLOW:work (pid {pids[0]})", {"SRC/OUTPUT"})
    assert 35 <= top["bound_hz"] <= 50, top
    assert len(problems(findings)) == 1, text(findings)


def test_slow_last():
    findings, _ = about("slow_last")
    top = first(findings, "slow_subscriber", "SINK:work",
                {"SRC/OUTPUT", "ONE/OUTPUT", "TWO/OUTPUT"})
    for innocent in ("ONE:relay only waits too", "TWO:relay only waits too"):
        assert innocent in top["sentence"], text(findings)
    assert "same process" not in top["sentence"], "the tasks say so"
    assert len(problems(findings)) == 1, text(findings)


def test_slow_last_in_processes():
    findings, pids = about("slow_last", apart=("ONE,TWO,SINK",))
    assert len(pids) == 4, pids
    first(findings, "slow_subscriber", "SINK:work", {"SRC/OUTPUT", "ONE/OUTPUT", "TWO/OUTPUT"})


def test_slow_middle():
    findings, _ = about("slow_middle")
    top = first(findings, "slow_subscriber", "TWO:relay", {"SRC/OUTPUT", "ONE/OUTPUT"})
    assert "ONE:relay only waits too" in top["sentence"], text(findings)


def test_two_bottlenecks():
    findings, _ = about("two_bottlenecks")
    top = first(findings, "slow_subscriber", "SINK:work",
                {"SRC/OUTPUT", "ONE/OUTPUT", "TWO/OUTPUT"})
    assert "the limit of TWO:relay" in top["sentence"], text(findings)


def test_slow_publisher():
    findings, _ = about("slow_publisher")
    assert not problems(findings), text(findings)
    [pace] = [f for f in findings if f["kind"] == "own_pace"]
    assert pace["subject"]["topic"] == "SRC/OUTPUT" and 10 <= pace["bound_hz"] <= 21, pace


def test_hog():
    """Whom it delays is on its loop: the source, or the sink."""
    findings, pids = about("hog", also=lambda address: check_top(address, "holds its event loop"))
    top = first(findings, "loop_held", f"HOG:spin (pid {pids[0]}) holds its event loop",
                {"SRC/OUTPUT"})
    assert "lets go" in top["sentence"], top


def test_hog_beside_the_sink():
    findings, pids = about("hog", apart=("SRC",))
    assert len(pids) == 2, pids
    top = first(findings, "loop_held", f"HOG:spin (pid {pids[0]}) holds its event loop",
                {"SINK/INPUT"})
    assert "SINK:work" in top["sentence"], top


def test_leaky():
    findings, _ = about("leaky")
    top = first(findings, "drops", "SINK:work")
    assert 30 <= top["bound_hz"] <= 50, text(findings)


def test_two_tasks():
    findings, _ = about("two_tasks")
    first(findings, "slow_subscriber", "SINK:slow", {"SRC/OUTPUT"})


def test_stuck():
    findings, _ = about("stuck", settle=2.0)
    first(findings, "stuck_subscriber", "SINK:work", {"SRC/OUTPUT"})


def test_few_buffers():
    findings, _ = about("few_buffers")
    top = first(findings, "few_buffers", "SINK:work", {"SRC/OUTPUT"})
    assert "8 buffers" in top["sentence"], top


def test_tcp():
    findings, _ = about("tcp", apart=("SRC,SINK",))
    [advice] = [f for f in findings if f["kind"] == "tcp_within_host"]
    assert advice["subject"]["topic"] == "SRC/OUTPUT", text(findings)
    assert not [p for p in problems(findings) if p["kind"] != "connection"], text(findings)


def test_idle():
    findings, _ = about("idle")
    assert findings[0]["kind"] == "idle" and not problems(findings), text(findings)


def address_of(program):
    """Where ez.run put its graph server."""
    def found():
        match = re.search(r"GraphServer (?:@|at) (\S+)", program.text())
        return match and match.group(1)
    return harness.eventually(found, what="the graph server's address")


def test_unprepared():
    """Started without us: the chain by what ezmsg tells itself, and how to learn more."""
    python = environment.ensure(VERSION)
    with harness.Program(python, GRAPHS, "slow_last", "FOLDER", probes=False) as program:
        program.wait_for("up")
        address = address_of(program)
        time.sleep(1.0)
        findings = ask(address)
        program.finish()
    top = first(findings, "slow_subscriber", "work on SINK/INPUT",
                {"SRC/OUTPUT", "ONE/OUTPUT", "TWO/OUTPUT"})
    assert "relay on ONE/INPUT only waits too" in top["sentence"], text(findings)
    [note] = [f for f in findings if f["kind"] == "unprepared"]
    assert "ezprof run" in note["sentence"], note


def test_serialising():
    findings, _ = about("heavy", apart=("SRC,SINK",))
    [advice] = [f for f in findings if f["kind"] == "serialising"]
    assert advice["subject"]["topic"] == "SRC/OUTPUT", text(findings)


TESTS = (test_slow_among_fast, test_slow_last, test_slow_last_in_processes, test_slow_middle,
         test_two_bottlenecks, test_slow_publisher, test_hog,
         test_hog_beside_the_sink, test_leaky, test_two_tasks, test_stuck,
         test_few_buffers, test_tcp, test_idle, test_unprepared, test_serialising)


def run(test):
    """On a machine that is busy with other things these may be the true cause for a while."""
    told = []
    for attempt in range(TRIES):
        try:
            test()
        except Exception as error:  # pylint: disable=broad-except
            told.append(f"attempt {attempt + 1}: {error!r}")
            continue
        return "\n".join([*told, f"ok   {test.__name__}"])
    return "\n".join([f"FAIL {test.__name__}", *told])


def main():
    require("bpf")
    harness.own_sockets()
    environment.ensure(VERSION)
    wanted = [t for t in TESTS if len(sys.argv) < 2 or t.__name__ in sys.argv[1:]]
    failed = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for line in pool.map(run, wanted):
            failed += line.startswith("FAIL")
            print(line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
