# SPDX-License-Identifier: MIT
"""`ezprof serve`, however it is cut short, and what ezprof-graphserver prints at full disks.

EZPROF_FULL=1: 60 signals at each command line instead of a few.
"""
import os
import pty
import random
import re
import signal
import socket
import subprocess
import sys
import termios
import time

from graph import BIN, wait_until

SIGNALS = 60 if os.environ.get("EZPROF_FULL") else 6
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(1 << 30)
SERVE = [os.path.join(BIN, "ezprof"), "serve", "--address", "127.0.0.1:0"]
SERVER = os.path.join(BIN, "ezprof-graphserver")
SECONDS = 60


class Serving:
    """with Serving(stdout=...) as serving: a server that is ended by a signal and says its status."""

    def __init__(self, words=None, **streams):
        self.process = subprocess.Popen(words or SERVE, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                                                           "stderr": subprocess.PIPE, **streams}, text=True)

    def listens(self):
        """Where; without its help."""
        inodes = set()
        for fd in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                inodes |= set(re.findall(r"socket:\[(\d+)\]", os.readlink(f"/proc/{self.process.pid}/fd/{fd}")))
            except OSError:
                continue
        with open("/proc/net/tcp", encoding="ascii") as table:
            for row in map(str.split, list(table)[1:]):
                if row[3] == "0A" and row[9] in inodes:
                    return "127.0.0.1", int(row[1].split(":")[1], 16)
        return None

    def serves(self):
        address = wait_until(self.listens, SECONDS, "it listens")
        with socket.create_connection(address, timeout=SECONDS) as link:
            link.sendall(b"\x07")
            assert link.recv(1), "no greeting"

    def end(self, signum=signal.SIGINT):
        """(status, what came on stderr)"""
        self.process.send_signal(signum)
        _, errors = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, errors or ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def gone_reader():
    read, write = os.pipe()
    os.close(read)
    with Serving(stdout=write) as serving:
        os.close(write)
        serving.serves()
        assert serving.end() == (0, ""), serving.process


def leaving_reader():
    with Serving() as serving:
        assert serving.process.stdout.read(1)
        serving.process.stdout.close()
        serving.process.stdout = None
        serving.serves()
        assert serving.end() == (0, ""), serving.process


def full_disk():
    """The graph is there all the same; where, stderr says."""
    with open("/dev/full", "w", encoding="ascii") as full, Serving(stdout=full) as serving:
        serving.serves()
        host, port = serving.listens()
        status, errors = serving.end()
        assert status == 0 and errors.count("No space left") == 1 and f"{host}:{port}" in errors, errors


def closed_streams():
    for number in (0, 1, 2):
        words = ["sh", "-c", f'exec "$@" {number}{"<" if number == 0 else ">"}&-', "sh", *SERVE]
        with Serving(words) as serving:
            serving.serves()
            status, errors = serving.end(signal.SIGTERM)
            assert status == 0 and ("Bad file" in errors) == (number == 1), (number, status, errors)


def signalled():
    chance = random.Random(SEED)
    for number in range(SIGNALS):
        signum = (signal.SIGINT, signal.SIGTERM)[number % 2]
        with Serving() as serving:
            time.sleep(chance.uniform(0, 0.1))
            status, errors = serving.end(signum)
            assert status in (0, -signum) and not errors, (signum, status, errors)


def interrupted_at_a_terminal():
    leader, follower = pty.openpty()
    before = termios.tcgetattr(follower)

    def own_terminal():
        os.setsid()
        with open(os.ttyname(0), "rb"):
            pass

    with Serving(stdin=follower, stdout=follower, stderr=follower, preexec_fn=own_terminal) as serving:
        serving.serves()
        os.write(leader, b"\x03")
        assert serving.process.wait(SECONDS) == 0
        assert termios.tcgetattr(follower) == before
        said = os.read(leader, 4096).decode()
        assert re.match(r"127\.0\.0\.1:\d+\r\n(\^C)?$", said), said
    os.close(follower)
    os.close(leader)


def prints():
    """What only prints and ends."""
    for words in ([SERVER, "--version"], [SERVER, "--help"], [SERVER, "--usage"], [*SERVE, "--version"],
                  [*SERVE, "--usage"], [*SERVE[:2], "--help"]):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
        assert done.returncode == 0 and done.stdout and not done.stderr, done
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=SECONDS, check=False)
        assert done.returncode == 1 and done.stderr.count("No space left") == 1, (words, done)
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE, text=True,
                              timeout=SECONDS, check=False)
        os.close(write)
        assert done.returncode == 0 and not done.stderr, (words, done)


print(f"seed {SEED}", flush=True)
for story in (prints, gone_reader, leaving_reader, full_disk, closed_streams, signalled, interrupted_at_a_terminal):
    story()
    print(f"{story.__name__}: ok", flush=True)
