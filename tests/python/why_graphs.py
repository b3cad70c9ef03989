# SPDX-License-Identifier: MIT
"""Endless graphs with a known cause of trouble: `python why_graphs.py SCENARIO FOLDER [processes]`.

They run until FOLDER/stop is there; FOLDER/up appears when messages flow.
"""

import asyncio
import sys
import time
from pathlib import Path

import ezmsg.core as ez

FOLDER = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(".")


async def until_stop():
    while not (FOLDER / "stop").exists():
        await asyncio.sleep(0.02)
    raise ez.NormalTermination


class FlowSettings(ez.Settings):
    period: float = 0.0
    size: int = 64
    burst: int = 1


class Flow(ez.Unit):
    """Sends bytes, at once or each period."""
    SETTINGS = FlowSettings
    OUTPUT = ez.OutputStream(bytes, num_buffers=8)

    @ez.publisher(OUTPUT)
    async def flow(self):
        sent = 0
        while not (FOLDER / "stop").exists():
            yield self.OUTPUT, b"x" * self.SETTINGS.size
            sent += 1
            if sent == 3:
                (FOLDER / "up").touch()
            if self.SETTINGS.period and sent % self.SETTINGS.burst == 0:
                await asyncio.sleep(self.SETTINGS.period * self.SETTINGS.burst)
            elif not self.SETTINGS.period:
                await asyncio.sleep(0)

    @ez.task
    async def end(self):
        await until_stop()


class TcpFlow(Flow):
    OUTPUT = ez.OutputStream(bytes, num_buffers=8, force_tcp=True)

    @ez.publisher(OUTPUT)
    async def flow(self):
        (FOLDER / "up").touch()
        while not (FOLDER / "stop").exists():
            yield self.OUTPUT, b"x" * self.SETTINGS.size
            await asyncio.sleep(self.SETTINGS.period)


class IdleFlow(Flow):
    @ez.publisher(Flow.OUTPUT)
    async def flow(self):
        yield self.OUTPUT, b"x"
        (FOLDER / "up").touch()
        await until_stop()


class WorkSettings(ez.Settings):
    seconds: float = 0.0
    busy: bool = False


async def work(settings):
    if settings.busy:
        end = time.perf_counter() + settings.seconds
        while time.perf_counter() < end:
            pass
    elif settings.seconds:
        await asyncio.sleep(settings.seconds)


class Sink(ez.Unit):
    SETTINGS = WorkSettings
    INPUT = ez.InputStream(bytes)

    @ez.subscriber(INPUT)
    async def work(self, _message):
        await work(self.SETTINGS)

    @ez.task
    async def end(self):
        await until_stop()


class Leaky(Sink):
    INPUT = ez.InputStream(bytes, leaky=True, max_queue=1)

    @ez.subscriber(INPUT)
    async def work(self, _message):
        await work(self.SETTINGS)


class TwoTasks(Sink):
    @ez.subscriber(Sink.INPUT)
    async def work(self, _message):
        pass

    @ez.subscriber(Sink.INPUT)
    async def slow(self, _message):
        await work(self.SETTINGS)


class Stuck(Sink):
    """Never gives its first message back."""

    @ez.subscriber(Sink.INPUT, zero_copy=True)
    async def work(self, _message):
        await asyncio.sleep(3600)


class Hog(ez.Unit):
    """A task that has nothing to do with the messages."""
    SETTINGS = WorkSettings

    @ez.task
    async def spin(self):
        while not (FOLDER / "stop").exists():
            await work(self.SETTINGS)
            await asyncio.sleep(0.005)


class Relay(ez.Unit):
    SETTINGS = WorkSettings
    INPUT = ez.InputStream(bytes)
    OUTPUT = ez.OutputStream(bytes, num_buffers=8)

    @ez.subscriber(INPUT)
    @ez.publisher(OUTPUT)
    async def relay(self, message):
        await work(self.SETTINGS)
        yield self.OUTPUT, message


def sinks(**seconds):
    units = {"SRC": Flow(FlowSettings(period=0.002)),
             **{name: Sink(WorkSettings(s)) for name, s in seconds.items()}}
    return units, [("SRC", name) for name in seconds]


def slow_among_fast():
    return sinks(FAST=0.0, SLOW=0.02, QUICK=0.001)


def chain(one, two, last):
    units = {"SRC": Flow(FlowSettings(period=0.002)), "ONE": Relay(WorkSettings(one)),
             "TWO": Relay(WorkSettings(two)), "SINK": Sink(WorkSettings(last))}
    return units, [("SRC", "ONE"), ("ONE", "TWO"), ("TWO", "SINK")]


def slow_last():
    return chain(0.0, 0.0, 0.02)


def slow_middle():
    return chain(0.0, 0.02, 0.001)


def two_bottlenecks():
    return chain(0.0, 0.012, 0.02)


def slow_publisher():
    units = {"SRC": Flow(FlowSettings(period=0.05)), "SINK": Sink(WorkSettings(0.001))}
    return units, [("SRC", "SINK")]


def hog():
    units = {"SRC": Flow(FlowSettings(period=0.03)), "SINK": Sink(),
             "HOG": Hog(WorkSettings(0.06, busy=True))}
    return units, [("SRC", "SINK")]


def leaky():
    units = {"SRC": Flow(FlowSettings(period=0.002)), "SINK": Leaky(WorkSettings(0.02))}
    return units, [("SRC", "SINK")]


def two_tasks():
    units = {"SRC": Flow(FlowSettings(period=0.002)), "SINK": TwoTasks(WorkSettings(0.02))}
    return units, [("SRC", "SINK")]


def stuck():
    units = {"SRC": Flow(FlowSettings(period=0.002)), "SINK": Stuck(), "FINE": Sink()}
    return units, [("SRC", "SINK"), ("SRC", "FINE")]


def few_buffers():
    units = {"SRC": Flow(FlowSettings(period=0.02, burst=24)), "SINK": Sink(WorkSettings(0.005))}
    return units, [("SRC", "SINK")]


def tcp():
    units = {"SRC": TcpFlow(FlowSettings(period=0.05, size=1 << 20)), "SINK": Sink()}
    return units, [("SRC", "SINK")]


class Heavy:
    """Takes its time to be pickled."""

    def __reduce__(self):
        end = time.perf_counter() + 0.02
        while time.perf_counter() < end:
            pass
        return (bytes, (b"x" * 1000,))


class HeavyFlow(Flow):
    @ez.publisher(Flow.OUTPUT)
    async def flow(self):
        (FOLDER / "up").touch()
        while not (FOLDER / "stop").exists():
            yield self.OUTPUT, Heavy()
            await asyncio.sleep(0.01)


def heavy():
    units = {"SRC": HeavyFlow(), "SINK": Sink()}
    return units, [("SRC", "SINK")]


def idle():
    units = {"SRC": IdleFlow(), "SINK": Sink()}
    return units, [("SRC", "SINK")]


SCENARIOS = (slow_among_fast, slow_last, slow_middle, two_bottlenecks, slow_publisher, hog, leaky,
             two_tasks, stuck, few_buffers, tcp, heavy, idle)


def main():
    units, edges = next(s for s in SCENARIOS if s.__name__ == sys.argv[1])()
    connections = [(units[a].OUTPUT, units[b].INPUT) for a, b in edges]
    apart = [units[name] for name in sys.argv[3].split(",")] if len(sys.argv) > 3 else None
    ez.run(components=units, connections=connections, process_components=apart)


if __name__ == "__main__":
    main()
