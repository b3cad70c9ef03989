/* SPDX-License-Identifier: MIT */
#include "sync_request.h"

#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "confirmation.h"
#include "publisher_link.h"

struct sync {
	struct ezprof_conn *conn;
	uint64_t next_seq; /* publishers before it are done */
	struct ezprof_confirmation *confirmation;
};

static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	(void)conn;
	in->pos = in->len;
	return 0;
}

static void gone(struct ezprof_conn *conn)
{
	struct sync *sync = conn->data;

	if (sync->confirmation)
		ezprof_confirmation_cancel(sync->confirmation);
	free(sync);
}

static const struct ezprof_role sync_role = {
	.name = "SYNC",
	.receive = receive,
	.gone = gone,
};

static struct ezprof_publisher *next_publisher(const struct sync *sync)
{
	struct ezprof_publisher *publisher;

	DL_FOREACH(sync->conn->server->publishers, publisher)
	if (publisher->seq >= sync->next_seq)
		return publisher;
	return NULL;
}

static void go_on(void *arg)
{
	struct sync *sync = arg;
	struct ezprof_conn *conn = sync->conn;
	struct ezprof_publisher *publisher = next_publisher(sync);

	sync->confirmation = NULL;
	if (!publisher) {
		ez_put_u8(&conn->out, EZ_CMD_COMPLETE);
		ezprof_conn_finish(conn);
		return;
	}
	sync->next_seq = publisher->seq + 1;
	sync->confirmation = ezprof_confirmation_new(conn->server, go_on, sync);
	if (!sync->confirmation) {
		ezprof_conn_finish(conn);
		return;
	}
	ez_put_u8(&publisher->conn->out, EZ_CMD_SYNC);
	ezprof_conn_flush(publisher->conn);
	ezprof_owed_sent(&publisher->syncs, sync->confirmation);
	ezprof_confirmation_wait(sync->confirmation, 0);
}

int ezprof_sync_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct sync *sync = calloc(1, sizeof(*sync));

	(void)in;
	if (!sync)
		return -ENOMEM;
	sync->conn = conn;
	ezprof_conn_become(conn, &sync_role, sync);
	ezprof_conn_establish(conn);
	go_on(sync);
	return 0;
}
