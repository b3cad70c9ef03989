/* SPDX-License-Identifier: MIT */
#include "hello.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "fd.h"
#include "greeting.h"
#include "request.h"
#include "server_mark.h"

#define HELLO_BYTES_MAX 65536
#define PEER_TIMEOUT_S 10

/* ret_answer is the caller's to free, also where it fails: then it is NULL. */
static int open_asking(const struct ez_address *address, const char *program, const char *role,
		       ez_mono_ns_t deadline_ns, char **ret_answer)
{
	struct ez_buffer request;
	uint8_t command;
	size_t len;
	int fd = ez_greeting_open(address, deadline_ns, NULL);
	int err;

	*ret_answer = NULL;
	if (fd < 0)
		return fd;
	/* A link that only listens would never hear that the server's host is gone. */
	ez_fd_peer_timeout(fd, PEER_TIMEOUT_S);
	ez_buffer_init(&request, HELLO_BYTES_MAX);
	ez_request_hello(&request, program, role);
	err = ez_link_send(fd, &request, deadline_ns);
	ez_buffer_free(&request);
	if (!err)
		err = ez_link_read_u8(fd, deadline_ns, &command);
	/* A Python server logs the unknown byte and closes. */
	if (err == -ENODATA || err == -ECONNRESET || err == -EPIPE)
		err = -ENOTSUP;
	if (!err && command != EZ_CMD_HELLO)
		err = -ENOTSUP;
	if (!err)
		err = ez_link_read_str(fd, HELLO_BYTES_MAX, deadline_ns, ret_answer, &len);
	if (err) {
		ez_fd_close(fd);
		return err;
	}
	return fd;
}

int ez_hello_open(const struct ez_address *address, const char *program, const char *role,
		  ez_mono_ns_t deadline_ns)
{
	char *answer;
	int fd = open_asking(address, program, role, deadline_ns, &answer);

	free(answer);
	return fd;
}

int ez_hello_ask(const struct ez_address *address, const char *program, ez_mono_ns_t deadline_ns,
		 char **ret_answer)
{
	char *answer;
	int fd = open_asking(address, program, "probe", deadline_ns, &answer);

	if (fd < 0)
		return fd;
	ez_fd_close(fd);
	*ret_answer = answer;
	return 0;
}

bool ez_address_is_loopback(const struct ez_address *address)
{
	return strncmp(address->host, "127.", 4) == 0 || strcmp(address->host, "::1") == 0 ||
	       strcasecmp(address->host, "localhost") == 0;
}

int ez_hello_is_ours(const struct ez_address *address, const char *program, const uid_t *uids,
		     size_t n_uids, ez_mono_ns_t deadline_ns)
{
	const char *wish = getenv(EZ_HELLO_VARIABLE);
	bool always = wish && strcmp(wish, "1") == 0;
	bool never = wish && strcmp(wish, "0") == 0;
	bool loopback = ez_address_is_loopback(address);
	int fd;

	if (loopback && ez_server_mark_find(address->port, uids, n_uids) > 0)
		return 1;
	if (never || (loopback && !always))
		return 0;
	fd = ez_hello_open(address, program, "probe", deadline_ns);
	if (fd == -ENOTSUP)
		return 0;
	if (fd < 0)
		return fd;
	ez_fd_close(fd);
	return 1;
}
