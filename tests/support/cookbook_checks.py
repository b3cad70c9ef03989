# SPDX-License-Identifier: MIT
"""What each script of docs/bpftrace/ says against what is true: one function per script, (output, truth).

Counts are exact. A time may differ from the recording's by what lies between two readings of the clock: much
where a process was stopped just there, so a few of many may (`outliers`), and the others by a tenth at most.
"""

import re
from collections import Counter

import cookbook_graph as graph

MS, US = 1_000_000, 1000
READINGS_NS = 100_000  # between two readings of the clock for the same event, with all scripts listening
LIMIT_HELD_MS = 10


def outliers(count):
    return 3 + count // 33


def same(found, expected, out):
    assert found == expected, (out.name, found, expected, out.text)


def within(low, value, high, out, what=""):
    assert low <= value <= high, (out.name, what, low, value, high, out.text)


def same_shape(buckets, values, out, what, slack=0.0, more=0):
    """
    A histogram's counts against the values themselves: as many in all, or up to so many more, and as many
    beyond each boundary.
    """
    within(len(values), sum(buckets.values()), len(values) + more, out, what)
    for boundary in buckets:
        beyond = sum(count for lower, count in buckets.items() if lower >= boundary)
        margin = boundary / 10 + slack
        low = sum(value >= boundary + margin for value in values) - outliers(len(values))
        high = sum(value >= boundary - margin for value in values) + outliers(len(values)) + more
        within(low, beyond, high, out, (what, boundary))


def same_times(histograms, lengths_ns, out, what, more=0):
    """Histograms of microseconds, by key; every recorded one must be there."""
    for key, lengths in lengths_ns.items():
        assert key in histograms or not lengths, (out.name, key, out.text)
        if lengths:
            same_shape(histograms[key], [ns / US for ns in lengths], out, (what, key), READINGS_NS / US, more)


def each_second(out):
    """What is printed each second, [(the clock, lines)], and that it is each second."""
    found = [(m[1], m[2].splitlines()) for m in re.finditer(
        r"^(\d\d:\d\d:\d\d) .*in the last second, by \w+ and pid:\n((?:@.*\n|\n)*)", out.text, re.M)]
    seconds = [sum(int(n) * unit for n, unit in zip(clock.split(":"), (3600, 60, 1))) for clock, _ in found]
    passed = (seconds[-1] - seconds[0]) % 86400
    # bpftrace comes to printing late on a busy machine; both ends may be off by that.
    assert len(found) >= 6 and abs(passed - (len(found) - 1)) <= 2, (out.name, seconds)
    return found


def now_each_second(out):
    """[(ms, {keys: value})] of what begins with the time since the script began. That is the kernel's."""
    parts = re.split(r"^now is (\d+) ms; by .*:\n", out.text, flags=re.M)
    found = [(int(now), {tuple(m[1].split(", ")): int(m[2]) for m in
                         re.finditer(r"^@\w+_ms\[(.*)\]: (\d+)$", text, re.M)})
             for now, text in zip(parts[1::2], parts[2::2])]
    assert len(found) >= 6, out.text
    within(1000 * (len(found) - 2), found[-1][0] - found[0][0], 1000 * len(found), out, "each second")
    within(0, found[0][0], 60_000, out, "now")
    return found


def rates(out, truth):
    each_second(out)
    for place, name in enumerate(("messages", "bytes")):
        found = Counter()
        for what, key, value in out.values:
            assert what in (f"{name}_odd", f"{name}_even") or not what.startswith(name), out.text
            found += Counter({key: value}) if what.startswith(name) else Counter()
        same(dict(found), {key: counts[place] for key, counts in truth.published.items()}, out)


