/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fd.h"
#include "fork_guard.h"

#define READ_BYTES 16384
#define READS_HERE 64 /* so many a waiting thread reads at once */

static void stream_ready(struct ez_io_source *source, uint32_t events);
static void look(struct ez_io_job *job);

void ez_stream_init(struct ez_stream *stream, struct ez_io *io, size_t in_bytes_max)
{
	*stream = (struct ez_stream){.io = io, .source = {.fd = -1, .ready = stream_ready}};
	stream->look_job.run = look;
	ez_buffer_init(&stream->in, in_bytes_max + READ_BYTES);
	ez_buffer_init(&stream->out, in_bytes_max);
}

static void guard_lock(struct ez_stream *stream)
{
	if (stream->guard)
		pthread_mutex_lock(stream->guard);
}

static void guard_unlock(struct ez_stream *stream)
{
	if (stream->guard)
		pthread_mutex_unlock(stream->guard);
}

void ez_stream_close(struct ez_stream *stream)
{
	guard_lock(stream);
	ez_io_close(stream->io, &stream->source);
	guard_unlock(stream);
	ez_buffer_free(&stream->in);
	ez_buffer_free(&stream->out);
	stream->sink_bytes = 0;
	stream->paused = false;
	stream->want_write = false;
	stream->busy = false;
	stream->trouble = 0;
	stream->life++;
}

static void fail(struct ez_stream *stream, int err)
{
	ez_stream_close(stream);
	stream->closed(stream, err);
}

static uint32_t wanted_events(const struct ez_stream *stream)
{
	uint32_t events = stream->reading ? EPOLLIN : 0;

	if (stream->connecting || stream->out.len || stream->want_write)
		events |= EPOLLOUT;
	return events;
}

static void update_events(struct ez_stream *stream)
{
	guard_lock(stream);
	stream->reading = !stream->paused;
	ez_io_set_events(stream->io, &stream->source, wanted_events(stream));
	guard_unlock(stream);
}

void ez_stream_want_write_locked(struct ez_stream *stream, bool want)
{
	stream->want_write = want;
	ez_io_set_events(stream->io, &stream->source, wanted_events(stream));
}

int ez_stream_adopt(struct ez_stream *stream, int fd)
{
	int err = ez_fd_nonblock(fd, true);

	if (err) {
		ez_fd_close(fd);
		return err;
	}
	fd = ez_own_fd(fd);
	if (fd < 0)
		return fd;
	stream->connecting = false;
	stream->reading = true;
	return ez_io_watch(stream->io, &stream->source, fd, wanted_events(stream));
}

/* The first address of the host that lets a connect begin. */
static int begin_connect(const struct ez_address *address)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *list, *ai;
	char port[8];
	int fd = -EADDRNOTAVAIL;
	int err;

	snprintf(port, sizeof(port), "%u", address->port);
	if (getaddrinfo(address->host, port, &hints, &list) != 0)
		return -EADDRNOTAVAIL;
	for (ai = list; ai; ai = ai->ai_next) {
		fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    ai->ai_protocol);
		if (fd < 0) {
			fd = -errno;
			continue;
		}
		if (connect(fd, ai->ai_addr, ai->ai_addrlen) == 0 || errno == EINPROGRESS)
			break;
		err = -errno;
		close(fd);
		fd = err;
	}
	freeaddrinfo(list);
	return fd;
}

int ez_stream_dial(struct ez_stream *stream, const struct ez_address *address)
{
	int fd = ez_own_fd(begin_connect(address));

	if (fd < 0)
		return fd;
	ez_fd_nodelay(fd);
	stream->connecting = true;
	stream->reading = true;
	return ez_io_watch(stream->io, &stream->source, fd, wanted_events(stream));
}

