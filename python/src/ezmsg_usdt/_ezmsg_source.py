# SPDX-License-Identifier: MIT
"""A graph that nobody prepared: what ezmsg 3.9.0 and later tell by themselves.

The session snapshot says who is there, the trace stream what passes. Tracing is switched on only
where no other observer has it on, and ends by itself (time to live) rather than by a command, which
would end another one's as well. ezmsg's own metric snapshots are not asked: each of them begins a
new window for everybody.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from typing import Any

LISTEN_FIRST_S = 0.3
STREAM_INTERVAL_S = 0.05
TRACE_MARGIN_S = 0.1
STREAM_MAX_SAMPLES = 100_000
HINT = ("Instrumenting (EZPROF_USDT=1, then sudo ezprof-bpf attach PID) adds bytes, leases in flight, "
        "queue time apart from processing, drops, percentiles and losses.")


def _seconds_to_ms(samples: list[float]) -> dict[str, Any]:
    if not samples:
        return {"avg_ms": None, "max_ms": None, "samples": 0}
    return {"avg_ms": sum(samples) / len(samples) / 1e6, "max_ms": max(samples) / 1e6,
            "samples": len(samples)}


class _Endpoint:
    def __init__(self, endpoint_id: str, topic: str, pid: int, host: str) -> None:
        self.id = endpoint_id.rpartition(":")[2]
        self.topic, self.pid, self.host = topic, pid, host
        self.transport: str | None = None
        self.values: dict[str, list[float]] = {}
        self.tasks: dict[str, list[float]] = {}

    def add(self, sample: Any) -> None:
        self.values.setdefault(sample.metric, []).append(sample.value)
        if sample.metric == "user_span_ns" and sample.topic.startswith(f"{self.topic}:"):
            self.tasks.setdefault(sample.topic[len(self.topic) + 1:], []).append(sample.value)
        if sample.channel_kind is not None:
            self.transport = sample.channel_kind.value.lower()

    def count(self, metric: str) -> int:
        return len(self.values.get(metric, ()))

    def times(self, metric: str) -> dict[str, Any]:
        return _seconds_to_ms(self.values.get(metric, []))


class _Traces:
    """Endpoints by what their samples say, with the window that they cover."""

    def __init__(self) -> None:
        self.host = socket.gethostname()
        self.publishers: dict[str, _Endpoint] = {}
        self.subscribers: dict[str, _Endpoint] = {}

    def add(self, batch: Any, since_ns: int, is_first: bool) -> int:
        """The server sends what it still has first: that is older than the window."""
        count = 0
        for process in batch.batches.values():
            here = process.host == self.host
            for sample in process.samples:
                if sample.timestamp < since_ns if here else is_first:
                    continue
                publishes = sample.metric in ("publish_delta_ns", "backpressure_wait_ns")
                table = self.publishers if publishes else self.subscribers
                topic = sample.endpoint_id.rpartition(":")[0] or sample.topic
                endpoint = table.get(sample.endpoint_id)
                if endpoint is None:
                    endpoint = _Endpoint(sample.endpoint_id, topic, process.pid, process.host)
                    table[sample.endpoint_id] = endpoint
                endpoint.add(sample)
                count += 1
        return count


async def _listen(context: Any, traces: _Traces, seconds: float) -> int:
    from ezmsg.core.graphmeta import ProfilingStreamControl

    control = ProfilingStreamControl(interval=STREAM_INTERVAL_S, max_samples=STREAM_MAX_SAMPLES)
    stream = context.subscribe_profiling_trace(control)
    since_ns, is_first = time.perf_counter_ns(), True  # ezmsg's clock for its samples
    count, end = 0, time.monotonic() + seconds
    try:
        while (left := end - time.monotonic()) > 0:
            batch = await asyncio.wait_for(stream.__anext__(), left)
            count += traces.add(batch, since_ns, is_first)
            is_first = False
    except (asyncio.TimeoutError, StopAsyncIteration):
        pass
    finally:
        await stream.aclose()
    return count


async def _start_tracing(context: Any, processes: Any, seconds: float) -> list[str]:
    """Returns the processes that refused or can't be reached."""
    from ezmsg.core.graphmeta import ProfilingTraceControl

    deaf = []
    for process in processes:
        if not process.units:
            deaf.append(f"pid {process.pid}: no unit to reach it by")
            continue
        control = ProfilingTraceControl(enabled=True, ttl_seconds=seconds)
        try:
            answer = await context.process_set_profiling_trace(process.units[0], control)
            if not answer.ok:
                deaf.append(f"pid {process.pid}: {answer.error}")
        except Exception as error:
            deaf.append(f"pid {process.pid}: {error}")
    return deaf


