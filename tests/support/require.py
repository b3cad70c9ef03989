# SPDX-License-Identifier: MIT
"""Skip or fail with the reason: what require.h does, for tests in Python.

    from require import require, skip
    require("bpf", "interop")
"""
import os
import subprocess
import sys


def _run(*arguments):
    program = os.path.join(os.environ["EZPROF_TEST_BIN_DIR"], "require")
    sys.stdout.flush()
    status = subprocess.run([program, *arguments]).returncode
    if status:
        sys.exit(status)


def require(*what):
    """Returns where everything named is there; else ends the process as skipped or failed."""
    _run(*what)


def skip(reason, required_by=None):
    """Ends the process: skipped, or failed where the environment variable required_by is 1."""
    _run("skip", reason, *([required_by] if required_by else []))
