# SPDX-License-Identifier: MIT
"""test_killed.py [ROUNDS [SEED]]: server, publisher and subscriber, killed alone or together, 200 times over.

The server is there again at once on the same port, and removes what its predecessor left; what another server's
clients use stays. B46 of the collected reports.
"""
import os
import random
import re
import signal
import sys

from graph_client import Server, eventually
from runtime_peer import Peer


def segments(peer):
    """What a process has mapped."""
    with open(f"/proc/{peer.process.pid}/maps", encoding="ascii") as maps:
        return set(re.findall(r"/dev/shm/psm_[0-9a-f]+", maps.read()))


class Round:
    def __init__(self, address, chance):
        self.chance = chance
        self.server = Server(address=address)
        self.address = self.server.address
        self.publisher, self.subscriber = Peer(self.address), Peer(self.address)
        self.publisher.tell("pub T 4 shm")
        self.subscriber.tell("sub T")
        self.publisher.tell("send 3 64", "sent 3")
        self.subscriber.tell("recv 3", "got 3")
        self.segments = segments(self.publisher)
        assert self.segments and segments(self.subscriber) == self.segments

    def kill(self):
        victims = self.chance.sample([self.server, self.publisher, self.subscriber], self.chance.randint(1, 3))
        for victim in victims:
            victim.process.send_signal(signal.SIGKILL)
        for peer in (self.publisher, self.subscriber):
            if peer not in victims and self.server not in victims:
                peer.quit()
            peer.__exit__()
        if self.server in victims:
            self.server.process.wait()
            self.server.process.communicate()
        else:
            # All that used them has ended: gone at once, and the port is free for the next.
            eventually(lambda: not any(os.path.exists(path) for path in self.segments))
            assert self.server.stop() == 0, self.server.log


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 5)
    address, left = "127.0.0.1:0", set()
    with Server() as other, Peer(other.address) as bystander:
        bystander.tell("pub T 4 shm")
        (kept,) = segments(bystander)
        for i in range(rounds):
            current = Round(address, chance)
            assert address in (current.address, "127.0.0.1:0"), i
            address = current.address
            # By this server, or by another one that starts at the same time.
            eventually(lambda: not any(os.path.exists(path) for path in left))
            assert os.path.exists(kept), i
            current.kill()
            left = current.segments
        with Server(address=address):
            eventually(lambda: not any(os.path.exists(path) for path in left))
        bystander.tell("send 3 64", "sent 3")
        bystander.quit()
    print(f"{rounds} rounds")


main()
