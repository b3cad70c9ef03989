# SPDX-License-Identifier: MIT
"""server_scale.py PYTHON: 1,000 publishers and 1,000 subscribers, our server and ezmsg 3.9.0's, one after the other.

The clients are the same for both: sockets that speak the protocol and do nothing else, one after the other; they are
Python, and most of the time that registering with our server takes is theirs. So the ratios are of the CPU time
that the server's process used; the times that passed are printed beside them. PYTHON has ezmsg. Registering:
PUBLISH or SUBSCRIBE up to COMPLETE. Wiring: CONNECT up to its answer and the UPDATE.
"""
import json
import os
import subprocess
import sys
import time

from graph_client import COMPLETE, CONNECT, PUBLISH, SUBSCRIBE, Link, Server, string
from stalling_clients import StallingClients

N = 1000
BAR = 10
THEIRS = """
import sys
from ezmsg.core.graphserver import GraphServer
server = GraphServer()
server.start(("127.0.0.1", 0))
print("%s:%d" % tuple(server.address), flush=True)
sys.stdin.read()
server.stop()
"""


class Theirs:
    def __init__(self, python):
        self.process = subprocess.Popen([python, "-c", THEIRS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def register(address, links):
    start = time.monotonic()
    for i in range(N):
        link = Link(address)
        link.send(PUBLISH, string(f"P{i}"), string("127.0.0.1:1"))
        link.read_str()
        link.expect(COMPLETE)
        links.append(link)
    for i in range(N):
        link = Link(address)
        link.send(SUBSCRIBE, string(f"S{i}"))
        link.read_str()
        link.read_update()
        link.confirm()
        link.expect(COMPLETE)
        links.append(link)
    return time.monotonic() - start


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


def measure(server):
    """Per phase: seconds that passed, and CPU seconds of the server."""
    links, took = [], []
    for phase in (register, wire):
        before = cpu_ns(server.process.pid)
        passed = phase(server.address, links)
        took.append((passed, (cpu_ns(server.process.pid) - before) / 1e9))
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


def main():
    with Server() as server:
        ours = measure(server)
    with Theirs(sys.argv[1]) as server:
        theirs = measure(server)
    for name, (passed, cpu), (other_passed, other_cpu) in zip(("register", "wire"), ours, theirs):
        print(f"{name}: {passed:.3f} s, CPU {cpu:.3f} s; ezmsg's server {other_passed:.3f} s, CPU {other_cpu:.3f} s")
        ratio = other_cpu / cpu
        row(f"server.{name}_vs_python", ratio, "times less CPU time", f">= {BAR}", ratio >= BAR)
    with StallingClients() as clients:
        slowest = max(max(clients.requests()) for _ in range(20))
    row("server.stalled_ms", slowest, "ms", "<= 50", slowest <= 50)
    used = idle_cpu_s()
    row("server.idle_cpu", used, "s in 5 s", "<= 0", used <= 0)


main()
