# SPDX-License-Identifier: MIT
"""What the agent and its helper may still do, what measuring costs: as `ezprof-bpf status` tells."""

import json
import os
import signal
import subprocess
import threading
import time

from agent import Agent, Player, command, publisher, wait_until
from graph import BIN, PATIENCE, Graph
from require import require, skip

PUBLISHER = 1
OPENS = {"bpf", "perfmon", "sys_ptrace", "dac_read_search", "checkpoint_restore"}


def status_of(pid):
    with open(f"/proc/{pid}/status") as text:
        return {line.split(":")[0]: line.split(":")[1].split() for line in text}


def names(caps):
    return {name.removeprefix("cap_") for name in caps}


def status(code=0):
    result = command("ezprof-bpf", "status", "--json")
    assert result.returncode == code, result
    return {a["agent"]["pid"]: a for a in json.loads(result.stdout)["agents"]}


def rights():
    """/proc says it, and `status` says the same."""
    with Player() as player:
        player.do("open", PUBLISHER, 8)
        with Agent(player.pid) as agent:
            helper = agent.helper_pid()
            for pid in (agent.pid, helper):
                own = status_of(pid)
                assert own["NoNewPrivs"] == ["1"] and own["Seccomp"] == ["2"], own
                assert int(own["CapBnd"][0], 16) == int(own["CapInh"][0], 16) == 0, own
                assert int(own["CapAmb"][0], 16) == 0
            assert set(status_of(agent.pid)["Uid"]) & {"0"} == set()
            assert status_of(agent.pid)["Groups"] == []
            assert int(status_of(agent.pid)["CapPrm"][0], 16) == 0
            said = status()[agent.pid]
            assert said["opener"]["pid"] == helper
            assert said["agent"]["permitted"] == said["agent"]["bounding"] == []
            # Kernels that have perf_event uprobes only may want this too.
            more = {"sys_admin"} if agent.said("by perf_event") else set()
            assert names(said["opener"]["permitted"]) - more == OPENS, said["opener"]
            assert said["opener"]["bounding"] == []
            assert said["agent"]["seccomp"] and said["opener"]["seccomp"]
            assert said["agent"]["no_new_privs"] and said["opener"]["no_new_privs"]
            text = command("ezprof-bpf", "status").stdout
            assert f"agent {agent.pid}: 1 process, 1 endpoints" in text, text
            assert "capabilities none" in text and "seccomp yes" in text, text
            # To another user it doesn't show what it measures: that is not nothing.
            stranger = subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                 os.path.join(BIN, "ezprof-bpf"), "status"], stdout=subprocess.PIPE, text=True,
                timeout=60 * PATIENCE)
            assert f"agent {agent.pid}: no process that it shows" in stranger.stdout, stranger
            os.kill(helper, 9)
            wait_until(lambda: agent.said("helper is gone"), 10, "noticed")
            assert status()[agent.pid]["opener"] is None


def not_timed(agent):
    """Somebody else on this machine may be looking, but not for long."""
    def untimed():
        time.sleep(0.5)
        found = agent.ask()["agents"][0]["cost"]
        return found if found["hits_per_s"] and found["ns_per_hit"] is None else None
    return wait_until(untimed, 30, "hits are not timed")


def cost():
    """Hits are timed while somebody looks, and at no other time."""
    with Graph() as graph:
        source = graph.node("source", "T", "--rate", 500, "--monitor")
        with Agent(source.pid) as agent:
            before = not_timed(agent)
            assert before["probes_cpu_share"] is None, before
            assert before["hits_per_s"] > 0 and before["map_bytes"] > 0
            shown = status()[agent.pid]
            slowest = 1e8 if os.environ.get("EZPROF_TEST_EMULATED") else 1e6
            assert 1 < shown["ns_per_hit"] < slowest, shown
            share = shown["hits_per_s"] * shown["ns_per_hit"] / 1e9
            assert abs(shown["probes_cpu_share"] - share) <= 0.01 * share + 1e-12
            assert 0 <= shown["agent_cpu_share"] < 1
            print({k: shown[k] for k in ("hits_per_s", "ns_per_hit", "probes_cpu_share",
                                         "agent_cpu_share", "map_bytes")})
            not_timed(agent)
        result = command("ezprof-bpf", "attach", source.pid, "--once", "--window", 1)
        once = json.loads(result.stdout)
        assert once["agents"][0]["cost"]["ns_per_hit"] > 1
        assert publisher(once, "T")["measured"]["messages"] > 0


def ends_meanwhile():
    """`status` measures for a second; an agent that leaves in it is gone, not silent."""
    with Player() as player:
        player.do("open", PUBLISHER, 8)
        with Agent(player.pid) as stays, Agent(player.pid) as leaves:
            # Stopped, it can't be the one that answers first.
            os.kill(leaves.pid, signal.SIGSTOP)
            looking = threading.Timer(0.5, os.kill, (leaves.pid, signal.SIGKILL))
            looking.start()
            result = command("ezprof-bpf", "status", "--json")
            looking.join()
            assert stays.pid in {a["agent"]["pid"] for a in json.loads(result.stdout)["agents"]}
            assert f"agent {leaves.pid}" not in result.stderr, result


def nobody_there():
    result = command("ezprof-bpf", "status")
    if result.returncode != 0:
        assert result.returncode == 4 and "no agent" in result.stderr, result
    assert command("ezprof-bpf", "status", "7").returncode == 2


def main():
    require("bpf")
    if os.getuid():
        skip("needs root", "EZPROF_REQUIRE_BPF")
    for story in (rights, cost, ends_meanwhile, nobody_there):
        story()
        print(f"{story.__name__}: ok", flush=True)


main()
