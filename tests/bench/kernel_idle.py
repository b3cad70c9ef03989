# SPDX-License-Identifier: MIT
"""What an attached agent and its helper take while nobody asks, a stream at full rate beside them."""
import os
import time

from graph import Graph
from require import require
from streams import Agent, Stream, at_most

SECONDS = 10
# What the attach itself still does, and what is left of a tick that had begun.
SETTLE_SECONDS = 2


def cpu_s(pid):
    """In the kernel's ticks of 10 ms, like every tool that shows it."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def scheduled_ms(pid):
    """What the tick of 10 ms is too coarse for."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e6


def processes_of(agent):
    pid = agent.program.pid
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [pid, *map(int, file.read().split())]


def main():
    require("bpf")
    with Graph() as graph:
        stream = Stream(graph.address)
        with Agent([stream.pid]) as agent:
            processes = processes_of(agent)
            time.sleep(SETTLE_SECONDS)
            before = sum(map(cpu_s, processes))
            before_ms = sum(map(scheduled_ms, processes))
            messages, end = 0, time.monotonic() + SECONDS
            while time.monotonic() < end:
                stream.chunks(20, 20000)
                messages += 20 * 20000
            used = sum(map(cpu_s, processes)) - before
            used_ms = sum(map(scheduled_ms, processes)) - before_ms
        print(f"{messages / SECONDS:.0f} messages/s beside it, "
              f"{used_ms:.2f} ms by the scheduler's account")
        at_most("kernel.agent_idle_cpu", used, f"s in {SECONDS} s", 0)
        stream.stop()


main()
