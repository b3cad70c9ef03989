# SPDX-License-Identifier: MIT
"""
The checks of e2e_cookbook and e2e_cookbook_python find scripts wrong that are: one mutant of each script, or with
EZPROF_SLOW all of them.
"""

import os
import sys

import cookbook_story
import cookbook_units_checks
import cookbook_units_story
from cookbook import require_bpftrace
from cookbook_mutants import MUTANTS, OF_PYTHON, rounds


def survivors(mutants, outputs, truth, checks):
    """Those whose check finds nothing wrong."""
    for label, edits in mutants.items():
        try:
            checks[label](outputs[label], truth)
        except AssertionError as error:
            print(f"{label}: {edits[0][0]!r} -> {edits[0][1]!r}: {str(error)[:100]!r}", flush=True)
        else:
            yield label, edits


def main():
    require_bpftrace("bpf", "interop")
    turns = None if os.environ.get("EZPROF_SLOW") else 1
    found = []
    for mutants in rounds(MUTANTS)[:turns]:
        found += survivors(mutants, *cookbook_story.by_path(mutants), cookbook_story.CHECKS)
    for mutants in rounds(OF_PYTHON)[:turns]:
        found += survivors(mutants, *cookbook_units_story.run(mutants), cookbook_units_checks.CHECKS)
    assert not found, found
    return 0


sys.exit(main())
