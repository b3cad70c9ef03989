/* SPDX-License-Identifier: MIT */
/*
 * Publishing without a copy: the caller writes the value into the buffer from which it is sent. The
 * turn is held from begin to commit or abort.
 */
#include <errno.h>
#include <string.h>

#include "frame.h"
#include "prelude.h"
#include "publisher.h"

enum kind { KIND_BYTES = 1, KIND_ARRAY };

enum { SLOT_KIND, SLOT_OFFSET, SLOT_DEADLINE };

/* What comes before the value, which is `after` bytes away from the message's end. */
struct layout {
	enum kind kind;
	const void *pickle;
	size_t pickle_bytes;
	size_t buffers;
	size_t value_bytes;
	size_t after;
};

static int begin(struct ez_publisher *publisher, const struct layout *layout, int64_t timeout_ns,
		 struct ez_slot *ret_slot)
{
	ez_mono_ns_t deadline_ns = ez_deadline_ns(timeout_ns);
	size_t header = EZ_PARTS_HEADER_BYTES(layout->buffers);
	size_t offset = header + layout->pickle_bytes;
	size_t total;
	uint8_t *message;
	int err;

	if (__builtin_add_overflow(offset + layout->after, layout->value_bytes, &total))
		return -EMSGSIZE;
	err = ez_broadcast_begin(publisher, total, deadline_ns, &message);
	if (err)
		return err;
	memcpy(message + header, layout->pickle, layout->pickle_bytes);
	*ret_slot = (struct ez_slot){
		.data = message + offset,
		.bytes = layout->value_bytes,
		.publisher = publisher,
		.internal = {layout->kind, offset, deadline_ns},
	};
	return 0;
}

int ez_publish_begin(struct ez_publisher *publisher, size_t bytes, int64_t timeout_ns,
		     struct ez_slot *ret_slot)
{
	uint8_t head[32];
	const struct layout layout = {
		.kind = KIND_BYTES,
		.pickle = head,
		.pickle_bytes = ez_prelude_aligned_bytes(head, bytes),
		.buffers = 1,
		.value_bytes = bytes,
		.after = 1,
	};

	return begin(publisher, &layout, timeout_ns, ret_slot);
}

int ez_publish_begin_array(struct ez_publisher *publisher, const char *dtype, const uint64_t *shape,
			   size_t dimensions, int64_t timeout_ns, struct ez_slot *ret_slot)
{
	struct layout layout = {.kind = KIND_ARRAY, .buffers = 2};
	struct ez_ndarray array;
	struct ez_buffer pickle;
	int err = ez_prelude_describe(dtype, shape, dimensions, &array);

	if (err)
		return err;
	ez_buffer_init(&pickle, EZ_ARRAY_PICKLE_BYTES_MAX);
	err = ez_prelude_array(&pickle, &array);
	if (!err) {
		layout.pickle = pickle.data;
		layout.pickle_bytes = pickle.len;
		layout.value_bytes = (size_t)array.data_bytes;
		err = begin(publisher, &layout, timeout_ns, ret_slot);
	}
	ez_buffer_free(&pickle);
	return err;
}

/* The header, now that the lengths are known; returns the bytes of all. */
static size_t finish(const struct ez_slot *slot, size_t bytes)
{
	bool is_array = slot->internal[SLOT_KIND] == KIND_ARRAY;
	size_t offset = (size_t)slot->internal[SLOT_OFFSET];
	size_t header = EZ_PARTS_HEADER_BYTES(is_array ? 2 : 1);
	uint8_t *data = slot->data;
	uint8_t *message = data - offset;

	memcpy(message, "EZ", 2);
	ez_store_u64(message + 2, slot->publisher->next_id);
	ez_store_u64(message + 10, is_array ? 2 : 1);
	if (is_array) {
		ez_store_u64(message + 18, offset - header);
		ez_store_u64(message + 26, bytes);
		return offset + bytes;
	}
	ez_store_u64(message + 18, offset - header + bytes + 1);
	ez_prelude_set_length(data, slot->bytes, bytes);
	data[bytes] = ez_prelude_tail[1];
	return offset + bytes + 1;
}

int ez_publish_commit(struct ez_slot *slot, size_t bytes)
{
	struct ez_publisher *publisher = slot->publisher;
	int err = publisher ? ez_context_check(publisher->context) : -EINVAL;

	if (err)
		return err;
	if (bytes > slot->bytes ||
	    (slot->internal[SLOT_KIND] == KIND_ARRAY && bytes != slot->bytes))
		return -EINVAL;
	ez_broadcast_commit(publisher, finish(slot, bytes), slot->internal[SLOT_DEADLINE]);
	*slot = (struct ez_slot){0};
	return 0;
}

void ez_publish_abort(struct ez_slot *slot)
{
	struct ez_publisher *publisher = slot->publisher;

	if (publisher && !ez_context_check(publisher->context))
		ez_broadcast_abort(publisher);
	*slot = (struct ez_slot){0};
}
