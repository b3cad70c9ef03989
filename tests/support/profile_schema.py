# SPDX-License-Identifier: MIT
"""profile_schema.py [--ours] FILE...: does a PROFILE document have the keys and types it must have?

One check for the documents of ezmsg's pull request 206 and for ours: PR206's keys with their
types are demanded of both; --ours also demands what docs/profile-json.md adds. FILE `-` = stdin.
A FILE with several documents, as the captures have them ({name: {"json": document}}), is looked
through. Keys that nobody knows are left alone.
"""
import json
import math
import re
import sys

FLOAT, INT, STR, BOOL, LIST, OBJECT = "float", "int", "str", "bool", "list", "object"


def or_null(kind):
    return (kind, "null")


COUNTS = {"total": INT, "window": INT}
TIMES = {"avg_ms": FLOAT, "max_ms": FLOAT, "samples": INT}

# What pull request 206 has, PROTOCOL.md section 12.
TOP = {"window_s": FLOAT, "publishers": LIST, "channels": LIST}
PUBLISHER = {
    "window_s": FLOAT, "message_rate_hz": FLOAT, "byte_rate_per_s": FLOAT,
    "messages": COUNTS, "bytes": COUNTS, "backpressure": {**TIMES, "in_flight": INT},
    "type": STR, "id": STR, "topic": STR, "pid": INT, "num_buffers": INT,
}
CHANNEL = {
    "window_s": FLOAT, "subscribers": LIST, "in_flight": INT, "type": STR, "channel_id": STR,
    "pub_id": STR, "pid": INT, "num_buffers": INT, "mode": STR, "topic": STR,
}
SUBSCRIBER = {
    "subscriber_id": STR, "handle": or_null(STR), **TIMES, "message_rate_hz": FLOAT,
    "in_flight": INT,
}

# What ours add.
NEW_TIMES = {"avg_ms": or_null(FLOAT), "max_ms": or_null(FLOAT), "samples": or_null(INT),
             "p50_ms": or_null(FLOAT), "p99_ms": or_null(FLOAT), "min_ms": or_null(FLOAT)}
NEW_TIMES_P90 = {**NEW_TIMES, "p90_ms": or_null(FLOAT)}
PROCESSING = {**NEW_TIMES_P90, "now_ms": or_null(FLOAT), "sched": or_null(OBJECT)}
SCHED = {"time_ms": FLOAT, "on_cpu_ms": FLOAT, "runnable_ms": FLOAT, "blocked_ms": FLOAT,
         "other_ms": FLOAT}
SCHED_COST = {"hits": INT, "hits_per_s": or_null(FLOAT), "ns_per_hit": or_null(FLOAT),
              "cpu_share": or_null(FLOAT), "losses": OBJECT}
GAP = {**NEW_TIMES, "now_ms": or_null(FLOAT), "longest_ms": or_null(FLOAT),
       "longest_at_ns": or_null(INT)}
WINDOW = {"requested_s": FLOAT, "covered_s": or_null(FLOAT), "begin_ns": or_null(INT),
          "end_ns": or_null(INT)}
MEASURED = {"messages": or_null(INT), "bytes": or_null(INT)}
ENDPOINT_OURS = {"source": STR, "window": WINDOW, "warming_up": or_null(BOOL)}
COUNTED_OURS = {**ENDPOINT_OURS, "measured": MEASURED, "lost": or_null(INT),
                "lost_exact": or_null(BOOL), "oldest_lease_ms": or_null(FLOAT),
                "disconnects": INT, "unmatched": or_null(INT), "task": or_null(STR)}
