/* SPDX-License-Identifier: MIT */
/*
 * The views of `ezprof top` and their columns. A column is called as in the other formats
 * (metric_list.h) where it shows such a figure. Constant; any thread.
 */
#ifndef EZPROF_TOP_COLUMN_H
#define EZPROF_TOP_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

enum ezprof_top_kind {
	EZPROF_TOP_IS_NAME,   /* text, as wide as there is room */
	EZPROF_TOP_IS_WORD,   /* short text */
	EZPROF_TOP_IS_FIGURE, /* three digits */
	EZPROF_TOP_IS_PERCENT,
	EZPROF_TOP_IS_COUNT, /* a whole number, as it is */
	EZPROF_TOP_IS_GAUGE, /* bar and "31/32" */
	EZPROF_TOP_IS_TREND  /* sparkline */
};

/* clang-format off */
/* X(NAME, id, heading of two lines, kind, columns, what) */
#define EZPROF_TOP_COLUMNS(X) \
	X(STATE, "state", "", "state", WORD, 7, "what is wrong with it, in a word (the help lists them)") \
	X(PUBLISHER, "publisher", "", "publisher", NAME, 9, "topic of the publisher") \
	X(SUBSCRIBER, "subscriber", "", "subscriber", NAME, 10, "task, else handle, of the subscriber") \
	X(COMMAND, "process", "", "process", NAME, 7, "name of the program") \
	X(HOST, "host", "", "host", NAME, 4, "where it runs") \
	X(PID, "pid", "", "pid", COUNT, 7, "process id; an edge's is its subscriber's") \
	X(VIA, "via", "", "via", WORD, 5, "how messages come: local, shm, tcp") \
	X(RATE, "rate_hz", "rate", "_hz", FIGURE, 6, "messages per second") \
	X(TREND, "trend", "", "trend", TREND, 6, "that rate over the last documents") \
	X(BYTES, "bytes_per_s", "bytes", "_per_s", FIGURE, 6, "bytes per second") \
	X(HELD, "in_flight", "in flight", "of buffers", GAUGE, 11, "messages that are held, of its publisher's buffers") \
	X(BLOCKED, "blocked_share", "blocked", "_share", PERCENT, 7, "share of the time in which publishing waited") \
	X(QUEUE, "queue_avg_ms", "queue", "_avg_ms", FIGURE, 7, "time that a message waits for its subscriber") \
	X(PROCESS, "process_avg_ms", "process", "_avg_ms", FIGURE, 7, "time that the user's code takes for a message") \
	X(PROCESS_P99, "process_p99_ms", "process", "_p99_ms", FIGURE, 7, "99 of 100 take no longer") \
	X(BUSY, "busy_share", "busy", "_share", PERCENT, 6, "share of the time in which it processed") \
	X(DROPS, "drops_total", "drops", "_total", COUNT, 6, "messages that it let go unread, being leaky") \
	X(GAP_P50, "gap_p50_ms", "gap", "_p50_ms", FIGURE, 7, "usual gap between two messages") \
	X(GAP_LONGEST, "gap_longest_ms", "longest", "gap_ms", FIGURE, 7, "longest gap in the window") \
	X(PUBLISHERS, "publishers", "", "pubs", COUNT, 4, "publishers in it") \
	X(SUBSCRIBERS, "subscribers", "", "subs", COUNT, 4, "subscribers in it") \
	X(PUBLISHED, "out_hz", "out", "_hz", FIGURE, 6, "messages per second that it publishes") \
	X(RECEIVED, "in_hz", "in", "_hz", FIGURE, 6, "messages per second that its subscribers are done with") \
	X(LOST, "lost_total", "lost", "_total", COUNT, 6, "messages that went by uncounted")

/* X(NAME, id, title, what) */
#define EZPROF_TOP_VIEWS(X) \
	X(EDGES, "edges", "from each publisher to each subscriber") \
	X(PUBLISHERS, "publishers", "publishers") \
	X(SUBSCRIBERS, "subscribers", "subscribers") \
	X(PROCESSES, "processes", "processes")
/* clang-format on */

enum ezprof_top_column_id {
#define EZPROF_TOP_COLUMN_VALUE(name, ...) EZPROF_TOP_##name,
	EZPROF_TOP_COLUMNS(EZPROF_TOP_COLUMN_VALUE)
#undef EZPROF_TOP_COLUMN_VALUE
		EZPROF_TOP_COLUMN_COUNT
};

enum ezprof_top_view_id {
#define EZPROF_TOP_VIEW_VALUE(name, ...) EZPROF_TOP_VIEW_##name,
	EZPROF_TOP_VIEWS(EZPROF_TOP_VIEW_VALUE)
#undef EZPROF_TOP_VIEW_VALUE
		EZPROF_TOP_VIEW_COUNT
};

struct ezprof_top_column {
	const char *id;
	const char *heading[2];
	enum ezprof_top_kind kind;
	unsigned int columns; /* at least, with its heading */
	const char *what;
};

const struct ezprof_top_column *ezprof_top_column(enum ezprof_top_column_id id);

/* A view's columns, left to right; behind each how gladly it is given up: 0 = never. */
struct ezprof_top_place {
	enum ezprof_top_column_id column;
	unsigned int dispensable;
};

struct ezprof_top_view {
	const char *id, *what;
	const struct ezprof_top_place *places;
	size_t n;
};

const struct ezprof_top_view *ezprof_top_view(enum ezprof_top_view_id id);

/* A column of the view by its id; -ENOENT. */
int ezprof_top_column_find(enum ezprof_top_view_id view, const char *id,
			   enum ezprof_top_column_id *ret_column);

bool ezprof_top_has_column(enum ezprof_top_view_id view, enum ezprof_top_column_id column);

/* Does a first look want the small ones on top? Names do. */
bool ezprof_top_ascends(enum ezprof_top_column_id column);

#endif
