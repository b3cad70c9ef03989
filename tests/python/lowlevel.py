# SPDX-License-Identifier: MIT
"""Nodes of the low-level and of the sync API: `python lowlevel.py ROLE FOLDER HOST:PORT COUNT`."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import ezmsg.core as ez

ROLE, FOLDER = sys.argv[1], Path(sys.argv[2])
HOST, PORT = sys.argv[3].split(":")
COUNT = int(sys.argv[4])
ADDRESS = (HOST, int(PORT))


async def until(name):
    while not (FOLDER / name).exists():
        await asyncio.sleep(0.01)


async def stopped():
    """Each role ends on a file of its own: see finish() in test_versions.py."""
    while not any((FOLDER / name).exists() for name in ("stop", f"stop-{ROLE}")):
        await asyncio.sleep(0.01)


def tell(name, **facts):
    (FOLDER / f".{name}").write_text(json.dumps({"pid": os.getpid(), **facts}))
    (FOLDER / f".{name}").rename(FOLDER / f"{name}.json")


async def listen(subscriber, copied=False):
    count = size = 0
    while count < COUNT:
        if copied:
            size += len(await subscriber.recv())
        else:
            async with subscriber.recv_zero_copy() as message:
                size += len(message)
        count += 1
    return count, size


async def source():
    async with ez.GraphContext(ADDRESS) as context:
        local = await context.subscriber("LOCAL", handle="near")
        topics = {"LOCAL": {}, "SHM": {}, "TCP": {"force_tcp": True}}
        publishers = {t: await context.publisher(t, **o) for t, o in topics.items()}
        (FOLDER / "source-up").touch()
        await until("go")
        listening = asyncio.ensure_future(listen(local))

        async def send(topic):
            for i in range(COUNT):
                await publishers[topic].broadcast(b"x" * (i % 100))

        await asyncio.gather(*map(send, topics))
        count, size = await listening
        tell("source", messages=COUNT, received=count, bytes=size)
        await stopped()


async def sink():
    async with ez.GraphContext(ADDRESS) as context:
        shm = await context.subscriber("SHM", handle="far")
        tcp = await context.subscriber("TCP")
        (FOLDER / "sink-up").touch()
        results = await asyncio.gather(listen(shm), listen(tcp, copied=True))
        tell("sink", shm=results[0], tcp=results[1])
        await stopped()


def sync():
    from ezmsg.core.sync import SyncContext

    with SyncContext(ADDRESS) as context:
        subscriber = context.create_subscription("SYNC")
        publisher = context.create_publisher("SYNC")
        (FOLDER / "sync-up").touch()
        while not (FOLDER / "go").exists():
            time.sleep(0.01)
        for _ in range(COUNT):
            publisher.publish(b"y" * 10)
            message = subscriber.recv()
            assert message == b"y" * 10
        tell("sync", messages=COUNT)
        while not any((FOLDER / name).exists() for name in ("stop", "stop-sync")):
            time.sleep(0.01)


def main():
    if ROLE == "serve":
        from ezmsg.core.graphserver import GraphServer

        server = GraphServer()
        server.start(ADDRESS)
        (FOLDER / "server-up").touch()
        while not (FOLDER / "stop").exists():
            time.sleep(0.01)
        server.stop()
    elif ROLE == "sync":
        sync()
    else:
        asyncio.run({"source": source, "sink": sink}[ROLE]())


if __name__ == "__main__":
    main()
