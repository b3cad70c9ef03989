# SPDX-License-Identifier: MIT
"""server_scale.py PYTHON FLOOR: 1,000 publishers and 1,000 subscribers, our server and ezmsg 3.9.0's, one after the other.

The clients are the same for both: sockets that speak the protocol and do nothing else, in one Python process. PYTHON
has ezmsg; FLOOR is server_floor.c. Registering: PUBLISH or SUBSCRIBE up to COMPLETE.

- All at once, as when a large system starts: time that passed.
- One after the other: CPU time of the server's process, since most of the time that passes is the clients'. The
  least of three rounds, and beside it that of a server that does nothing but the system calls.
- Wiring: CONNECT up to its answer and the UPDATE, one after the other, CPU time.
"""
import json
import math
import os
import subprocess
import sys
import time

from graph_client import COMPLETE, CONNECT, Link, Server, string
from registering import at_once, one_by_one
from stalling_clients import StallingClients

N = 1000
BAR = 10
ROUNDS = 3
THEIRS = """
import sys
from ezmsg.core.graphserver import GraphServer
server = GraphServer()
server.start(("127.0.0.1", 0))
print("%s:%d" % tuple(server.address), flush=True)
sys.stdin.read()
server.stop()
"""


class Other:
    """A server that isn't ours: its command prints where it listens."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def wire(address, links):
    """Edge i connects publisher i to subscriber i, which confirms its UPDATE before the next one."""
    start = time.monotonic()
    for i in range(N):
        with Link(address) as link:
            link.send(CONNECT, string(f"P{i}"), string(f"S{i}"))
            link.expect(COMPLETE)
            subscriber = links[N + i]
            assert len(subscriber.read_update()) == 1
            subscriber.confirm()
    return time.monotonic() - start


def cpu_ns(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def measure(new_server, with_edges=True):
    """Seconds by name."""
    with new_server() as server:
        took = {"register": at_once(server.address, N), "register_cpu": math.inf}
    for _ in range(ROUNDS):
        with new_server() as server:
            before = cpu_ns(server.process.pid)
            links = one_by_one(server.address, N)
            registered = cpu_ns(server.process.pid)
            took["register_cpu"] = min(took["register_cpu"], (registered - before) / 1e9)
            if with_edges and "wire" not in took:
                took["wire_passed"] = wire(server.address, links)
                took["wire"] = (cpu_ns(server.process.pid) - registered) / 1e9
            for link in links:
                link.close()
    return took


def cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_cpu_s():
    with Server() as server:
        links = [server.subscriber(f"T{i}") for i in range(100)]
        time.sleep(0.5)
        before = cpu_s(server.process.pid)
        time.sleep(5)
        used = cpu_s(server.process.pid) - before
        for link in links:
            link.close()
    return used


def row(name, value, unit, bar, holds):
    print(json.dumps({"name": name, "value": round(value, 3), "unit": unit, "bar": bar, "holds": holds}), flush=True)


def compare(python, floor):
    ours = measure(Server)
    theirs = measure(lambda: Other(python, "-c", THEIRS))
    least = measure(lambda: Other(floor), with_edges=False)
    for what, took in (("ours", ours), ("ezmsg's server", theirs), ("system calls alone", least)):
        print(f"{what}: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in took.items()))

    def ratio(name, unit, to=ours, bar=BAR):
        value = theirs[name] / to[name]
        called = f"server.{name}_floor" if to is least else f"server.{name}_vs_python"
        row(called, value, unit, f">= {bar}" if bar else "-", value >= (bar or 0))

    ratio("register", "times faster")
    ratio("register_cpu", "times less CPU time", bar=None)
    ratio("register_cpu", "times less CPU time", to=least, bar=None)
    ratio("wire", "times less CPU time")


def main():
    compare(*sys.argv[1:])
    with StallingClients() as clients:
        slowest = max(max(clients.requests()) for _ in range(20))
    row("server.stalled_ms", slowest, "ms", "<= 50", slowest <= 50)
    used = idle_cpu_s()
    row("server.idle_cpu", used, "s in 5 s", "<= 0", used <= 0)


main()
