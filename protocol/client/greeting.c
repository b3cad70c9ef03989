/* SPDX-License-Identifier: MIT */
#include "greeting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fd.h"
#include "frame.h"

/* Memory for a str grows with what really arrives, not with what its length claims. */
#define CHUNK_BYTES 65536

int ez_link_send(int fd, const struct ez_buffer *request, ez_mono_ns_t deadline_ns)
{
	if (request->err)
		return request->err;
	return ez_fd_write_full(fd, request->data, request->len, deadline_ns);
}

int ez_link_read_u8(int fd, ez_mono_ns_t deadline_ns, uint8_t *ret_value)
{
	uint8_t value;
	int err = ez_fd_read_full(fd, &value, sizeof(value), deadline_ns);

	if (!err)
		*ret_value = value;
	return err;
}

int ez_link_read_u64(int fd, ez_mono_ns_t deadline_ns, uint64_t *ret_value)
{
	uint8_t bytes[sizeof(uint64_t)];
	int err = ez_fd_read_full(fd, bytes, sizeof(bytes), deadline_ns);

	if (!err)
		*ret_value = ez_load_u64(bytes);
	return err;
}

int ez_link_read_str(int fd, size_t max, ez_mono_ns_t deadline_ns, char **ret_text, size_t *ret_len)
{
	struct ez_buffer text;
	uint64_t len;
	int err = ez_link_read_u64(fd, deadline_ns, &len);

	if (err)
		return err;
	if (len > max)
		return -EMSGSIZE;
	ez_buffer_init(&text, (size_t)len);
	while (!err && text.len < len) {
		size_t n = len - text.len < CHUNK_BYTES ? (size_t)len - text.len : CHUNK_BYTES;
		uint8_t *to = ez_buffer_reserve(&text, n);

		err = to ? ez_fd_read_full(fd, to, n, deadline_ns) : text.err;
		if (!err)
			text.len += n;
	}
	if (!err) {
		*ret_text = ez_buffer_steal(&text, ret_len);
		err = *ret_text ? 0 : -ENOMEM;
	}
	ez_buffer_free(&text);
	return err;
}

int ez_greeting_open(const struct ez_address *address, ez_mono_ns_t deadline_ns,
		     char ret_version[EZ_VERSION_BYTES])
{
	char *version;
	size_t len;
	int fd = ez_fd_connect(address->host, address->port, deadline_ns);
	int err;

	if (fd < 0)
		return fd;
	err = ez_link_read_str(fd, EZ_VERSION_BYTES - 1, deadline_ns, &version, &len);
	if (err) {
		ez_fd_close(fd);
		/* Silence may be a slow server; a close or a strange length is none of ours. */
		return err == -EMSGSIZE || err == -ENODATA ? -EPROTO : err;
	}
	if (ret_version)
		memcpy(ret_version, version, len + 1);
	free(version);
	return fd;
}
