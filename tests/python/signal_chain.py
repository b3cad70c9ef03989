# SPDX-License-Identifier: MIT
"""A real signal chain: noise -> Butterworth filter -> window -> spectrum -> sink, as AxisArrays.

`python signal_chain.py FOLDER`; go, ready and stop as in graphs.py, whose facts it writes.
"""

import asyncio
import sys
import time
from pathlib import Path

import ezmsg.core as ez
import numpy as np
from ezmsg.sigproc.butterworthfilter import ButterworthFilter, ButterworthFilterSettings
from ezmsg.sigproc.spectrum import Spectrum, SpectrumSettings
from ezmsg.util.messages.axisarray import AxisArray

sys.argv = [sys.argv[0], "chain", *sys.argv[1:]]
import graphs  # noqa: E402

BLOCKS, SAMPLES, CHANNELS, RATE = 150, 50, 8, 1000.0


class Noise(ez.Unit):
    OUTPUT = ez.OutputStream(AxisArray)

    @ez.publisher(OUTPUT)
    async def noise(self):
        (graphs.FOLDER / "up").touch()
        await graphs.until("go")
        rng = np.random.default_rng(1)
        begin = time.monotonic()
        for block in range(BLOCKS):
            data = rng.standard_normal((SAMPLES, CHANNELS))
            axes = {"time": AxisArray.TimeAxis(fs=RATE, offset=block * SAMPLES / RATE)}
            yield self.OUTPUT, AxisArray(data, dims=["time", "ch"], axes=axes)
            await asyncio.sleep(0.01)
        graphs.tell("source", messages=BLOCKS, bytes=BLOCKS * SAMPLES * CHANNELS * 8,
                    seconds=time.monotonic() - begin)


class State(ez.State):
    count: int = 0
    size: int = 0
    finite: bool = True


class Check(ez.Unit):
    STATE = State
    INPUT = ez.InputStream(AxisArray)

    @ez.subscriber(INPUT)
    async def check(self, message):
        self.STATE.count += 1
        self.STATE.size += message.data.nbytes
        self.STATE.finite &= bool(np.isfinite(message.data).all())

    @ez.task
    async def finish(self):
        while not (graphs.FOLDER / "source.json").exists():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        graphs.tell("sink", messages=self.STATE.count, bytes=self.STATE.size,
                    finite=self.STATE.finite)
        (graphs.FOLDER / "ready").touch()
        await graphs.until("stop")
        raise ez.NormalTermination


def main():
    units = {
        "SRC": Noise(),
        "BAND": ButterworthFilter(ButterworthFilterSettings(order=4, cuton=8.0, cutoff=40.0,
                                                            axis="time")),
        "SPEC": Spectrum(SpectrumSettings(axis="time", out_axis="freq")),
        "SINK": Check(),
    }
    order = list(units.values())
    connections = [(a.OUTPUT_SIGNAL if hasattr(a, "OUTPUT_SIGNAL") else a.OUTPUT,
                    b.INPUT_SIGNAL if hasattr(b, "INPUT_SIGNAL") else b.INPUT)
                   for a, b in zip(order, order[1:])]
    ez.run(components=units, connections=connections)


if __name__ == "__main__":
    main()
