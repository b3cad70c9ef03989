# SPDX-License-Identifier: MIT
"""What ezmsg-dashboard's server tells its page: `python compared_dashboard.py PORT SECONDS`. The page draws that; there is
no screen here, so this asks as it does: the snapshot, a trace of each subscriber's time, the events.
"""

import asyncio
import json
import statistics
import sys
import urllib.request

import websockets


def ask(port, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data,
                                     {"Content-Type": "application/json"} if data else {})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def samples_of(value):
    if isinstance(value, dict):
        if "metric" in value and "topic" in value:
            yield value
        for inner in value.values():
            yield from samples_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from samples_of(inner)


async def listen(port, found):
    async with websockets.connect(f"ws://127.0.0.1:{port}/ws/events", max_size=1 << 26) as link:
        async for text in link:
            for sample in samples_of(json.loads(text)):
                found.setdefault(f"{sample['topic']} {sample['metric']}", []).append(sample["value"])


async def main():
    port, seconds, found = int(sys.argv[1]), float(sys.argv[2]), {}
    snapshot = ask(port, "/api/snapshot")
    for process, content in snapshot["snapshot"]["processes"].items():
        if content.get("units"):
            ask(port, "/api/profiling/trace-control",
                {"process_id": process, "enabled": True, "publisher_topic": "SRC/OUTPUT", "ttl_seconds": seconds + 1,
                 "metrics": ["publish_delta_ns", "backpressure_wait_ns", "lease_time_ns", "user_span_ns"]})
    try:
        await asyncio.wait_for(listen(port, found), seconds)
    except asyncio.TimeoutError:
        pass
    print(json.dumps({"keys": sorted(snapshot), "mean_ms": {
        key: [round(statistics.mean(values) / 1e6, 3), len(values)] for key, values in sorted(found.items())}}))


asyncio.run(main())
