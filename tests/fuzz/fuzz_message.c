/* SPDX-License-Identifier: MIT */
/* Marshalled messages, and the wire's values, addresses and ids, all of which peers choose. */
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "json_writer.h"
#include "message.h"
#include "parse.h"
#include "uuid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_message(const uint8_t *data, size_t size)
{
	struct ez_message_cursor cursor = {0};
	struct ez_message message;
	struct iovec buffer;
	size_t sum = 0;

	if (ez_message_parse(data, size, &message))
		return;
	while (ez_message_next(&message, &cursor, &buffer) == 0) {
		volatile uint8_t last =
			buffer.iov_len ? ((uint8_t *)buffer.iov_base)[buffer.iov_len - 1] : 0;

		(void)last;
		sum += buffer.iov_len;
	}
	if (sum != message.payload_bytes || message.total_bytes > size)
		abort();
}

static void read_frames(const uint8_t *data, size_t size)
{
	struct ez_reader reader;
	struct ez_str str;

	ez_reader_init(&reader, data, size);
	while (ez_read_str(&reader, 4096, &str) == 0)
		if (str.len > 4096 || str.data + str.len > (const char *)data + size)
			abort();
}

static void write_json(const uint8_t *data, size_t size)
{
	struct ez_buffer buffer;
	struct ez_json json;

	ez_buffer_init(&buffer, 9 * size + 2);
	ez_json_init(&json, &buffer);
	ez_json_str_n(&json, (const char *)data, size);
	/* Nine characters per byte at most, of what is no UTF-8; all of them ASCII. */
	if (buffer.err)
		abort();
	for (size_t i = 0; i < buffer.len; i++)
		if (buffer.data[i] < 0x20 || buffer.data[i] > 0x7e)
			abort();
	ez_buffer_free(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ez_address address;
	struct ez_uuid uuid;
	char text[EZ_ADDRESS_BYTES];

	read_message(data, size);
	read_frames(data, size);
	write_json(data, size);
	if (ez_parse_address_n((const char *)data, size, &address) == 0)
		ez_address_format(&address, text);
	ez_uuid_parse((const char *)data, size, &uuid);
	return 0;
}
