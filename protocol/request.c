/* SPDX-License-Identifier: MIT */
#include "request.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "command.h"
#include "frame.h"
#include "json_writer.h"

#define HELLO_BYTES_MAX 1024

void ez_request_publish(struct ez_buffer *out, const char *topic)
{
	ez_put_u8(out, EZ_CMD_PUBLISH);
	ez_put_text(out, topic);
}

void ez_request_subscribe(struct ez_buffer *out, const char *topic)
{
	ez_put_u8(out, EZ_CMD_SUBSCRIBE);
	ez_put_text(out, topic);
}

void ez_request_connect(struct ez_buffer *out, const char *from, const char *to)
{
	ez_put_u8(out, EZ_CMD_CONNECT);
	ez_put_text(out, from);
	ez_put_text(out, to);
}

void ez_request_disconnect(struct ez_buffer *out, const char *from, const char *to)
{
	ez_put_u8(out, EZ_CMD_DISCONNECT);
	ez_put_text(out, from);
	ez_put_text(out, to);
}

void ez_request_channel(struct ez_buffer *out, const char *publisher_id)
{
	ez_put_u8(out, EZ_CMD_CHANNEL);
	ez_put_text(out, publisher_id);
}

void ez_request_shm_create(struct ez_buffer *out, uint64_t num_buffers, uint64_t buffer_bytes)
{
	ez_put_u8(out, EZ_CMD_SHM_CREATE);
	ez_put_u64(out, num_buffers);
	ez_put_u64(out, buffer_bytes);
}

void ez_request_shm_attach(struct ez_buffer *out, const char *name)
{
	ez_put_u8(out, EZ_CMD_SHM_ATTACH);
	ez_put_text(out, name);
}

void ez_request_profile(struct ez_buffer *out, uint64_t window_ms)
{
	ez_put_u8(out, EZ_CMD_PROFILE);
	ez_put_u64(out, window_ms);
}

/* The JSON object of a HELLO or a mark, as a str of the wire. */
static void put_identity(struct ez_buffer *out, const char *type, const char *program,
			 const char *role)
{
	struct ez_buffer text;
	struct utsname machine;
	struct ez_json json;

	ez_buffer_init(&text, HELLO_BYTES_MAX);
	ez_json_init(&json, &text);
	ez_json_object_begin(&json);
	if (type)
		ez_json_kv_str(&json, "type", type);
	ez_json_kv_str(&json, "program", program);
	ez_json_kv_str(&json, "version", EZPROF_VERSION);
	if (role)
		ez_json_kv_str(&json, "role", role);
	ez_json_kv_i64(&json, "pid", getpid());
	ez_json_kv_str(&json, "host", uname(&machine) == 0 ? machine.nodename : NULL);
	ez_json_object_end(&json);
	if (text.err)
		out->err = out->err ? out->err : text.err;
	else
		ez_put_str(out, (const char *)text.data, text.len);
	ez_buffer_free(&text);
}

void ez_request_hello(struct ez_buffer *out, const char *program, const char *role)
{
	ez_put_u8(out, EZ_CMD_HELLO);
	put_identity(out, NULL, program, role);
}

void ez_request_link_mark(struct ez_buffer *out, const char *program)
{
	ez_put_u8(out, EZ_CMD_PROFILE_DATA);
	put_identity(out, "hello", program, NULL);
}
