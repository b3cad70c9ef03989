# SPDX-License-Identifier: MIT
"""The job for the tools: SRC sends 500 messages of 4 KiB a second to FAST, SLOW and QUICK; SLOW takes 20 ms for each,
asleep or computing, or never gives the first one back. `python compared_graph.py sleep|busy|stuck FOLDER`; runs until
FOLDER/stop is there.

Written for ezmsg 3.9.0 and later, and for the branch of pull request 206.
"""

import asyncio
import sys
import time
from pathlib import Path

import ezmsg.core as ez

MODE, FOLDER = sys.argv[1], Path(sys.argv[2])


async def until_stop():
    while not (FOLDER / "stop").exists():
        await asyncio.sleep(0.02)
    raise ez.NormalTermination


class Source(ez.Unit):
    OUTPUT = ez.OutputStream(bytes, num_buffers=8)

    @ez.publisher(OUTPUT)
    async def flow(self):
        sent = 0
        while not (FOLDER / "stop").exists():
            yield self.OUTPUT, b"x" * 4096
            sent += 1
            if sent == 3:
                (FOLDER / "up").touch()
            await asyncio.sleep(0.002)


class WorkSettings(ez.Settings):
    seconds: float = 0.0


def crunch(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(100))


class Sink(ez.Unit):
    SETTINGS = WorkSettings
    INPUT = ez.InputStream(bytes)

    @ez.subscriber(INPUT)
    async def work(self, _message: bytes) -> None:
        if self.SETTINGS.seconds and MODE == "busy":
            crunch(self.SETTINGS.seconds)
        elif self.SETTINGS.seconds >= 0.02 and MODE == "stuck":
            await asyncio.sleep(3600)
        elif self.SETTINGS.seconds:
            await asyncio.sleep(self.SETTINGS.seconds)

    @ez.task
    async def end(self):
        await until_stop()


def main():
    units = {"SRC": Source(), "FAST": Sink(), "SLOW": Sink(WorkSettings(0.02)), "QUICK": Sink(WorkSettings(0.001))}
    ez.run(components=units,
           connections=[(units["SRC"].OUTPUT, units[name].INPUT) for name in ("FAST", "SLOW", "QUICK")])


if __name__ == "__main__":
    main()
