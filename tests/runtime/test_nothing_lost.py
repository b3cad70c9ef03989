# SPDX-License-Identifier: MIT
"""test_nothing_lost.py [MESSAGES [SEED]]: four publishers, subscribers in two processes, all transports, and
subscribers that join and leave meanwhile.

Whoever stays sees every message in order, exactly once; a leaky one accounts for every one that it dropped; whoever
joins late sees all from then on (stress_node.c). Afterwards no lease is left, and no shared memory. With
EZPROF_FULL=1 it is 10000000 messages.
"""
import os
import random
import subprocess
import sys
import time

from graph_client import SYNC, Link, Server

PUBLISHERS = 4
FULL = os.environ.get("EZPROF_FULL") == "1"
MESSAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000 if FULL else 200_000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 31)


class Node:
    def __init__(self, address, publishers, seed):
        program = os.path.join(os.environ["EZPROF_TEST_BIN_DIR"], "stress_node")
        self.process = subprocess.Popen([program, address, str(publishers), str(MESSAGES // PUBLISHERS), str(seed)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line == "ready\n", line

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def lines(self):
        """What it says until it is through."""
        while True:
            line = self.process.stdout.readline().rstrip("\n")
            print(" ", line)
            if line in ("ok", "failed", ""):
                return line == "ok"

    def end(self):
        self.say("end")
        return self.process.wait(60) == 0


def segments():
    return {name for name in os.listdir("/dev/shm") if name.startswith("psm_")}


def mapped(pids):
    """Segments that these processes have mapped, by name: others make some at the same time."""
    names = set()
    for pid in pids:
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            names |= {line.split("/dev/shm/")[1].split()[0] for line in maps if "/dev/shm/psm_" in line}
    return names


def main():
    print(f"{MESSAGES} messages, seed {SEED}")
    good, start = True, time.monotonic()
    with Server() as server:
        nodes = [Node(server.address, PUBLISHERS, SEED), Node(server.address, 0, SEED + 1)]
        ours = mapped(node.process.pid for node in nodes)
        for node in nodes:
            node.say("go")
        for node in nodes:
            good &= node.lines()
        print(f"{MESSAGES / (time.monotonic() - start):.0f} messages/s")
        ours |= mapped(node.process.pid for node in nodes)
        with Link(server.address) as link:  # answered when no buffer is leased
            link.send(SYNC)
            link.expect(0)
        for node in nodes:
            good &= node.end()
    left = ours & segments()
    print(f"{len(ours)} segments, left: {sorted(left)}")
    return 0 if good and ours and not left else 1


sys.exit(main())
