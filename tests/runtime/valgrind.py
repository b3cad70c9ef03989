# SPDX-License-Identifier: MIT
"""Test programs in C with the label unit, and what they start, under memcheck.

Invalid reads and writes, uninitialised values that matter, leaks; each process has a log of its own, and all must be
empty. The runtime's own; with EZPROF_FULL=1 all, or those that match EZPROF_VALGRIND_REGEX (in a build without
sanitizers).
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from require import skip

FULL = os.environ.get("EZPROF_FULL") == "1"
REGEX = os.environ.get("EZPROF_VALGRIND_REGEX", ".") if FULL else "^test_(transports|counts|slots)$"
WITHOUT = {"test_sandbox": "seccomp also sees memcheck's own calls"}
BUILD, BIN = os.environ["EZPROF_BUILD_DIR"], os.environ["EZPROF_TEST_BIN_DIR"]
SUPPRESSIONS = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests/support/valgrind.supp")
# A fork of a process with threads leaves what the other threads had on their stacks.
COMMAND = ["valgrind", "-q", "--trace-children=yes", "--child-silent-after-fork=yes", "--leak-check=full",
           "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite", f"--suppressions={SUPPRESSIONS}"]


# It doesn't know epoll_pwait2; the library then takes epoll_wait.
UNKNOWN_CALL = re.compile(r"--\d+-- WARNING: unhandled \S+ syscall: 441\n(--\d+-- .*\n){4}")


def programs():
    """(name, command, environment) of the tests that ctest knows."""
    listing = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], stdout=subprocess.PIPE, check=True)
    for test in json.loads(listing.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        command = test.get("command", [""])
        if "unit" not in properties.get("LABELS", []) or os.path.dirname(command[0]) != BIN or \
                not re.search(REGEX, test["name"]) or test["name"].startswith("fuzz_") or test["name"] in WITHOUT:
            continue
        yield test["name"], command, dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", []))


def run(name, command, env):
    """What memcheck has to say, or the program itself."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([*COMMAND, f"--log-file={folder}/%p", *command], env={**os.environ, **env}, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        complaints = ""
        for path in sorted(glob.glob(f"{folder}/*")):
            with open(path, encoding="utf-8", errors="replace") as log:
                complaints += log.read()
    complaints = UNKNOWN_CALL.sub("", complaints)
    if result.returncode not in (0, 77):
        complaints += result.stdout[-3000:]
    return complaints


def main():
    if not shutil.which("valgrind"):
        skip("valgrind is not installed", "EZPROF_REQUIRE_BPF")
    failed = total = 0
    for name, command, env in programs():
        start = time.monotonic()
        complaints = run(name, command, env)
        total += 1
        failed += bool(complaints)
        print(f"{name}: {complaints or 'clean'}, {time.monotonic() - start:.0f} s", flush=True)
    print(f"{total - failed} of {total} programs clean")
    return 1 if failed or not total else 0


sys.exit(main())
