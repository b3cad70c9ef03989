/* SPDX-License-Identifier: MIT */
#include "client.h"

#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "fd.h"
#include "frame.h"
#include "greeting.h"
#include "hello.h"
#include "request.h"

#define REQUEST_BYTES_MAX (4 * EZ_TOPIC_BYTES_MAX)

int ez_client_ping(const struct ez_address *address, ez_mono_ns_t deadline_ns, char *ret_version)
{
	int fd = ez_greeting_open(address, deadline_ns, ret_version);

	if (fd < 0)
		return fd;
	ez_fd_close(fd);
	return 0;
}

/* Opens a connection and sends the request, which is freed in any case. Returns the descriptor. */
static int send_request(const struct ez_address *address, struct ez_buffer *request,
			ez_mono_ns_t deadline_ns)
{
	int fd = ez_greeting_open(address, deadline_ns, NULL);
	int err = fd < 0 ? fd : ez_link_send(fd, request, deadline_ns);

	ez_buffer_free(request);
	if (err && fd >= 0)
		ez_fd_close(fd);
	return err ? err : fd;
}

/* Sends a request that is answered by one byte: COMPLETE, or CYCLIC. */
static int ask_for_byte(const struct ez_address *address, struct ez_buffer *request,
			ez_mono_ns_t deadline_ns)
{
	uint8_t answer;
	int fd = send_request(address, request, deadline_ns);
	int err;

	if (fd < 0)
		return fd;
	err = ez_link_read_u8(fd, deadline_ns, &answer);
	ez_fd_close(fd);
	if (err)
		return err;
	return answer == EZ_CMD_COMPLETE ? 0 : answer == EZ_CMD_CYCLIC ? -ELOOP : -EPROTO;
}

int ez_client_connect(const struct ez_address *address, const char *from, const char *to,
		      ez_mono_ns_t deadline_ns)
{
	struct ez_buffer request;

	ez_buffer_init(&request, REQUEST_BYTES_MAX);
	ez_request_connect(&request, from, to);
	return ask_for_byte(address, &request, deadline_ns);
}

int ez_client_disconnect(const struct ez_address *address, const char *from, const char *to,
			 ez_mono_ns_t deadline_ns)
{
	struct ez_buffer request;

	ez_buffer_init(&request, REQUEST_BYTES_MAX);
	ez_request_disconnect(&request, from, to);
	return ask_for_byte(address, &request, deadline_ns);
}

/*
 * A one-byte command without an answer: returns once the server has read it and closed the
 * connection.
 */
static int send_command(const struct ez_address *address, uint8_t command, ez_mono_ns_t deadline_ns)
{
	struct ez_buffer request;
	uint8_t none;
	int fd, err;

	ez_buffer_init(&request, REQUEST_BYTES_MAX);
	ez_put_u8(&request, command);
	fd = send_request(address, &request, deadline_ns);
	if (fd < 0)
		return fd;
	err = ez_link_read_u8(fd, deadline_ns, &none);
	ez_fd_close(fd);
	if (!err)
		return -EPROTO;
	return err == -ENODATA || err == -ECONNRESET ? 0 : err;
}

int ez_client_pause(const struct ez_address *address, ez_mono_ns_t deadline_ns)
{
	return send_command(address, EZ_CMD_PAUSE, deadline_ns);
}

int ez_client_resume(const struct ez_address *address, ez_mono_ns_t deadline_ns)
{
	return send_command(address, EZ_CMD_RESUME, deadline_ns);
}

int ez_client_shutdown(const struct ez_address *address, ez_mono_ns_t deadline_ns)
{
	return send_command(address, EZ_CMD_SHUTDOWN, deadline_ns);
}

int ez_client_sync(const struct ez_address *address, ez_mono_ns_t deadline_ns)
{
	struct ez_buffer request;

	ez_buffer_init(&request, REQUEST_BYTES_MAX);
	ez_put_u8(&request, EZ_CMD_SYNC);
	return ask_for_byte(address, &request, deadline_ns);
}

int ez_client_dag(const struct ez_address *address, ez_mono_ns_t deadline_ns,
		  struct ez_dag **ret_dag)
{
	struct ez_buffer request;
	char *pickle = NULL;
	uint8_t command;
	size_t len;
	int fd, err;

	ez_buffer_init(&request, REQUEST_BYTES_MAX);
	ez_put_u8(&request, EZ_CMD_DAG);
	fd = send_request(address, &request, deadline_ns);
	if (fd < 0)
		return fd;
	err = ez_link_read_u8(fd, deadline_ns, &command);
	if (!err && command != EZ_CMD_DAG)
		err = -EPROTO;
	if (!err)
		err = ez_link_read_str(fd, EZ_DAG_BYTES_MAX, deadline_ns, &pickle, &len);
	ez_fd_close(fd);
	if (!err)
		err = ez_pickle_read_dag(pickle, len, ret_dag);
	free(pickle);
	return err;
}

int ez_client_profile(const struct ez_address *address, const char *program, uint64_t window_ms,
		      ez_mono_ns_t deadline_ns, char **ret_json, size_t *ret_len)
{
	struct ez_buffer request;
	int fd = ez_hello_open(address, program, "client", deadline_ns);
	uint8_t command;
	int err;

	if (fd < 0)
		return fd;
	ez_buffer_init(&request, REQUEST_BYTES_MAX);
	ez_request_profile(&request, window_ms);
	err = ez_link_send(fd, &request, deadline_ns);
	ez_buffer_free(&request);
	if (!err)
		err = ez_link_read_u8(fd, deadline_ns, &command);
	if (!err && command != EZ_CMD_PROFILE_DATA)
		err = -EPROTO;
	if (!err)
		err = ez_link_read_str(fd, EZ_PROFILE_BYTES_MAX, deadline_ns, ret_json, ret_len);
	ez_fd_close(fd);
	return err;
}
