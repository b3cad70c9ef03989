# SPDX-License-Identifier: MIT
"""Twice the graph is twice the work: instructions, counted by callgrind, at two sizes.

Whatever compares each endpoint with each shows in the larger one; so few endpoints would hide it in
seconds.
"""
import json
import os
import re
import resource
import subprocess
import tempfile
import unittest

from made_profile import Made

EZPROF = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")
SMALL, TIMES = 300, 4
LONG_CHAIN = 16000
# Sorting and looking up in what is sorted: a little more than in proportion.
GROWTH_MAX = 1.15 * TIMES


def chains(n, length, gap=False):
    """Relays of which the last is slow: so many, in chains of that length."""
    made = Made()
    for i in range(n):
        last = i % length == length - 1
        task = f"R{i}:work"
        publisher = made.publisher(f"T{i}", pid=1000 + i, blocked=0.9, in_flight=32,
                                   task=f"R{i - 1}:work" if i % length else f"S{i}:go")
        if gap:
            publisher["gap"].update(longest_ms=800.0, longest_at_ns=10**12 - 10**9)
        made.subscriber(publisher, f"relay{i}", pid=1001 + i, process=9.0 if last else 1.0,
                        in_flight=30, task=task)
        made.task(task, 1001 + i)
    return made.document


def one_process(n):
    made = Made()
    for i in range(n):
        publisher = made.publisher(f"T{i}", pid=7, blocked=0.2 if i % 2 else 0.0)
        made.subscriber(publisher, f"sink{i}", pid=7, mode="local", queue=30.0)
    return made.document


def instructions(folder, document, *arguments):
    path = os.path.join(folder, "document.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", EZPROF,
         *(path if a == "DOCUMENT" else a for a in arguments)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


class Growth(unittest.TestCase):
    def grows_in_proportion(self, make, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            small = instructions(folder, make(SMALL), *arguments)
            large = instructions(folder, make(SMALL * TIMES), *arguments)
        self.assertLess(large / small, GROWTH_MAX, (small, large))

    def test_why(self):
        self.grows_in_proportion(lambda n: chains(n, 1, gap=True), "why", "DOCUMENT", "DOCUMENT")

    def test_why_of_a_chain(self):
        self.grows_in_proportion(lambda n: chains(n, n), "why", "DOCUMENT")

    def test_why_of_one_process(self):
        self.grows_in_proportion(one_process, "why", "DOCUMENT")

    def test_top(self):
        self.grows_in_proportion(lambda n: chains(n, 1), "top", "--once", "--from", "DOCUMENT")

    def test_diff(self):
        self.grows_in_proportion(lambda n: chains(n, 2), "diff", "--min-change", "0", "DOCUMENT",
                                 "DOCUMENT")

    def test_report(self):
        self.grows_in_proportion(lambda n: chains(n, 2), "report", "-o", "/dev/null", "--from",
                                 "DOCUMENT")

    def test_long_chain_needs_no_deep_stack(self):
        def small_stack():
            resource.setrlimit(resource.RLIMIT_STACK, (256 * 1024, 256 * 1024))

        done = subprocess.run([EZPROF, "why", "-"], input=json.dumps(chains(LONG_CHAIN, LONG_CHAIN)),
                              stdout=subprocess.PIPE, text=True, timeout=60,
                              preexec_fn=small_stack)
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"{LONG_CHAIN - 4} more wait for R{LONG_CHAIN - 1}:work", done.stdout)


if __name__ == "__main__":
    unittest.main()
