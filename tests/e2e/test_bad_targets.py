# SPDX-License-Identifier: MIT
"""Processes that can't be attached to: one line that says why, a fixed exit status, no harm."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

from agent import Agent, Player, command, publisher
from elf_sites import semaphores
from graph import BIN, PATIENCE, Graph
from require import require

# Without the programs around it: 500 times in bpf_opener.
TRIES = 500 if os.environ.get("EZPROF_SLOW") else 60
PUBLISHER = 1


def attach(*arguments, status, says):
    result = command("ezprof-bpf", "attach", *arguments)
    assert result.returncode == status, (arguments, result.returncode, result.stderr)
    for text in says if isinstance(says, tuple) else (says,):
        assert text in result.stderr, (arguments, text, result.stderr)
    return result


def free_pid():
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def no_such_process():
    pid = free_pid()
    attach(pid, status=4, says=f"process {pid}: no such process")


def zombie():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        attach(child, status=4, says="is a zombie")
    finally:
        os.waitpid(child, 0)


def thread_id():
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        attach(thread.native_id, status=4, says=f"is a thread of process {os.getpid()}")
    finally:
        end.set()
        thread.join()


def no_probes():
    """B07: what was searched is said."""
    attach(os.getpid(), status=4, says=("has no ezprof probes: searched", "mapped files"))
    with subprocess.Popen(["sleep", "60"]) as other:
        attach(other.pid, status=4, says=f"process {other.pid}: has no ezprof probes")
        other.kill()


def translated():
    """What executes a translation of the code would meet a breakpoint as one of the program: it lives on."""
    if "EZPROF_TEST_PRELOAD" in os.environ:
        print("translated: valgrind has no room beside a sanitizer")
        return
    if "EZPROF_TEST_EMULATED" in os.environ:
        print("translated: there is no valgrind in the virtual machine")
        return
    with Graph() as graph:
        source = graph.program("valgrind", "-q", "--tool=none", os.path.join(BIN, "ezmsg-node"), "source", "T",
                               "--rate", "100")
        assert "ready" in source.line(), source.stderr()
        attach(source.pid, "--duration", 1, status=4,
               says=f"process {source.pid}: runs under valgrind, where the first probe would end it")
        assert source.process.poll() is None, source.stderr()


def in_shared_object():
    """B07: the probes are in the library, and the library is named."""
    with Graph() as graph:
        source = graph.node("source", "T")
        with Agent(source.pid, "--duration", 0.2, wait=False) as agent:
            agent.process.wait(30 * PATIENCE)
        assert agent.process.returncode == 0 and agent.said("libezmsg.so"), agent.stderr()
        assert agent.said("11 probes"), agent.stderr()


def some_fail():
    """Each is named, the rest goes on."""
    gone = free_pid()
    with Player() as player:
        player.do("open", PUBLISHER, 8)
        result = attach(gone, player.pid, os.getpid(), "--once", "--window", 0.2, status=5,
                        says=(f"process {gone}: no such", f"process {os.getpid()}: has no"))
        assert '"publishers":[{' in result.stdout.replace(" ", "")


def usage():
    for arguments in ((), ("0",), ("-3",), ("12x",), ("1", "--window", "0"), ("1", "--max-endpoints", "0"),
                      ("1", "--duration", "2s"), ("1", "--probes", "all"), ("1", "--nonsense"),
                      ("1", "--address", "nowhere")):
        result = command("ezprof-bpf", "attach", *arguments)
        assert result.returncode == 2 and result.stdout == "", (arguments, result)
        assert result.stderr.strip(), arguments


def exits_meanwhile():
    """B17: processes that end at any moment of an attach, however long one takes here."""
    with Player() as player:
        player.do("open", PUBLISHER, 8)
        began = time.monotonic()
        with Agent(player.pid):
            attach_s = time.monotonic() - began
    statuses = {}
    for number in range(TRIES):
        player = Player()
        player.do("open", PUBLISHER, 8)
        agent = Agent(player.pid, "--once", "--window", 0.15, wait=False)
        threading.Timer(number % 60 / 60 * attach_s, player.process.kill).start()
        agent.process.wait(30 * PATIENCE)
        statuses[agent.process.returncode] = statuses.get(agent.process.returncode, 0) + 1
        text = agent.stderr()
        assert agent.process.returncode in (0, 4), (number, agent.process.returncode, text)
        if agent.process.returncode == 4:
            assert any(s in text for s in ("no such process", "is a zombie", "is gone",
                                           "no endpoint")), text
        agent.process.stdout.close()
        player.process.communicate()
    print(f"an attach takes {attach_s:.2f} s: {statuses}")


def two_tools():
    """B14: one library, two processes: only who was asked for; two agents don't disturb each other."""
    with Player() as one, Player() as two:
        for player in (one, two):
            player.do("open", PUBLISHER, 8)
        with Agent(one.pid) as first:
            two.do("publish", 0, 51, 1)
            assert not any(semaphores(two.pid).values())
            one.do("publish", 0, 103, 1)
            with Agent(two.pid) as second, Agent(one.pid) as third:
                one.do("publish", 0, 100, 1)
                two.do("publish", 0, 200, 1)
                counts = [publisher(a.ask(), "player/topic") for a in (first, second, third)]
            assert [p["measured"]["messages"] for p in counts] == [203, 200, 100]
            assert [p["pid"] for p in counts] == [one.pid, two.pid, one.pid]
            assert [p["lost"] for p in counts] == [0, 0, 0]
            one.do("publish", 0, 5, 1)
            assert publisher(first.ask(), "player/topic")["measured"]["messages"] == 208
            losses = first.ask()["agents"][0]["losses"]
            assert losses["not_a_target"] == 0, losses


