/* SPDX-License-Identifier: MIT */
/*
 * A TCP connection on the I/O thread: connects without blocking, collects what arrives until a
 * whole item can be parsed, keeps what can't be written yet. All of it on the I/O thread only, with
 * one exception: where a guard is set, other threads may write to the descriptor under that lock.
 */
#ifndef EZ_STREAM_H
#define EZ_STREAM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "frame.h"
#include "io_loop.h"
#include "parse.h"

struct ez_stream {
	struct ez_io *io;
	struct ez_io_source source;
	struct ez_buffer in;
	struct ez_buffer out;
	pthread_mutex_t *guard; /* taken around changes of the descriptor and its events */
	bool connecting;
	bool paused;	 /* what arrives is left where it is */
	bool reading;	 /* the loop knows that we want to read */
	bool want_write; /* under the guard: call writable() */
	bool busy;	 /* in a callback of its own */
	bool here;	 /* read by a thread that waits, not by the loop's (poller.h) */
	int trouble;	 /* what that thread met: for the loop to handle */
	uint32_t life;	 /* raised by each close: a callback may have closed and redialled it */
	struct ez_io_job look_job;
	uint8_t *sink; /* the next sink_bytes go here instead of to parse() */
	size_t sink_bytes;
	size_t sink_done;

	/* Takes one item: 0; -EAGAIN = not all there yet; else the connection ends with that error.
	 */
	int (*parse)(struct ez_stream *stream, struct ez_reader *reader);
	/* The sink is full. Same results as parse(). */
	int (*sunk)(struct ez_stream *stream);
	/* What had arrived was parsed: the place for one write instead of many; NULL is fine. */
	void (*batch_end)(struct ez_stream *stream);
	/* More can be written, after ez_stream_want_write_locked(); NULL: what is in `out`. */
	void (*writable)(struct ez_stream *stream);
	/* The peer is gone (-ENODATA: properly) or broke the rules. Not after ez_stream_close(). */
	void (*closed)(struct ez_stream *stream, int err);
};

/* Sets up an unconnected stream; the callbacks are the caller's to fill in. */
void ez_stream_init(struct ez_stream *stream, struct ez_io *io, size_t in_bytes_max);

/* Takes over a connected descriptor (any mode), which is closed on failure. */
int ez_stream_adopt(struct ez_stream *stream, int fd);

/*
 * Begins to connect; failures that take time come by closed(). `out` may be filled at once. A host
 * that isn't a literal is resolved here, which may block: resolve names beforehand.
 */
int ez_stream_dial(struct ez_stream *stream, const struct ez_address *address);

/* Writes what is in `out`, now or when the socket can take it. */
void ez_stream_flush(struct ez_stream *stream);

/* Looks at what has arrived again, after the parser changed its mind (paused, phase). */
void ez_stream_resume(struct ez_stream *stream);

/* Reads and parses what has arrived by now, at most `times` reads. It may be closed by that. */
void ez_stream_drain(struct ez_stream *stream, int times);

/* Lets a poller watch it too, as ez_io_share(). The seat held, not the guard. */
int ez_stream_share(struct ez_stream *stream, int epoll_fd);

/*
 * Reads and parses all there is, in a thread that holds the seat; parse() may return -EINPROGRESS
 * to have the item parsed by the loop instead. False: it can't be read now, or not here.
 */
bool ez_stream_read_here(struct ez_stream *stream);

/* Is this thread within parse() or sunk() of that stream? batch_end() follows then. */
bool ez_stream_is_parsing(const struct ez_stream *stream);

/* With the guard held, any thread: have writable() called when the socket has room; or no more. */
void ez_stream_want_write_locked(struct ez_stream *stream, bool want);

/* Ends it without closed(). Its memory must outlive this wake-up (io_loop.h). Guard not held. */
void ez_stream_close(struct ez_stream *stream);

static inline bool ez_stream_is_open(const struct ez_stream *stream)
{
	return stream->source.fd >= 0;
}

/* Has it begun a large item whose rest is on its way? Needs the seat. */
static inline bool ez_stream_is_amid(const struct ez_stream *stream)
{
	return stream->sink_bytes > 0;
}

#endif
