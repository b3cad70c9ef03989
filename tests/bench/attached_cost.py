# SPDX-License-Identifier: MIT
"""What a message costs more while somebody is attached: ezprof-bpf in both ways, and a bpftrace script that
counts and pairs as much. Local transport, publisher and subscriber in one thread, whose CPU time is taken; the
states take turns.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

from bench_graph import BIN, PROBES, Node, row, server
from require import require

ROUNDS = 5
CHUNKS = 10
MESSAGES = 4000

# The same probes as ezprof-bpf, the same kind of work: count, add up, pair begin with end.
SCRIPT = """
usdt:LIB:ezmsg:publish { @messages[arg0] = count(); @bytes[arg0] = sum(arg2); }
usdt:LIB:ezmsg:lease { @leased[arg0, arg1] = nsecs; }
usdt:LIB:ezmsg:free /@leased[arg0, arg1]/ { @lease[arg0] = stats(nsecs - @leased[arg0, arg1]);
  delete(@leased[arg0, arg1]); }
usdt:LIB:ezmsg:callback_begin { @taken[arg0, arg1] = nsecs; }
usdt:LIB:ezmsg:callback_end /@taken[arg0, arg1]/ { @processing[arg0] = stats(nsecs - @taken[arg0, arg1]);
  delete(@taken[arg0, arg1]); }
usdt:LIB:ezmsg:backpressure_begin { @blocked[arg0] = nsecs; }
usdt:LIB:ezmsg:backpressure_end /@blocked[arg0]/ { @waits[arg0] = stats(nsecs - @blocked[arg0]);
  delete(@blocked[arg0]); }
"""


def raised(pid):
    """Is anybody attached to the process?"""
    script = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "scripts/semaphores.py")
    return subprocess.run([sys.executable, script, str(pid)], stdout=subprocess.DEVNULL).returncode == 1


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("nobody attached, or nobody let go")
        time.sleep(0.1)


def ns_per_message(node):
    node.run(MESSAGES)
    return statistics.median(node.run(MESSAGES) / MESSAGES for _ in range(CHUNKS))


def while_attached(node, *command):
    """ns per message while the command listens."""
    with tempfile.TemporaryFile("w+") as log:
        listener = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_for(lambda: raised(node.pid))
            time.sleep(1)  # bpftrace attaches one probe after another
            return ns_per_message(node)
        except TimeoutError:
            log.seek(0)
            sys.stderr.write(log.read())
            raise
        finally:
            listener.terminate()
            listener.wait(timeout=60)
            wait_for(lambda: not raised(node.pid))


def library(pid):
    """The object with the probes, as the process maps it."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "libezmsg" in line)


def main():
    require("bpf")
    alone, window, boundary, bpftrace = [], [], [], []
    with server() as graph:
        address = graph.line()
        with Node(PROBES, address, "local", "attached") as node:
            script = SCRIPT.replace("LIB", library(node.pid))
            for _ in range(ROUNDS):
                alone.append(ns_per_message(node))
                attach = [os.path.join(BIN, "ezprof-bpf"), "attach", str(node.pid), "--address", address]
                window.append(while_attached(node, *attach))
                boundary.append(while_attached(node, *attach, "--probes", "boundary"))
                bpftrace.append(while_attached(node, "bpftrace", "-p", str(node.pid), "-e", script))
    base = statistics.median(alone)
    row("kernel.alone_ns_per_message", round(base), "ns/message, nobody attached")
    for name, values in (("attached", window), ("boundary", boundary), ("bpftrace", bpftrace)):
        row(f"kernel.{name}_ns_per_message", round(statistics.median(values) - base), "ns/message, added")
    return 0


sys.exit(main())
