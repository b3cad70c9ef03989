/* SPDX-License-Identifier: MIT */
#include "conn.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/event.h>

#include "fd.h"
#include "hash.h"

#define KEPT_BYTES 16384 /* of a connection's buffer that is empty */
#define LINGER_MS 2000
#define COMPLAINT_INTERVAL_NS (EZ_NS_PER_S / 20)

_Static_assert(EZPROF_NEED_MORE == -EAGAIN, "the frame reader's word for it");
_Static_assert(EZPROF_NOT_NOW == -EBUSY, "an errno that no message can cause");

static void on_readable(evutil_socket_t fd, short what, void *arg);
static void on_writable(evutil_socket_t fd, short what, void *arg);
static void on_timer(evutil_socket_t fd, short what, void *arg);

static struct timeval from_ms(uint64_t ms)
{
	return (struct timeval){.tv_sec = (time_t)(ms / 1000),
				.tv_usec = (suseconds_t)(ms % 1000 * 1000)};
}

static void arm_timer(struct ezprof_conn *conn, uint64_t ms)
{
	struct timeval after = from_ms(ms);

	event_add(conn->timer, &after);
}

struct ezprof_conn *ezprof_conn_new(struct ezprof_server *server, int fd,
				    const union ezprof_socket_address *address,
				    const struct ezprof_role *role)
{
	struct ezprof_conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		ez_fd_close(fd);
		return NULL;
	}
	conn->server = server;
	conn->fd = fd;
	conn->role = role;
	ez_buffer_init(&conn->in, server->config.payload_bytes_max + EZPROF_SCRATCH_BYTES);
	ez_buffer_init(&conn->out, server->config.pending_bytes_max);
	conn->readable = event_new(server->base, fd, EV_READ | EV_PERSIST, on_readable, conn);
	conn->writable = event_new(server->base, fd, EV_WRITE, on_writable, conn);
	conn->timer = event_new(server->base, -1, 0, on_timer, conn);
	if (!conn->readable || !conn->writable || !conn->timer ||
	    event_add(conn->readable, NULL) < 0) {
		ez_fd_close(fd);
		ezprof_conn_free(conn);
		return NULL;
	}
	if (address)
		conn->peer.address = *address;
	arm_timer(conn, server->config.request_timeout_ms);
	DL_APPEND(server->conns, conn);
	server->n_conns++;
	return conn;
}

void ezprof_conn_free(struct ezprof_conn *conn)
{
	if (conn->readable)
		event_free(conn->readable);
	if (conn->writable)
		event_free(conn->writable);
	if (conn->timer)
		event_free(conn->timer);
	ez_buffer_free(&conn->in);
	ez_buffer_free(&conn->out);
	free(conn);
}

const char *ezprof_conn_peer(struct ezprof_conn *conn)
{
	return ezprof_peer_text(&conn->peer);
}

bool ezprof_conn_is_open(const struct ezprof_conn *conn)
{
	return conn->fd >= 0 && !conn->finishing;
}

void ezprof_conn_become(struct ezprof_conn *conn, const struct ezprof_role *role, void *data)
{
	conn->role = role;
	conn->data = data;
}

void ezprof_conn_establish(struct ezprof_conn *conn)
{
	conn->established = true;
	event_del(conn->timer);
}

/* The role lets go, once. */
static void leave_role(struct ezprof_conn *conn)
{
	const struct ezprof_role *role = conn->role;

	conn->role = NULL;
	if (role && role->gone)
		role->gone(conn);
	conn->data = NULL;
}

void ezprof_conn_close(struct ezprof_conn *conn)
{
	if (conn->fd < 0)
		return;
	event_del(conn->readable);
	event_del(conn->writable);
	event_del(conn->timer);
	conn->fd = ez_fd_close(conn->fd);
	DL_DELETE(conn->server->conns, conn);
	conn->server->n_conns--;
	DL_APPEND(conn->server->dead, conn);
	event_active(conn->server->reaper, 0, 0);
	leave_role(conn);
}