def _publisher(endpoint: _Endpoint, covered_s: float) -> dict[str, Any]:
    messages = endpoint.count("publish_delta_ns")
    return {
        "type": "publisher", "id": endpoint.id, "topic": endpoint.topic, "pid": endpoint.pid,
        "host": endpoint.host, "source": "ezmsg", "num_buffers": None, "handle": None,
        "task": None, "messages": {"total": None, "window": messages},
        "bytes": {"total": None, "window": None}, "byte_rate_per_s": None,
        "message_rate_hz": messages / covered_s, "backpressure": None, "lost": None,
        "gap": endpoint.times("publish_delta_ns"),
        "blocked": {**endpoint.times("backpressure_wait_ns"),
                    "time_ms": sum(endpoint.values.get("backpressure_wait_ns", ())) / 1e6},
    }


def _channel(endpoint: _Endpoint, covered_s: float) -> dict[str, Any]:
    messages = max(endpoint.count("lease_time_ns"), endpoint.count("user_span_ns"))
    subscriber = {
        "subscriber_id": endpoint.id, "topic": endpoint.topic, "handle": endpoint.topic,
        "task": ", ".join(endpoint.tasks) or None, "source": "ezmsg",
        "messages": {"total": None, "window": messages},
        "message_rate_hz": messages / covered_s, "in_flight": None, "queue": None,
        "processing": endpoint.times("user_span_ns"), "lease": endpoint.times("lease_time_ns"),
        "tasks": {name: _seconds_to_ms(spans) for name, spans in endpoint.tasks.items()},
        "drops": None, "lost": None,
    }
    return {
        "type": "channel", "channel_id": None, "pub_id": None, "topic": None, "in_flight": None,
        "pid": endpoint.pid, "host": endpoint.host, "num_buffers": None, "source": "ezmsg",
        "mode": endpoint.transport or "unknown", "subscribers": [subscriber],
    }


def _frame(window_s: float, covered_s: float | None, graph: Any) -> dict[str, Any]:
    return {
        "window_s": window_s, "publishers": [], "channels": [], "schema": "ezprof.profile/1",
        "tool": "ezmsg_usdt", "source": "ezmsg", "host": socket.gethostname(),
        "time_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC), "clock": "CLOCK_MONOTONIC",
        "time_unix_s": time.time(), "agents": [], "lost": None, "errors": [],
        "window": {"requested_s": window_s, "covered_s": covered_s},
        "graph": {topic: sorted(to) for topic, to in graph.items()}, "hint": HINT,
    }


async def _graph_only(window_s: float, address: Any) -> dict[str, Any]:
    from ezmsg.core.graphserver import GraphService

    dag = await GraphService(address).dag()
    document = _frame(window_s, None, dag.graph)
    document["hint"] = "This ezmsg tells its graph and no more; profiling needs 3.9.0, or: " + HINT
    return document


async def document(window_s: float, where: str | None) -> dict[str, Any]:
    """Raises ProfileError where no graph server answers."""
    from ._profile import ProfileError

    try:
        from ezmsg.core.graphcontext import GraphContext
        from ezmsg.core.netprotocol import Address
    except ImportError:
        raise ProfileError("no agent measures a graph here, and ezmsg is not installed either")
    address = Address.from_string(where) if where else None
    try:
        if not hasattr(GraphContext, "subscribe_profiling_trace"):
            return await _graph_only(window_s, address)
        async with GraphContext(address, auto_start=False) as context:
            return await _traced(context, window_s)
    except OSError as error:
        raise ProfileError(f"no graph server at {where or 'the default address'}: {error}")


async def _traced(context: Any, window_s: float) -> dict[str, Any]:
    snapshot = await context.snapshot()
    traces, deaf, before = _Traces(), [], time.monotonic()
    if await _listen(context, traces, LISTEN_FIRST_S):
        print("ezmsg_usdt: another observer traces this graph; listening to the same stream",
              file=sys.stderr)
        await _listen(context, traces, max(0.0, window_s - LISTEN_FIRST_S))
    else:
        deaf = await _start_tracing(context, snapshot.processes.values(),
                                    window_s + TRACE_MARGIN_S)
        before = time.monotonic()
        await _listen(context, traces, window_s)
    covered_s = time.monotonic() - before
    await asyncio.sleep(2 * TRACE_MARGIN_S)  # until ours has ended: the next one starts afresh
    made = _frame(window_s, covered_s, snapshot.graph)
    made["publishers"] = [_publisher(e, covered_s) for e in traces.publishers.values()]
    made["channels"] = [_channel(e, covered_s) for e in traces.subscribers.values()]
    made["processes"] = [{"pid": p.pid, "host": p.host, "units": list(p.units)}
                         for p in snapshot.processes.values()]
    made["errors"] = [{"who": "process", "id": None, "topic": None, "pid": None, "host": None,
                       "reason": "bad_answer", "detail": text} for text in deaf]
    print(f"ezmsg_usdt: no agent is attached; this is what ezmsg tells by itself. {HINT}",
          file=sys.stderr)
    return made
