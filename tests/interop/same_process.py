# SPDX-License-Identifier: MIT
"""Run by an interpreter with ezmsg: same_process.py LIBEZMSG HOST:PORT. Both libraries in one process.

To ezmsg an equal process id means the same process, and messages to the same process aren't sent: it can't know
that the channel is another library's.
"""
import asyncio
import ctypes
import sys

from ezmsg.core.pubclient import Publisher
from ezmsg.core.subclient import Subscriber

COUNT = 23
WAIT_NS = 10_000_000_000
VIAS = ("unknown", "local", "shm", "tcp")


class Message(ctypes.Structure):
    """The beginning of struct ez_message; what follows needs room and no names."""
    _fields_ = [("id", ctypes.c_uint64), ("via", ctypes.c_int), ("type", ctypes.c_int), ("data", ctypes.c_void_p),
                ("bytes", ctypes.c_size_t), ("rest", ctypes.c_char * 1024)]


class Library:
    def __init__(self, path, address):
        self.library = ctypes.CDLL(path)
        self.context = ctypes.c_void_p()
        self.call("ez_context_create", address.encode(), ctypes.byref(self.context))

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        assert result == 0, (name, result)

    def make(self, kind, topic):
        made = ctypes.c_void_p()
        self.call(f"ez_{kind}_create", self.context, topic.encode(), None, ctypes.byref(made))
        return made

    def send(self, publisher, data):
        self.call("ez_publish_bytes", publisher, data, ctypes.c_size_t(len(data)), ctypes.c_int64(WAIT_NS))

    def receive(self, subscriber):
        message = Message()
        self.call("ez_receive", subscriber, ctypes.c_int64(WAIT_NS), ctypes.byref(message))
        data, via = ctypes.string_at(message.data, message.bytes), VIAS[message.via]
        self.library.ez_message_release(ctypes.byref(message))
        return data, via


async def apart(function, *arguments):
    """In another thread: this one is the event loop of the other library."""
    return await asyncio.to_thread(function, *arguments)


async def main():
    path, address = sys.argv[1:]
    host, port = address.rsplit(":", 1)
    ours = await apart(Library, path, address)
    publisher = await Publisher.create("PYTHON", (host, int(port)), num_buffers=4)
    subscriber = await apart(ours.make, "subscriber", "PYTHON")
    beside = await Subscriber.create("PYTHON", (host, int(port)))
    for number in range(COUNT):
        await asyncio.wait_for(publisher.broadcast(b"%d" % number), 10)
        assert await beside.recv() == b"%d" % number
        data, via = await apart(ours.receive, subscriber)
        assert data == b"%d" % number and via == "tcp", (data, via)
    print("from Python: ok")
    sender = await apart(ours.make, "publisher", "C")
    receiver = await Subscriber.create("C", (host, int(port)))
    for number in range(COUNT):
        await apart(ours.send, sender, b"%d" % number)
        assert await asyncio.wait_for(receiver.recv(), 10) == b"%d" % number
    print("from C: ok", flush=True)
    for client in (publisher, beside, receiver):
        client.close()
    await apart(ours.library.ez_context_destroy, ours.context)


asyncio.run(main())
