/* SPDX-License-Identifier: MIT */
#include "lease.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "command.h"
#include "request.h"
#include "shm_store.h"

struct lease {
	struct ezprof_conn *conn;
	struct ezprof_segment *segment;
	struct event *turn; /* the next step of filling the segment, after everybody else's turn */
};

/* The client has nothing to say on this link. */
static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	(void)conn;
	in->pos = in->len;
	return 0;
}

static void gone(struct ezprof_conn *conn)
{
	struct lease *lease = conn->data;

	if (lease->turn)
		event_free(lease->turn);
	ezprof_shm_release(conn->server->shm, lease->segment);
	free(lease);
}

static const struct ezprof_role lease_role = {
	.name = "lease",
	.receive = receive,
	.gone = gone,
};

static void confirm(struct lease *lease)
{
	ez_put_u8(&lease->conn->out, EZ_CMD_COMPLETE);
	ez_put_text(&lease->conn->out, ezprof_segment_name(lease->segment));
	ezprof_conn_flush(lease->conn);
}

/* The contract of failure: closed without a byte. */
static void refuse_segment(struct ezprof_conn *conn, int err)
{
	ezprof_conn_complain(conn, "can't create its segment: %s", strerror(-err));
	ezprof_conn_finish(conn);
}

static void fill(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval now;
	struct lease *lease = arg;
	int result = ezprof_shm_fill(lease->conn->server->shm, lease->segment);

	(void)fd;
	(void)what;
	if (result < 0)
		refuse_segment(lease->conn, result);
	else if (result == 0)
		event_add(lease->turn, &now);
	else
		confirm(lease);
}

static struct lease *begin(struct ezprof_conn *conn, struct ezprof_segment *segment)
{
	struct lease *lease = calloc(1, sizeof(*lease));

	if (!lease) {
		ezprof_shm_release(conn->server->shm, segment);
		return NULL;
	}
	lease->conn = conn;
	lease->segment = segment;
	ezprof_conn_become(conn, &lease_role, lease);
	ezprof_conn_establish(conn);
	return lease;
}

int ezprof_lease_create(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_segment *segment;
	uint64_t num_buffers, buffer_bytes;
	struct ezprof_machine machine;
	struct lease *lease;
	int err = ez_read_u64(in, &num_buffers);

	if (!err)
		err = ez_read_u64(in, &buffer_bytes);
	if (err)
		return err;
	err = ezprof_shm_create(conn->server->shm, num_buffers, buffer_bytes,
				conn->server->config.segment_bytes_max, &segment);
	if (err) {
		refuse_segment(conn, err);
		return 0;
	}
	machine = ezprof_peer_machine(&conn->peer, conn->fd);
	ezprof_segment_set_home(segment, &machine);
	lease = begin(conn, segment);
	if (!lease)
		return -ENOMEM;
	lease->turn = event_new(conn->server->base, -1, 0, fill, lease);
	if (!lease->turn)
		return -ENOMEM;
	event_active(lease->turn, EV_TIMEOUT, 0);
	return 0;
}

int ezprof_lease_attach(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_segment *segment;
	struct ezprof_machine machine;
	struct lease *lease;
	struct ez_str name;
	int err = ez_read_str(in, EZ_NAME_BYTES_MAX, &name);

	if (err)
		return err;
	machine = ezprof_peer_machine(&conn->peer, conn->fd);
	segment = ezprof_shm_attach(conn->server->shm, name.data, name.len, &machine);
	if (!segment) {
		ez_log(EZ_LOG_INFO, "%s wants a segment that isn't on its machine: %.*s",
		       ezprof_conn_peer(conn), EZPROF_STR_ARGS(name));
		ezprof_conn_finish(conn);
		return 0;
	}
	lease = begin(conn, segment);
	if (!lease)
		return -ENOMEM;
	confirm(lease);
	return 0;
}
