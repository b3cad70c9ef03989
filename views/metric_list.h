/* SPDX-License-Identifier: MIT */
/*
 * Every figure of a PROFILE document that the views show, once: the table, csv, OpenMetrics, the
 * rules of `ezprof check`, `ezprof diff`, `ezprof explain` and docs/metrics.md are all made of this
 * list.
 *
 * X(scope, NAME, id, path, unit, kind, what, from, to, without)
 *   id       what people type and see: sub.process_p99_ms is id "process_p99_ms" of scope SUB
 *   path     keys of the document, a point between; "[]" behind a list: how many there are
 *   unit     an EZPROF_UNIT_
 *   kind     GAUGE, or COUNTER: it only grows while its endpoint lives
 *   what     the definition; for intervals also where they begin, end, and what is left out (""
 * else)
 */
#ifndef EZPROF_METRIC_LIST_H
#define EZPROF_METRIC_LIST_H

/* clang-format off */
#define EZPROF_SCOPES(X) \
	X(GRAPH, "graph", "graph", "the whole document") \
	X(PUB, "pub", "publisher", "a publisher") \
	X(LINK, "link", "link", "a publisher's connection to the channel of one process") \
	X(CHAN, "chan", "channel", "what a process receives of a publisher") \
	X(SUB, "sub", "subscriber", "a subscriber, on one channel") \
	X(TASK, "task", "task", "a coroutine of a Python unit") \
	X(AGENT, "agent", "agent", "an ezprof-bpf that measures")

/* Unit, suffix of the id, factor to the base unit, its name in OpenMetrics, words, clock. */
#define EZPROF_UNITS(X) \
	X(NONE, "", 1.0, "", "a number", "") \
	X(MS, "_ms", 1e-3, "seconds", "milliseconds", "CLOCK_MONOTONIC") \
	X(TICK_MS, "_ms", 1e-3, "seconds", "milliseconds", "CLOCK_MONOTONIC_COARSE for the begin, CLOCK_MONOTONIC for now") \
	X(SEC, "_s", 1.0, "seconds", "seconds", "CLOCK_MONOTONIC") \
	X(NS, "_ns", 1e-9, "seconds", "nanoseconds", "CLOCK_MONOTONIC") \
	X(BPF_NS, "_ns", 1e-9, "seconds", "nanoseconds", "the kernel's own for BPF programs (BPF_ENABLE_STATS)") \
	X(HZ, "_hz", 1.0, "per_second", "per second", "CLOCK_MONOTONIC") \
	X(BYTES, "_bytes", 1.0, "bytes", "bytes", "") \
	X(BYTES_PER_S, "_bytes_per_s", 1.0, "bytes_per_second", "bytes per second", "CLOCK_MONOTONIC") \
	X(SHARE, "_share", 1.0, "ratio", "a share, 0 to 1", "CLOCK_MONOTONIC") \
	X(CPU_SHARE, "_share", 1.0, "ratio", "a share, 0 to 1", "CPU time by CLOCK_MONOTONIC")

