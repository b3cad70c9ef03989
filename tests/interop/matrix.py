# SPDX-License-Identifier: MIT
"""The interop matrix: {C, four releases of ezmsg} x {C, the same}, C on at least one side.

Over shm and tcp (C to C also local); bytes, numpy arrays of 1 kB, and of 4 MB for which the publisher moves to a
larger segment; publisher or subscriber first. Every message's content is compared by checksum with what it should
be, they are counted, and nothing more comes. One process per side does all its cells. The table is the result.
"""
import os
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests/python"))

from environment import VERSIONS, ensure
from graph_client import Server
from matrix_peer_content import content
from require import require

HERE = os.path.dirname(os.path.abspath(__file__))
# What is sent: (kind, size, messages). The last kind's first part has been released before the second one comes:
# under a reader of ezmsg 3.7 to 3.9 a resize loses what it has not acknowledged.
KINDS = {
    "bytes": [("bytes", 321, 107)],
    "numpy 1 kB": [("array", 256, 107)],
    "numpy 4 MB": [("array", 256, 3), ("array", 1 << 20, 5)],
}
ORDERS = ("pub first", "sub first")


class MatrixPeer:
    """A process that obeys; answers of a receiver may come between others."""

    def __init__(self, command, env=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env,
                                        stderr=subprocess.PIPE if env else None)
        self.early = []
        assert self.answer("ok") == "ok"

    def tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self, beginning):
        """The next one that begins like this; what a receiver says is kept for later."""
        for line in self.early:
            if line.startswith(beginning):
                self.early.remove(line)
                return line
        while True:
            line = self.process.stdout.readline().rstrip("\n")
            if line.startswith(beginning):
                return line
            assert line.startswith(("got", "ok", "sent")), f"not '{beginning}' but '{line}'"
            self.early.append(line)

    def ask(self, beginning, *words):
        self.tell(*words)
        return self.answer(beginning)

    def stop(self):
        self.process.stdin.close()
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.process.stdout.close()
        if self.process.stderr:
            self.process.stderr.close()
        return status


def ours(address):
    return MatrixPeer([os.path.join(os.environ["EZPROF_TEST_BIN_DIR"], "matrix_peer"), address])


def theirs(version, address):
    hidden = ("PYTHONPATH", "EZPROF_USDT")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    return MatrixPeer([ensure(version), os.path.join(HERE, "matrix_peer.py"), address],
                      {**env, "EZMSG_LOGLEVEL": "ERROR"})


def expected(part, first):
    """Checksum and description of what has to arrive."""
    kind, size, count = part
    crc = 0
    for number in range(first, first + count):
        crc = zlib.crc32(content(kind, size, number), crc)
    return f"{crc:08x}", "bytes" if kind == "bytes" else f"<f4({size},)/1"


def run_part(publisher, subscriber, transport, part, first):
    kind, size, count = part
    crc, what = expected(part, first)
    subscriber.tell("recv", count)
    sent = publisher.ask("sent", "send", kind, size, count, first)
    got = subscriber.answer("got")
    assert sent == f"sent {count} {crc}", f"{sent}, not {crc}"
    assert got in (f"got {count} {crc} {what} {transport}", f"got {count} {crc} {what} ?"), f"{got}, not {crc} {what}"


def run_cell(topic, publisher, subscriber, transport, kind, order):
    create = [(publisher, ("pub", topic, transport)), (subscriber, ("sub", topic))]
    for peer, words in create if order == "pub first" else reversed(create):
        peer.ask("ok", *words)
    first = 0
    for part in KINDS[kind]:
        run_part(publisher, subscriber, transport, part, first)
        first += part[2]
    # The subscriber first: nothing more is there though its publisher still is.
    for peer in (subscriber, publisher) if subscriber is not publisher else (subscriber,):
        peer.ask("ok", "end")


def cells(versions):
    names = ["C", *versions]
    for publisher in names:
        for subscriber in names if publisher == "C" else ["C"]:
            for transport in ("shm", "tcp") if publisher != subscriber else ("shm", "tcp", "local"):
                for kind in KINDS:
                    for order in ORDERS:
                        yield publisher, subscriber, transport, kind, order


class Peers:
    """Made when first needed, and anew after a cell that failed."""

    def __init__(self, address):
        self.address = address
        self.peers = {}

    def get(self, name, side):
        key = (name, side if name == "C" else "")
        if key not in self.peers:
            self.peers[key] = ours(self.address) if name == "C" else theirs(name, self.address)
        return self.peers[key]

    def drop(self):
        statuses = {key: peer.stop() for key, peer in self.peers.items()}
        self.peers = {}
        return statuses


def run_all(peers, versions):
    results = {}
    for number, cell in enumerate(cells(versions)):
        publisher, subscriber, transport, kind, order = cell
        try:
            to = peers.get(subscriber, "to")
            run_cell(f"cell/{number}", to if transport == "local" else peers.get(publisher, "from"), to, transport,
                     kind, order)
            results[cell] = "ok"
        except (AssertionError, OSError) as error:
            results[cell] = "FAILED"
            print(*cell, error, sep=", ")
            peers.drop()
    return results


def print_table(results):
    columns = [(kind, order) for kind in KINDS for order in ORDERS]
    print(f"{'from':<10}{'to':<10}{'by':<7}" + "".join(f"{kind + ', ' + order:<23}" for kind, order in columns))
    for row in dict.fromkeys(cell[:3] for cell in results):
        print(f"{row[0]:<10}{row[1]:<10}{row[2]:<7}" + "".join(f"{results[(*row, *c)]:<23}" for c in columns))


def main():
    require("interop")
    with Server() as server:
        peers = Peers(server.address)
        results = run_all(peers, VERSIONS)
        statuses = peers.drop()
    print_table(results)
    good = sum(result == "ok" for result in results.values())
    print(f"{good} of {len(results)} cells")
    broken = [f"{name} {side}: {status}" for (name, side), status in statuses.items() if status]
    print(*broken, sep="\n", end="")
    return 0 if good == len(results) and not broken else 1


sys.exit(main())
