# SPDX-License-Identifier: MIT
"""`ezprof ps`: who belongs to which graph, who has no probes, whose server is gone."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from multiprocessing import shared_memory

from agent import TEST_BIN, Player, command
from graph import BIN, Graph, wait_until
from require import skip

PUBLISHER = 1
CLIENT = """
import socket, sys
host, port = sys.argv[1].split(":")
links = [socket.create_connection((host, int(port))) for _ in range(2)]
print("ready", flush=True)
sys.stdin.read()
"""


def ps(*arguments):
    """What it says; its status is 4 when nobody belongs to a graph, and only then."""
    result = command("ezprof", "ps", *arguments)
    nobody = arguments == ("--json",) and not json.loads(result.stdout)["processes"]
    assert result.returncode == (4 if nobody else 0), result
    return result.stdout


def rows(pid, text=None):
    """What is said of a process: other tests run on this machine as well."""
    document = json.loads(text or ps("--json"))
    return [p for p in document["processes"] if p["pid"] == pid]


def endpoints(row):
    return sorted((e["kind"], e["topic"], e["handle"]) for e in row["endpoints"]
                  if e["kind"] in ("publisher", "subscriber"))


def graph_and_orphan():
    with Graph() as graph, Graph() as other:
        source = graph.node("source", "a \"b\"\u00e9")
        sink = graph.node("sink", "a \"b\"\u00e9")
        stranger = other.node("source", "T")
        server = graph.server.pid
        [row] = rows(source.pid)
        assert row["role"] == "probes" and row["graph"] == graph.address, row
        assert row["server_pid"] == server and not row["orphan"], row
        assert endpoints(row)[0][:2] == ("publisher", "a \"b\"\u00e9"), row
        wait_until(lambda: any(k == "subscriber" for k, _, _ in endpoints(rows(sink.pid)[0])), 20,
                   "the sink is connected")
        [row] = rows(server)
        assert (row["role"], row["ours"], row["graph"]) == ("server", True, graph.address), row
        assert rows(stranger.pid)[0]["graph"] == other.address
        text = ps("--endpoints")
        lines = text.splitlines()
        [at] = [i for i, line in enumerate(lines) if line.startswith(f"{source.pid} ")]
        assert lines[at].split()[1:5] == ["ezmsg-node", "probes", graph.address, "pid"], lines[at]
        assert "1 publisher" in lines[at] and "a \"b\"\u00e9" in lines[at + 1], lines[at:at + 2]
        assert f"process {source.pid} " not in text

        os.kill(stranger.pid, signal.SIGSTOP)
        other.server.process.kill()
        other.server.process.wait()
        [row] = rows(stranger.pid)
        assert row["orphan"] and row["server_pid"] is None, row
        text = ps()
        assert f"orphan: process {stranger.pid} is of the graph {other.address}" in text, text
        [line] = [s for s in text.splitlines() if s.startswith(f"{stranger.pid} ")]
        assert " GONE " in line, line
        os.kill(stranger.pid, signal.SIGKILL)


def no_probes():
    """A connected process without probes; one that is connected to something else."""
    with Graph() as graph, socket.socket() as elsewhere:
        elsewhere.bind(("127.0.0.1", 0))
        elsewhere.listen()
        for address, expected in ((graph.address, 1),
                                  ("127.0.0.1:%d" % elsewhere.getsockname()[1], 0)):
            with subprocess.Popen([sys.executable, "-c", CLIENT, address], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
                assert client.stdout.readline() == "ready\n"
                found = rows(client.pid)
                assert len(found) == expected, found
                if found:
                    assert found[0]["role"] == "graph" and found[0]["connections"] == 2, found
                    assert found[0]["server_pid"] == graph.server.pid, found
                client.stdin.close()
    segment = shared_memory.SharedMemory(create=True, size=4096)
    try:
        [row] = rows(os.getpid())
        assert (row["role"], row["graph"], row["shares_memory"]) == ("perhaps", None, True), row
    finally:
        segment.close()
        segment.unlink()
    assert not rows(os.getpid())
    with Player() as player:
        player.do("open", PUBLISHER, 8)
        [row] = rows(player.pid)
        assert row["graph"] is None and not row["orphan"] and len(row["endpoints"]) == 1, row


def inherited():
    """Who was forked by a server has its listening socket too, and is none."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        child = os.fork()
        if not child:
            signal.pause()
        try:
            address = "127.0.0.1:%d" % listener.getsockname()[1]
            text = command("ezprof", "ps", "--json", env={"EZMSG_GRAPHSERVER_ADDR": address}).stdout
            [row] = rows(os.getpid(), text)
            assert (row["role"], row["graph"]) == ("server", address), row
            assert not rows(child, text), text
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def hostile():
    """A registry that lies in every way harms nobody and hides nobody."""
    with subprocess.Popen([os.path.join(TEST_BIN, "hostile_player"), "7"], text=True,
                          stdout=subprocess.PIPE) as liar, Player() as player:
        assert liar.stdout.readline() == "ok\n"
        player.do("open", PUBLISHER, 8)
        for _ in range(4):
            assert len(rows(player.pid)) == 1
            ps("-e")
        liar.kill()


