# SPDX-License-Identifier: MIT
"""Twenty clients of which seven do all that could stall a server, and what the others have to wait for."""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from graph_client import COMPLETE, CONNECT, DAG, PROFILE_DATA, Server, string, u64

LATE_S = 10
STOPPED = """
import sys
from graph_client import Link, SUBSCRIBE, string
link = Link(sys.argv[1])
link.send(SUBSCRIBE, string("T"))
link.read_str(); link.read_update(); link.confirm()
print("ready", flush=True)
sys.stdin.read()
"""


class StallingClients:
    """A context: the seven are there, and twelve that behave, on a server of its own."""

    def __enter__(self):
        self.server = Server("--max-pending-bytes", str(1 << 20))
        self.links = [self.server.subscriber(f"GOOD{i}") for i in range(6)]
        self.links += [self.server.publisher(f"OTHER{i}") for i in range(6)]
        self.answering = [self.server.publisher(f"ASKED{i}", mark=True) for i in range(4)]
        self.stopped = subprocess.Popen([sys.executable, "-c", STOPPED, self.server.address], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        assert self.stopped.stdout.readline() == "ready\n"
        os.kill(self.stopped.pid, signal.SIGSTOP)
        deaf = self.server.subscriber("T")  # never reads from here on
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        half = self.server.link()
        half.send(CONNECT, u64(1000), b"half")
        self.links += [deaf, half]
        self.late = None
        self.misbehave()
        return self

    def __exit__(self, *_):
        os.kill(self.stopped.pid, signal.SIGCONT)
        self.stopped.stdin.close()
        self.stopped.wait()
        self.stopped.stdout.close()
        if self.late:
            self.late.cancel()
        for link in self.links + self.answering:
            link.close()
        self.server.__exit__(None)

    def misbehave(self):
        """A PROFILE is under way: one answers late, one twice, one with broken JSON, one dies in mid-answer."""
        self.asker = self.server.hello("client")
        self.asker.send(0x15, u64(2000))
        late, twice, broken, dying = self.answering
        for link in self.answering:
            link.expect(0x15)
            link.read_u64()
        answer = {"type": "publisher", "topic": "T", "window_s": 2.0}
        self.late = threading.Timer(LATE_S, lambda: late.send(PROFILE_DATA, string(json.dumps(answer))))
        self.late.start()
        body = string(json.dumps({**answer, "id": twice.id}))
        twice.send(PROFILE_DATA, body, PROFILE_DATA, body)
        broken.send(PROFILE_DATA, string('{"type": "publisher", '))
        dying.send(PROFILE_DATA, u64(1000), b"{")
        dying.close()
        self.links.append(self.asker)

    def requests(self):
        """Milliseconds that CONNECT, SUBSCRIBE, PUBLISH and DAG of others take now."""
        took = []

        def timed(request):
            start = time.monotonic()
            request()
            took.append(1000 * (time.monotonic() - start))

        timed(lambda: self.server.connect("S", "T"))  # into the deaf and the stopped one
        timed(lambda: self.server.connect("S", "T", 4))
        timed(lambda: self.server.subscriber("FREE").close())
        timed(lambda: self.server.publisher("FREE").close())
        timed(self.dag)
        return took

    def dag(self):
        with self.server.link() as link:
            link.send(DAG)
            link.expect(DAG)
            link.read_str()
            link.expect(COMPLETE)
