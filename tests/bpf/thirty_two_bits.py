# SPDX-License-Identifier: MIT
"""B23: a 32-bit process is refused by that name, and the 64-bit ones beside it are measured."""
import json
import os
import platform
import subprocess
import sys
import tempfile

from agent import Player, command, publisher
from require import require, skip

SOURCE = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "bpf", "pause32.c")
PUBLISHER = 1
SENTENCE = "is a 32-bit object, which is not supported"


def build(folder):
    target = os.path.join(folder, "pause32")
    result = subprocess.run(["gcc", "-m32", "-O2", "-fno-pie", "-no-pie", "-nostdlib", "-static", SOURCE,
                             "-o", target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        skip(f"no 32-bit program can be built: {result.stdout.strip().splitlines()[-1]}",
             "EZPROF_REQUIRE_BPF")
    return target


def start(program):
    try:
        return subprocess.Popen([program])
    except OSError as error:
        skip(f"no 32-bit program runs here: {error.strerror}")


def attach(*pids):
    return command("ezprof-bpf", "attach", *pids, "--once", "--window", 0.2)


def check(process, player):
    alone = attach(process.pid)
    assert alone.returncode == 4, (alone.returncode, alone.stderr)
    assert SENTENCE in alone.stderr, alone.stderr
    both = attach(process.pid, player.pid)
    assert both.returncode == 5, (both.returncode, both.stderr)
    assert SENTENCE in both.stderr and str(process.pid) in both.stderr, both.stderr
    assert publisher(json.loads(both.stdout), "player/topic")["messages"]["total"] == 3
    print(alone.stderr.strip())


def main():
    require("bpf")
    if platform.machine() != "x86_64":
        skip("32-bit x86 programs run on x86-64")
    with tempfile.TemporaryDirectory() as folder, Player() as player:
        player.do("open", PUBLISHER, 32)
        player.do("publish", 0, 3, 7)
        process = start(build(folder))
        try:
            check(process, player)
            assert process.poll() is None
        finally:
            process.kill()
            process.wait()


sys.exit(main())
