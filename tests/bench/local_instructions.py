# SPDX-License-Identifier: MIT
"""Instructions per message on the local transport: what the probes add while nobody is attached.

Counted by callgrind as the difference of two run lengths, so free of start-up and of noise. The
counters and lease starts are in both builds: only the probes differ.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from bench_graph import PLAIN, PROBES, TEST_BIN, row, server

BAR = 20
SHORT, LONG = 1000, 6000
SKIPPED = 77


def instructions(build, address, messages):
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
             os.path.join(TEST_BIN, build), address, "local", f"{build}/{messages}"],
            input=f"{messages}\n", text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=True)
    return int(re.search(r"Collected : (\d+)", result.stderr).group(1))


def per_message(build, address):
    return (instructions(build, address, LONG) - instructions(build, address, SHORT)) / (LONG - SHORT)


def main():
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        return SKIPPED
    with server() as graph:
        address = graph.line()
        probes, plain = per_message(PROBES, address), per_message(PLAIN, address)
    print(f"local: {probes:.1f} instructions per message with probes, {plain:.1f} without")
    row("kernel.detached_instructions.local", round(probes - plain, 2), "instructions/message", f"<= {BAR}",
        probes - plain <= BAR)
    return 0


sys.exit(main())
