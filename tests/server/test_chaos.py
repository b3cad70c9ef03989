# SPDX-License-Identifier: MIT
"""test_chaos.py [SECONDS [SEED]]: clients of all kinds join, talk and leave at random; the server stays well.

One process, one thread, a seeded order: a failure comes again with the same seed, give or take timing.
"""
import json
import random
import sys
import time

from graph_client import (CHANNEL, COMPLETE, CONNECT, DAG, DISCONNECT, HELLO, PAUSE, PROFILE, PROFILE_DATA,
                          PUBLISH, RESUME, SESSION, SHM_ATTACH, SHM_CREATE, SUBSCRIBE, SYNC, Closed, Server,
                          eventually, read_profile, string, u64)

LINKS_MAX = 120


class Chaos:
    def __init__(self, server, seed):
        self.server = server
        self.random = random.Random(seed)
        self.links = []
        self.names = ["psm_00000000"]
        self.ids = ["00000000-0000-0000-0000-000000000000"]

    def topic(self):
        return string(f"T{self.random.randrange(12)}")

    def opening(self):
        hello = json.dumps({"role": self.random.choice(["agent", "client", "probe"]), "pid": 1})
        return self.random.choice([
            (PUBLISH, self.topic(), string("127.0.0.1:9")),
            (PUBLISH, self.topic(), string("127.0.0.1:9"), PROFILE_DATA, string('{"type":"hello"}')),
            (PUBLISH, self.topic()),
            (SUBSCRIBE, self.topic()),
            (SUBSCRIBE, self.topic(), COMPLETE),
            (CONNECT, self.topic(), self.topic()),
            (DISCONNECT, self.topic(), self.topic()),
            (CHANNEL, string(self.random.choice(self.ids))),
            (CHANNEL, string(self.random.choice(self.ids)), PROFILE_DATA, string('{"type":"hello"}')),
            (SHM_CREATE, u64(self.random.randrange(5)), u64(self.random.randrange(1 << 20))),
            (SHM_ATTACH, string(self.random.choice(self.names))),
            (SYNC,), (PAUSE,), (RESUME,), (DAG,),
            (PROFILE, u64(self.random.randrange(5000))),
            (SESSION,),
            (SESSION, 0x16, self.topic(), self.topic()),
            (0x21, 0x22, u64(3), b"abc"),
            (HELLO, string(hello)),
            (HELLO, string(hello), PROFILE, u64(1000), PROFILE, u64(7)),
        ])

    def babble(self):
        return self.random.choice([
            (COMPLETE,), (COMPLETE, COMPLETE), (PROFILE, u64(100)),
            (PROFILE_DATA, string('{"type":"publisher","id":"x"}')), (PROFILE_DATA, string("{")),
            (0x16, self.topic(), self.topic()), (0x17, self.topic(), self.topic()), (0x18,), (0x1A,),
            (self.random.randbytes(self.random.randrange(1, 9)),),
        ])

    def join(self):
        link = self.server.link()
        link.send(*self.opening())
        self.links.append(link)

    def talk(self):
        self.random.choice(self.links).send(*self.babble())

    def listen(self):
        """Reads what is there, and learns ids and names from it."""
        link = self.random.choice(self.links)
        link.socket.setblocking(False)
        try:
            data = link.socket.recv(65536)
        except BlockingIOError:
            return
        finally:
            link.socket.settimeout(10)
        text = data.decode("latin-1")
        if "psm_" in text:
            start = text.index("psm_")
            self.names.append(text[start:start + 12])
        if len(data) == 44:
            self.ids.append(text[8:44])
        del self.names[:-20], self.ids[:-40]

    def leave(self):
        self.links.pop(self.random.randrange(len(self.links))).close()

    def step(self):
        if not self.links:
            return self.join()
        action = self.random.choice([self.join, self.talk, self.talk, self.listen, self.listen, self.leave])
        try:
            action()
        except (Closed, ConnectionError, BrokenPipeError):
            pass
        while len(self.links) > LINKS_MAX:
            self.leave()


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    with Server("--profile-deadline-ms", "50", env={"EZMSG_SUBSCRIBER_UPDATE_TIMEOUT_SEC": "0.05"},
                log="off") as server:
        fresh = server.descriptors()
        chaos = Chaos(server, seed)
        end, steps = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            chaos.step()
            steps += 1
        for link in chaos.links:
            link.close()
        # All is forgotten, and it still works.
        eventually(lambda: server.descriptors() == fresh)
        client = server.hello("client")
        client.send(PROFILE, u64(1000))
        document = read_profile(client)
        assert document["publishers"] == [] and document["errors"] == [], document
        print(f"{steps} steps")


main()
