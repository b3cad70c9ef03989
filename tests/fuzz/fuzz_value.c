/* SPDX-License-Identifier: MIT */
/*
 * A message as a receiver gets it: taken apart, its pickle read, by the short way for bytes or by
 * the reader. Everything that it then claims to hold lies within what came.
 */
#include <stdlib.h>

#include "frame.h"
#include "parts.h"
#include "subscriber.h"
#include "value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_within(const void *part, size_t bytes, const uint8_t *data, size_t size)
{
	const uint8_t *p = part;
	volatile uint8_t last;

	if (!bytes)
		return;
	if (p < data || bytes > size || p > data + size - bytes)
		abort();
	last = p[bytes - 1];
	(void)last;
}

static void check(const struct ez_message *message, const uint8_t *data, size_t size)
{
	uint64_t elements = 1;

	check_within(message->data, message->bytes, data, size);
	for (size_t i = 0; i < message->num_buffers; i++)
		check_within(message->buffers[i].iov_base, message->buffers[i].iov_len, data, size);
	if (message->total_bytes > size || message->dimensions > EZ_DIMENSIONS_MAX)
		abort();
	for (uint32_t i = 0; i < message->dimensions; i++)
		elements *= message->shape[i];
	if (message->type == EZ_TYPE_ARRAY && elements && message->bytes % elements)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ez_context context = {.generation = 1};
	struct ez_subscriber subscriber = {.context = &context};
	struct ez_channel channel = {.context = &context};
	struct ez_tap tap = {.channel = &channel, .subscriber = &subscriber};
	struct ez_delivery delivery = {.via = EZ_VIA_SHM};
	struct ez_item item = {.tap = &tap, .delivery = &delivery};
	struct ez_message message;

	delivery.id = size >= 10 ? ez_load_u64(data + 2) : 0;
	if (ez_parts_parse(&delivery.parts, data, size, delivery.id))
		return 0;
	ez_message_fill(&message, &item);
	check(&message, data, size);
	ez_parts_free(&delivery.parts);
	return 0;
}
