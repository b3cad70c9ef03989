/* SPDX-License-Identifier: MIT */
#include "ambiguous.h"

#include <errno.h>
#include <stdlib.h>

#include <event2/event.h>

#include "profile_request.h"
#include "session_link.h"

#define SILENCE_MS 100

struct ambiguous {
	struct ezprof_conn *conn;
	struct event *silence;
};

static void gone(struct ezprof_conn *conn)
{
	struct ambiguous *ambiguous = conn->data;

	event_free(ambiguous->silence);
	free(ambiguous);
}

/* Something follows: PROFILE, as soon as all of it is there. */
static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ambiguous *ambiguous = conn->data;
	int err = ezprof_profile_begin(conn, in);

	if (err == EZPROF_NEED_MORE) {
		event_del(ambiguous->silence);
		return err;
	}
	if (!err) {
		event_free(ambiguous->silence);
		free(ambiguous);
	}
	return err;
}

static const struct ezprof_role ambiguous_role = {
	.name = "PROFILE",
	.receive = receive,
	.gone = gone,
};

static void on_silence(evutil_socket_t fd, short what, void *arg)
{
	struct ambiguous *ambiguous = arg;
	struct ezprof_conn *conn = ambiguous->conn;

	(void)fd;
	(void)what;
	if (ezprof_session_begin(conn)) {
		ezprof_conn_close(conn);
		return;
	}
	event_free(ambiguous->silence);
	free(ambiguous);
}

int ezprof_ambiguous_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	static const struct timeval silence = {.tv_usec = SILENCE_MS * 1000};
	struct ambiguous *ambiguous;

	if (conn->server->config.dialect == EZPROF_DIALECT_3_9)
		return ezprof_session_begin(conn);
	if (conn->server->config.dialect == EZPROF_DIALECT_PR206 ||
	    in->len - in->pos >= sizeof(uint64_t))
		return ezprof_profile_begin(conn, in);
	ambiguous = calloc(1, sizeof(*ambiguous));
	if (!ambiguous)
		return -ENOMEM;
	ambiguous->conn = conn;
	ambiguous->silence = event_new(conn->server->base, -1, 0, on_silence, ambiguous);
	if (!ambiguous->silence) {
		free(ambiguous);
		return -ENOMEM;
	}
	event_add(ambiguous->silence, &silence);
	ezprof_conn_become(conn, &ambiguous_role, ambiguous);
	return 0;
}