def others():
    """Without rights: the own processes, and that there are others."""
    user = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", "env",
            "-u", "SUDO_UID", "HOME=/"]
    with Player(*user) as mine, Player() as roots:
        mine.do("open", PUBLISHER, 8)
        roots.do("open", PUBLISHER, 8)
        result = subprocess.run([*user, os.path.join(BIN, "ezprof"), "ps", "--json"], text=True,
                                capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                                check=False)
        assert result.returncode == 0, result
        assert "why: cannot read the process's memory: CAP_SYS_PTRACE and " in result.stderr, result
        assert f"now: sudo {BIN}/ezprof ps --json\n" in result.stderr and "for good" not in result.stderr, result
        document = json.loads(result.stdout)
        assert document["not_permitted"] == len(document["refused"]) > 0, document
        [refused] = [p for p in document["refused"] if p["pid"] == roots.pid]
        assert refused["program"] == "probe_player" and "CAP_SYS_PTRACE" in refused["why"], refused
        assert re.search(r" processes may not be looked into: (\d+ \([^)]+\)(, | and ))+\d+ more", result.stderr), \
            result.stderr
        assert len(rows(mine.process.pid, result.stdout)) == 1, result
        assert not rows(roots.pid, result.stdout)
        assert rows(mine.process.pid) and rows(roots.pid)


def bounded():
    """Root of a container: to become root once more would bring nothing."""
    bounds = ["setpriv", "--bounding-set=-sys_ptrace"]
    with Player() as player:
        result = subprocess.run([*bounds, os.path.join(BIN, "ezprof"), "ps"], text=True, capture_output=True,
                                timeout=60, stdin=subprocess.DEVNULL, check=False)
        assert "CAP_SYS_PTRACE missing, and the bounding set keeps" in result.stderr, result
        assert "sudo" not in result.stderr and "now: run it on the host" in result.stderr, result
        assert "for good: start the container with --cap-add" in result.stderr, result


def hidden():
    """/proc with hidepid: that there is more than is seen."""
    mounted = ["unshare", "--mount", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh"]
    user = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", "env", "-u", "SUDO_UID", "HOME=/"]
    for prefix, says in ((user, True), ([], False)):
        result = subprocess.run([*mounted, *prefix, os.path.join(BIN, "ezprof"), "ps", "--json"], text=True,
                                capture_output=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        assert result.returncode in (0, 4), result
        assert ("hidepid; root sees them: sudo ezprof ps" in result.stderr) == says, result
        assert json.loads(result.stdout)["others_hidden"] == says, result


def bad_usage():
    for arguments in (["1"], ["--what"], ["-x"]):
        result = command("ezprof", "ps", *arguments)
        assert result.returncode == 2 and not result.stdout and result.stderr, result


if os.geteuid():
    skip("wants root, to see processes of others", "EZPROF_REQUIRE_BPF")
for story in (graph_and_orphan, no_probes, inherited, hostile, others, bounded, hidden, bad_usage):
    story()
    print(f"{story.__name__}: ok", flush=True)
