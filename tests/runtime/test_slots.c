/* SPDX-License-Identifier: MIT */
/* Leases, message parts and segments: the plain data of the runtime. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "backpressure.h"
#include "frame.h"
#include "parts.h"
#include "segment.h"

static void test_leases(void **state)
{
	struct ez_slots slots;
	struct ez_holder a, b;
	uint64_t id;

	(void)state;
	assert_int_equal(ez_slots_init(&slots, 3), 0);
	assert_int_equal(ez_holder_init(&a, 3), 0);
	assert_int_equal(ez_holder_init(&b, 3), 0);
	ez_slots_lease(&slots, &a, 7);
	ez_slots_lease(&slots, &b, 7);
	assert_true(ez_slots_busy(&slots, 10));
	assert_false(ez_slots_busy(&slots, 8));
	assert_true(ez_holder_has(&a, 1, &id));
	assert_int_equal(id, 7);
	assert_false(ez_holder_has(&a, 2, &id));
	/* Other laps of the same slot, and a second time, free nothing. */
	assert_false(ez_slots_release(&slots, &a, 1, 4));
	assert_false(ez_slots_release(&slots, &a, 1, 10));
	assert_false(ez_slots_release(&slots, &a, 1, UINT64_MAX));
	assert_true(ez_slots_release(&slots, &a, 1, 7));
	assert_false(ez_slots_release(&slots, &a, 1, 7));
	assert_true(ez_slots_busy(&slots, 7));
	assert_true(ez_slots_release(&slots, &b, 1, 7));
	assert_false(ez_slots_busy(&slots, 7));
	assert_int_equal(slots.open, 0);
	ez_holder_free(&a);
	ez_holder_free(&b);
	ez_slots_free(&slots);
}

static void test_parts(void **state)
{
	const struct iovec pieces[] = {{(void *)(uintptr_t) "ab", 2}, {NULL, 0}};
	const struct iovec others[] = {
		{(void *)(uintptr_t) "cde", 3}, {NULL, 0}, {(void *)(uintptr_t) "f", 1}};
	const struct ez_outgoing outgoing = {pieces, 2, others, 3};
	struct ez_parts parts, moved;
	uint8_t data[128];
	size_t bytes, n;

	(void)state;
	assert_int_equal(ez_outgoing_size(&outgoing, &bytes), 0);
	assert_int_equal(bytes, 18 + 4 * 8 + 6);
	ez_outgoing_write(&outgoing, 42, data);
	assert_int_equal(ez_parts_parse(&parts, data, bytes, 42), 0);
	ez_parts_move(&moved, &parts);
	assert_int_equal(moved.n, 4);
	assert_int_equal(moved.total_bytes, bytes);
	assert_int_equal(moved.buffers[0].iov_len, 2);
	assert_memory_equal(moved.buffers[1].iov_base, "cde", 3);
	assert_int_equal(moved.buffers[2].iov_len, 0);
	ez_parts_free(&moved);
	assert_int_equal(ez_parts_parse(&parts, data, bytes, 43), -ENODATA);
	for (n = 0; n < bytes; n++)
		assert_true(ez_parts_parse(&parts, data, n, 42) < 0);
}

static void test_too_large(void **state)
{
	const struct iovec half = {NULL, SIZE_MAX / 2};
	const struct iovec two[] = {half, half};
	const struct ez_outgoing many = {&half, 1, two, EZ_PARTS_MAX};
	const struct ez_outgoing large = {&half, 1, two, 2};
	size_t bytes;

	(void)state;
	assert_int_equal(ez_outgoing_size(&many, &bytes), -EMSGSIZE);
	assert_int_equal(ez_outgoing_size(&large, &bytes), -EMSGSIZE);
}

static void make_segment(char name[32], uint64_t slots, uint64_t stride, off_t bytes)
{
	uint8_t header[16];
	char path[40];
	int fd;

	snprintf(name, 32, "psm_test_%d", (int)getpid());
	snprintf(path, sizeof(path), "/%s", name);
	fd = shm_open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
	assert_true(fd >= 0);
	ez_store_u64(header, slots);
	ez_store_u64(header + 8, stride);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(pwrite(fd, header, sizeof(header), 0), sizeof(header));
	close(fd);
}

static int map(uint64_t slots, uint64_t stride, off_t bytes)
{
	struct ez_segment *segment;
	char name[32], path[40];
	int err;

	make_segment(name, slots, stride, bytes);
	err = ez_segment_map(name, false, &segment);
	snprintf(path, sizeof(path), "/%s", name);
	shm_unlink(path);
	if (!err) {
		assert_int_equal(ez_segment_usable(segment), stride - 16);
		ez_segment_unref(ez_segment_ref(segment));
		ez_segment_unref(segment);
	}
	return err;
}

static void test_segments(void **state)
{
	struct ez_segment *segment;

	(void)state;
	assert_int_equal(map(4, 1088, 4352), 0);
	assert_int_equal(map(4, 1088, 4351), -EBADMSG);
	assert_int_equal(map(0, 1088, 4352), -EBADMSG);
	assert_int_equal(map(4, 16, 4352), -EBADMSG);
	assert_int_equal(map(UINT64_C(1) << 60, UINT64_C(1) << 10, 4352), -EBADMSG);
	assert_int_equal(ez_segment_map("", false, &segment), -EINVAL);
	assert_int_equal(ez_segment_map("a/b", false, &segment), -EINVAL);
	assert_int_equal(ez_segment_map("..", false, &segment), -EINVAL);
	assert_int_equal(ez_segment_map("psm_no_such_thing", false, &segment), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leases),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