def closed_streams():
    """Lines and document go nowhere, not into a map or a socket that was opened in their place."""
    with Player() as player:
        player.do("open", PUBLISHER, 8)
        words = f"{BIN}/ezprof-bpf attach {player.pid} --once --window 0.15"
        for closed in (">&-", "0<&- >&-"):
            ended = subprocess.run(["bash", "-c", f"{words} {closed}"], stderr=subprocess.PIPE,
                                   text=True, timeout=20 * PATIENCE)
            assert ended.returncode == 1, (closed, ended)
            assert "cannot write to stdout: Bad file descriptor" in ended.stderr, ended.stderr
        ended = subprocess.run(["bash", "-c", f"{words} 2>&- 0<&-"], stdout=subprocess.PIPE,
                               text=True, timeout=20 * PATIENCE)
        assert ended.returncode == 0 and ended.stdout.startswith("{"), ended


def descriptors():
    """The soft limit is no limit; the hard one is told as what it is."""
    with ExitStack() as stack:
        players = [stack.enter_context(Player()) for _ in range(8)]
        for player in players:
            player.do("open", PUBLISHER, 8)
        pids = " ".join(str(player.pid) for player in players)
        for limit, status in (("-Sn", 0), ("-n", (1, 4, 5))):
            ended = subprocess.run(
                ["bash", "-c", f"ulimit {limit} 24; exec {BIN}/ezprof-bpf attach --once"
                               f" --window 0.15 {pids}"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=20 * PATIENCE)
            if status == 0:
                assert ended.returncode == 0, ended
                assert len(json.loads(ended.stdout)["publishers"]) == len(players), ended.stdout
            else:
                assert ended.returncode in status, ended
                assert "Too many open files" in ended.stderr, ended.stderr
                assert "Bad message" not in ended.stderr, ended.stderr


def main():
    require("bpf")
    for story in (no_such_process, zombie, thread_id, no_probes, translated, in_shared_object, some_fail, usage,
                  exits_meanwhile, two_tools, closed_streams, descriptors):
        story()
        print(f"{story.__name__}: ok", flush=True)


sys.exit(main())
