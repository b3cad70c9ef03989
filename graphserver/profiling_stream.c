/* SPDX-License-Identifier: MIT */
/* The stream of what processes trace: every few milliseconds a batch of what is new. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "clock.h"
#include "meta_pickle.h"
#include "meta_reader.h"
#include "pickle_write.h"
#include "process_link.h"
#include "stream_link.h"

#define INTERVAL_MIN_S 0.01
#define INTERVAL_MAX_S 3600.0
#define IDS_MAX 4096

/* How far the stream has come with one process. */
struct position {
	char id[EZ_UUID_TEXT_BYTES];
	uint64_t seq;
	bool is_wanted; /* it was asked for by its id */
	UT_hash_handle hh;
};

struct stream {
	struct ezprof_conn *conn;
	struct event *timer;
	struct position *positions;
	size_t max_samples;
	bool has_filter, include_empty;
};

static struct position *position_of(struct stream *stream, const char *id)
{
	struct position *position;

	HASH_FIND_STR(stream->positions, id, position);
	if (position)
		return position;
	position = calloc(1, sizeof(*position));
	if (!position)
		return NULL;
	memcpy(position->id, id, sizeof(position->id));
	HASH_ADD_STR(stream->positions, id, position);
	if (position->hh.tbl)
		return position;
	free(position);
	return NULL;
}

/* Appends the key and the batch of one process. False, with nothing appended, if it isn't wanted.
 */
static bool put_batch(struct stream *stream, const struct ezprof_process *process, double now_s,
		      struct ez_buffer *out)
{
	struct position *position = position_of(stream, process->id);
	size_t before = out->len, n;

	if (!position || (stream->has_filter && !position->is_wanted))
		return false;
	ezprof_pickle_uuid(out, process->id);
	ezprof_pickle_instance(out, "ProcessProfilingTraceBatch");
	ezprof_pickle_member_uuid(out, "process_id", process->id);
	ezprof_pickle_member_int(out, "pid", process->is_registered ? process->pid : -1);
	ezprof_pickle_member_text(out, "host", process->host ? process->host : "");
	ezprof_pickle_member_float(out, "timestamp", now_s);
	ez_pickle_put_text(out, "samples");
	ez_put_u8(out, EZ_OP_EMPTY_LIST);
	n = ezprof_trace_put(&process->trace, &position->seq, stream->max_samples, out);
	if (!n && !stream->include_empty) {
		out->len = before;
		return false;
	}
	ez_put_u8(out, EZ_OP_SETITEM);
	ezprof_pickle_build(out);
	ez_put_u8(out, EZ_OP_SETITEM);
	return true;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct stream *stream = arg;
	struct ezprof_conn *conn = stream->conn;
	const struct ezprof_process *process;
	double now_s = ez_clock_unix_s();
	struct ez_buffer pickle;
	size_t n = 0;

	(void)fd;
	(void)what;
	/* A reader that is behind gets no more than it has taken; the samples stay for it. */
	if (conn->out.len > conn->out_sent)
		return;
	ez_buffer_init(&pickle, conn->server->config.pending_bytes_max / 2);
	ezprof_pickle_begin(&pickle);
	ezprof_pickle_instance(&pickle, "ProfilingTraceStreamBatch");
	ezprof_pickle_member_float(&pickle, "timestamp", now_s);
	ez_pickle_put_text(&pickle, "batches");
	ez_put_u8(&pickle, EZ_OP_EMPTY_DICT);
	DL_FOREACH(conn->server->processes, process)
	n += put_batch(stream, process, now_s, &pickle);
	ez_put_u8(&pickle, EZ_OP_SETITEM);
	ezprof_pickle_build(&pickle);
	ez_put_u8(&pickle, EZ_OP_STOP);
	if (n && !pickle.err) {
		ez_put_str(&conn->out, (const char *)pickle.data, pickle.len);
		ezprof_conn_flush(conn);
	}
	ez_buffer_free(&pickle);
}

static void stream_free(struct stream *stream)
{
	struct position *position, *next;

	HASH_ITER (hh, stream->positions, position, next) {
		HASH_DEL(stream->positions, position);
		free(position);
	}
	if (stream->timer)
		event_free(stream->timer);
	free(stream);
}

static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	(void)conn;
	in->pos = in->len;
	return 0;
}

static void gone(struct ezprof_conn *conn)
{
	stream_free(conn->data);
}

static const struct ezprof_role profiling_role = {
	.name = "profiling stream",
	.receive = receive,
	.gone = gone,
};

static int read_filter(struct stream *stream, const struct ez_node *ids)
{
	if (!ids || ids->kind == EZ_NODE_NONE)
		return 0;
	if (ids->kind != EZ_NODE_LIST || ids->n_items > IDS_MAX)
		return -EBADMSG;
	stream->has_filter = true;
	for (size_t i = 0; i < ids->n_items; i++) {
		char text[EZ_UUID_TEXT_BYTES];
		struct position *position;
		struct ez_uuid id;
		int err = ezprof_meta_uuid(ids->items[i], &id);

		if (err)
			return err;
		ez_uuid_format(&id, text);
		position = position_of(stream, text);
		if (!position)
			return -ENOMEM;
		position->is_wanted = true;
	}
	return 0;
}

static int read_control(struct stream *stream, const struct ez_node *state, double *ret_interval_s)
{
	int64_t max_samples, include_empty;
	int err = ezprof_meta_number(state, "interval", ret_interval_s);

	if (!err)
		err = ezprof_meta_int(state, "max_samples", &max_samples);
	if (!err)
		err = ezprof_meta_int(state, "include_empty_batches", &include_empty);
	if (!err)
		err = read_filter(stream, ez_node_lookup(state, "process_ids"));
	if (err)
		return err;
	if (!(*ret_interval_s >= INTERVAL_MIN_S))
		*ret_interval_s = INTERVAL_MIN_S;
	if (*ret_interval_s > INTERVAL_MAX_S)
		*ret_interval_s = INTERVAL_MAX_S;
	stream->max_samples = max_samples < 1 ? 1 : (size_t)max_samples;
	stream->include_empty = include_empty != 0;
	return 0;
}

int ezprof_stream_profiling_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ez_pickle_tree *tree = NULL;
	const struct ez_node *state;
	struct timeval interval;
	struct stream *stream;
	struct ez_str pickle;
	double seconds = 0;
	int err = ez_read_str(in, conn->server->config.payload_bytes_max, &pickle);

	if (err)
		return err;
	err = ezprof_meta_read(pickle, "ProfilingStreamControl", &tree, &state);
	if (err)
		return err;
	stream = calloc(1, sizeof(*stream));
	err = stream ? read_control(stream, state, &seconds) : -ENOMEM;
	ez_pickle_tree_free(tree);
	if (!err) {
		stream->conn = conn;
		stream->timer = event_new(conn->server->base, -1, EV_PERSIST, on_timer, stream);
		err = stream->timer ? 0 : -ENOMEM;
	}
	if (err) {
		if (stream)
			stream_free(stream);
		return err;
	}
	interval.tv_sec = (time_t)seconds;
	interval.tv_usec = (suseconds_t)((seconds - (double)interval.tv_sec) * 1e6);
	event_add(stream->timer, &interval);
	ezprof_conn_become(conn, &profiling_role, stream);
	ezprof_stream_accept(conn);
	return 0;
}
