# SPDX-License-Identifier: MIT
"""Programs for the life-cycle tests: `steady FOLDER`, `cycles FOLDER N`, `forks FOLDER`, `late`."""

import asyncio
import gc
import json
import multiprocessing
import os
import sys
from pathlib import Path


async def steady(folder, topic="STEADY"):
    """Publishes and receives until told to stop; FOLDER/<pid>.json says how much, at the end."""
    import ezmsg.core as ez

    async with ez.GraphContext() as context:
        subscriber = await context.subscriber(topic)
        publisher = await context.publisher(topic)
        (folder / f"up-{topic}").touch()
        count = 0
        while not (folder / "stop").exists():
            await publisher.broadcast(b"x" * 64)
            async with subscriber.recv_zero_copy():
                count += 1
            await asyncio.sleep(0.001)
        (folder / f"{topic}.json").write_text(json.dumps({"pid": os.getpid(), "messages": count}))


async def cycle(i):
    import ezmsg.core as ez

    async with ez.GraphContext() as context:
        publisher = await context.publisher(f"T{i}")
        subscriber = await context.subscriber(f"T{i}", leaky=i % 2 == 1)
        await publisher.broadcast(b"x")
        if i % 3:
            await subscriber.recv()
        else:
            async with subscriber.recv_zero_copy():
                pass


def footprint():
    gc.collect()
    own = [o for o in gc.get_objects() if type(o).__module__.startswith("ezmsg")]
    return {"fds": len(os.listdir("/proc/self/fd")), "objects": len(own),
            "resident": int(Path("/proc/self/statm").read_text().split()[1]) * 4096}


async def cycles(folder, count):
    for i in range(20):
        await cycle(i)
    before = footprint()
    for i in range(count):
        await cycle(i)
    (folder / "cycles.json").write_text(json.dumps({"before": before, "after": footprint()}))
    while not (folder / "stop").exists():
        await asyncio.sleep(0.01)


def child(folder, topic):
    asyncio.run(steady(folder, topic))


def forks(folder):
    """A graph in this process, and one each in children made by fork and by spawn."""
    os.environ["EZMSG_GRAPHSERVER_ADDR"] = sys.argv[3]
    starters = [multiprocessing.get_context(how).Process(target=child, args=(folder, how.upper()))
                for how in ("fork", "spawn")]

    async def parent():
        work = asyncio.ensure_future(steady(folder))
        while not (folder / "up-STEADY").exists():
            await asyncio.sleep(0.01)
        (folder / "parent-up").touch()
        while not (folder / "go").exists():
            await asyncio.sleep(0.01)
        for process in starters:
            process.start()
        await work

    asyncio.run(parent())
    for process in starters:
        process.join()


def late():
    import ezmsg.core as ez

    import ezmsg_usdt

    async def main():
        async with ez.GraphContext() as context:
            await context.publisher("T")
            try:
                ezmsg_usdt.enable()
            except ezmsg_usdt.EnableError as error:
                print(error)
            print(ezmsg_usdt.status()["installed"])
    asyncio.run(main())


def main():
    what, folder = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if what == "steady":
        asyncio.run(steady(folder))
    elif what == "cycles":
        asyncio.run(cycles(folder, int(sys.argv[3])))
    elif what == "forks":
        forks(folder)
    else:
        late()


if __name__ == "__main__":
    main()
