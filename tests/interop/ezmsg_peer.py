# SPDX-License-Identifier: MIT
"""The real ezmsg, obeying the commands of tests/runtime/runtime_peer.c that the interop tests use.

Run by the interpreter that has ezmsg: ezmsg_peer.py HOST:PORT
"""
import asyncio
import sys

import numpy
from ezmsg.core.graphserver import GraphService
from ezmsg.core.pubclient import Publisher
from ezmsg.core.subclient import Subscriber


def content_of(message):
    return len(message) if isinstance(message, bytes) else int(message.sum())


class EzmsgPeer:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.address = (host, int(port))
        self.publisher = None
        self.subscriber = None
        self.subscribers = []  # all of them: one that nobody refers to may be collected at any time
        self.service = GraphService(self.address)

    async def sub(self, topic, flag=""):
        options = {"leaky": True, "max_queue": 2} if flag == "leaky" else {}
        self.subscriber = await Subscriber.create(topic, self.address, **options)
        self.subscribers.append(self.subscriber)
        return "ok"

    async def pub(self, topic, buffers, flag):
        self.publisher = await Publisher.create(topic, self.address, num_buffers=int(buffers),
                                                force_tcp=flag == "tcp", start_paused=flag == "paused")
        return "ok"

    async def attempt(self, size, milliseconds):
        """try is no name in Python."""
        try:
            await asyncio.wait_for(self.publisher.broadcast(bytes(int(size))), int(milliseconds) / 1000)
        except asyncio.TimeoutError:
            return "error -110"
        return "sent 1"

    async def channels(self):
        return str(len(self.publisher._channels))

    async def pause(self):
        await self.service.pause()
        return "ok"

    async def resume(self):
        await self.service.resume()
        return "ok"

    async def sync(self, milliseconds):
        await asyncio.wait_for(self.service.sync(), int(milliseconds) / 1000)
        return "ok"

    async def connect(self, source, target):
        await self.service.connect(source, target)
        return "ok"

    async def disconnect(self, source, target):
        await self.service.disconnect(source, target)
        return "ok"

    async def send(self, count, size):
        for _ in range(int(count)):
            await self.publisher.broadcast(bytes(int(size)))
        return f"sent {count}"

    async def array(self, count, elements):
        for _ in range(int(count)):
            await self.publisher.broadcast(numpy.arange(int(elements), dtype=numpy.float32))
        return f"sent {count}"

    async def sum(self, count):
        total = 0
        for _ in range(int(count)):
            async with self.subscriber.recv_zero_copy() as message:
                total += content_of(message)
        return f"sum {count} {total}"

    async def end(self):
        await self.close()
        self.publisher = self.subscriber = None
        self.subscribers = []
        return "ok"

    async def close(self):
        for client in (self.publisher, *self.subscribers):
            if client:
                client.close()
                await client.wait_closed()


def say_where_it_hangs():
    for task in asyncio.all_tasks():
        task.print_stack(file=sys.stderr)


async def main():
    peer = EzmsgPeer(sys.argv[1])
    print("ready", flush=True)
    while line := (await asyncio.to_thread(sys.stdin.readline)).split():
        if line[0] == "quit":
            break
        print(await asyncio.wait_for(getattr(peer, line[0])(*line[1:]), 30), flush=True)
    # Its caller waits for 30 s.
    asyncio.get_running_loop().call_later(20, say_where_it_hangs)
    await peer.close()


asyncio.run(main())
