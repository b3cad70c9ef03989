# SPDX-License-Identifier: MIT
"""What `attach --sched` adds to a context switch: anybody's, and that of a thread at work."""
import os
import statistics
import subprocess
import time

from require import require
from streams import TEST_BIN, Agent, row

ROUNDS, CHUNKS, SWITCHES = 7, 5, 20000


class Switches:
    def __init__(self):
        self.process = subprocess.Popen([os.path.join(TEST_BIN, "kernel_sched")], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline().strip() == "ready"
        self.pid = self.process.pid

    def ask(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def ns(self):
        return statistics.median(self.ask(f"run {SWITCHES}") for _ in range(CHUNKS))

    def stop(self):
        self.process.stdin.close()
        self.process.wait(20)


def main():
    require("bpf")
    somebody, anybody = Switches(), Switches()
    plain, others, own = [], [], []
    for _ in range(ROUNDS):
        plain.append(anybody.ns())
        with Agent([somebody.pid], "--sched"):
            others.append(anybody.ns() - plain[-1])
            # Work that began before the first whole bucket isn't looked at.
            time.sleep(0.4)
            somebody.ask("work")
            own.append(somebody.ns() - plain[-1])
        # Nobody listens to the end of that work: a new process begins anew.
        somebody.stop()
        somebody = Switches()
    somebody.stop()
    anybody.stop()
    print(f"a switch by itself: {statistics.median(plain):.0f} ns")
    row("kernel.sched_ns_per_switch", statistics.median(others), "ns/switch and wake-up, added", "-",
        True)
    row("kernel.sched_ns_per_switch_at_work", statistics.median(own),
        "ns/switch and wake-up, added", "-", True)


main()