void ezprof_conn_complain(struct ezprof_conn *conn, const char *format, ...)
{
	uint64_t held_back;
	char text[256];
	va_list args;

	if (!ez_log_limited(&conn->server->peer_log, COMPLAINT_INTERVAL_NS, &held_back))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (held_back)
		ez_log(EZ_LOG_WARN, "%s: %s (%llu more like it were held back)",
		       ezprof_conn_peer(conn), text, (unsigned long long)held_back);
	else
		ez_log(EZ_LOG_WARN, "%s: %s", ezprof_conn_peer(conn), text);
}

/* One large message shall not cost its memory for as long as the connection lives. */
static void give_back(struct ez_buffer *buffer)
{
	if (!buffer->len && buffer->capacity > KEPT_BYTES)
		ez_buffer_free(buffer);
}

static size_t unsent(const struct ezprof_conn *conn)
{
	return conn->out.len - conn->out_sent;
}

static int send_some(struct ezprof_conn *conn)
{
	while (unsent(conn)) {
		ssize_t n = send(conn->fd, conn->out.data + conn->out_sent, unsent(conn),
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		conn->out_sent += (size_t)n;
	}
	return 0;
}

/*
 * All is out: the peer gets its EOF now and a moment to read, before unread input would turn it
 * into a reset.
 */
static void linger(struct ezprof_conn *conn)
{
	if (shutdown(conn->fd, SHUT_WR) < 0 || conn->at_eof)
		ezprof_conn_close(conn);
	else
		arm_timer(conn, LINGER_MS);
}

void ezprof_conn_flush(struct ezprof_conn *conn)
{
	if (conn->fd >= 0)
		event_active(conn->writable, EV_WRITE, 0);
}

static void send_pending(struct ezprof_conn *conn)
{
	int err;

	if (conn->out.err) {
		ezprof_conn_complain(conn, "closed: it doesn't read, %zu bytes are waiting",
				     unsent(conn));
		ezprof_conn_close(conn);
		return;
	}
	err = send_some(conn);
	if (err) {
		ezprof_conn_close(conn);
		return;
	}
	if (!unsent(conn)) {
		ez_buffer_reset(&conn->out);
		give_back(&conn->out);
		conn->out_sent = 0;
		event_del(conn->writable);
		if (conn->finishing)
			linger(conn);
		return;
	}
	/* Moves the rest to the front only when that is the smaller part: linear over all. */
	if (conn->out_sent > conn->out.len / 2) {
		ez_buffer_consume(&conn->out, conn->out_sent);
		conn->out_sent = 0;
	}
	event_add(conn->writable, NULL);
}

void ezprof_conn_finish(struct ezprof_conn *conn)
{
	if (!ezprof_conn_is_open(conn))
		return;
	conn->finishing = true;
	leave_role(conn);
	/* A peer that doesn't read its answer has as long as for a request. */
	arm_timer(conn, conn->server->config.request_timeout_ms);
	ezprof_conn_flush(conn);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct ezprof_conn *conn = arg;

	(void)fd;
	(void)what;
	if (conn->fd >= 0)
		send_pending(conn);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct ezprof_conn *conn = arg;

	(void)fd;
	(void)what;
	if (conn->fd < 0)
		return;
	if (!conn->finishing)
		ezprof_conn_complain(conn, "closed: no complete %s within %llu ms",
				     conn->established ? "message" : "request",
				     (unsigned long long)conn->server->config.request_timeout_ms);
	ezprof_conn_close(conn);
}

/* The time limit of a link runs while an incomplete message is there. */
static void watch_incomplete(struct ezprof_conn *conn, bool incomplete)
{
	if (!conn->established || conn->finishing)
		return;
	if (!incomplete)
		event_del(conn->timer);
	else if (!event_pending(conn->timer, EV_TIMEOUT, NULL))
		arm_timer(conn, conn->server->config.request_timeout_ms);
}

static void refuse(struct ezprof_conn *conn, int err)
{
	if (err == -EMSGSIZE)
		ezprof_conn_complain(conn, "closed: a length in its %s is over the limit",
				     conn->role->name);
	else if (err != -ECANCELED)
		ezprof_conn_complain(conn, "closed: bad %s: %s", conn->role->name, strerror(-err));
	ezprof_conn_close(conn);
}

/* Lets the role take messages from data. What it took, and what it said in the end. */
static size_t take_messages(struct ezprof_conn *conn, const uint8_t *data, size_t len, int *ret_err)
{
	size_t consumed = 0;
	int err = 0;

	conn->pumping = true;
	while (ezprof_conn_is_open(conn) && consumed < len) {
		struct ez_reader reader;

		ez_reader_init(&reader, data + consumed, len - consumed);
		err = conn->role->receive(conn, &reader);
		if (err)
			break;
		consumed += reader.pos;
	}
	conn->pumping = false;
	*ret_err = err;
	return consumed;
}

/* What follows from what the role said; what it left is in conn->in. */
static void after_messages(struct ezprof_conn *conn, int err)
{
	bool waits_for_more = err == EZPROF_NEED_MORE;

	if (conn->in.err)
		err = conn->in.err;
	watch_incomplete(conn, waits_for_more);
	if (err && err != EZPROF_NEED_MORE && err != EZPROF_NOT_NOW)
		refuse(conn, err);
	else if (conn->at_eof && (waits_for_more || !conn->role->answers_after_eof))
		ezprof_conn_close(conn);
}

void ezprof_conn_pump(struct ezprof_conn *conn)
{
	size_t consumed;
	int err;

	/* A role that calls this from receive is served by the loop that called it. */
	if (conn->pumping)
		return;
	consumed = take_messages(conn, conn->in.data, conn->in.len, &err);
	if (!ezprof_conn_is_open(conn)) {
		/*
		 * Not earlier: whoever finished it may still have been using strings of the
		 * message.
		 */
		ez_buffer_free(&conn->in);
		return;
	}
	ez_buffer_consume(&conn->in, consumed);
	give_back(&conn->in);
	after_messages(conn, err);
}

/* Bytes in the server's own buffer, of which only what is incomplete is kept. */
static void pump_scratch(struct ezprof_conn *conn, size_t len)
{
	const uint8_t *data = conn->server->scratch;
	size_t consumed;
	int err;

	consumed = take_messages(conn, data, len, &err);
	if (!ezprof_conn_is_open(conn))
		return;
	ez_buffer_append(&conn->in, data + consumed, len - consumed);
	after_messages(conn, err);
}

/* Input of a connection that only waits for its answer to be read. */
static void discard(struct ezprof_conn *conn)
{
	char waste[4096];
	ssize_t n = recv(conn->fd, waste, sizeof(waste), MSG_DONTWAIT);

	if (n == 0) {
		conn->at_eof = true;
		event_del(conn->readable);
	}
	if ((n == 0 && !unsent(conn)) || (n < 0 && errno != EAGAIN && errno != EINTR))
		ezprof_conn_close(conn);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct ezprof_conn *conn = arg;
	uint8_t *to;
	ssize_t n;

	(void)what;
	if (conn->finishing) {
		discard(conn);
		return;
	}
	/* Most messages come whole: they never need memory of the connection's own. */
	to = conn->in.len ? ez_buffer_reserve(&conn->in, EZPROF_SCRATCH_BYTES)
			  : conn->server->scratch;
	if (!to) {
		refuse(conn, conn->in.err);
		return;
	}
	n = recv((int)fd, to, EZPROF_SCRATCH_BYTES, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		ezprof_conn_close(conn);
		return;
	}
	if (n == 0) {
		conn->at_eof = true;
		event_del(conn->readable);
	}
	if (to == conn->server->scratch) {
		pump_scratch(conn, (size_t)n);
		return;
	}
	conn->in.len += (size_t)n;
	ezprof_conn_pump(conn);
}