def sizes(out, truth):
    """Not by pid."""
    expected, largest = {}, {}
    for (topic, _), (messages, content) in truth.published.items():
        size = content // messages
        buckets = expected.setdefault((topic,), {})
        lower = 1 << (size.bit_length() - 1)
        buckets[lower] = buckets.get(lower, 0) + messages
        largest[topic,] = max(size, largest.get((topic,), 0))
    found = {keys: {lower: n for lower, n in buckets.items() if n} for keys, buckets in out.histograms("bytes").items()}
    same(found, expected, out)
    same(out.map("largest"), largest, out)


def missed(out, truth):
    messages = {key: counts[0] for key, counts in truth.published.items()}
    same(out.map("published_total"), messages, out)
    same(out.map("seen"), messages, out)
    same(out.map("missed"), dict.fromkeys(messages, 0), out)


def missed_late(out, truth):
    """The script that hears nothing of the first hundred messages."""
    messages = {key: counts[0] for key, counts in truth.published.items() if counts[0] > 100}
    same(out.map("published_total"), messages, out)
    same(out.map("seen"), {key: count - 100 for key, count in messages.items()}, out)
    same(out.map("missed"), dict.fromkeys(messages, 0), out)


def missed_with_loss(out, truth):
    """The script with every tenth hit taken away."""
    seen = {key: counts[0] - counts[0] // 10 for key, counts in truth.published.items()}
    same(out.map("seen"), seen, out)
    # The first it can't know of, nor the last.
    expected = {key: counts[0] - seen[key] - (counts[0] % 10 == 0) for key, counts in truth.published.items()}
    same(out.map("missed"), expected, out)


def gaps(out, truth):
    """Bursts of ten at 50 Hz: a pause of 0.2 s before every tenth message."""
    listed = {}
    for m in re.finditer(r"^\d\d:\d\d:\d\d (\S+) \(pid (\d+)\): nothing for (\d+) ms before message (\d+)$",
                         out.text, re.M):
        listed.setdefault((m[1], m[2]), {})[int(m[4])] = int(m[3])
    same(out.map("gaps"), {key: len(found) for key, found in listed.items()}, out)
    same(out.map("longest_ms"), {key: max(found.values()) for key, found in listed.items()}, out)
    for topic in truth.topics():
        real = truth.gaps_ms(topic)
        found = next((found for key, found in listed.items() if key[0] == topic), {})
        surely = {message for message, ms in real.items() if ms > truth.gap_limit_ms + 5}
        perhaps = {message for message, ms in real.items() if ms > truth.gap_limit_ms - 5}
        few = truth.gaps_off * outliers(len(real))
        assert len(surely - set(found)) <= few and len(set(found) - perhaps) <= few, (topic, found, surely, perhaps)
        off = [message for message, ms in found.items() if abs(ms - real[message]) > 5 + real[message] / 50]
        assert len(off) <= few, (topic, off, found, real)
        assert topic != "beat" or len(surely) >= graph.BEATS // graph.BURST // 2, (surely, real)


def blocked(out, truth):
    each, total, longest = out.histograms("each_us"), out.map("total_us"), out.map("longest_us")
    same({key: sum(buckets.values()) for key, buckets in each.items()}, out.map("waits"), out)
    same(set(total), set(each), out)
    for topic in truth.topics():
        waits, key = truth.lengths_ns(topic, "blocked"), next(k for k in truth.published if k[0] == topic)
        if not waits:
            assert key not in each, out.text
            continue
        # A node gives up after 50 ms and begins anew; to the recording that is one wait.
        same_times(each, {key: waits}, out, "each_us", sum(ns // graph.GIVES_UP_NS for ns in waits))
        assert topic not in truth.pid or 0.99 * sum(waits) <= truth.blocked_ns(topic) <= sum(waits), topic
        within(sum(waits) / US * 0.98, total[key], sum(waits + [READINGS_NS] * len(waits)) / US, out, "total_us")
        within(min(max(waits), graph.GIVES_UP_NS) / US * 0.98, longest[key], max(waits) / US * 1.1 + 50_000,
               out, "longest_us")
    for now, since in now_each_second(out):
        for key, ms in since.items():
            within(now - longest.get(key, 0) / 1000 - 1000, ms, now + 1000, out, ("waiting_since_ms", key))
    blocked_stuck(out, truth, each, total)


def blocked_stuck(out, truth, each, total):
    """It looks up from its endless wait every 50 ms."""
    for key in [key for key in truth.published if key[0] == "stuck"]:
        buckets = each[key]
        assert not sum(n for lower, n in buckets.items() if lower < 32768), out.text
        within(max(50_000 * sum(buckets.values()), truth.blocked_ns("stuck") / US), total[key],
               truth.life_ms("stuck") * 1000, out, "stuck")
        assert any(key in since for _, since in now_each_second(out)), out.text


def blockers(out, truth):
    """And in all what blocked.bt says."""
    found = out.map("waited_us")
    for topic, handles in (("samples", ("samples", "worker-fast", "worker-slow", "starter")),
                           ("beat", ("viewer", "computer", "starter"))):
        waits, real = truth.lengths_ns(topic, "blocked"), truth.blockers_ms(topic, handles)
        total = sum(value for keys, value in found.items() if keys[0] == topic)
        within(sum(waits) / US * 0.97, total, sum(waits + [READINGS_NS] * len(waits)) / US, out, topic)
        for handle in handles:
            ms = found.get((topic, handle, truth.pid[handle]), 0) / 1000
            within(real[handle] - total / 10_000 - 1, ms, real[handle] + total / 10_000 + 1, out, (topic, handle))


def subscribers(out, truth):
    processing, queued = out.histograms("processing_us"), out.histograms("queue_us")
    for histograms in (processing, queued):
        same({key: sum(buckets.values()) for key, buckets in histograms.items()}, dict(truth.taken), out)
    for name, histograms, kind in (("processing", processing, "process"), ("queue", queued, "queue")):
        same_times(histograms, {(handle, truth.pid[handle]): truth.lengths_ns(handle, kind)
                                for handle in truth.handles()}, out, name)


def slowest(out, truth):
    """The last line of each second is the busiest. Who is not among five isn't there."""
    seconds = each_second(out)
    for _, lines in seconds:
        values = [int(line.split()[-1]) for line in lines if line]
        assert values == sorted(values) and len(values) <= 5, out.text
    for handle in truth.heard(("worker-slow", "worker-fast", "viewer", "computer")):
        busy_as_long(out, seconds, (handle, truth.pid[handle]), truth.lengths_ns(handle, "process"))


def busy_as_long(out, seconds, key, lengths_ns, least=0.98):
    """Each second's is cut to whole milliseconds."""
    found = [ms for name in ("busy_odd", "busy_even") for ms in out.all(name, *key)]
    real_ms = sum(lengths_ns) / MS
    # Where five others were busier it was busy as long as the fifth at most.
    others = sum(int(lines[0].split()[-1]) for _, lines in seconds
                 if sum(map(bool, lines)) == 5 and not any(f"[{', '.join(key)}]" in line for line in lines))
    within(least * real_ms - len(found) - others, sum(found), 1.02 * real_ms + READINGS_NS / MS * len(lengths_ns),
           out, key)


def bin_of(below_us):
    """Where the bin begins of which the script prints the end: an octave has eight, from 16 us on."""
    return below_us - (1 << max(0, (below_us - 1).bit_length() - 4))


def same_percentiles(out, values_ns):
    """So many percent lie below the end of the bin, and not below its begin; one in a hundred may be off."""
    found = {int(m[1]): int(m[2]) for m in re.finditer(r"^p(\d\d) below (\d+) us$", out.text, re.M)}
    assert list(found) == [50, 90, 99], out.text
    few = 1 + len(values_ns) / 200
    for percent, below in found.items():
        rank = percent / 100 * len(values_ns)
        before = sum(ns / US < bin_of(below) * 0.995 - 10 for ns in values_ns)
        until = sum(ns / US < below * 1.005 + 10 for ns in values_ns)
        within(before - few, rank, until + few, out, (percent, below))
    [messages] = re.findall(r"^@messages: (\d+)$", out.text, re.M)
    return int(messages)


def percentiles(out, truth):
    """Of worker-slow. A sleep of 5 ms doesn't take less."""
    messages = same_percentiles(out, truth.lengths_ns("worker-slow", "process"))
    same(messages, graph.SAMPLES, out)
    assert int(re.search(r"p50 below (\d+)", out.text)[1]) > graph.SLOW_MS * 1000, out.text


def percentiles_of_all(out, truth):
    lengths = [ns for handle in truth.handles() for ns in truth.lengths_ns(handle, "process")]
    # The starter isn't recorded; the holder has its only one till its end.
    lengths += [graph.STARTER_MS * MS] * truth.taken["starter", truth.pid["starter"]] + [truth.life_ms("holder") * MS]
    same(same_percentiles(out, lengths), sum(truth.taken.values()), out)


def held(out, truth):
    listed = {}
    for m in re.finditer(r"^\d\d:\d\d:\d\d (\S+) \(pid (\d+)\) held message (\d+) for (\d+) ms$", out.text, re.M):
        listed.setdefault((m[1], m[2]), []).append((int(m[3]), int(m[4])))
    for handle in truth.handles():
        real = [(message, (end - begin) / MS) for message, begin, end in truth.slices(handle, "process")]
        found = listed.pop((handle, truth.pid[handle]), [])
        surely = {message for message, ms in real if ms > LIMIT_HELD_MS + 2}
        perhaps = {message for message, ms in real if ms > LIMIT_HELD_MS - 2}
        seen, few = {message for message, _ in found}, outliers(len(real))
        assert len(surely - seen) <= few and len(seen - perhaps) <= few, (handle, found, surely, perhaps)
        off = [(message, ms) for message, ms in found
               if not any(m == message and abs(ms - took) <= 3 + took / 50 for m, took in real)]
        assert len(off) <= few, (handle, off, real)
        assert handle != "viewer" or found and min(ms for _, ms in found) >= graph.VIEWER_MS, out.text
    if truth.heard(["holder"]):
        [(message, ms)] = listed.pop(("holder", truth.pid["holder"]))
        within(truth.blocked_ns("stuck") / MS, ms, truth.life_ms("holder"), out, ("holder", message))
    assert set(listed) <= {("starter", truth.pid["starter"])}, out.text
    held_now(out, truth)


def held_now(out, truth):
    """The oldest first; and the holder, from when it took its first message on."""
    reports, waits = now_each_second(out), 0
    for now, taken in reports:
        assert list(taken.values()) == sorted(taken.values()), out.text
        assert all(keys[1] in truth.scope for keys in taken), out.text
        waits += sum(keys[0] == "worker-slow" and now - 1000 <= ms <= now + 1000 for keys, ms in taken.items())
    assert waits >= 2, out.text
    if not truth.heard(["holder"]):
        return
    key = ("holder", truth.pid["holder"])
    found = {(keys, ms) for _, taken in reports for keys, ms in taken.items() if keys[:2] == key}
    assert len(found) == 1, out.text
    [(keys, since)] = found
    same(keys[3], "0", out)
    seen = [now for now, taken in reports if keys in taken]
    # What is printed is what is there when bpftrace comes to it.
    assert seen and since - 1000 < seen[0] < since + 2000, out.text
    within(len(seen) - 2, (truth.life_ms("holder") + since - seen[0]) / 1000, len(seen) + 2, out, "holder")


def inuse(out, truth):
    found = out.histograms("in_use")
    for handle in truth.handles():
        parts = [buckets for keys, buckets in found.items() if keys[:2] == (handle, truth.pid[handle])]
        assert len(parts) == (2 if handle == "sink" else 1), out.text
        if handle == "sink":
            continue
        [buckets], real = parts, truth.in_use(handle)
        within(len(real) - 2, sum(buckets.values()), len(real) + 2, out, handle)
        for boundary in range(0, 40, 4):
            beyond = sum(n for lower, n in buckets.items() if lower >= boundary)
            off = outliers(len(real)) + 2
            within(sum(n >= boundary for n in real) - off, beyond, sum(n >= boundary for n in real) + off, out,
                   (handle, boundary))
    assert all(keys[1] in truth.scope for keys in found), out.text


def drops(out, truth):
    """From the first message on that it takes."""
    expected = {}
    for handle in truth.handles():
        begins = [begin for _, begin, _ in truth.slices(handle, "process")]
        dropped = truth.slices(handle, "dropped")
        same(len(dropped), truth.dropped[handle, truth.pid[handle]], out)
        if dropped:
            expected[handle, truth.pid[handle]] = sum(end > begins[0] for _, _, end in dropped)
    same(out.map("dropped"), expected, out)
    same(out.map("taken"), dict(truth.taken), out)


ENDPOINT_KINDS = {"publisher": "publisher", "link": "link", "channel": "channel", "client": "subscriber"}


def endpoints(out, truth):
    """What the processes that came have in their registries, and of those that went."""
    lines = [m.groups() for m in re.finditer(
        r"^\d\d:\d\d:\d\d ([+-]) (\w+) +(\S+) (\S*) \(pid (\d+)\)$", out.text, re.M)]
    for name in truth.heard(truth.came):
        expected = sorted((ENDPOINT_KINDS[e.kind], e.topic, e.handle) for e in truth.entries[name])
        for sign in "+-" if name in truth.went else "+":
            same(sorted(line[1:4] for line in lines if line[0] == sign and line[4] == truth.pid[name]), expected, out)
    for name, sign in (("opened", "+"), ("closed", "-")):
        kinds = [line[1] for line in lines if line[0] == sign]
        same(out.map(name), {(kind,): kinds.count(kind) for kind in kinds}, out)


def latency(out, truth):
    found = out.histograms("us")
    for topic, name, handle in (("samples", "samples", "samples"), ("samples", "samples", "worker-fast"),
                                ("samples", "samples", "worker-slow"), ("features/fast", "worker-fast", "sink"),
                                ("features/slow", "worker-slow", "sink"), ("beat", "beat", "viewer"),
                                ("beat", "beat", "computer")):
        same_times(found, {(topic, handle, truth.pid[handle]): truth.arrivals_ns(topic, handle)}, out, "us")


def oncpu(out, truth):
    """worker-slow sleeps in its 5 ms; the computer's 2 ms are CPU time, by its own clock."""
    code, cpu = out.map("in_code_ms"), out.map("on_cpu_ms")
    for handle in truth.handles():
        key = (handle, truth.pid[handle])
        real_ms, messages = sum(truth.lengths_ns(handle, "process")) / MS, truth.taken[key]
        within(0.98 * real_ms - messages / 100 - 2, code[key], 1.02 * real_ms + READINGS_NS / MS * messages + 2,
               out, key)
        within(0, cpu.get(key, 0), 0.2 * real_ms if handle == "worker-slow" else 1.5 * real_ms + 20, out, key)
    if truth.heard(["computer"]):
        key = ("computer", truth.pid["computer"])
        computed_ms = graph.COMPUTER_MS * truth.taken[key]
        within(0.7 * computed_ms, cpu.get(key, 0), 1.4 * computed_ms, out, key)
    assert set(cpu) <= set(truth.taken), out.text


def threads(out, truth):
    found, taken = out.map("messages"), {}
    for (pid, tid, comm, handle), count in found.items():
        taken[handle, pid] = taken.get((handle, pid), 0) + count
        same(truth.tasks.get((pid, tid)), comm, out)
        same(pid == tid, comm == "ezmsg-node", out)
    same(taken, dict(truth.taken), out)
    of_sink = [count for keys, count in found.items() if keys[3] == "sink"]
    assert not of_sink or of_sink == [graph.SAMPLES] * 2, out.text