TOP_OURS = {
    "schema": STR, "tool": STR, "tool_version": STR, "clock": STR, "host": STR, "time_ns": INT,
    "time_unix_s": FLOAT, "agents": LIST, "lost": or_null(INT), "errors": LIST,
}
LINK_OURS = {
    "channel_id": STR, "pid": or_null(INT), "transport": STR, "avg_ms": or_null(FLOAT),
    "max_ms": or_null(FLOAT), "samples": or_null(INT), "in_flight": INT,
    "oldest_lease_ms": or_null(FLOAT), "disconnects": INT,
}
PUBLISHER_OURS = {
    **COUNTED_OURS, "host": STR, "handle": or_null(STR),
    "blocked": {"time_ms": or_null(FLOAT), "share": or_null(FLOAT), "samples": or_null(INT),
                "max_ms": or_null(FLOAT), "now_ms": or_null(FLOAT), "total_ms": or_null(FLOAT),
                "sched": or_null(OBJECT)},
    "gap": GAP, "lease": NEW_TIMES_P90, "unsized_messages": INT, "links": LIST,
}
CHANNEL_OURS = {**ENDPOINT_OURS, "host": STR, "messages": {"total": INT}, "bytes": {"total": INT}}
SUBSCRIBER_OURS = {
    **COUNTED_OURS, "topic": STR, "messages": COUNTS, "bytes": COUNTS, "queue": NEW_TIMES_P90,
    "processing": PROCESSING, "gap": GAP, "drops": {"total": INT},
}
AGENT_OURS = {
    "pid": INT, "opener_pid": or_null(INT), "host": STR, "tool_version": STR, "attached": LIST, "attached_ns": INT,
    "probes": STR, "link": STR, "endpoints": INT, "losses": OBJECT, "lost": or_null(INT),
    "cost": {"hits": INT, "hits_per_s": or_null(FLOAT), "ns_per_hit": or_null(FLOAT),
             "agent_cpu_share": or_null(FLOAT), "probes_cpu_share": or_null(FLOAT),
             "sched": or_null(OBJECT),
             "map_bytes": INT},
}
ATTACHED_OURS = {"pid": INT, "comm": STR, "start_time": INT, "state": STR, "exited_ns": or_null(INT)}
ERROR_OURS = {"who": STR, "id": or_null(STR), "topic": or_null(STR), "pid": or_null(INT),
              "host": or_null(STR), "reason": STR, "detail": STR}

VALUES = {
    "mode": {"unknown", "local", "shm", "tcp"},
    "transport": {"unknown", "local", "shm", "tcp"},
    "source": {"bpf", "process", "ezmsg"},
    "state": {"attached", "exited"},
    "who": {"publisher", "channel", "agent", "process", "server"},
    "reason": {"timeout", "died", "bad_json", "bad_answer", "late", "unreadable", "hostile",
               "incomplete"},
    "probes": {"window", "boundary", "both"},
    "link": {"uprobe_multi", "perf_event"},
}


def kind_of(value):
    if value is None:
        return "null"
    return {bool: BOOL, int: INT, float: FLOAT, str: STR, list: LIST, dict: OBJECT}[type(value)]


def check_value(value, want, where):
    if isinstance(want, dict):
        if kind_of(value) != OBJECT:
            yield f"{where} is {kind_of(value)}, not object"
            return
        yield from check_keys(value, want, where)
        return
    allowed = want if isinstance(want, tuple) else (want,)
    if kind_of(value) not in allowed:
        yield f"{where} is {kind_of(value)}, not {' or '.join(allowed)}"
    elif isinstance(value, float) and (not math.isfinite(value) or value < 0):
        yield f"{where} is {value}"
    elif isinstance(value, int) and value < 0:
        yield f"{where} is {value}"


def check_keys(value, keys, where):
    for key, want in keys.items():
        if key not in value:
            yield f"{where}.{key} is missing"
            continue
        yield from check_value(value[key], want, f"{where}.{key}")
        known = VALUES.get(key)
        if known and isinstance(value[key], str) and value[key] not in known:
            yield f"{where}.{key} is {value[key]!r}"


def check_list(values, keys, where):
    for number, value in enumerate(values):
        yield from check_value(value, keys, f"{where}[{number}]")


def check_sched(value, key, where):
    """An object or null, whose parts add up."""
    sched = value.get(key, {}).get("sched") if isinstance(value, dict) else None
    if sched is None:
        return
    yield from check_keys(sched, SCHED, f"{where}.{key}.sched")
    parts = sum(sched[part] for part in SCHED if part != "time_ms")
    if abs(parts - sched["time_ms"]) > 1e-6 * (1 + sched["time_ms"]):
        yield f"{where}.{key}.sched: {parts} ms of {sched['time_ms']}"


