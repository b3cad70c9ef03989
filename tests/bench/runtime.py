# SPDX-License-Identifier: MIT
"""libezmsg beside ezmsg 3.9.0 in Python, beside bare C that moves the same frames, beside a queue and memcpy.

runtime.py PYTHON [TRANSPORT...]: the interpreter that has ezmsg 3.9.0. For each transport and size all variants are
there at once and take turns in chunks of some milliseconds; what counts of each is the lower quartile of its chunks,
since a busy machine only ever adds, and to some more than to others; as root all of them come before whatever else
runs. Publishers share one CPU and receivers another, in other processes or other threads. With a
window of 32 unacknowledged messages that is throughput; with a window of 1 it is a ping-pong, a message out and its
acknowledgement back, and the time from before the message is published until it is in the receiver's hands is the
latency. Within one process Python has one thread, and is compared with one of ours; the queue is compared with two.
"""
import os
import statistics
import subprocess
import sys
from contextlib import ExitStack

from bench_graph import TEST_BIN, Child, row, server

SIZES = {"64B": 64, "4kB": 4096, "1MB": 1 << 20}
WINDOW = 32
# Large enough that the copy is what takes the time.
COPY_BYTES, COPY_WINDOW = 8 << 20, 8
CHUNK_NS = 25e6
TURNS = 24
LEAST = 96
CPUS = sorted(os.sched_getaffinity(0))
HERE = os.path.dirname(os.path.abspath(__file__))
BARS = {("local", "python"): 20, ("shm", "python"): 10, ("tcp", "python"): 10}


def pin(process, cpu):
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        os.sched_setaffinity(int(thread), {cpu})


def spread(process):
    """The first thread, which publishes, to one CPU and those that it has made to another."""
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        os.sched_setaffinity(int(thread), {CPUS[0] if int(thread) == process.pid else CPUS[-1]})


class Side(Child):
    """One process; PYTHONPATH is ours, not for the real ezmsg."""

    def __init__(self, *command, cpu=None):
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        super().__init__(*command, env=env)
        self.greeting = []
        while not self.greeting or self.greeting[-1] != "ready":
            self.greeting.append(self.line())
            if " " in self.greeting[-1]:  # a bare sender waits for its receiver
                break
        if cpu is not None:
            pin(self.process, cpu)


class Variant:
    """A sender and, but within one process, a receiver. run() gives ns per message, and p50 and p99 in ns."""

    def __init__(self, stack, window, sender, receiver=None, two_threads=False):
        self.window = window
        self.sender, self.receiver = sender, receiver or sender
        for side in {id(s): s for s in (sender, receiver) if s}.values():
            stack.enter_context(side)
        nanoseconds, _ = self.run(LEAST)
        if two_threads:
            spread(sender.process)
        nanoseconds = min(nanoseconds, self.run(LEAST)[0])
        # Those that are still on their way at the end aren't timed: they must be few of all.
        self.size = max(LEAST, int(CHUNK_NS / nanoseconds), min(20 * window, int(4 * CHUNK_NS / nanoseconds)))
        self.times, self.p50, self.p99 = [], [], []

    def run(self, messages):
        self.sender.process.stdin.write(f"{messages}\n")
        self.sender.process.stdin.flush()
        nanoseconds = int(self.sender.line()) / messages
        return nanoseconds, [int(word) for word in self.receiver.line().split()]

    def turn(self):
        nanoseconds, (p50, p99) = self.run(self.size)
        self.times.append(nanoseconds)
        self.p50.append(p50)
        self.p99.append(p99)

    def typical(self, what="times"):
        return statistics.quantiles(getattr(self, what), n=4)[0]


def with_ezmsg(stack, command, address, transport, size, window):
    """Ours or the real one: they take the same arguments."""
    topic = f"{transport}/{size}/{window}/{os.path.basename(command[-1])}"
    arguments = (topic, size, window)
    if transport in ("alone", "local"):
        side = Side(*command, address, transport, *arguments)
        return Variant(stack, window, side, two_threads=transport == "local")
    sink = Side(*command, address, "sink", *arguments, cpu=CPUS[-1])
    return Variant(stack, window, Side(*command, address, transport, *arguments, cpu=CPUS[0]), sink)


def bare(stack, transport, size, window):
    program = os.path.join(TEST_BIN, "runtime_bare")
    if transport == "queue":
        return Variant(stack, window, Side(program, transport, size, window), two_threads=True)
    if transport == "memcpy":
        return Memcpy(stack, window, Side(program, transport, size, window, cpu=CPUS[0]))
    sender = Side(program, transport, size, window, cpu=CPUS[0])
    receiver = Child(program, transport, size, window, *sender.greeting[-1].split())
    pin(receiver.process, CPUS[-1])
    assert sender.line() == "ready"
    return Variant(stack, window, sender, receiver)


class Memcpy(Variant):
    """It has no receiver that would tell latencies."""

    def run(self, messages):
        self.sender.process.stdin.write(f"{messages}\n")
        self.sender.process.stdin.flush()
        return int(self.sender.line()) / messages, [0, 0]


