# SPDX-License-Identifier: MIT
"""Run by an interpreter with ezmsg: its own publishers, subscribers, sessions and ez.run on our graph server."""
import asyncio
import os
import uuid

import ezmsg.core as ez
from ezmsg.core.dag import CyclicException
from ezmsg.core.graphcontext import GraphContext
from ezmsg.core.graphserver import GraphService

WAIT_S = 15
MESSAGES = 23


async def receive(subscriber):
    return await asyncio.wait_for(subscriber.recv(), WAIT_S)


async def until(condition):
    for _ in range(100 * WAIT_S):
        if await condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


async def check_edges(service):
    await service.connect("X", "Y")
    try:
        await service.connect("Y", "X")
    except CyclicException:
        pass
    else:
        raise AssertionError("a cycle was let through")
    dag = await service.dag()
    assert dict(dag.graph) == {"X": {"Y"}, "Y": set()} and dag.edge_owners == {("X", "Y"): {None}}
    await service.disconnect("X", "Y")
    assert dict((await service.dag()).graph) == {}


async def check_messages(force_tcp):
    async with GraphContext() as context:
        publisher = await context.publisher("A", num_buffers=4, force_tcp=force_tcp)
        subscriber = await context.subscriber("B")
        await context.connect("A", "B")
        for i in range(MESSAGES):
            await publisher.broadcast({"i": i})
            assert await receive(subscriber) == {"i": i}
        await context.disconnect("A", "B")


async def check_pause_and_sync(service):
    async with GraphContext() as context:
        publisher = await context.publisher("A")
        subscriber = await context.subscriber("A")
        await asyncio.wait_for(service.sync(), WAIT_S)
        sent = asyncio.create_task(publisher.broadcast("held"))
        done, _ = await asyncio.wait([sent], timeout=0.2)
        assert not done, "a publisher went on after SYNC"
        await service.resume()
        assert await receive(subscriber) == "held"
        await asyncio.wait_for(sent, WAIT_S)


async def check_session(service):
    async with GraphContext() as context:
        await context.connect("S", "T")
        snapshot = await context.snapshot()
        assert snapshot.graph == {"S": ["T"], "T": []}
        ((edge, owners),) = snapshot.edge_owners.items()
        assert (edge.from_topic, edge.to_topic) == ("S", "T") and owners[0] in snapshot.sessions
        await service.connect("S", "T")
        assert (await service.dag()).edge_owners == {("S", "T"): {None, uuid.UUID(owners[0])}}
        await service.disconnect("S", "T")
        # Nobody else can take a session's edge away.
        await service.disconnect("S", "T")
        assert "S" in (await service.dag()).graph
        assert await context.settings_snapshot() == {}
        response = await context.process_request("NOPE", "PING")
        assert not response.ok and response.error_code.value == "UNROUTABLE_UNIT"

    async def is_gone():
        return "S" not in (await service.dag()).graph
    await until(is_gone)


async def check_departed_publisher():
    """The subscriber hears that it left, and goes on with the one that stays."""
    async with GraphContext() as context:
        subscriber = await context.subscriber("P")
        async with GraphContext() as other:
            leaving = await other.publisher("P")
            await leaving.broadcast(1)
            assert await receive(subscriber) == 1
        staying = await context.publisher("P")
        for i in range(MESSAGES):
            await staying.broadcast(i)
            assert await receive(subscriber) == i


class Count(ez.Settings):
    messages: int


class Source(ez.Unit):
    SETTINGS = Count
    OUTPUT = ez.OutputStream(int)

    @ez.publisher(OUTPUT)
    async def send(self):
        for i in range(self.SETTINGS.messages):
            yield self.OUTPUT, i
        raise ez.Complete


class Sink(ez.Unit):
    SETTINGS = Count
    INPUT = ez.InputStream(int)

    async def initialize(self):
        self.received = 0

    @ez.subscriber(INPUT)
    async def receive(self, message):
        assert message == self.received
        self.received += 1
        if self.received == self.SETTINGS.messages:
            print("sink: all received, pid", os.getpid(), flush=True)
            raise ez.NormalTermination


class System(ez.Collection):
    SOURCE, SINK = Source(), Sink()

    def configure(self):
        self.SOURCE.apply_settings(Count(MESSAGES))
        self.SINK.apply_settings(Count(MESSAGES))

    def network(self):
        return ((self.SOURCE.OUTPUT, self.SINK.INPUT),)

    def process_components(self):
        return (self.SINK,)


async def check_graph():
    service = GraphService()
    await check_edges(service)
    await check_messages(force_tcp=False)
    await check_messages(force_tcp=True)
    await check_pause_and_sync(service)
    await check_session(service)
    await check_departed_publisher()
    print("graph: ok", flush=True)


async def check_clean():
    assert dict((await GraphService().dag()).graph) == {}


if __name__ == "__main__":
    asyncio.run(check_graph())
    ez.run(SYSTEM=System())
    asyncio.run(check_clean())
    print("ez.run: ok", flush=True)
