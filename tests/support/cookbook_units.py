# SPDX-License-Identifier: MIT
"""A graph of ezmsg units in one process that send a known number of messages and take the time themselves:
`python cookbook_units.py FOLDER`. FOLDER/up appears when it is ready; it begins at FOLDER/go, says in
FOLDER/done.json what there was, and ends at FOLDER/stop.

SRC -> FAST, QUICK (1 ms), LEAKY (20 ms), RELAY -> SLOW (20 ms)
"""

import asyncio
import json
import sys
import threading
import time
from pathlib import Path

import ezmsg.core as ez

FOLDER = Path(sys.argv[1])
COUNT, SIZE, PERIOD_S, SLOW_S, QUICK_S = 100, 64, 0.002, 0.02, 0.001
SENT_NS = {"SRC": [], "RELAY": []}  # when each message had been sent
WORKED_NS = {"FAST": [], "QUICK": [], "LEAKY": [], "RELAY": [], "SLOW": []}  # [begin, end] of each message


async def until(name):
    while not (FOLDER / name).exists():
        await asyncio.sleep(0.01)


class Source(ez.Unit):
    OUTPUT = ez.OutputStream(bytes, num_buffers=8)

    @ez.publisher(OUTPUT)
    async def send(self):
        (FOLDER / "up").touch()
        await until("go")
        for _ in range(COUNT):
            yield self.OUTPUT, b"x" * SIZE
            SENT_NS["SRC"].append(time.monotonic_ns())
            await asyncio.sleep(PERIOD_S)

    @ez.task
    async def end(self):
        await until("go")
        while not all(len(WORKED_NS[name]) == COUNT for name in WORKED_NS if name != "LEAKY"):
            await asyncio.sleep(0.01)
        # LEAKY has what is left by then.
        await asyncio.sleep(10 * SLOW_S)
        (FOLDER / "done.tmp").write_text(json.dumps({
            "sent_ns": SENT_NS, "worked_ns": WORKED_NS, "thread": threading.get_native_id()}))
        (FOLDER / "done.tmp").rename(FOLDER / "done.json")
        await until("stop")
        raise ez.NormalTermination


class WorkSettings(ez.Settings):
    name: str
    seconds: float = 0.0


async def work(settings):
    begin = time.monotonic_ns()
    if settings.seconds:
        await asyncio.sleep(settings.seconds)
    WORKED_NS[settings.name].append([begin, time.monotonic_ns()])


class Sink(ez.Unit):
    SETTINGS = WorkSettings
    INPUT = ez.InputStream(bytes)

    @ez.subscriber(INPUT)
    async def take(self, _message):
        await work(self.SETTINGS)


class Leaky(Sink):
    INPUT = ez.InputStream(bytes, leaky=True, max_queue=1)

    @ez.subscriber(INPUT)
    async def take(self, _message):
        await work(self.SETTINGS)


class Relay(ez.Unit):
    SETTINGS = WorkSettings
    INPUT = ez.InputStream(bytes)
    OUTPUT = ez.OutputStream(bytes, num_buffers=8)

    @ez.subscriber(INPUT)
    @ez.publisher(OUTPUT)
    async def pass_on(self, message):
        await work(self.SETTINGS)
        yield self.OUTPUT, message
        SENT_NS["RELAY"].append(time.monotonic_ns())


def main():
    units = {"SRC": Source(), "RELAY": Relay(WorkSettings("RELAY")), "FAST": Sink(WorkSettings("FAST")),
             "QUICK": Sink(WorkSettings("QUICK", QUICK_S)), "SLOW": Sink(WorkSettings("SLOW", SLOW_S)),
             "LEAKY": Leaky(WorkSettings("LEAKY", SLOW_S))}
    edges = [("SRC", "FAST"), ("SRC", "QUICK"), ("SRC", "LEAKY"), ("SRC", "RELAY"), ("RELAY", "SLOW")]
    ez.run(components=units, connections=[(units[a].OUTPUT, units[b].INPUT) for a, b in edges])


if __name__ == "__main__":
    main()