def variants_of(stack, address, python, transport, size):
    ours = [os.path.join(TEST_BIN, "runtime_node")]
    theirs = [python, os.path.join(HERE, "runtime_ezmsg.py")]
    made = {}
    for window in (WINDOW, 1):
        made["ezmsg", window] = with_ezmsg(stack, ours, address, transport, size, window)
        made["python", window] = with_ezmsg(stack, theirs, address, transport, size, window)
        made["bare", window] = bare(stack, "queue" if transport == "local" else transport, size, window)
    if transport == "local":
        made["alone", WINDOW] = with_ezmsg(stack, ours, address, "alone", size, WINDOW)
    return made


def ratio(made, one, other, window):
    return made[one, window].typical() / made[other, window].typical()


def name_of(text, size_name):
    """64 B is what the plain name means."""
    return text if size_name == "64B" else f"{text}.{size_name}"


def at_most(name, value, bar):
    row(name, round(value, 4), "time, relative", f"<= {bar:g}" if bar else None, bar is None or value <= bar)


def at_least(name, value, bar):
    row(name, round(value, 2), "messages/s, relative", f">= {bar:g}" if bar else None, bar is None or value >= bar)


def tell(transport, size_name, made):
    bar = BARS[transport, "python"] if size_name == "64B" else None
    at_least(name_of(f"runtime.{transport}_vs_python", size_name),
             ratio(made, "python", "alone" if transport == "local" else "ezmsg", WINDOW), bar)
    if transport == "local":
        at_least(name_of("runtime.local_threads_vs_python", size_name), ratio(made, "python", "ezmsg", WINDOW), None)
        at_most(name_of("runtime.local_vs_queue", size_name), ratio(made, "ezmsg", "bare", WINDOW), 2)
    else:
        at_most(name_of(f"runtime.{transport}_vs_bare", size_name), ratio(made, "ezmsg", "bare", 1), 1.5)
        at_most(name_of(f"runtime.{transport}_stream_vs_bare", size_name), ratio(made, "ezmsg", "bare", WINDOW), None)
    row(name_of(f"runtime.{transport}_messages", size_name), round(1e9 / made["ezmsg", WINDOW].typical()), "messages/s")
    for which in ("p50", "p99"):
        row(name_of(f"runtime.{transport}_latency_{which}", size_name),
            round(made["ezmsg", 1].typical(which) / 1e3, 2), "us, one way")


def remark(transport, size_name, made):
    """What the rows are made of."""
    for (who, window), variant in sorted(made.items(), key=str):
        print(f"{transport} {size_name} {who}, window {window}: {variant.typical() / 1e3:.2f} us per message, one way "
              f"p50 {variant.typical('p50') / 1e3:.2f} us, p99 {variant.typical('p99') / 1e3:.2f} us")


def take_turns(made):
    order = list(made.values())
    for turn in range(TURNS):
        for variant in order if turn % 2 else reversed(order):
            variant.turn()


def measure(address, python, transport, size_name):
    with ExitStack() as stack:
        made = variants_of(stack, address, python, transport, SIZES[size_name])
        take_turns(made)
        remark(transport, size_name, made)
        tell(transport, size_name, made)


def measure_copies(address):
    """Published by shm, one copy in and none out, beside a plain memcpy into as many buffers."""
    with ExitStack() as stack:
        made = {("memcpy", COPY_WINDOW): bare(stack, "memcpy", COPY_BYTES, COPY_WINDOW),
                ("ezmsg", COPY_WINDOW): with_ezmsg(stack, [os.path.join(TEST_BIN, "runtime_node")], address, "shm",
                                                   COPY_BYTES, COPY_WINDOW)}
        take_turns(made)
        remark("shm", "8MB", made)
        at_most("runtime.shm_vs_memcpy", ratio(made, "ezmsg", "memcpy", COPY_WINDOW), 1.25)


def come_first():
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except PermissionError:
        print("not root: whatever else runs is measured too")


def keep_awake():
    """As long as the file is open no CPU sleeps deeply: else in a virtual machine a wake-up takes 50 us instead of 3,
    as measured with two threads and pipes, and every variant waits for the hypervisor instead of for its own work."""
    try:
        file = open("/dev/cpu_dma_latency", "wb", buffering=0)  # pylint: disable=consider-using-with
        file.write((0).to_bytes(4, sys.byteorder))
        return file
    except OSError as error:
        print(f"CPUs may sleep between messages, and waking them is measured too: {error}")
        return None


def main():
    python = sys.argv[1]
    come_first()
    _awake = keep_awake()
    known = subprocess.run([python, "-c", "import ezmsg.core, numpy"], env={}, capture_output=True)
    if known.returncode:
        print(f"no ezmsg in {python}: scripts/interop-venv.sh makes it")
        return 77
    with server() as graph:
        address = graph.line()
        for transport in ("local", "shm", "tcp"):
            if sys.argv[2:] and transport not in sys.argv:
                continue
            for size_name in SIZES:
                measure(address, python, transport, size_name)
        if not sys.argv[2:] or "copies" in sys.argv:
            measure_copies(address)
    return 0


sys.exit(main())