void ez_stream_flush(struct ez_stream *stream)
{
	ssize_t n;

	while (!stream->connecting && stream->out.len && ez_stream_is_open(stream)) {
		n = send(stream->source.fd, stream->out.data, stream->out.len,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break; /* full: EPOLLOUT follows; broken: the reading side tells */
		ez_buffer_consume(&stream->out, (size_t)n);
	}
	update_events(stream);
}

/* Moves what has already been read into the sink. */
static int fill_sink(struct ez_stream *stream)
{
	size_t n = stream->sink_bytes - stream->sink_done;

	if (n > stream->in.len)
		n = stream->in.len;
	if (n)
		memcpy(stream->sink + stream->sink_done, stream->in.data, n);
	ez_buffer_consume(&stream->in, n);
	stream->sink_done += n;
	if (stream->sink_done < stream->sink_bytes)
		return -EAGAIN;
	stream->sink_bytes = 0;
	return stream->sunk(stream);
}

static int parse_some(struct ez_stream *stream)
{
	uint32_t life = stream->life;
	struct ez_reader reader;
	size_t done = 0;
	int err = 0;

	ez_reader_init(&reader, stream->in.data, stream->in.len);
	while (!err && reader.pos < reader.len && !stream->sink_bytes && !stream->paused) {
		done = reader.pos;
		err = stream->parse(stream, &reader);
		if (stream->life != life)
			return -ECANCELED;
	}
	ez_buffer_consume(&stream->in, err ? done : reader.pos);
	return err;
}

/* The one whose items this thread is taking. */
static __thread __attribute__((tls_model("initial-exec"))) const struct ez_stream *parsing;

bool ez_stream_is_parsing(const struct ez_stream *stream)
{
	return parsing == stream;
}

static void leave_to_loop(struct ez_stream *stream, int err)
{
	if (err != -EINPROGRESS)
		stream->trouble = err;
	ez_io_post(stream->io, &stream->look_job);
}

static void consume_input(struct ez_stream *stream)
{
	const struct ez_stream *outer = parsing;
	uint32_t life = stream->life;
	int err = 0;

	stream->busy = true;
	parsing = stream;
	while (!err && !stream->paused && (stream->in.len || stream->sink_bytes)) {
		err = stream->sink_bytes ? fill_sink(stream) : parse_some(stream);
		if (stream->life != life)
			break;
	}
	parsing = outer;
	if (stream->life != life)
		return;
	stream->busy = false;
	if (stream->batch_end)
		stream->batch_end(stream);
	if (err && err != -EAGAIN && stream->here)
		leave_to_loop(stream, err);
	else if (err && err != -EAGAIN)
		fail(stream, err);
	else if (stream->reading == stream->paused)
		update_events(stream);
}

void ez_stream_resume(struct ez_stream *stream)
{
	stream->paused = false;
	/* Called from its own parser the loop around that goes on by itself. */
	if (!stream->busy && ez_stream_is_open(stream) && !stream->connecting)
		consume_input(stream);
}

/* One recv(): the loop is level-triggered, so what is left brings the next wake-up. */
static ssize_t receive(struct ez_stream *stream)
{
	size_t room = READ_BYTES;
	uint8_t *to;
	ssize_t n;

	if (stream->sink_bytes) {
		room = stream->sink_bytes - stream->sink_done;
		to = stream->sink + stream->sink_done;
	} else {
		to = ez_buffer_reserve(&stream->in, room);
		if (!to)
			return stream->in.err;
	}
	n = recv(stream->source.fd, to, room, MSG_DONTWAIT);
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (n == 0)
		return -ENODATA;
	if (stream->sink_bytes)
		stream->sink_done += (size_t)n;
	else
		stream->in.len += (size_t)n;
	return n;
}

/* False: nothing was there, or it has been closed. */
static bool read_some(struct ez_stream *stream)
{
	uint32_t life = stream->life;
	ssize_t n = receive(stream);

	if (n < 0 && n != -EAGAIN)
		fail(stream, (int)n);
	else if (n > 0)
		consume_input(stream);
	return n > 0 && stream->life == life;
}

/* After a thread has left something. It may be over: the stream closed, or read by an event. */
static void look(struct ez_io_job *job)
{
	struct ez_stream *stream =
		(struct ez_stream *)((char *)job - offsetof(struct ez_stream, look_job));
	uint32_t life = stream->life;

	if (!ez_stream_is_open(stream) || stream->paused)
		return;
	if (stream->trouble) {
		fail(stream, stream->trouble);
		return;
	}
	consume_input(stream);
	if (stream->life == life && !stream->paused)
		read_some(stream);
}

int ez_stream_share(struct ez_stream *stream, int epoll_fd)
{
	int err;

	guard_lock(stream);
	err = ez_io_share(stream->io, &stream->source, epoll_fd);
	guard_unlock(stream);
	return err;
}

/* As much as was asked for: there may be more. */
static bool read_here_once(struct ez_stream *stream)
{
	size_t room = stream->sink_bytes ? stream->sink_bytes - stream->sink_done : READ_BYTES;
	ssize_t n = receive(stream);

	if (n > 0)
		consume_input(stream);
	else if (n != -EAGAIN)
		leave_to_loop(stream, (int)n);
	return n > 0 && (size_t)n == room && !stream->trouble;
}

bool ez_stream_read_here(struct ez_stream *stream)
{
	bool more = true;

	if (!ez_stream_is_open(stream) || stream->connecting || stream->paused || stream->trouble)
		return false;
	stream->here = true;
	stream->source.read_ns = ez_clock_mono_ns();
	for (int i = 0; i < READS_HERE && more; i++)
		more = read_here_once(stream);
	stream->here = false;
	if (more)
		leave_to_loop(stream, -EINPROGRESS);
	return true;
}

void ez_stream_drain(struct ez_stream *stream, int times)
{
	if (!ez_stream_is_open(stream) || stream->connecting || stream->busy || stream->trouble)
		return;
	while (times-- > 0 && !stream->paused && read_some(stream))
		;
}

static int connect_result(struct ez_stream *stream)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (getsockopt(stream->source.fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		err = errno;
	return -err;
}

static void stream_ready(struct ez_io_source *source, uint32_t events)
{
	struct ez_stream *stream =
		(struct ez_stream *)((char *)source - offsetof(struct ez_stream, source));
	int err;

	if (stream->connecting) {
		err = connect_result(stream);
		if (err) {
			fail(stream, err);
			return;
		}
		stream->connecting = false;
		ez_stream_flush(stream);
		return;
	}
	if (events & EPOLLOUT) {
		if (stream->writable)
			stream->writable(stream);
		else
			ez_stream_flush(stream);
	}
	/* While paused an error wakes us too, and would do so for ever. */
	if (!ez_stream_is_open(stream) || stream->trouble ||
	    (stream->paused && !(events & (EPOLLERR | EPOLLHUP))))
		return;
	read_some(stream);
}
