# SPDX-License-Identifier: MIT
"""Graphs with a known truth: `python graphs.py SCENARIO FOLDER [processes]`.

Sources wait for FOLDER/go. When everything has arrived FOLDER/ready appears, and the graph ends
once FOLDER/stop is there. Each unit writes what it counted itself to FOLDER/<name>.json.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import ezmsg.core as ez

FOLDER = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(".")


async def until(name):
    while not (FOLDER / name).exists():
        await asyncio.sleep(0.01)


def tell(name, **facts):
    temporary = FOLDER / f".{name}.{os.getpid()}"
    temporary.write_text(json.dumps({"pid": os.getpid(), **facts}))
    temporary.rename(FOLDER / f"{name}.json")


class SourceSettings(ez.Settings):
    count: int
    size: int = 64
    period: float = 0.0
    until_ready: bool = False


class Source(ez.Unit):
    SETTINGS = SourceSettings
    OUTPUT = ez.OutputStream(bytes, num_buffers=4)

    @ez.publisher(OUTPUT)
    async def source(self):
        (FOLDER / "up").touch()
        await until("go")
        sent = 0
        for _ in range(self.SETTINGS.count):
            if self.SETTINGS.until_ready and (FOLDER / "enough").exists():
                break
            yield self.OUTPUT, b"x" * self.SETTINGS.size
            sent += 1
            if self.SETTINGS.period:
                await asyncio.sleep(self.SETTINGS.period)
        tell("source", messages=sent, bytes=sent * self.SETTINGS.size)


class TcpSource(Source):
    OUTPUT = ez.OutputStream(bytes, num_buffers=32, force_tcp=True)

    @ez.publisher(OUTPUT)
    async def source(self):
        (FOLDER / "up").touch()
        await until("go")
        begin = time.perf_counter()
        for _ in range(self.SETTINGS.count):
            yield self.OUTPUT, b"x" * self.SETTINGS.size
        tell("source", messages=self.SETTINGS.count,
             bytes=self.SETTINGS.count * self.SETTINGS.size,
             took_ms=(time.perf_counter() - begin) * 1000)


class Relay(ez.Unit):
    INPUT = ez.InputStream(bytes)
    OUTPUT = ez.OutputStream(bytes, num_buffers=4)

    @ez.subscriber(INPUT)
    @ez.publisher(OUTPUT)
    async def relay(self, message):
        yield self.OUTPUT, message


class SinkSettings(ez.Settings):
    count: int
    seconds: float = 0.0
    busy: bool = False
    name: str = "sink"


class SinkState(ez.State):
    count: int = 0
    size: int = 0
    seconds: float = 0.0


class Sink(ez.Unit):
    SETTINGS = SinkSettings
    STATE = SinkState
    INPUT = ez.InputStream(bytes)

    @ez.subscriber(INPUT)
    async def work(self, message):
        begin = time.perf_counter()
        if self.SETTINGS.busy:
            end = time.perf_counter() + self.SETTINGS.seconds
            while time.perf_counter() < end:
                pass
        elif self.SETTINGS.seconds:
            await asyncio.sleep(self.SETTINGS.seconds)
        self.STATE.count += 1
        self.STATE.size += len(message)
        self.STATE.seconds += time.perf_counter() - begin

    @ez.task
    async def finish(self):
        while self.STATE.count < self.SETTINGS.count:
            await asyncio.sleep(0.01)
        (FOLDER / "enough").touch()
        while not (FOLDER / "source.json").exists():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05 + 2 * self.SETTINGS.seconds)
        tell(self.SETTINGS.name, messages=self.STATE.count, bytes=self.STATE.size,
             seconds=self.STATE.seconds)
        (FOLDER / "ready").touch()
        await until("stop")
        raise ez.NormalTermination


class LeakySink(Sink):
    INPUT = ez.InputStream(bytes, leaky=True, max_queue=1)

    @ez.subscriber(INPUT)
    async def work(self, message):
        await asyncio.sleep(self.SETTINGS.seconds)
        self.STATE.count += 1
        self.STATE.size += len(message)


class TwoTasks(Sink):
    INPUT = ez.InputStream(bytes)

    @ez.subscriber(INPUT)
    async def work(self, message):
        self.STATE.count += 1
        self.STATE.size += len(message)

    @ez.subscriber(INPUT)
    async def slow(self, message):
        await asyncio.sleep(self.SETTINGS.seconds)


def relay():
    units = {"SRC": Source(SourceSettings(count=60)), "FLT": Relay(),
             "SINK": Sink(SinkSettings(count=60, seconds=0.02))}
    return units, [("SRC", "FLT"), ("FLT", "SINK")]


def hog():
    units = {"SRC": Source(SourceSettings(count=20, period=0.05)),
             "HOG": Sink(SinkSettings(count=20, seconds=0.06, busy=True, name="hog")),
             "SINK": Sink(SinkSettings(count=20))}
    return units, [("SRC", "HOG"), ("SRC", "SINK")]


def sleeper():
    units = {"SRC": Source(SourceSettings(count=101)),
             "SINK": Sink(SinkSettings(count=101, seconds=0.005))}
    return units, [("SRC", "SINK")]


def leaky():
    units = {"SRC": Source(SourceSettings(count=400, period=0.002, until_ready=True)),
             "SINK": LeakySink(SinkSettings(count=20, seconds=0.01))}
    return units, [("SRC", "SINK")]


def tasks():
    units = {"SRC": Source(SourceSettings(count=40)),
             "SINK": TwoTasks(SinkSettings(count=40, seconds=0.01))}
    return units, [("SRC", "SINK")]


def drain():
    units = {"SRC": TcpSource(SourceSettings(count=10, size=4 << 20)),
             "SINK": Sink(SinkSettings(count=10, seconds=0.1, busy=True))}
    return units, [("SRC", "SINK")]


class EndlessSource(Source):
    OUTPUT = ez.OutputStream(bytes)

    @ez.publisher(OUTPUT)
    async def source(self):
        (FOLDER / "up").touch()
        await until("go")
        while not (FOLDER / "stop").exists():
            yield self.OUTPUT, b"x" * self.SETTINGS.size
            await asyncio.sleep(self.SETTINGS.period or 0.005)
        raise ez.NormalTermination


class EndlessSink(Sink):
    INPUT = ez.InputStream(bytes)

    @ez.subscriber(INPUT)
    async def work(self, message):
        await asyncio.sleep(self.SETTINGS.seconds)

    @ez.task
    async def finish(self):
        await until("stop")
        raise ez.NormalTermination


def endless():
    units = {"SRC": EndlessSource(SourceSettings(count=0)),
             "SINK": EndlessSink(SinkSettings(count=0, seconds=0.005))}
    return units, [("SRC", "SINK")]


def seldom():
    units = {"SRC": EndlessSource(SourceSettings(count=0, period=0.7)),
             "SINK": EndlessSink(SinkSettings(count=0))}
    return units, [("SRC", "SINK")]


SCENARIOS = (relay, hog, sleeper, leaky, tasks, drain, endless, seldom)


def main():
    scenario = next(s for s in SCENARIOS if s.__name__ == sys.argv[1])
    units, edges = scenario()
    connections = [(units[a].OUTPUT, units[b].INPUT) for a, b in edges]
    apart = [units[name] for name in sys.argv[3].split(",")] if len(sys.argv) > 3 else None
    ez.run(components=units, connections=connections, process_components=apart)


if __name__ == "__main__":
    main()
