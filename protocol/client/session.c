/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "fd.h"
#include "greeting.h"
#include "request.h"

#define REQUEST_BYTES_MAX (4 * EZ_TOPIC_BYTES_MAX)
#define PICKLE_BYTES_MAX ((size_t)64 << 20)
/* What the graph server gives the process before it answers in its place. */
#define PROCESS_TIMEOUT_S "2.0"

/* Sends the request, which is freed, and reads "id, COMPLETE". Closes fd on failure. */
static int open_link(int fd, struct ez_buffer *request, ez_mono_ns_t deadline_ns)
{
	char *id = NULL;
	uint8_t complete;
	size_t len;
	int err = ez_link_send(fd, request, deadline_ns);

	ez_buffer_free(request);
	if (!err)
		err = ez_link_read_str(fd, EZ_NAME_BYTES_MAX, deadline_ns, &id, &len);
	free(id);
	if (!err)
		err = ez_link_read_u8(fd, deadline_ns, &complete);
	if (!err && complete != EZ_CMD_COMPLETE)
		err = -EPROTO;
	if (err)
		ez_fd_close(fd);
	return err ? err : fd;
}

int ez_session_open(const struct ez_address *address, ez_mono_ns_t deadline_ns)
{
	struct ez_buffer request;
	int fd = ez_greeting_open(address, deadline_ns, NULL);

	if (fd < 0)
		return fd;
	ez_buffer_init(&request, REQUEST_BYTES_MAX);
	ez_put_u8(&request, EZ_CMD_SESSION);
	return open_link(fd, &request, deadline_ns);
}

/* An answer on a session: a pickle, to be freed by the caller, and COMPLETE. */
static int read_answer(int fd, ez_mono_ns_t deadline_ns, char **ret_pickle, size_t *ret_len)
{
	uint8_t complete;
	char *pickle;
	int err = ez_link_read_str(fd, PICKLE_BYTES_MAX, deadline_ns, &pickle, ret_len);

	if (err)
		return err;
	err = ez_link_read_u8(fd, deadline_ns, &complete);
	if (!err && complete != EZ_CMD_COMPLETE)
		err = -EPROTO;
	if (err)
		free(pickle);
	else
		*ret_pickle = pickle;
	return err;
}

int ez_session_snapshot(int fd, ez_mono_ns_t deadline_ns, struct ez_snapshot **ret_snapshot)
{
	struct ez_buffer request;
	char *pickle = NULL;
	size_t len;
	int err;

	ez_buffer_init(&request, REQUEST_BYTES_MAX);
	ez_put_u8(&request, EZ_CMD_SESSION_SNAPSHOT);
	err = ez_link_send(fd, &request, deadline_ns);
	ez_buffer_free(&request);
	if (!err)
		err = read_answer(fd, deadline_ns, &pickle, &len);
	if (!err)
		err = ez_pickle_read_snapshot(pickle, len, ret_snapshot);
	free(pickle);
	return err;
}

int ez_session_trace(int fd, const char *unit, double ttl_s, ez_mono_ns_t deadline_ns,
		     struct ez_process_answer *ret_answer)
{
	struct ez_buffer request, control;
	char *pickle = NULL;
	size_t len;
	int err;

	ez_buffer_init(&request, REQUEST_BYTES_MAX);
	ez_buffer_init(&control, REQUEST_BYTES_MAX);
	ez_pickle_trace_control(&control, ttl_s);
	ez_put_u8(&request, EZ_CMD_SESSION_PROCESS_REQUEST);
	ez_put_text(&request, unit);
	ez_put_text(&request, "SET_PROFILING_TRACE");
	ez_put_text(&request, PROCESS_TIMEOUT_S);
	ez_put_str(&request, (const char *)control.data, control.len);
	err = control.err ? control.err : ez_link_send(fd, &request, deadline_ns);
	ez_buffer_free(&control);
	ez_buffer_free(&request);
	if (!err)
		err = read_answer(fd, deadline_ns, &pickle, &len);
	if (!err)
		err = ez_pickle_read_process_answer(pickle, len, ret_answer);
	free(pickle);
	return err;
}

int ez_trace_stream_open(const struct ez_address *address, double interval_s, int64_t max_samples,
			 ez_mono_ns_t deadline_ns)
{
	struct ez_buffer request, control;
	int fd = ez_greeting_open(address, deadline_ns, NULL);

	if (fd < 0)
		return fd;
	ez_buffer_init(&request, REQUEST_BYTES_MAX);
	ez_buffer_init(&control, REQUEST_BYTES_MAX);
	ez_pickle_stream_control(&control, interval_s, max_samples);
	ez_put_u8(&request, EZ_CMD_SESSION_PROFILING_SUBSCRIBE);
	ez_put_str(&request, (const char *)control.data, control.len);
	if (control.err)
		request.err = control.err;
	ez_buffer_free(&control);
	return open_link(fd, &request, deadline_ns);
}

int ez_trace_stream_next(int fd, ez_mono_ns_t until_ns, ez_mono_ns_t deadline_ns,
			 ez_trace_sink sink, void *context)
{
	char *pickle = NULL;
	size_t len;
	int err = ez_fd_wait_readable(fd, until_ns);

	if (!err)
		err = ez_link_read_str(fd, PICKLE_BYTES_MAX, deadline_ns, &pickle, &len);
	if (!err)
		err = ez_pickle_read_trace(pickle, len, sink, context);
	free(pickle);
	return err;
}
