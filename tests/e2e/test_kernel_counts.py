# SPDX-License-Identifier: MIT
"""The counts come from the kernel, and what it did not see is told to the message."""

import json
import signal
import time

from agent import Agent, Player, publisher, wait_until
from elf_sites import semaphores
from require import require

COUNT = 10007
PUBLISHER, CLIENT = 1, 4


def links_closed():
    """The agent's links go, its counts stop, totals go on: the difference is what was lost."""
    with Player() as player, Agent(player.pid, test_hooks=True) as agent:
        player.do("open", PUBLISHER, 8)
        player.do("publish", 0, COUNT, 3)
        before = publisher(agent.ask(), "player/topic")
        assert before["measured"] == {"messages": COUNT, "bytes": 3 * COUNT}
        agent.process.send_signal(signal.SIGUSR2)
        wait_until(lambda: agent.said("links closed"), 20, "links closed")
        wait_until(lambda: not any(semaphores(player.pid).values()), 5, "semaphores down")
        player.do("publish", 0, 503, 3)
        after = publisher(agent.ask(), "player/topic")
        assert after["measured"] == before["measured"], after
        assert after["messages"]["total"] == COUNT + 503
        assert (after["lost"], after["lost_exact"]) == (503, True), after
        assert agent.ask()["lost"] == 503
        assert agent.stop(signal.SIGINT) == "" and agent.process.returncode == 0
        assert agent.said("lost 503"), agent.stderr()


def too_few_places():
    """Endpoints without a slot: counted as lost, each by its own number."""
    with Player() as player:
        for _ in range(40):
            player.do("open", PUBLISHER, 8)
        with Agent(player.pid, "--max-endpoints", 16, "--probes", "boundary") as agent:
            for endpoint in range(40):
                player.do("publish", endpoint, 100 + endpoint, 1)
            document = agent.ask()
            measured = sum(p["measured"]["messages"] for p in document["publishers"])
            sent = sum(100 + e for e in range(40))
            assert 0 < measured < sent, measured
            assert document["lost"] == sent - measured, document["lost"]
            assert all(p["lost"] in (0, p["messages"]["total"]) for p in document["publishers"])
            assert document["agents"][0]["losses"]["no_slot"] == sent - measured
            agent.stop(signal.SIGINT)
            assert agent.process.returncode == 0


def too_few_places_for_windows():
    """The same by windows: known once buckets are handed over, and right from then on."""
    with Player() as player:
        for _ in range(40):
            player.do("open", PUBLISHER, 8)
        with Agent(player.pid, "--max-endpoints", 16) as agent:
            for _ in range(2):
                for endpoint in range(40):
                    player.do("publish", endpoint, 100 + endpoint, 1)
                time.sleep(0.2)
            document = agent.ask()
            measured = sum(p["measured"]["messages"] for p in document["publishers"])
            sent = 2 * sum(100 + e for e in range(40))
            assert 0 < measured < sent, measured
            assert document["lost"] == sent - measured, document["lost"]
            assert all(p["lost"] in (0, p["messages"]["total"]) for p in document["publishers"])
            # A hit per bucket and endpoint; on a slow machine a round may reach into the next bucket.
            assert document["agents"][0]["losses"]["no_slot"] >= 24
            agent.stop(signal.SIGINT)


def every_cpu():
    """B25: whatever CPU publisher and agent run on; min and max are merged as such."""
    with Player() as player:
        player.do("open", PUBLISHER, 8)
        with Agent(player.pid) as agent:
            sent = 0
            for step in (("pin", 1), ("pin", 0), ("migrate", 1)):
                player.do(*step)
                player.do("publish", 0, COUNT, 3)
                sent += COUNT
                pub = publisher(agent.ask(), "player/topic")
                assert pub["measured"] == {"messages": sent, "bytes": 3 * sent}, (step, pub)
            player.do("threads", 8, 1001, 3, 0)
            pub = publisher(agent.ask(), "player/topic")
            assert pub["measured"]["messages"] == sent + 8 * 1001 == pub["messages"]["total"]
            assert (pub["lost"], pub["lost_exact"]) == (0, True)
            assert pub["gap"]["max_ms"] >= pub["gap"]["avg_ms"]


def unmatched():
    """B28: leases and ends whose start was not seen are counted apart, durations stay sane."""
    with Player() as player:
        player.do("open", CLIENT, 100)
        for message in range(100):
            player.do("lease", 0, message)
        with Agent(player.pid, "--probes", "boundary") as agent:
            for message in range(100):
                player.do("free", 0, message, 1)
            player.do("lease", 0, 100)
            player.do("free", 0, 100, 1)
            player.do("free", 0, 100, 1)
            player.do("end", 0, 7)
            document = agent.ask()
        assert document["agents"][0]["losses"]["unmatched_free"] == 101, document
        assert "1844674407" not in json.dumps(document), document


def main():
    require("bpf")
    for story in (links_closed, too_few_places, too_few_places_for_windows, every_cpu, unmatched):
        story()
        print(f"{story.__name__}: ok", flush=True)


main()
