# SPDX-License-Identifier: MIT
"""The C types beside the originals: the same states, exceptions and wake-up order. Runs inside an
environment with ezmsg; EZPROF_USDT must not be set, so that both are there."""

import asyncio
import gc
import random
import sys
import weakref
from uuid import UUID, uuid4

from ezmsg.core.backpressure import Backpressure as Original
from ezmsg.core.backpressure import BufferLease as OriginalLease

from ezmsg_usdt import _ext


def state(bp):
    return (
        bp.pressure, bp.is_empty, bp.empty.is_set(),
        [(b.is_empty, set(b.leases), b.empty.is_set()) for b in bp.buffers],
    )


def outcome(call, *args):
    try:
        return ("value", call(*args))
    except Exception as error:
        return (type(error), str(error) if not isinstance(error, TypeError) else "")


def test_random_operations():
    rng = random.Random(7)
    for _ in range(60):
        count = rng.randint(1, 5)
        ours, theirs = _ext.Backpressure(count), Original(count)
        ids = [uuid4() for _ in range(rng.choice((2, 5, 80)))]
        for _ in range(300):
            # Equal objects that are not the same one, as ezmsg's links and channels have them.
            key = UUID(int=rng.choice(ids).int) if rng.random() < 0.3 else rng.choice(ids)
            index = rng.randint(-count - 1, count)
            what = rng.choice(("lease", "lease", "free", "free", "free_all", "available"))
            if what == "free_all":
                calls = [(bp.free, key) for bp in (ours, theirs)]
            elif what == "available":
                calls = [(bp.available, index) for bp in (ours, theirs)]
            else:
                calls = [(getattr(bp, what), key, index) for bp in (ours, theirs)]
            results = [outcome(*call) for call in calls]
            assert results[0] == results[1], (what, results)
            if rng.random() < 0.1:
                assert state(ours) == state(theirs)
        assert state(ours) == state(theirs)


def test_lease_alone():
    for lease in (_ext.BufferLease(), OriginalLease()):
        a, b = uuid4(), uuid4()
        assert lease.is_empty and lease.leases == set()
        lease.add(a)
        lease.add(a)
        lease.add(b)
        assert not lease.is_empty and lease.leases == {a, b} and not lease.empty.is_set()
        lease.remove(a)
        try:
            lease.remove(a)
        except KeyError as error:
            assert error.args == (a,)
        else:
            raise AssertionError("no KeyError")
        lease.remove(b)
        assert lease.is_empty and lease.empty.is_set()


async def _woken(make):
    """Order in which waiters of buffers, of sync() and of plain callbacks run."""
    bp, order, a, b = make(2), [], uuid4(), uuid4()
    loop = asyncio.get_running_loop()
    bp.lease(a, 0)
    bp.lease(b, 0)
    bp.lease(a, 1)

    async def waits(name, awaitable):
        value = await awaitable
        order.append((name, value))

    tasks = [asyncio.ensure_future(waits(n, w)) for n, w in (
        ("first", bp.wait(0)), ("sync", bp.sync()), ("second", bp.wait(0)), ("other", bp.wait(1)),
    )]
    await asyncio.sleep(0)
    bp.free(a, 0)
    loop.call_soon(order.append, "between")
    bp.free(b, 0)
    loop.call_soon(order.append, "after")
    bp.free(a)
    loop.call_soon(order.append, "last")
    await asyncio.gather(*tasks)
    await bp.wait(0)
    return order


def test_wake_up_order():
    ours, theirs = asyncio.run(_woken(_ext.Backpressure)), asyncio.run(_woken(Original))
    assert ours == theirs, (ours, theirs)


async def _cancelled(make):
    bp, a = make(1), uuid4()
    bp.lease(a, 0)
    task = asyncio.ensure_future(bp.wait(0))
    await asyncio.sleep(0)
    task.cancel()
    seen = []
    try:
        await task
    except asyncio.CancelledError as error:
        seen.append(type(error))
    try:
        await asyncio.wait_for(bp.wait(0), 0.01)
    except asyncio.TimeoutError as error:
        seen.append(type(error))
    bp.free(a, 0)
    seen.append(await bp.wait(0))
    seen.append(asyncio.iscoroutine(bp.wait(0)))
    return seen


def test_cancelled():
    import warnings
    warnings.simplefilter("ignore")
    assert asyncio.run(_cancelled(_ext.Backpressure)) == asyncio.run(_cancelled(Original))


def test_garbage():
    """Cycles through every type are collected."""
    class Node:
        pass

    async def forever(node):
        await asyncio.Event().wait()

    async def main():
        dead = []
        for _ in range(3):
            node = Node()
            node.bp = _ext.Backpressure(2)
            node.bp.open_publisher(uuid4(), "T", "", "")
            node.run = node.bp.broadcast(forever(node))
            node.run.send(None)
            node.task = _ext.TaskState(forever, "U:t")
            node.task.node = node
            dead.append(weakref.ref(node))
            del node
        gc.collect()
        assert [ref() for ref in dead] == [None] * 3, dead
    asyncio.run(main())


def test_coroutine_protocol():
    async def inner(value):
        got = await asyncio.sleep(0, value)
        return got + 1

    bp = _ext.Backpressure(1)
    assert asyncio.run(bp.broadcast(inner(1))) == 2
    run = bp.broadcast(inner(1))
    run.close()
    run.close()
    for _ in range(2):
        try:
            run.send(None)
        except RuntimeError as error:
            assert "already awaited" in str(error)
    run = bp.broadcast(inner(1))
    run.send(None)
    try:
        run.throw(ValueError("x"))
    except ValueError as error:
        assert str(error) == "x"
    assert inner.__name__ == bp.broadcast(inner(2)).__name__


def test_references():
    """What a thousand messages leave behind is nothing."""
    total = getattr(sys, "gettotalrefcount", None)

    def work():
        bp, ids = _ext.Backpressure(4), [uuid4() for _ in range(3)]
        bp.open_publisher(uuid4(), "T", "h", "t")
        bp.open_link(ids[0], 1, 1)
        channel = _ext.Backpressure(4)
        channel.open_channel(uuid4(), uuid4(), "T")
        channel.open_client(ids[1], _ext.SubscriberState("T", "h", "t"))
        for i in range(1000):
            for one in ids:
                bp.lease(one, i % 4)
                channel.lease(one, i % 4)
            for one in ids:
                bp.free(one, i % 4)
                channel.free(one, buf_idx=i % 4)
            bp.available(i % 4)
        bp.close_owner()
        channel.close_key(ids[1])
        channel.close_endpoints()

    async def waits():
        bp, one = _ext.Backpressure(1), uuid4()
        for _ in range(200):
            bp.lease(one, 0)
            task = asyncio.ensure_future(bp.wait(0))
            await asyncio.sleep(0)
            bp.free(one, 0)
            await task

    def measure():
        gc.collect()
        return total() if total else len(gc.get_objects())

    for _ in range(3):
        work()
        asyncio.run(waits())
    before = measure()
    for _ in range(5):
        work()
        asyncio.run(waits())
    after = measure()
    assert abs(after - before) < 60, (before, after)
    print("references", "counted" if total else "by objects", before, after)


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("ok  ", name, flush=True)


if __name__ == "__main__":
    main()
