# SPDX-License-Identifier: MIT
"""runtime_node.c with the real ezmsg: runtime_ezmsg.py ADDRESS ROLE TOPIC BYTES BUFFERS.

Within one process publisher and subscriber are two tasks, as in an ezmsg unit.
"""
import asyncio
import struct
import sys
import time

from ezmsg.core.pubclient import Publisher
from ezmsg.core.subclient import Subscriber

STAMP = struct.Struct("<Q")


async def receive_all(subscriber):
    late = []
    while True:
        async with subscriber.recv_zero_copy() as message:
            size = len(message)
            if size >= STAMP.size:
                late.append(time.monotonic_ns() - STAMP.unpack_from(message)[0])
        if size == 1:
            late.sort()
            print(late[len(late) // 2], late[len(late) * 99 // 100], flush=True)
            late = []


async def run(publisher, messages, rest):
    begin = time.monotonic_ns()
    for _ in range(messages):
        await publisher.broadcast(STAMP.pack(time.monotonic_ns()) + rest)
    print(time.monotonic_ns() - begin, flush=True)
    await publisher.broadcast(b"\0")


async def main():
    address, role, topic, size, buffers = sys.argv[1:]
    host, port = address.rsplit(":", 1)
    graph = (host, int(port))
    publisher = subscriber = None
    if role != "sink":
        publisher = await Publisher.create(topic, graph, num_buffers=int(buffers), buf_size=int(size) + 4096,
                                           force_tcp=role == "tcp")
    if role in ("sink", "local"):
        subscriber = await Subscriber.create(topic, graph)
    print("ready", flush=True)
    if not publisher:
        await receive_all(subscriber)
    receiver = asyncio.create_task(receive_all(subscriber)) if subscriber else None
    while line := await asyncio.to_thread(sys.stdin.readline):
        await run(publisher, int(line), bytes(int(size) - STAMP.size))
        await asyncio.sleep(0)
    if receiver:
        receiver.cancel()


asyncio.run(main())
