/* SPDX-License-Identifier: MIT */
#include "value.h"

#include <string.h>

#include "pickle.h"
#include "subscriber.h"

static uint64_t load_le(const uint8_t *p, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)p[i] << (8 * i);
	return value;
}

/*
 * `bytes` is what most messages are, so it is recognised without the pickle reader: PROTO 5, maybe
 * FRAME, maybe a pad, one of the three BYTES opcodes, the data, maybe MEMOIZE, STOP.
 */
static bool read_bytes(const uint8_t *p, size_t n, struct ez_message *message)
{
	size_t at = 2, width, pad;
	uint64_t len;

	if (n < 5 || p[0] != 0x80)
		return false;
	if (p[at] == 0x95)
		at += 9;
	pad = at == 2 && p[2] == 0x43 ? p[3] : n;
	if (pad < n - 5 && p[4 + pad] == 0x30)
		at += 3 + pad; /* aligned, see prelude.h */
	if (at + 1 > n)
		return false;
	width = p[at] == 0x43 ? 1 : p[at] == 0x42 ? 4 : p[at] == 0x8e ? 8 : 0;
	at += 1 + width;
	if (!width || at > n)
		return false;
	len = load_le(p + at - width, width);
	if (len > n - at)
		return false;
	message->type = EZ_TYPE_BYTES;
	message->data = p + at;
	message->bytes = (size_t)len;
	at += (size_t)len;
	if (at < n && p[at] == 0x94)
		at++;
	return at + 1 == n && p[at] == 0x2e;
}

static void set_text(struct ez_message *message, enum ez_type type, const struct ez_str *text)
{
	message->type = type;
	message->data = text->data;
	message->bytes = text->len;
}

/* Its elements are the message's next buffer, if that is as long as it must be. */
static void set_array(struct ez_message *message, const struct ez_ndarray *array)
{
	if (message->num_buffers != 2 || message->buffers[1].iov_len != array->data_bytes)
		return;
	message->type = EZ_TYPE_ARRAY;
	message->data = message->buffers[1].iov_base;
	message->bytes = message->buffers[1].iov_len;
	memcpy(message->dtype, array->dtype, sizeof(message->dtype));
	message->fortran_order = array->fortran_order;
	message->dimensions = array->n_dims;
	memcpy(message->shape, array->shape, array->n_dims * sizeof(array->shape[0]));
}

static void set_value(struct ez_message *message, const struct ez_value *value)
{
	switch (value->type) {
	case EZ_VALUE_NONE:
		message->type = EZ_TYPE_NONE;
		break;
	case EZ_VALUE_BOOL:
		message->type = EZ_TYPE_BOOL;
		message->integer = value->boolean;
		break;
	case EZ_VALUE_INT:
		message->type = EZ_TYPE_INT;
		message->integer = value->integer;
		break;
	case EZ_VALUE_FLOAT:
		message->type = EZ_TYPE_FLOAT;
		message->real = value->number;
		break;
	case EZ_VALUE_STR:
		set_text(message, EZ_TYPE_STR, &value->text);
		break;
	case EZ_VALUE_BYTES:
		set_text(message, EZ_TYPE_BYTES, &value->text);
		break;
	case EZ_VALUE_NDARRAY:
		set_array(message, &value->array);
		break;
	}
}

void ez_message_fill(struct ez_message *message, struct ez_item *item)
{
	const struct ez_delivery *delivery = item->delivery;
	const struct iovec *first = &delivery->parts.buffers[0];
	struct ez_value value;

	message->id = delivery->id;
	message->via = delivery->via;
	message->type = EZ_TYPE_OTHER;
	message->data = NULL;
	message->bytes = 0;
	message->integer = 0;
	message->real = 0;
	message->dimensions = 0;
	message->dtype[0] = '\0';
	message->total_bytes = delivery->parts.total_bytes;
	message->topic = item->tap->channel->topic;
	message->internal[0] = item;
	message->internal[1] = (void *)(uintptr_t)item->tap->channel->context->generation;
	if (item->tap->subscriber->count_only) {
		message->buffers = NULL;
		message->num_buffers = 0;
		return;
	}
	message->buffers = delivery->parts.buffers;
	message->num_buffers = delivery->parts.n;
	if (read_bytes(first->iov_base, first->iov_len, message))
		return;
	message->type = EZ_TYPE_OTHER;
	message->data = NULL;
	message->bytes = 0;
	if (ez_pickle_read(first->iov_base, first->iov_len, &value) == 0)
		set_value(message, &value);
}
