# SPDX-License-Identifier: MIT
"""More processes than get links of their own; and processes in namespaces of their own."""

import os
import signal
import subprocess
import time
from contextlib import ExitStack

from agent import TEST_BIN, Agent, Player, publisher, wait_until
from elf_sites import semaphores
from graph import PATIENCE
from require import require, skip

PUBLISHER, LINK = 1, 2
PROCESSES = 9


def many():
    """One link for all: who was not asked for is not counted, though its semaphores are up."""
    with ExitStack() as stack:
        players = [stack.enter_context(Player()) for _ in range(PROCESSES)]
        stranger = stack.enter_context(Player())
        for player in (*players, stranger):
            player.do("open", PUBLISHER, 8)
        with Agent(*(player.pid for player in players), "--probes", "boundary") as agent:
            assert agent.said("pay for the probes as well")
            for number, player in enumerate(players):
                player.do("publish", 0, 101 + number, 1)
            stranger.do("publish", 0, 33, 1)
            document = agent.ask()
            counts = {p["pid"]: (p["measured"]["messages"], p["lost"], p["lost_exact"])
                      for p in document["publishers"]}
            assert counts == {player.pid: (101 + number, 0, True)
                              for number, player in enumerate(players)}, counts
            assert document["agents"][0]["losses"]["not_a_target"] == 33
            players[0].process.kill()
            wait_until(lambda: agent.said(f"process {players[0].pid} has exited"), 10, "noticed")
            players[1].do("publish", 0, 7, 1)
            measured = {p["pid"]: p["measured"]["messages"] for p in agent.ask()["publishers"]}
            assert len(measured) == PROCESSES - 1 and measured[players[1].pid] == 109, measured
        wait_until(lambda: not any(semaphores(stranger.pid).values()), 10, "semaphores down")


def fifty():
    """Nine probes, fifty processes: a second is the bar, ten times that the limit here."""
    with ExitStack() as stack:
        players = [stack.enter_context(Player()) for _ in range(50)]
        for player in players:
            player.do("open", PUBLISHER, 8)
        began = time.monotonic()
        with Agent(*(player.pid for player in players)) as agent:
            attached = time.monotonic()
            for player in players:
                player.do("publish", 0, 3, 1)
            document = agent.ask()
            assert [p["measured"]["messages"] for p in document["publishers"]] == [3] * 50
            ending = time.monotonic()
            agent.stop(signal.SIGINT)
            ended = time.monotonic()
        print(f"50 processes: attached in {attached - began:.2f} s, "
              f"detached in {ended - ending:.2f} s")
        assert attached - began < 10 * PATIENCE and ended - ending < 10 * PATIENCE


def by_perf_event():
    """As on a kernel without uprobe_multi: each process for itself, and the wait is explained."""
    with ExitStack() as stack:
        players = [stack.enter_context(Player()) for _ in range(3)]
        for player in players:
            player.do("open", PUBLISHER, 8)
        with Agent("--link", "perf_event", "--probes", "boundary", players[0].pid,
                   players[1].pid) as agent:
            assert agent.said("2 processes by perf_event")
            for number, player in enumerate(players):
                player.do("publish", 0, 101 + number, 1)
            document = agent.ask()
            assert document["agents"][0]["link"] == "perf_event"
            counts = {p["pid"]: (p["measured"]["messages"], p["lost"])
                      for p in document["publishers"]}
            assert counts == {players[0].pid: (101, 0), players[1].pid: (102, 0)}, counts
            assert not any(semaphores(players[2].pid).values())
            agent.stop(signal.SIGINT)
            assert agent.said("for the kernel to detach 18 probe links"), agent.stderr()
        assert not any(semaphores(players[0].pid).values())


class Inside(Player):
    """A player as the child of unshare."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            ["unshare", *options, "--fork", os.path.join(TEST_BIN, "probe_player")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = wait_until(self.child, 10, "the child of unshare")

    def child(self):
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as children:
            found = children.read().split()
        if not found:
            return None
        with open(f"/proc/{found[0]}/comm") as comm:
            return int(found[0]) if comm.read().startswith("probe_player") else None

    def __exit__(self, *_):
        os.kill(self.pid, 9)
        super().__exit__()


def measured_inside(*options):
    """In a time namespace CLOCK_MONOTONIC is another; in a pid namespace the process's own pid is."""
    with Inside(*options) as player:
        player.do("open", PUBLISHER, 8)
        player.do("open", LINK, 8)
        player.do("lease", 1, 3)
        began = time.monotonic()
        player.do("blocked", 0)
        with Agent(player.pid) as agent:
            player.do("publish", 0, 107, 3)
            pub = publisher(agent.ask(4.0), "player/topic")
            age_ms = (time.monotonic() - began) * 1000
            assert pub["measured"] == {"messages": 107, "bytes": 321} and pub["lost"] == 0, pub
            assert pub["pid"] == player.pid
            assert 0 < pub["blocked"]["now_ms"] <= age_ms, (pub["blocked"], age_ms)
            player.do("open", PUBLISHER, 8)
            young = max(p["window"]["begin_ns"] for p in agent.ask(4.0)["publishers"])
            assert 0 <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) - young < 20e9


def namespaces():
    for options in (("--time", "--monotonic", "100000"), ("--time", "--monotonic", "-100"),
                    ("--pid",)):
        if subprocess.run(["unshare", *options, "--fork", "true"], stderr=subprocess.PIPE).returncode:
            print("no right to make such a namespace:", *options)
            continue
        measured_inside(*options)


def main():
    require("bpf")
    if os.getuid():
        skip("needs root", "EZPROF_REQUIRE_BPF")
    for story in (many, fifty, by_perf_event, namespaces):
        story()
        print(f"{story.__name__}: ok", flush=True)


main()