/* Averages and maxima of intervals that ended in the window. */
#define EZPROF_INTERVAL_METRICS(X, S, N, id, path, what, from, to, without) \
	X(S, N##_AVG_MS, id "_avg_ms", path "avg_ms", MS, GAUGE, "average " what, from, to, without) \
	X(S, N##_MAX_MS, id "_max_ms", path "max_ms", MS, GAUGE, "longest " what, from, to, without) \
	X(S, N##_SAMPLES, id "_samples", path "samples", NONE, GAUGE, "how many ended in the window: " what, from, to, without)

#define EZPROF_QUANTILE_METRICS(X, S, N, id, path, what, from, to, without) \
	X(S, N##_MIN_MS, id "_min_ms", path "min_ms", MS, GAUGE, "shortest " what, from, to, without) \
	X(S, N##_P50_MS, id "_p50_ms", path "p50_ms", MS, GAUGE, "median " what, from, to, without) \
	X(S, N##_P99_MS, id "_p99_ms", path "p99_ms", MS, GAUGE, "99 of 100 are no longer: " what, from, to, without)

#define EZPROF_TIMING_METRICS(X, S, N, id, path, what, from, to, without) \
	EZPROF_INTERVAL_METRICS(X, S, N, id, path, what, from, to, without) \
	EZPROF_QUANTILE_METRICS(X, S, N, id, path, what, from, to, without) \
	X(S, N##_P90_MS, id "_p90_ms", path "p90_ms", MS, GAUGE, "90 of 100 are no longer: " what, from, to, without)

#define EZPROF_GAP_METRICS(X, S, from, to) \
	EZPROF_INTERVAL_METRICS(X, S, GAP, "gap", "gap.", "gap between two messages", from, to, "") \
	EZPROF_QUANTILE_METRICS(X, S, GAP, "gap", "gap.", "gap between two messages", from, to, "") \
	X(S, GAP_LONGEST_MS, "gap_longest_ms", "gap.longest_ms", MS, GAUGE, "longest gap, one in progress counted", from, to ", or now", "") \
	X(S, GAP_LONGEST_AT_NS, "gap_longest_at_ns", "gap.longest_at_ns", NS, GAUGE, "when the longest gap ended", "", "", "") \
	X(S, GAP_NOW_MS, "gap_now_ms", "gap.now_ms", MS, GAUGE, "age of the gap in progress", from, "now", "")

/* What every endpoint has that is counted. */
#define EZPROF_COUNTED_METRICS(X, S, what) \
	X(S, MESSAGES_TOTAL, "messages_total", "messages.total", NONE, COUNTER, what " since it was opened", "", "", "") \
	X(S, MESSAGES_WINDOW, "messages_window", "messages.window", NONE, GAUGE, what " in the window", "", "", "") \
	X(S, BYTES_TOTAL, "bytes_total", "bytes.total", BYTES, COUNTER, "marshalled sizes of these since it was opened, the same on every transport", "", "", "messages of unknown size (unsized)") \
	X(S, BYTES_WINDOW, "bytes_window", "bytes.window", BYTES, GAUGE, "marshalled sizes of these in the window", "", "", "messages of unknown size (unsized)") \
	X(S, COVERED_S, "covered_s", "window.covered_s", SEC, GAUGE, "how much of the window was really measured; rates divide by it", "", "", "") \
	X(S, MEASURED_MESSAGES_TOTAL, "measured_messages_total", "measured.messages", NONE, COUNTER, what " that the kernel counted since the attach", "", "", "") \
	X(S, LOST_TOTAL, "lost_total", "lost", NONE, COUNTER, what " since the attach that went by without being counted", "", "", "") \
	X(S, OLDEST_LEASE_MS, "oldest_lease_ms", "oldest_lease_ms", TICK_MS, GAUGE, "age of the oldest message that is still held, right to a kernel tick", "lease", "now", "") \
	X(S, DISCONNECTS_TOTAL, "disconnects_total", "disconnects", NONE, COUNTER, "leases that ended because their holder left", "", "", "") \
	X(S, UNMATCHED, "unmatched", "unmatched", NONE, GAUGE, "intervals that could not be timed, because their begin was not seen", "", "", "")

/* Where the time of intervals went, where the agent was asked for it (attach --sched). */
#define EZPROF_SCHED_METRICS(X, S, N, id, path, what) \
	X(S, N##_SCHED_MS, id "_sched_ms", path "time_ms", MS, GAUGE, "time of the window in which " what " was in progress, several at once added up", "", "", "what lies before the window") \
	X(S, N##_ON_CPU_MS, id "_on_cpu_ms", path "on_cpu_ms", MS, GAUGE, "of that: its thread ran", "", "", "") \
	X(S, N##_RUNNABLE_MS, id "_runnable_ms", path "runnable_ms", MS, GAUGE, "of that: its thread could run, but others had the CPU", "", "", "") \
	X(S, N##_SLEEPING_MS, id "_sleeping_ms", path "blocked_ms", MS, GAUGE, "of that: its thread slept: a lock, a socket, a disk, sleep()", "", "", "") \
	X(S, N##_OTHER_MS, id "_other_ms", path "other_ms", MS, GAUGE, "of that: what is not known", "", "", "")

#define EZPROF_GRAPH_METRICS(X) \
	X(GRAPH, WINDOW_S, "window_s", "window_s", SEC, GAUGE, "the window that was asked for", "", "", "") \
	X(GRAPH, LOST_TOTAL, "lost_total", "lost", NONE, COUNTER, "messages that went by without being counted, all endpoints", "", "", "") \
	X(GRAPH, ERRORS, "errors", "errors[]", NONE, GAUGE, "who did not answer, or not properly", "", "", "") \
	X(GRAPH, PUBLISHERS, "publishers", "publishers[]", NONE, GAUGE, "publishers that are there", "", "", "") \
	X(GRAPH, CHANNELS, "channels", "channels[]", NONE, GAUGE, "channels that are there", "", "", "") \
	X(GRAPH, AGENTS, "agents", "agents[]", NONE, GAUGE, "agents that answered", "", "", "")

#define EZPROF_PUB_METRICS(X) \
	X(PUB, RATE_HZ, "rate_hz", "message_rate_hz", HZ, GAUGE, "messages published per second of the covered window", "", "", "") \
	X(PUB, BYTES_PER_S, "bytes_per_s", "byte_rate_per_s", BYTES_PER_S, GAUGE, "bytes published per second of the covered window", "", "", "") \
	X(PUB, IN_FLIGHT, "in_flight", "backpressure.in_flight", NONE, GAUGE, "leases open now: pairs of channel and buffer", "", "", "") \
	X(PUB, NUM_BUFFERS, "num_buffers", "num_buffers", NONE, GAUGE, "buffers that it has", "", "", "") \
	X(PUB, BLOCKED_WINDOW_MS, "blocked_window_ms", "blocked.time_ms", MS, GAUGE, "time in the window in which a broadcast waited for a buffer or a socket", "wait begins", "wait ends, or now", "what lies before the window") \
	X(PUB, BLOCKED_SHARE, "blocked_share", "blocked.share", SHARE, GAUGE, "blocked_window_ms as a share of the covered window", "wait begins", "wait ends, or now", "what lies before the window") \
	X(PUB, BLOCKED_MAX_MS, "blocked_max_ms", "blocked.max_ms", MS, GAUGE, "longest wait that ended in the window", "wait begins", "wait ends", "") \
	X(PUB, BLOCKED_SAMPLES, "blocked_samples", "blocked.samples", NONE, GAUGE, "waits that ended in the window", "", "", "") \
	X(PUB, BLOCKED_NOW_MS, "blocked_now_ms", "blocked.now_ms", MS, GAUGE, "age of the wait in progress", "wait begins", "now", "") \
	X(PUB, BLOCKED_TOTAL_MS, "blocked_total_ms", "blocked.total_ms", MS, COUNTER, "time blocked since it was opened", "wait begins", "wait ends, or now", "") \
	EZPROF_SCHED_METRICS(X, PUB, BLOCKED, "blocked", "blocked.sched.", "a wait") \
	EZPROF_TIMING_METRICS(X, PUB, LEASE, "lease", "lease.", "time that a receiving process kept a buffer", "lease of the buffer by a channel", "that channel's free", "leases whose begin was not seen, or whose holder left") \
	EZPROF_GAP_METRICS(X, PUB, "publish", "next publish") \
	EZPROF_COUNTED_METRICS(X, PUB, "messages published") \
	X(PUB, SERIALISE_TOTAL_MS, "serialise_total_ms", "serialise.total_ms", MS, COUNTER, "time in which a Python publisher's messages were serialised and copied since it was opened; not part of blocked", "serialising begins", "copied", "") \
	X(PUB, UNSIZED_TOTAL, "unsized_total", "unsized_messages", NONE, COUNTER, "messages of unknown size", "", "", "")

#define EZPROF_LINK_METRICS(X) \
	EZPROF_INTERVAL_METRICS(X, LINK, LEASE, "lease", "", "time that the receiving process kept a buffer", "lease of the buffer by this channel", "its free", "leases whose begin was not seen, or whose holder left") \
	X(LINK, IN_FLIGHT, "in_flight", "in_flight", NONE, GAUGE, "buffers that it holds now", "", "", "") \
	X(LINK, OLDEST_LEASE_MS, "oldest_lease_ms", "oldest_lease_ms", TICK_MS, GAUGE, "age of the oldest of these", "lease", "now", "") \
	X(LINK, DISCONNECTS_TOTAL, "disconnects_total", "disconnects", NONE, COUNTER, "leases that ended because their holder left", "", "", "")

#define EZPROF_CHAN_METRICS(X) \
	X(CHAN, MESSAGES_TOTAL, "messages_total", "messages.total", NONE, COUNTER, "messages that arrived", "", "", "") \
	X(CHAN, BYTES_TOTAL, "bytes_total", "bytes.total", BYTES, COUNTER, "marshalled sizes of these", "", "", "") \
	X(CHAN, IN_FLIGHT, "in_flight", "in_flight", NONE, GAUGE, "messages that its subscribers hold or have queued", "", "", "") \
	X(CHAN, NUM_BUFFERS, "num_buffers", "num_buffers", NONE, GAUGE, "buffers of its publisher", "", "", "")

#define EZPROF_SUB_METRICS(X) \
	X(SUB, RATE_HZ, "rate_hz", "message_rate_hz", HZ, GAUGE, "messages released per second of the covered window", "", "", "") \
	X(SUB, IN_FLIGHT, "in_flight", "in_flight", NONE, GAUGE, "messages that it holds or has queued now", "", "", "") \
	EZPROF_TIMING_METRICS(X, SUB, PROCESS, "process", "processing.", "time that the user's code takes for a message", "message taken", "user code done", "the same task's own blocked publishing") \
	X(SUB, PROCESS_NOW_MS, "process_now_ms", "processing.now_ms", MS, GAUGE, "how long the message in the user's hands has been there", "message taken", "now", "") \
	EZPROF_SCHED_METRICS(X, SUB, PROCESS, "process", "processing.sched.", "processing") \
	EZPROF_TIMING_METRICS(X, SUB, QUEUE, "queue", "queue.", "time that a message waits for its subscriber", "message queued for the subscriber", "message taken", "messages dropped unread") \
	EZPROF_INTERVAL_METRICS(X, SUB, LEASE, "lease", "", "time that it keeps a message: queue and processing", "message queued for the subscriber", "message released", "leases whose begin was not seen, or that a leaving holder ended") \
	EZPROF_GAP_METRICS(X, SUB, "message taken", "next message taken") \
	EZPROF_COUNTED_METRICS(X, SUB, "messages released") \
	X(SUB, DROPS_TOTAL, "drops_total", "drops.total", NONE, COUNTER, "messages released unread, because it is leaky", "", "", "")

#define EZPROF_TASK_METRICS(X) \
	X(TASK, CALLS_TOTAL, "calls_total", "calls", NONE, COUNTER, "calls that ended", "", "", "") \
	X(TASK, BUSY_TOTAL_MS, "busy_total_ms", "busy_ms", MS, COUNTER, "time in its calls", "begin of a call", "its end", "blocked publishing within") \
	X(TASK, BLOCKED_TOTAL_MS, "blocked_total_ms", "blocked_ms", MS, COUNTER, "time in which its publishing was blocked", "wait begins", "wait ends", "") \
	X(TASK, HOLD_TOTAL_MS, "hold_total_ms", "hold_ms", MS, COUNTER, "time in which it held the event loop", "resumed", "next suspension", "") \
	X(TASK, HOLD_MAX_MS, "hold_max_ms", "hold_max_ms", MS, GAUGE, "longest time, since its start, in which it held the event loop", "resumed", "next suspension", "") \
	X(TASK, HOLD_MAX_AT_NS, "hold_max_at_ns", "hold_max_at_ns", NS, GAUGE, "when that was", "", "", "") \
	X(TASK, HOLD_NOW_MS, "hold_now_ms", "hold_now_ms", MS, GAUGE, "how long it has been holding the event loop", "resumed", "now", "")

#define EZPROF_AGENT_METRICS(X) \
	X(AGENT, ENDPOINTS, "endpoints", "endpoints", NONE, GAUGE, "endpoints that it measures", "", "", "") \
	X(AGENT, LOST_TOTAL, "lost_total", "lost", NONE, COUNTER, "messages that went by without being counted", "", "", "") \
	X(AGENT, HITS_TOTAL, "hits_total", "cost.hits", NONE, COUNTER, "probe hits since the attach", "", "", "") \
	X(AGENT, HITS_HZ, "hits_hz", "cost.hits_per_s", HZ, GAUGE, "probe hits per second", "", "", "") \
	X(AGENT, HIT_NS, "hit_ns", "cost.ns_per_hit", BPF_NS, GAUGE, "time that the BPF program takes for a hit", "BPF program begins", "it ends", "the kernel's trap around it") \
	X(AGENT, CPU_SHARE, "cpu_share", "cost.agent_cpu_share", CPU_SHARE, GAUGE, "the agent's share of one CPU", "", "", "") \
	X(AGENT, PROBES_CPU_SHARE, "probes_cpu_share", "cost.probes_cpu_share", CPU_SHARE, GAUGE, "the probes' share of one CPU", "", "", "the kernel's trap around them") \
	X(AGENT, MAPS_BYTES, "maps_bytes", "cost.map_bytes", BYTES, GAUGE, "memory of its maps", "", "", "")

/* All, in the order of the scopes: an object's values are a row of this list. */
#define EZPROF_METRICS(X) \
	EZPROF_GRAPH_METRICS(X) EZPROF_PUB_METRICS(X) EZPROF_LINK_METRICS(X) EZPROF_CHAN_METRICS(X) \
	EZPROF_SUB_METRICS(X) EZPROF_TASK_METRICS(X) EZPROF_AGENT_METRICS(X)
/* clang-format on */

#endif
