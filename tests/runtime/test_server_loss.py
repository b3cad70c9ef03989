# SPDX-License-Identifier: MIT
"""The graph server goes and comes back: a clear error, no busy loop, and a new beginning in the same processes."""
import os
import signal
import sys
import time

from graph import cpu_s
from graph_client import Server
from runtime_peer import Peer

IDLE_S = 1
ECONNRESET = "-104"


def fds(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def expect_idle(*peers):
    before = [cpu_s(peer.process) for peer in peers]
    time.sleep(IDLE_S)
    for peer, then in zip(peers, before):
        spent = cpu_s(peer.process) - then
        assert spent < 0.2 * IDLE_S, f"{spent} s of CPU time in {IDLE_S} s"


def join(publisher, subscriber, reader, flag):
    publisher.tell(f"pub T 4 {flag}")
    publisher.tell("sub T")
    subscriber.tell("sub T")
    reader.tell("sub T leaky")


def pass_some(publisher, subscriber):
    for _ in range(7):
        publisher.tell("send 1 3", "sent 1")
        publisher.tell("recv 1", "got 1")
        subscriber.tell("recv 1", "got 1")


def run(flag, how):
    """Three processes in one life of a server and in the next one."""
    with Server() as server, Peer(server.address) as publisher, Peer(server.address) as subscriber, \
            Peer(server.address) as reader:
        peers = (publisher, subscriber, reader)
        join(*peers, flag)
        pass_some(publisher, subscriber)
        flat = [fds(peer.process) for peer in peers]
        expect_idle(*peers)
        publisher.tell("send 2 3", "sent 2")
        server.stop(how)
        # What was under way is read, then there is an error; what is kept stays.
        subscriber.tell("take", "took 7")
        subscriber.tell("recv 1", "got 1")
        subscriber.tell("fail", ECONNRESET)
        publisher.tell("try 3 10000", f"error {ECONNRESET}")
        expect_idle(*peers)
        subscriber.tell("release", "released")
        with Server(address=server.address) as again:
            assert again.address == server.address
            expect_idle(*peers)
            # Nothing joins by itself: ids, segments and edges went with the old one.
            publisher.tell("try 3 100", f"error {ECONNRESET}")
            for peer in peers:
                peer.tell("rejoin", "ready")
            join(*peers, flag)
            pass_some(publisher, subscriber)
            assert [fds(peer.process) for peer in peers] == flat
            for peer in peers:
                peer.quit()


def frozen():
    """A server that stops answering: messages go on, calls end at their time, nobody spins."""
    with Server() as server, Peer(server.address) as publisher, Peer(server.address) as subscriber:
        publisher.tell("pub T 4")
        subscriber.tell("sub T")
        server.process.send_signal(signal.SIGSTOP)
        publisher.tell("send 3 3", "sent 3")
        subscriber.tell("recv 3", "got 3")
        expect_idle(publisher, subscriber)
        server.process.send_signal(signal.SIGCONT)
        publisher.quit()
        subscriber.quit()


def main():
    for flag, how in (("shm", signal.SIGTERM), ("tcp", signal.SIGKILL)):
        try:
            run(flag, how)
        except AssertionError as error:
            print(f"{flag}, {how.name}: {error}")
            return 1
        print(f"{flag}, {how.name}: a clear error, idle, and a new beginning", flush=True)
    frozen()
    print("frozen: goes on", flush=True)
    return 0


sys.exit(main())
