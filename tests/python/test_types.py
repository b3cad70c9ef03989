# SPDX-License-Identifier: MIT
"""The C types beside the originals, in the usual interpreter and in a debug build of Python."""

import os
import subprocess
import sys

import environment
import harness
from require import skip

DEBUG = "/usr/bin/python3.11-dbg"


def run(python, *options):
    done = subprocess.run([python, *options, str(harness.HERE / "types_peer.py")],
                          env=harness.environment(probes=False), capture_output=True, text=True,
                          timeout=240)
    print(done.stdout, end="")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def main():
    for version in environment.VERSIONS:
        run(environment.ensure(version))
    if not os.access(DEBUG, os.X_OK):
        skip(f"{DEBUG} is not installed: references were not counted", "EZPROF_REQUIRE_INTEROP")
    out = run(environment.ensure("3.9.0", base=DEBUG, name="-debug"), "-X", "dev")
    assert "references counted" in out, out
    return 0


if __name__ == "__main__":
    sys.exit(main())
