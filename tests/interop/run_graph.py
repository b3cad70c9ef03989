# SPDX-License-Identifier: MIT
"""Run by an interpreter with any ezmsg: systems of several processes, by ez.run.

run_graph.py chain NAME: a source, a relay and a sink in a process each, until the sink has got everything.
run_graph.py ring NAME FROM FOLDER COUNT: a source, and a sink in a process of its own that listens to the source of
the system FROM; each of COUNT systems ends when the sinks of all have got their messages, as files in FOLDER tell.
"""
import asyncio
import os
import sys

import ezmsg.core as ez

MESSAGES = 23


class Name(ez.Settings):
    name: str
    folder: str = ""
    count: int = 0


class Source(ez.Unit):
    SETTINGS = Name
    OUTPUT = ez.OutputStream(tuple)

    @ez.publisher(OUTPUT)
    async def send(self):
        for i in range(MESSAGES):
            yield self.OUTPUT, (self.SETTINGS.name, i)
        raise ez.Complete


class Endless(Source):
    @ez.publisher(Source.OUTPUT)
    async def send(self):
        i = 0
        while True:
            yield self.OUTPUT, (self.SETTINGS.name, i)
            i += 1
            await asyncio.sleep(0.01)


class Relay(ez.Unit):
    INPUT = ez.InputStream(tuple)
    OUTPUT = ez.OutputStream(tuple)

    @ez.subscriber(INPUT)
    @ez.publisher(OUTPUT)
    async def relay(self, message):
        yield self.OUTPUT, message


class Sink(ez.Unit):
    SETTINGS = Name
    INPUT = ez.InputStream(tuple)

    async def initialize(self):
        self.received = 0

    @ez.subscriber(INPUT)
    async def receive(self, message):
        assert message == (self.SETTINGS.name, self.received), message
        self.received += 1
        if self.received == MESSAGES:
            print(f"all received, pid {os.getpid()}", flush=True)
            raise ez.NormalTermination


class Listener(Sink):
    """Comes when its source has begun, and may go only when nobody needs its own system any more."""

    @ez.subscriber(Sink.INPUT)
    async def receive(self, message):
        name, number = message
        assert name == self.SETTINGS.name, message
        assert self.received == 0 or number == self.last + 1, (number, self.last)
        self.last = number
        self.received += 1
        if self.received == MESSAGES:
            print(f"all received, pid {os.getpid()}", flush=True)
            open(os.path.join(self.SETTINGS.folder, name), "w").close()

    @ez.task
    async def leave(self):
        while len(os.listdir(self.SETTINGS.folder)) < self.SETTINGS.count:
            await asyncio.sleep(0.05)
        raise ez.NormalTermination


class Chain(ez.Collection):
    SETTINGS = Name
    SOURCE, RELAY, SINK = Source(), Relay(), Sink()

    def configure(self):
        self.SOURCE.apply_settings(self.SETTINGS)
        self.SINK.apply_settings(self.SETTINGS)

    def network(self):
        return ((self.SOURCE.OUTPUT, self.RELAY.INPUT), (self.RELAY.OUTPUT, self.SINK.INPUT))

    def process_components(self):
        return (self.RELAY, self.SINK)


class Ring(ez.Collection):
    SETTINGS = Name
    SOURCE, SINK = Endless(), Listener()

    def configure(self):
        self.SOURCE.apply_settings(Name(OWN))
        self.SINK.apply_settings(self.SETTINGS)

    def process_components(self):
        return (self.SINK,)


if __name__ == "__main__":
    KIND, OWN = sys.argv[1:3]
    if KIND == "chain":
        ez.run(components={OWN: Chain(Name(OWN))})
    else:
        other, folder, count = sys.argv[3:]
        ez.run(components={OWN: Ring(Name(other, folder, int(count)))},
               connections=((f"{other}/SOURCE/OUTPUT", f"{OWN}/SINK/INPUT"),))
    print("ended", flush=True)