def check_bins(value, keys, where):
    """Where a distribution is told: bins ascending, and as many samples as there are."""
    for key in keys:
        timing = value.get(key) if isinstance(value, dict) else None
        if not isinstance(timing, dict) or "bins" not in timing:
            continue
        if not re.fullmatch(r"(\d+:[1-9]\d*( \d+:[1-9]\d*)*)?", timing["bins"]):
            yield f"{where}.{key}.bins is {timing['bins']!r}"
            continue
        bins = [tuple(map(int, one.split(":"))) for one in timing["bins"].split()]
        if bins != sorted(set(bins)):
            yield f"{where}.{key}.bins aren't in order: {timing['bins']}"
        if sum(samples for _, samples in bins) != timing["samples"]:
            yield f"{where}.{key}.bins: {timing['bins']} are not {timing['samples']} samples"


def check_channel(channel, ours, where):
    yield from check_value(channel, {**CHANNEL, **(CHANNEL_OURS if ours else {})}, where)
    subscriber = {**SUBSCRIBER, **(SUBSCRIBER_OURS if ours else {})}
    if isinstance(channel, dict):
        yield from check_list(channel.get("subscribers") or [], subscriber, f"{where}.subscribers")
        for entry in (channel.get("subscribers") or []) if ours else []:
            yield from check_sched(entry, "processing", f"{where}.subscribers")
            yield from check_bins(entry, ("queue", "processing"), f"{where}.subscribers")


def check_publisher(publisher, ours, where):
    yield from check_value(publisher, {**PUBLISHER, **(PUBLISHER_OURS if ours else {})}, where)
    if ours and isinstance(publisher, dict):
        yield from check_sched(publisher, "blocked", where)
        yield from check_bins(publisher, ("lease",), where)
        yield from check_list(publisher.get("links") or [], LINK_OURS, f"{where}.links")


def check(document, ours):
    """Yields what is wrong, a line each. What ezmsg tells by itself may be null everywhere."""
    lines = check_document(document, ours)
    if isinstance(document, dict) and document.get("source") == "ezmsg":
        lines = (line for line in lines if " is null, not " not in line)
    yield from lines


def check_document(document, ours):
    if kind_of(document) != OBJECT:
        yield f"the document is {kind_of(document)}"
        return
    yield from check_keys(document, {**TOP, **(TOP_OURS if ours else {})}, "document")
    for number, publisher in enumerate(document.get("publishers") or []):
        yield from check_publisher(publisher, ours, f"publishers[{number}]")
    for number, channel in enumerate(document.get("channels") or []):
        yield from check_channel(channel, ours, f"channels[{number}]")
    if ours:
        yield from check_list(document.get("agents") or [], AGENT_OURS, "agents")
        yield from check_list([agent["cost"]["sched"] for agent in document.get("agents") or []
                               if agent["cost"]["sched"]], SCHED_COST, "agents.cost.sched")
        for number, agent in enumerate(document.get("agents") or []):
            yield from check_list(agent.get("attached") or [], ATTACHED_OURS,
                                  f"agents[{number}].attached")
        yield from check_list(document.get("errors") or [], ERROR_OURS, "errors")


def refuse(name):
    raise ValueError(f"{name} is no JSON")


def load(text):
    """json.loads that refuses NaN and infinities."""
    return json.loads(text, parse_constant=refuse)


def documents_of(value, name):
    if "publishers" in value:
        yield name, value
        return
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from documents_of(inner, f"{name}:{key}")


def main(arguments):
    ours = "--ours" in arguments
    seen = bad = 0
    for path in (argument for argument in arguments if argument != "--ours"):
        with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
            value = load(file.read())
        for name, document in documents_of(value, path):
            seen += 1
            for line in check(document, ours):
                bad += 1
                print(f"{name}: {line}")
    print(f"{seen} documents, {bad} faults")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
