# SPDX-License-Identifier: MIT
"""matrix_peer.c with the real ezmsg, whichever release the interpreter has: matrix_peer.py HOST:PORT"""
import asyncio
import sys
import zlib

import numpy
from ezmsg.core.pubclient import Publisher
from ezmsg.core.subclient import Subscriber

NUM_BUFFERS = 4
PATIENCE_S = 30


def content(kind, size, number):
    values = 31 * number + 7 * numpy.arange(size)
    if kind == "array":
        return (values & 0xFFFF).astype(numpy.float32)
    return (values & 0xFF).astype(numpy.uint8).tobytes()


def describe(message):
    if isinstance(message, bytes):
        return "bytes"
    return f"{message.dtype.str}({message.shape[0]},)/{message.ndim}"


class MatrixPeer:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.address = (host, int(port))
        self.publisher = self.subscriber = self.receiver = None

    async def pub(self, topic, transport):
        self.publisher = await Publisher.create(topic, self.address, num_buffers=NUM_BUFFERS,
                                                force_tcp=transport == "tcp")
        return "ok"

    async def sub(self, topic):
        self.subscriber = await Subscriber.create(topic, self.address)
        return "ok"

    async def send(self, kind, size, count, first):
        crc = 0
        for number in range(int(first), int(first) + int(count)):
            message = content(kind, int(size), number)
            crc = zlib.crc32(message, crc)
            await self.publisher.broadcast(message)
        return f"sent {count} {crc:08x}"

    async def receive(self, count):
        crc, what = 0, ""
        for _ in range(count):
            async with self.subscriber.recv_zero_copy() as message:
                crc, what = zlib.crc32(message, crc), describe(message)
        print(f"got {count} {crc:08x} {what} ?", flush=True)

    async def recv(self, count):
        self.receiver = asyncio.create_task(asyncio.wait_for(self.receive(int(count)), PATIENCE_S))

    async def end(self):
        answer = "ok"
        if self.receiver:
            await self.receiver
        if self.subscriber:
            try:
                await asyncio.wait_for(self.subscriber.recv(), 0.02)
                answer = "error: a message too many"
            except asyncio.TimeoutError:
                pass
        for client in (self.publisher, self.subscriber):
            if client:
                client.close()
                await client.wait_closed()
        self.publisher = self.subscriber = self.receiver = None
        return answer


async def main():
    peer = MatrixPeer(sys.argv[1])
    print("ok", flush=True)
    while line := (await asyncio.to_thread(sys.stdin.readline)).split():
        try:
            answer = await asyncio.wait_for(getattr(peer, line[0])(*line[1:]), PATIENCE_S)
        except Exception as error:  # pylint: disable=broad-except
            answer = f"error: {error!r}"
        if answer:
            print(answer, flush=True)


asyncio.run(main())
