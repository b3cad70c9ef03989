# SPDX-License-Identifier: MIT
"""However an agent or its target ends: semaphores fall, programs go, the rest goes on."""

import os
import signal
import time

from agent import (Agent, Player, bpf_programs, checked, profile, publisher, subscribers,
                   wait_until)
from elf_sites import semaphores
from graph import Graph
from require import require

# Killed without the programs around it: 200 times in bpf_opener.
CYCLES = 200 if os.environ.get("EZPROF_SLOW") else 25
PUBLISHER = 1


def low(pid):
    return not any(semaphores(pid).values())


def gone(programs):
    return not programs & bpf_programs()


def kill_all(agent, pids):
    """Kills some of agent and helper; what the agent had in the kernel must go."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    agent.process.wait(20)


def agent_dies(player, who):
    before = bpf_programs()
    agent = Agent(player.pid)
    programs = bpf_programs() - before
    helper = agent.helper_pid()
    assert programs and not low(player.pid)
    kill_all(agent, {"agent": [agent.pid], "both": [agent.pid, helper]}[who])
    wait_until(lambda: low(player.pid), 10, "semaphores down")
    wait_until(lambda: gone(programs), 10, "programs gone")
    wait_until(lambda: not os.path.exists(f"/proc/{helper}"), 10, "the helper has left")
    agent.process.stdout.close()


def helper_dies(player):
    """Without the helper measuring goes on as it was."""
    with Agent(player.pid) as agent:
        os.kill(agent.helper_pid(), signal.SIGKILL)
        wait_until(lambda: agent.said("helper is gone"), 10, "the agent notices")
        before = publisher(agent.ask(), "player/topic")["measured"]["messages"]
        player.do("publish", 0, 107, 1)
        pub = publisher(agent.ask(), "player/topic")
        assert pub["measured"]["messages"] == before + 107 and pub["lost"] == 0, pub
        agent.stop(signal.SIGINT)
        assert agent.process.returncode == 0, agent.stderr()
    wait_until(lambda: low(player.pid), 10, "semaphores down")


def many_ends(player):
    """B16: Ctrl-C, SIGTERM and kill -9 in turn."""
    for cycle in range(CYCLES):
        agent = Agent(player.pid)
        assert max(semaphores(player.pid).values()) == 1
        signum = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[cycle % 3]
        agent.stop(signum)
        assert agent.process.returncode == (-9 if signum == signal.SIGKILL else 0), cycle
        wait_until(lambda: low(player.pid), 10, "semaphores down")
        if signum != signal.SIGKILL:
            assert not os.path.exists(agent.socket_path())
    assert player.do("totals", 0)[0] == 107


def agents():
    with Player() as player:
        player.do("open", PUBLISHER, 8)
        agent_dies(player, "agent")
        agent_dies(player, "both")
        helper_dies(player)
        many_ends(player)


def target_dies():
    """Of two processes in one graph: the other is measured on."""
    with Graph() as graph:
        sink = graph.node("sink", "T", "--handle", "GONE")
        other = graph.node("sink", "T", "--handle", "STAYS")
        source = graph.node("source", "T", "--rate", 500, "--wait-channels", 2)
        with Agent(source.pid, sink.pid, other.pid) as agent:
            time.sleep(0.6)
            links = len(publisher(agent.ask(), "T")["links"])
            sink.process.kill()
            wait_until(lambda: agent.said(f"process {sink.pid} has exited"), 10, "noticed")
            document = agent.ask(16)
            states = {a["pid"]: a["state"] for a in document["agents"][0]["attached"]}
            assert states == {source.pid: "attached", sink.pid: "exited", other.pid: "attached"}
            assert "GONE" not in subscribers(document)
            longest = agent.ask((1 << 63) / 1000)
            for errors in (document["errors"], longest["errors"]):
                assert any(e["reason"] == "died" and e["pid"] == sink.pid for e in errors), errors
            time.sleep(1.0)
            document = profile(graph.address, 0.5)
            assert document["errors"] == [] and set(subscribers(document)) == {"STAYS"}
            assert len(publisher(document, "T")["links"]) == links - 1
            stays = subscribers(document)["STAYS"]
            assert stays["source"] == "bpf" and stays["message_rate_hz"] > 100, stays


def all_targets_die():
    """What was counted so far is still told."""
    with Player() as player:
        player.do("open", PUBLISHER, 8)
        agent = Agent(player.pid, "--once", "--window", 16, "--probes", "boundary")
        player.do("publish", 0, 10007, 3)
        time.sleep(0.7)
        player.process.kill()
        document = agent.line()
        agent.process.wait(20)
        assert '"measured":{"messages":10007,"bytes":30021}' in document.replace(" ", ""), document
        assert '"exited"' in document
        pub = publisher(checked(document), "player/topic")
        assert pub["window_s"] == pub["window"]["requested_s"] == 16.0, pub
        assert pub["messages"]["window"] == 10007, pub
        assert agent.said("no process is left") and agent.process.returncode == 0
        agent.process.stdout.close()


def main():
    require("bpf")
    for story in (agents, target_dies, all_targets_die):
        story()
        print(f"{story.__name__}: ok", flush=True)


main()
