# SPDX-License-Identifier: MIT
"""`ezprof profile` and its siblings where something is wrong: one line, the right status, in time."""

import os
import signal
import socket
import subprocess
import tempfile
import threading
import time

from agent import command, profile
from graph import BIN, Graph

QUICK_S = 3.5


def fails(*arguments, status, says="", env=None):
    start = time.monotonic()
    result = command("ezprof", *arguments, env=env)
    took = time.monotonic() - start
    assert result.returncode == status, (arguments, result.returncode, result.stderr)
    assert result.stdout == "", result.stdout
    assert result.stderr.count("\n") == 1 and says in result.stderr, (arguments, result.stderr)
    assert took < QUICK_S, took


def usage():
    for window in ("0", "-1", "nan", "inf", "2s", "", "0.1", " 2", "0x2", "1e-1"):
        fails("profile", "--window", window, status=2, says="--window")
    for window in ("16.1", "1e9"):
        fails("profile", "--window", window, status=2, says="record")
    for address in ("", "x", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", "h:1:2"):
        fails("profile", "--address", address, status=2, says="--address")
        fails("shutdown", "--address", address, status=2, says="--address")
    fails("profile", "extra", status=2)
    fails("profil", status=2, says="did you mean 'profile'")
    fails("tpo", status=2, says="did you mean 'top'?")
    fails("attahc", status=2, says="did you mean 'sudo ezprof-bpf attach'?")
    fails("nonsense", status=2, says="no command 'nonsense' (ezprof --help lists them)")
    fails(status=2)
    fails("profile", status=2, says="EZMSG_GRAPHSERVER_ADDR",
          env={"EZMSG_GRAPHSERVER_ADDR": "rubbish"})
    version = command("ezprof", "--version")
    assert version.returncode == 0 and version.stdout.startswith("ezprof ")
    for words in ([], ["profile"], ["graph"], ["serve"], ["shutdown"]):
        text = command("ezprof", *words, "--help")
        assert text.returncode == 0 and "Examples:" in text.stdout, words


def listener(serve):
    """A foreign service; serve(connection) in a thread. Returns its address."""
    sock = socket.create_server(("127.0.0.1", 0))

    def run():
        while True:
            try:
                connection, _ = sock.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    return sock, "127.0.0.1:%d" % sock.getsockname()[1]


def nobody_and_strangers():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        closed = "127.0.0.1:%d" % sock.getsockname()[1]
    received = []

    def http(connection):
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.close()

    def mute(connection):
        received.append(connection.recv(100))

    def released(version, asked):
        def answer(connection):
            connection.sendall((5).to_bytes(8, "little") + version)
            asked.append(connection.recv(100))
            connection.close()
        return answer

    for address in (closed, listener(http)[1], listener(mute)[1]):
        fails("profile", "--address", address, status=1, says=address)
    assert not any(received), "not a byte to what isn't known"
    # Of released servers only what they know is asked: sessions from 3.9.0 on, else the graph.
    for version, first in ((b"3.9.0", b"\x15"), (b"3.8.0", b"\x0a"), (b"3.6.2", b"\x0a")):
        asked = []
        address = listener(released(version, asked))[1]
        fails("profile", "--address", address, status=1, says=address)
        assert [a for a in asked if a] == [first], (version, asked)
    for version, answer, says in (
            (b"3.9.0-ezprof", (1 << 40).to_bytes(8, "little") + b"x" * 4096, "longer than a graph server's is"),
            (b"3.8.0", (8).to_bytes(8, "little") + b"\xff" * 8, "it is no graph server")):
        def strange(connection, version=version, answer=answer):
            connection.sendall(len(version).to_bytes(8, "little") + version)
            connection.recv(100)
            connection.sendall(answer)
            connection.recv(100)
        fails("profile", "--address", listener(strange)[1], status=1, says=f"{says} (is the port right?")
    fails("shutdown", "--address", closed, status=1, says=closed)
    fails("profile", "--address", "no.such.host.invalid:1", status=1)


def choices():
    """One graph is taken, of several none."""
    own_marks = {"EZMSG_GRAPHSERVER_ADDR": ""}
    with Graph() as one:
        assert profile(one.address, status=4)["publishers"] == [], "a graph without endpoints"
        one.node("source", "T")
        with Graph() as two:
            result = command("ezprof", "profile", env=own_marks)
            assert result.returncode == 2, result.stderr
            assert one.address in result.stderr and two.address in result.stderr
            result = command("ezprof", "profile", env={"EZMSG_GRAPHSERVER_ADDR": one.address})
            assert result.returncode == 0, result.stderr
            assert command("ezprof", "shutdown", "--address", two.address).returncode == 0
            two.server.process.wait(10)
        assert one.server.process.poll() is None


def serve():
    server = subprocess.Popen([os.path.join(BIN, "ezprof"), "serve", "--address", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, text=True)
    address = server.stdout.readline().strip()
    assert command("ezprof", "shutdown", "--address", address).returncode == 0
    server.wait(10)
    server.stdout.close()
    assert server.returncode == 0


def output():
    """A full disk is a failure, a reader that has gone is none."""
    with Graph() as graph:
        graph.node("source", "T")
        words = [os.path.join(BIN, "ezprof"), "profile", "--address", graph.address]
        with open("/dev/full", "w") as full, tempfile.TemporaryFile("w+") as errors:
            status = subprocess.run(words, stdout=full, stderr=errors, timeout=20).returncode
            errors.seek(0)
            assert status == 1 and errors.read().count("\n") == 1
        shell = " ".join(words) + " | head -c 1; echo ${PIPESTATUS[0]}"
        text = subprocess.run(["bash", "-c", shell], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=20)
        assert text.stdout == "{0\n" and text.stderr == "", text


def closed_streams():
    """What would be printed goes nowhere, not into whatever is opened next, and that is said."""
    with Graph() as graph:
        graph.node("source", "T")
        words = f"{BIN}/ezprof profile --address {graph.address}"
        for closed in (">&-", "0<&- >&-"):
            ended = subprocess.run(["bash", "-c", f"{words} {closed}"], stderr=subprocess.PIPE,
                                   text=True, timeout=20)
            assert ended.returncode == 1, (closed, ended)
            assert "cannot write to stdout: Bad file descriptor" in ended.stderr, ended.stderr
        ended = subprocess.run(["bash", "-c", f"{words} 2>&- 0<&-"], stdout=subprocess.PIPE,
                               text=True, timeout=20)
        assert ended.returncode == 0 and ended.stdout.startswith("{"), ended


def run_changes_nothing():
    """What a program finds of signals is what whoever called had."""
    words = [os.path.join(BIN, "ezprof"), "run", "--", "sh", "-c"]
    done = subprocess.run([*words, "yes | head -1"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "y\n", ""), done
    for handler in (signal.SIG_DFL, signal.SIG_IGN):
        said = subprocess.run([*words, "grep SigIgn /proc/self/status"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, timeout=60, check=True,
                              preexec_fn=lambda handler=handler: signal.signal(signal.SIGPIPE, handler)).stdout
        ignored = int(said.split()[1], 16) >> (signal.SIGPIPE - 1) & 1
        assert bool(ignored) == (handler == signal.SIG_IGN), said


def main():
    for story in (usage, nobody_and_strangers, choices, serve, output, closed_streams, run_changes_nothing):
        story()
        print(f"{story.__name__}: ok", flush=True)


main()
