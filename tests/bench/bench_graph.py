# SPDX-License-Identifier: MIT
"""What the benchmarks have in common: a graph server, bench_node processes, rows."""
import json
import os
import statistics
import subprocess

BIN = os.environ["EZPROF_BIN_DIR"]
TEST_BIN = os.environ["EZPROF_TEST_BIN_DIR"]
PROBES, PLAIN = "bench_node_probes", "bench_node_plain"


def row(name, value, unit, bar=None, holds=True):
    """Prints one row; bar is text such as '>= 0.99'."""
    print(json.dumps({"name": name, "value": value, "unit": unit, "bar": bar, "holds": holds}), flush=True)


class Child:
    """A program that is ended at the end of a with block."""

    def __init__(self, *command, **options):
        self.process = subprocess.Popen([str(word) for word in command], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, **options)

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            raise RuntimeError(f"{self.process.args[0]} has ended")
        return text.strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def server():
    return Child(os.path.join(BIN, "ezprof-graphserver"), "--address", "127.0.0.1:0")


class Node(Child):
    """bench_node; run(n) handles n messages and returns the ns they took."""

    def __init__(self, build, address, role, topic):
        super().__init__(os.path.join(TEST_BIN, build), address, role, topic)
        self.pid = self.process.pid
        if self.line() != "ready":
            raise RuntimeError(f"{build} {role} is not ready")

    def pin(self, cpu):
        """All its threads to one CPU."""
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            os.sched_setaffinity(int(thread), {cpu})

    def run(self, messages):
        self.process.stdin.write(f"{messages}\n")
        self.process.stdin.flush()
        return int(self.line())


def median_error(values):
    """Standard error of the median, for a sample from anything near a bell."""
    deviation = statistics.median(abs(value - statistics.median(values)) for value in values) * 1.4826
    return 1.2533 * deviation / len(values) ** 0.5
