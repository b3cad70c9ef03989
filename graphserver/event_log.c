/* SPDX-License-Identifier: MIT */
#include "event_log.h"

#include <stdlib.h>
#include <string.h>

#include "conn.h"
#include "hash.h"
#include "meta_pickle.h"
#include "pickle_opcodes.h"

/* ezmsg's own limit of events; the other one bounds memory whatever their size. */
#define EVENTS_MAX 10000
#define BYTES_MAX (64 << 20)

struct ezprof_event {
	uint64_t seq;
	char *data;
	size_t len;
	struct ezprof_event *prev, *next;
};

struct ezprof_follower {
	struct ezprof_conn *conn;
	struct ezprof_follower *prev, *next;
};

static void drop_oldest(struct ezprof_event_log *log)
{
	struct ezprof_event *event = log->events;

	DL_DELETE(log->events, event);
	log->n--;
	log->bytes -= event->len;
	free(event->data);
	free(event);
}

static void send_event(struct ezprof_conn *conn, const struct ezprof_event *event)
{
	struct ez_buffer *out = &conn->out;

	ez_put_u64(out, event->len + EZPROF_PICKLE_FRAME_BYTES);
	ezprof_pickle_begin(out);
	ez_buffer_append(out, event->data, event->len);
	ez_put_u8(out, EZ_OP_STOP);
	ezprof_conn_flush(conn);
}

void ezprof_event_log_append(struct ezprof_event_log *log, struct ez_buffer *bytes)
{
	struct ezprof_event *event = calloc(1, sizeof(*event));
	struct ezprof_follower *follower;

	if (event)
		event->data = ez_buffer_steal(bytes, &event->len);
	if (!event || !event->data) {
		ez_log(EZ_LOG_ERROR, "dropped an event: no memory, or too large");
		ez_buffer_free(bytes);
		free(event);
		return;
	}
	event->seq = ++log->last_seq;
	DL_APPEND(log->events, event);
	log->n++;
	log->bytes += event->len;
	DL_FOREACH(log->followers, follower)
	send_event(follower->conn, event);
	while (log->n > EVENTS_MAX || (log->n && log->bytes > BYTES_MAX))
		drop_oldest(log);
}

void ezprof_event_log_put_list(const struct ezprof_event_log *log, uint64_t after_seq,
			       struct ez_buffer *out)
{
	const struct ezprof_event *event;

	ezprof_pickle_begin(out);
	ez_put_u8(out, EZ_OP_EMPTY_LIST);
	DL_FOREACH(log->events, event)
	{
		if (event->seq <= after_seq)
			continue;
		ez_buffer_append(out, event->data, event->len);
		ez_put_u8(out, EZ_OP_APPEND);
	}
	ez_put_u8(out, EZ_OP_STOP);
}

struct ezprof_follower *ezprof_event_log_follow(struct ezprof_event_log *log,
						struct ezprof_conn *conn, uint64_t after_seq)
{
	struct ezprof_follower *follower = calloc(1, sizeof(*follower));
	const struct ezprof_event *event;

	if (!follower)
		return NULL;
	follower->conn = conn;
	DL_APPEND(log->followers, follower);
	DL_FOREACH(log->events, event)
	if (event->seq > after_seq)
		send_event(conn, event);
	return follower;
}

void ezprof_event_log_leave(struct ezprof_event_log *log, struct ezprof_follower *follower)
{
	DL_DELETE(log->followers, follower);
	free(follower);
}

void ezprof_event_log_clear(struct ezprof_event_log *log)
{
	while (log->events)
		drop_oldest(log);
}
