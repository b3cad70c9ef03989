# SPDX-License-Identifier: MIT
"""A process whose registry lies in every way: the agent reports it, and measures the others on."""

import os
import signal
import subprocess
import threading
import time

from agent import TEST_BIN, Agent, Player, command
from graph import cpu_s
from require import require

SEEDS = 4
SECONDS = 4
PUBLISHER = 1
SLOW_S = 5  # of CPU time for an answer: ten times as much as the crowd takes
# In a build with sanitizers freed memory is kept for a while; not that much of it.
ASAN = {"ASAN_OPTIONS": "quarantine_size_mb=4"}


class Hostile:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([os.path.join(TEST_BIN, "hostile_player"), *map(str, arguments)],
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "ok\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        [line] = [line for line in status if line.startswith("VmRSS:")]
    return int(line.split()[1])


def survives(seed, *options):
    reasons, slowest = set(), 0.0
    with Hostile(seed) as hostile, Player() as player:
        player.do("open", PUBLISHER, 8)
        with Agent(*options, hostile.pid, player.pid, env=ASAN) as agent:
            end = time.monotonic() + SECONDS
            sizes, published = [], 0
            while time.monotonic() < end:
                player.do("publish", 0, 101, 3)
                published += 101
                before_s = cpu_s(agent)
                document = agent.ask(0.5)
                slowest = max(slowest, cpu_s(agent) - before_s)
                reasons |= {e["reason"] for e in document["errors"] if e["pid"] == hostile.pid}
                [row] = [p for p in document["publishers"] if p["pid"] == player.pid]
                assert row["measured"]["messages"] == published and row["lost"] == 0, row
                sizes.append(resident_kib(agent.pid))
            hostile.process.kill()
            agent.stop(signal.SIGINT)
            assert agent.process.returncode in (0, 5), (agent.process.returncode, agent.stderr())
    # Half of the time is for reaching the size that it stays at.
    grown = max(sizes[len(sizes) // 2:]) - max(sizes[:len(sizes) // 2])
    assert grown < 8 << 10, (sizes[0], sizes[len(sizes) // 2], sizes[-1])
    assert reasons & {"hostile", "unreadable"}, reasons
    assert slowest < SLOW_S, slowest
    print(f"seed {seed}: {sorted(reasons)}, {len(sizes)} documents, the slowest {slowest:.2f} s, "
          f"{max(sizes)} KiB")


def crowd():
    """As many endpoints as a registry holds, none of them ever at rest, all with endless names: the
    answer still comes in time, says what it leaves out, and is right about everybody else."""
    with Hostile(1, 16384) as hostile, Player() as player:
        player.do("open", PUBLISHER, 8)
        with Agent(hostile.pid, player.pid, env=ASAN) as agent:
            player.do("publish", 0, 101, 3)
            slowest = 0.0
            for _ in range(3):
                before_s = cpu_s(agent)
                document = agent.ask(0.5)
                slowest = max(slowest, cpu_s(agent) - before_s)
                [error] = document["errors"]
                assert error["pid"] == hostile.pid and "too many" in error["detail"], error
                rows = [p for p in document["publishers"] if p["pid"] == hostile.pid]
                assert len(rows) == 4096, len(rows)
                [row] = [p for p in document["publishers"] if p["pid"] == player.pid]
                assert row["measured"]["messages"] == 101 and row["lost"] == 0, row
            mib = document["agents"][0]["cost"]["map_bytes"] >> 20
            assert mib <= 1024, mib
            assert slowest < SLOW_S, slowest
            print(f"16,384 endpoints: the slowest answer {slowest:.2f} s, {mib} MiB of maps")


def dies_while_read(seconds):
    """Each of its endpoints is a row, or the process is named in errors."""
    endpoints = 1500
    with Hostile(1, endpoints) as hostile, Player() as player:
        player.do("open", PUBLISHER, 8)
        with Agent(hostile.pid, player.pid, "--probes", "boundary", env=ASAN) as agent:
            timer = threading.Timer(seconds, hostile.process.kill)
            timer.start()
            document = agent.ask(16)
            timer.join()
            rows = sum(p["pid"] == hostile.pid for p in document["publishers"])
            reasons = {e["reason"] for e in document["errors"] if e["pid"] == hostile.pid}
            assert rows == endpoints or reasons & {"died", "unreadable"}, (rows, reasons)
            assert any(p["pid"] == player.pid for p in document["publishers"])
            print(f"killed after {seconds:.2f} s: {rows} rows, {sorted(reasons)}")


def main():
    require("bpf")
    crowd()
    for tenth in range(6):
        dies_while_read(tenth * 0.02)
    for seed in range(1, SEEDS + 1):
        survives(seed, *(["--children"] if seed % 2 else []))
    with Hostile(99) as hostile:
        result = command("ezprof-bpf", "attach", hostile.pid, "--once", "--window", 0.3)
        assert result.returncode in (0, 4, 5), result


main()
