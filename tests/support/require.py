# SPDX-License-Identifier: MIT
"""Skip or fail with the reason: what require.h does, for tests in Python.

    from require import require, skip
    require("bpf", "interop")
"""
import os
import subprocess
import sys

SKIPPED = 77


def require(*what):
    """Returns where everything named is there; else ends the process as skipped or failed."""
    program = os.path.join(os.environ["EZPROF_TEST_BIN_DIR"], "require")
    result = subprocess.run([program, *what], stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.stdout.write(result.stdout)
        sys.stdout.flush()
        sys.exit(result.returncode)


def skip(reason, required_by=None):
    """Ends the process: skipped, or failed where the environment variable required_by is 1."""
    if required_by and os.environ.get(required_by) == "1":
        print(f"FAIL: {reason} ({required_by}=1 forbids a skip)", flush=True)
        sys.exit(1)
    print(f"SKIP: {reason}", flush=True)
    sys.exit(SKIPPED)
