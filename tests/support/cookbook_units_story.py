# SPDX-License-Identifier: MIT
"""The scripts of docs/bpftrace/ on the Python graph of cookbook_units.py, by pid: what they print, and the truth."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests/python"))

import cookbook
import cookbook_checks as checks
import cookbook_units_checks as units
import environment
import harness
from cookbook import Script, run_all, wait_for_reports, wait_until_left_alone

GRAPH = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests/support/cookbook_units.py")
# What they rely on isn't so in Python, as they say.
NOT_HERE = ("blockers", "latency", "oncpu")
ARGUMENTS = {"held": (checks.LIMIT_HELD_MS,), "percentiles": ("SLOW/INPUT",), "gaps": (units.Truth.gap_limit_ms,)}
BESIDE = {"percentiles_of_relay": ("percentiles", ("RELAY/INPUT",))}


def run(mutants=None):
    """All scripts, or those that are made wrong, {label: edits}: what they print, and the truth."""
    every = {name: (name, ARGUMENTS.get(name, ())) for name in cookbook.SCRIPTS if name not in NOT_HERE} | BESIDE
    python = environment.ensure("3.9.0")
    with harness.Program(python, GRAPH, "FOLDER") as program:
        program.wait_for("up")
        [pid] = program.pids()
        scripts = [Script(name, 0, "", *arguments, pid=pid, label=label, edits=(mutants or {}).get(label, ()))
                   for label, (name, arguments) in every.items() if mutants is None or label in mutants]

        def meanwhile():
            program.touch("go")
            program.wait_for("done.json", 90)
            wait_for_reports(scripts)

        outputs = run_all(scripts, pid, meanwhile)
        truth = units.Truth(pid, program.facts("done"))
        wait_until_left_alone(pid)
        program.finish()
        assert "Traceback" not in program.text(), program.text()
    return outputs, truth
