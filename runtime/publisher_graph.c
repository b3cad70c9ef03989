/* SPDX-License-Identifier: MIT */
/* What the graph server says to a publisher: that it exists, PAUSE, RESUME, SYNC, PROFILE. */
#include "publisher.h"

#include <errno.h>
#include <string.h>

#include "command.h"
#include "log.h"
#include "profile_answer.h"
#include "request.h"

#define FRAME_BYTES_MAX 4096

static struct ez_publisher *of_graph(struct ez_stream *stream)
{
	return (struct ez_publisher *)((char *)stream - offsetof(struct ez_publisher, graph));
}

static void created(struct ez_publisher *publisher)
{
	pthread_mutex_lock(&publisher->lock);
	publisher->created = true;
	ez_publisher_wake_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
	if (!publisher->context->server_is_ours)
		return;
	ez_request_link_mark(&publisher->graph.out, EZ_PROGRAM);
	ez_stream_flush(&publisher->graph);
}

static void set_paused(struct ez_publisher *publisher, bool paused)
{
	pthread_mutex_lock(&publisher->lock);
	publisher->paused = paused;
	ez_publisher_wake_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
}

/* It stays paused after the answer, until RESUME. */
static void begin_sync(struct ez_publisher *publisher)
{
	pthread_mutex_lock(&publisher->lock);
	publisher->paused = true;
	ez_publisher_wake_locked(publisher);
	publisher->syncs_owed++;
	ez_publisher_check_sync_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
}

static int answer_profile(struct ez_publisher *publisher, struct ez_reader *reader)
{
	uint64_t window_ms;
	int err = ez_read_u64(reader, &window_ms);

	if (err)
		return err;
	ez_publisher_answer(publisher, window_ms, &publisher->graph.out);
	ez_stream_flush(&publisher->graph);
	return 0;
}

static int graph_parse(struct ez_stream *stream, struct ez_reader *reader)
{
	struct ez_publisher *publisher = of_graph(stream);
	uint8_t command;
	int err = ez_read_u8(reader, &command);

	if (err)
		return err;
	switch (command) {
	case EZ_CMD_COMPLETE:
		if (!publisher->created)
			created(publisher);
		break;
	case EZ_CMD_PAUSE:
		set_paused(publisher, true);
		break;
	case EZ_CMD_RESUME:
		set_paused(publisher, false);
		break;
	case EZ_CMD_SYNC:
		begin_sync(publisher);
		break;
	case EZ_CMD_PROFILE:
		return answer_profile(publisher, reader);
	default:
		ez_log(EZ_LOG_DEBUG, "publisher: command %02x skipped", command);
	}
	return 0;
}

static void graph_closed(struct ez_stream *stream, int err)
{
	struct ez_publisher *publisher = of_graph(stream);

	ez_log(EZ_LOG_WARN, "publisher of %s has lost the graph server: %s", publisher->topic,
	       strerror(-err));
	pthread_mutex_lock(&publisher->lock);
	publisher->failed = -ECONNRESET;
	ez_publisher_wake_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
}

static void answer_syncs(struct ez_io_job *job)
{
	struct ez_publisher *publisher =
		(struct ez_publisher *)((char *)job - offsetof(struct ez_publisher, sync_job));
	uint32_t owed = 0;

	pthread_mutex_lock(&publisher->lock);
	if (!publisher->slots.open && !publisher->publishing) {
		owed = publisher->syncs_owed;
		publisher->syncs_owed = 0;
	}
	pthread_mutex_unlock(&publisher->lock);
	if (ez_stream_is_open(&publisher->graph)) {
		for (; owed; owed--)
			ez_put_u8(&publisher->graph.out, EZ_CMD_COMPLETE);
		ez_stream_flush(&publisher->graph);
	}
	ez_publisher_unref(publisher);
}

void ez_publisher_check_sync_locked(struct ez_publisher *publisher)
{
	if (!publisher->syncs_owed || publisher->slots.open || publisher->publishing ||
	    publisher->closed)
		return;
	/* The job has a reference of its own. */
	ez_publisher_ref(publisher);
	if (!ez_io_post(publisher->context->io, &publisher->sync_job))
		__atomic_sub_fetch(&publisher->refs, 1, __ATOMIC_RELAXED);
}

int ez_publisher_graph_start(struct ez_publisher *publisher, int fd)
{
	ez_stream_init(&publisher->graph, publisher->context->io, FRAME_BYTES_MAX);
	ez_buffer_init(&publisher->graph.out, EZ_PROFILE_BYTES_MAX);
	publisher->graph.parse = graph_parse;
	publisher->graph.closed = graph_closed;
	publisher->sync_job.run = answer_syncs;
	return ez_stream_adopt(&publisher->graph, fd);
}
