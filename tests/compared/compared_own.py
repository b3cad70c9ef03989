# SPDX-License-Identifier: MIT
"""What ezmsg 3.9.0 and later tell of a graph by themselves, by its Python interface, which is the only one:
`python compared_own.py HOST:PORT SECONDS`. Two snapshots, and in between a trace of everything.
"""

import asyncio
import json
import statistics
import sys

from ezmsg.core.graphcontext import GraphContext
from ezmsg.core.graphmeta import ProfilingStreamControl, ProfilingTraceControl


async def trace(context, seconds, found):
    async for batch in context.subscribe_profiling_trace(ProfilingStreamControl(max_samples=5000)):
        for process in batch.batches.values():
            for sample in process.samples:
                found.setdefault(f"{sample.topic} {sample.metric}", []).append(sample.value)


async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    seconds, found = float(sys.argv[2]), {}
    async with GraphContext((host, int(port))) as context:
        graph = await context.snapshot()
        await context.profiling_snapshot_all()
        for process in graph.processes.values():
            if process.units:
                await context.process_set_profiling_trace(
                    process.units[0], ProfilingTraceControl(enabled=True, ttl_seconds=seconds + 1))
        try:
            await asyncio.wait_for(trace(context, seconds, found), seconds)
        except asyncio.TimeoutError:
            pass
        snapshot = await context.profiling_snapshot_all()
    publishers = {p.topic: {"rate_hz": round(p.publish_rate_hz_window, 1), "in_flight": p.inflight_messages_current}
                  for process in snapshot.values() for p in process.publishers.values()}
    received = {s.topic: s.messages_received_total for process in snapshot.values()
                for s in process.subscribers.values()}
    print(json.dumps({"publishers": publishers, "received": received,
                      "mean_ms": {key: [round(statistics.mean(values) / 1e6, 3), len(values)]
                                  for key, values in sorted(found.items())}}))


asyncio.run(main())
