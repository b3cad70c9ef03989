# SPDX-License-Identifier: MIT
"""What benchmarks share: a stream process (stream.c), what attaches to it, medians, rows."""
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from graph import BIN, Program, wait_until

TEST_BIN = os.environ["EZPROF_TEST_BIN_DIR"]


def row(name, value, unit, bar, holds):
    print(json.dumps({"name": name, "value": None if value is None else round(value, 4),
                      "unit": unit, "bar": bar, "holds": holds}), flush=True)


def at_most(name, value, unit, bar):
    row(name, value, unit, f"<= {bar:g}", value <= bar)


class Stream:
    """One stream process; chunks of messages on demand."""

    def __init__(self, address, program="bench_stream", topic="STREAM"):
        self.process = subprocess.Popen(
            [os.path.join(TEST_BIN, program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, "EZMSG_GRAPHSERVER_ADDR": address,
                            "STREAM_TOPIC": topic})
        self.pid = self.process.pid
        answer = self.process.stdout.readline().strip()
        assert answer == "ready", answer

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def numbers(self):
        return [float(word) for word in self.process.stdout.readline().split()]

    def ask(self, *words):
        self.say(*words)
        return self.numbers()

    def chunks(self, count, messages):
        return self.ask("run", count, messages)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(20)


class Agent:
    """ezprof-bpf attached to these processes, as a context."""

    def __init__(self, pids, *options):
        self.arguments = [os.path.join(BIN, "ezprof-bpf"), "attach", *map(str, pids), *options]

    def __enter__(self):
        self.program = Program(self.arguments)
        wait_until(lambda: "ready" in self.program.stderr(), 30, "the agent is ready")
        return self

    def __exit__(self, *_):
        self.program.stop(signal.SIGINT)


class Bpftrace:
    """bpftrace counting publish, lease, free and callback_end of one process."""

    def __init__(self, pid):
        self.library = os.path.realpath(f"{BIN}/../lib/libezmsg.so")
        probes = "".join(f"usdt:{self.library}:ezmsg:{p} {{ @{p} = count(); }} "
                         for p in ("publish", "lease", "free", "callback_end"))
        self.arguments = ["bpftrace", "-p", str(pid), "-e", probes + 'BEGIN { printf("on\\n"); }']

    def __enter__(self):
        self.program = Program(self.arguments)
        while True:
            line = self.program.line()
            assert line or self.program.process.poll() is None, self.program.stderr()
            if line == "on":
                break
        time.sleep(0.3)
        return self

    def __exit__(self, *_):
        # It takes no notice of a signal that comes while it is still starting.
        process = self.program.process
        for _ in range(30):
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGINT)
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                pass
        counts = self.program.stop(signal.SIGKILL)
        assert "@publish" in counts, counts + self.program.stderr()


class Lttng:
    """A session daemon of our own and one session with the events of stream_lttng.h."""

    def __init__(self):
        self.home = tempfile.mkdtemp()
        self.env = {**os.environ, "LTTNG_HOME": self.home}
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "-q"], env=self.env,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.lttng("list", check=False) == 0, 20, "the session daemon")
        self.lttng("create", "bench", "--output", os.path.join(self.home, "trace"))
        self.lttng("enable-channel", "-u", "--subbuf-size", "4M", "--num-subbuf", "4", "c")
        self.lttng("enable-event", "-u", "-c", "c", "ezbench:*")

    def lttng(self, *words, check=True):
        done = subprocess.run(["lttng", "-n", *words], env=self.env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        assert not check or done.returncode == 0, words
        return done.returncode

    def __enter__(self):
        self.lttng("start")
        return self

    def __exit__(self, *_):
        self.lttng("stop")

    def close(self):
        self.lttng("destroy", "-a", check=False)
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.wait(20)
        shutil.rmtree(self.home, ignore_errors=True)


def added(stream, listener, rounds, chunks, messages, busy_messages=None):
    """Median ns per message while listened to, minus the median before and after: per round."""
    results = []
    for _ in range(rounds):
        before = stream.chunks(chunks, messages)
        with listener:
            while_on = stream.chunks(chunks, busy_messages or messages)
        after = stream.chunks(chunks, messages)
        results.append(statistics.median(while_on) - statistics.median(before + after))
    return statistics.median(results)
