# SPDX-License-Identifier: MIT
"""PROFILE documents made up of a few figures, for tests of what is made from documents."""

WINDOW_S = 2.0


def interval(avg=0.0, samples=0, worst=None, **more):
    top = avg if worst is None else worst
    return {"avg_ms": avg, "max_ms": top, "samples": samples, "p50_ms": avg, "p90_ms": top,
            "p99_ms": top, "min_ms": avg, **more}


class Made:
    """m = Made(); a = m.publisher("A", blocked=0.9); m.subscriber(a, "sink", process=10.0)"""

    def __init__(self, window=WINDOW_S, host="here"):
        self.window, self.host, self.ids = window, host, 0
        self.document = {
            "window_s": window, "publishers": [], "channels": [], "schema": "ezprof.profile/1",
            "tool": "ezprof-bpf", "tool_version": "0", "clock": "CLOCK_MONOTONIC", "host": host,
            "time_ns": 10**12, "time_unix_s": 1.7e9, "lost": 0, "errors": [],
            "agents": [{"pid": 1, "host": host, "attached": [], "tasks": [], "endpoints": 0,
                        "lost": 0, "cost": {}}],
        }

    def number(self):
        self.ids += 1
        return f"00000000-0000-0000-0000-{self.ids:012x}"

    def endpoint(self, rate, **more):
        count = round(rate * self.window)
        return {"message_rate_hz": rate, "source": "bpf", "lost": 0, "lost_exact": True,
                "messages": {"total": count, "window": count},
                "bytes": {"total": count * 100, "window": count * 100},
                "measured": {"messages": count, "bytes": count * 100},
                "window": {"requested_s": self.window, "covered_s": self.window},
                "warming_up": False, "oldest_lease_ms": None, "disconnects": 0, "unmatched": 0,
                "task": None, **more}

    def publisher(self, topic, pid=100, rate=100.0, blocked=0.0, buffers=32, in_flight=0, **more):
        count = round(rate * self.window)
        made = self.endpoint(
            rate, type="publisher", id=self.number(), topic=topic, pid=pid, host=self.host,
            num_buffers=buffers, byte_rate_per_s=rate * 100, handle=topic, unsized_messages=0,
            backpressure={**interval(), "in_flight": in_flight},
            blocked={"time_ms": blocked * self.window * 1000, "share": blocked, "samples": count,
                     "max_ms": 10.0, "now_ms": None, "total_ms": 1.0},
            gap=interval(1000 / rate if rate else 0.0, count, longest_ms=1000 / rate if rate else
                         None, longest_at_ns=10**12 - 10**9, now_ms=None),
            lease=interval(), links=[])
        made.update(more)
        self.document["publishers"].append(made)
        return made

    def subscriber(self, publisher, handle, pid=200, process=1.0, queue=0.0, rate=None, topic=None,
                   in_flight=0, mode="shm", host=None, channel=None, **more):
        rate = publisher["message_rate_hz"] if rate is None else rate
        count = round(rate * self.window)
        if channel is None:
            channel = self.channel(publisher, pid, mode, host)
        made = self.endpoint(
            rate, subscriber_id=self.number(), handle=handle, topic=topic or publisher["topic"],
            in_flight=in_flight, queue=interval(queue, count), drops={"total": 0},
            processing=interval(process, count, now_ms=None, sched=None),
            gap=interval(1000 / rate if rate else 0.0, count, now_ms=None, longest_ms=None,
                         longest_at_ns=None),
            avg_ms=process + queue, max_ms=process + queue, samples=count)
        made.update(more)
        channel["subscribers"].append(made)
        return made

    def channel(self, publisher, pid, mode="shm", host=None):
        made = {"type": "channel", "channel_id": self.number(), "pub_id": publisher["id"],
                "pid": pid, "num_buffers": publisher["num_buffers"], "topic": publisher["topic"],
                "mode": mode, "window_s": self.window, "in_flight": 0, "subscribers": [],
                "source": "bpf", "host": host or self.host, "warming_up": False,
                "window": {"requested_s": self.window, "covered_s": self.window},
                "messages": {"total": 1}, "bytes": {"total": 100}}
        self.document["channels"].append(made)
        publisher["links"].append(
            {"channel_id": made["channel_id"], "pid": pid, "transport": mode, **interval(1.0, 10),
             "in_flight": 0, "oldest_lease_ms": None, "disconnects": 0})
        return made

    def task(self, name, pid, calls=100, busy=1.0, hold=1.0, hold_max=0.1):
        made = {"task": name, "pid": pid, "calls": calls, "busy_ms": busy, "blocked_ms": 0.0,
                "hold_ms": hold, "hold_max_ms": hold_max, "hold_max_at_ns": 10**12,
                "hold_now_ms": None}
        self.document["agents"][0]["tasks"].append(made)
        return made
