# SPDX-License-Identifier: MIT
"""One process of the Python benchmarks: `local N [FOLDER]`, `pub TRANSPORT N`, `sub N`.

With a FOLDER it says so there when it is up, waits for FOLDER/go, and prints how long it took.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

PAYLOAD = b"x" * 64
TOPIC = "BENCH"


async def gate(folder):
    if folder:
        (Path(folder) / "up").touch()
        while not (Path(folder) / "go").exists():
            time.sleep(0.05)  # not the loop's: that would cost instructions


async def local(n, folder=None):
    import ezmsg.core as ez

    async with ez.GraphContext(address()) as context:
        subscriber = await context.subscriber(TOPIC)
        publisher = await context.publisher(TOPIC)
        await gate(folder)
        begin, cpu = time.perf_counter(), time.process_time()
        for _ in range(n):
            await publisher.broadcast(PAYLOAD)
            async with subscriber.recv_zero_copy() as message:
                assert message is PAYLOAD
        if folder:
            print(time.perf_counter() - begin, time.process_time() - cpu)


async def publish(transport, n):
    import ezmsg.core as ez

    async with ez.GraphContext(address()) as context:
        publisher = await context.publisher(TOPIC, force_tcp=transport == "tcp")
        while len(publisher._channels) < 2:  # its own, and the subscriber's
            await asyncio.sleep(0.01)
        for _ in range(n):
            await publisher.broadcast(PAYLOAD)
        await publisher._backpressure.sync()


async def subscribe(n):
    import ezmsg.core as ez

    async with ez.GraphContext(address()) as context:
        subscriber = await context.subscriber(TOPIC)
        print("ready", flush=True)
        for _ in range(n):
            async with subscriber.recv_zero_copy() as message:
                assert message == PAYLOAD
        await asyncio.sleep(0.3)  # the last acknowledgement


def address():
    host, port = os.environ["EZMSG_GRAPHSERVER_ADDR"].split(":")
    return (host, int(port))


def main():
    what = sys.argv[1]
    if what == "local":
        asyncio.run(local(int(sys.argv[2]), *sys.argv[3:]))
    elif what == "pub":
        asyncio.run(publish(sys.argv[2], int(sys.argv[3])))
    elif what == "sub":
        asyncio.run(subscribe(int(sys.argv[2])))


if __name__ == "__main__":
    main()
