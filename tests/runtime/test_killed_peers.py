# SPDX-License-Identifier: MIT
"""test_killed_peers.py [ROUNDS [SEED]]: publishers, subscribers and the server are killed at random points.

Two processes survive. Within a second after each kill -9 their publishers and subscribers go on or, when it was
the server, report it; no buffer stays leased for the dead (SYNC is answered only then); /dev/shm holds the
survivors' segments and no others; and the number of their descriptors is what it was. With EZPROF_FULL=1 it is
1000 rounds.
"""
import os
import random
import signal
import subprocess
import sys
import time

from graph_client import RESUME, SYNC, Link, Server
from require import skip

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000 if os.environ.get("EZPROF_FULL") == "1" else 40
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 31)
LIMIT_S = 1.0
RESET = -104  # ECONNRESET
WINDOW = 4  # messages that may be sent without any subscriber's doing

# The topics V and W are the survivors', K is the victims'.
SURVIVORS = (("pub:V", "tcp:W", "sub:K"), ("sub:V", "sub:W", "sub:K"))
SEGMENTS = 2
VICTIMS = (("pub:K",), ("tcp:K",), ("sub:V",), ("sub:W",), ("pub:K", "sub:V"), ("sub:V", "sub:W", "tcp:K"),
           ("pub:K", "tcp:K", "sub:V", "sub:W", "sub:K"))

PRIVATE = """
mount -t tmpfs tmpfs /dev/shm && mkdir -p /run/ezprof && mount -t tmpfs tmpfs /run/ezprof || exit 99
exec "$0" "$@"
"""


class Node:
    def __init__(self, address, ends, wait=True):
        program = os.path.join(os.environ["EZPROF_TEST_BIN_DIR"], "kill_node")
        self.process = subprocess.Popen([program, address, *ends], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.ends = ends
        if wait:
            self.expect("ready")

    def expect(self, wanted):
        line = self.process.stdout.readline().rstrip("\n")
        assert line == wanted, f"{' '.join(self.ends)}: '{line}'"

    def say(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def stat(self):
        """(count, error) per end."""
        self.say("stat")
        return [tuple(map(int, word.split(":"))) for word in self.process.stdout.readline().split()]

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def kill(self):
        self.process.kill()
        self.reap()

    def reap(self):
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def quit(self):
        self.say("quit")
        status = self.process.wait(30)
        self.reap()
        return status


class Times:
    """The slowest of each kind, in seconds."""

    def __init__(self):
        self.slowest = {}

    def within(self, what, condition):
        start = time.monotonic()
        while not condition():
            assert time.monotonic() - start < LIMIT_S, f"{what}: not within {LIMIT_S} s"
            time.sleep(0.005)
        self.note(what, time.monotonic() - start)

    def note(self, what, took):
        assert took < LIMIT_S, f"{what}: {took:.1f} s"
        self.slowest[what] = max(took, self.slowest.get(what, 0))


def own_ends(node):
    """Indices of those that have to go on whatever becomes of victims."""
    return [i for i, end in enumerate(node.ends) if not end.endswith(":K")]


class Killing:
    def __init__(self):
        self.random = random.Random(SEED)
        self.times = Times()
        self.server = Server()
        self.survivors = [Node(self.server.address, ends) for ends in SURVIVORS]
        self.descriptors = None
        self.killed = {"publisher": 0, "subscriber": 0, "server": 0}

    def victims(self):
        return [Node(self.server.address, self.random.choice(VICTIMS), wait=False)
                for _ in range(self.random.randint(1, 3))]

    def go_on(self):
        """All ends of the survivors' own move, by more than what was under way."""
        before = [node.stat() for node in self.survivors]

        def moved():
            return all(now[i][0] > then[i][0] + 2 * WINDOW and not now[i][1]
                       for node, then in zip(self.survivors, before)
                       for now in [node.stat()] for i in own_ends(node))

        self.times.within("go on", moved)
        errors = [(end, err) for node in self.survivors for end, (_, err) in zip(node.ends, node.stat()) if err]
        assert not errors, f"survivors report errors: {errors}"

    def synced(self):
        with Link(self.server.address) as link:
            link.socket.settimeout(LIMIT_S)
            start = time.monotonic()
            link.send(SYNC)
            link.expect(0)
            self.times.note("no lease left", time.monotonic() - start)
        with Link(self.server.address) as link:
            link.send(RESUME)
            assert link.socket.recv(1) == b""

    def clean(self):
        self.times.within("/dev/shm", lambda: len(os.listdir("/dev/shm")) == SEGMENTS)
        now = [lambda n=node: n.descriptors() for node in self.survivors]
        if self.descriptors is None:
            time.sleep(LIMIT_S / 2)
            self.descriptors = [count() for count in now]
        self.times.within("descriptors", lambda: [count() for count in now] == self.descriptors)

    def kill_peers(self):
        victims = self.victims()
        # Some are killed before they have joined.
        time.sleep(self.random.random() * 0.08)
        self.random.shuffle(victims)
        for victim in victims:
            victim.kill()
        for victim in victims:
            self.killed["publisher"] += any("sub" not in end for end in victim.ends)
            self.killed["subscriber"] += any("sub" in end for end in victim.ends)
        self.go_on()
        self.synced()
        self.clean()

    def kill_server(self):
        victims = self.victims()
        time.sleep(self.random.random() * 0.05)
        self.server.process.kill()
        self.server.process.wait()
        for node in self.survivors:
            self.times.within("server's death reported",
                              lambda n=node: all(err == RESET for _, err in n.stat()))
        for victim in victims:
            victim.kill()
        self.server.process.stdout.close()
        self.server.process.stderr.close()
        self.server = Server()
        for node in self.survivors:
            node.say(f"rejoin {self.server.address}")
            node.expect("ok")
        self.killed["server"] += 1
        self.go_on()
        self.clean()

    def run(self):
        self.go_on()
        self.clean()
        for number in range(ROUNDS):
            try:
                if self.random.random() < 0.1:
                    self.kill_server()
                else:
                    self.kill_peers()
            except BaseException:
                print(f"round {number}")
                raise

    def end(self):
        statuses = [node.quit() for node in self.survivors]
        with self.server:
            pass
        assert statuses == [0, 0], statuses
        assert os.listdir("/dev/shm") == [], os.listdir("/dev/shm")


def main():
    print(f"{ROUNDS} rounds, seed {SEED}", flush=True)
    killing = Killing()
    try:
        killing.run()
        killing.end()
    finally:
        for process in (killing.server.process, *(node.process for node in killing.survivors)):
            if process.poll() is None:
                process.kill()
    print("killed:", ", ".join(f"{n} {what}s" for what, n in killing.killed.items()))
    print("slowest:", ", ".join(f"{what} {took * 1e3:.0f} ms" for what, took in sorted(killing.times.slowest.items())))


def in_private_folders():
    """/dev/shm and the server's marks are other processes' too: a mount namespace has its own."""
    result = subprocess.run(["unshare", "-m", "sh", "-c", PRIVATE, sys.executable, __file__, str(ROUNDS), str(SEED),
                             "private"], stdin=subprocess.DEVNULL)
    if result.returncode in (1, 99) and os.geteuid() != 0:
        skip("no mount namespace without root", "EZPROF_REQUIRE_BPF")
    return result.returncode


if sys.argv[3:] == ["private"]:
    main()
else:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(in_private_folders())
