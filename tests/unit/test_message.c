/* SPDX-License-Identifier: MIT */
/* Marshalled messages, well-formed and hostile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"
#include "message.h"

static void test_round_trip(void **state)
{
	struct iovec in[] = {{(void *)"\x80\x05N.", 4}, {(void *)"", 0}, {(void *)"payload", 7}};
	struct ez_message_cursor cursor = {0};
	struct ez_message message;
	struct iovec out;
	uint8_t block[200];
	size_t bytes;

	(void)state;
	memset(block, '0', sizeof(block));
	assert_int_equal(ez_message_size(in, 3, &bytes), 0);
	assert_int_equal(bytes, 18 + 24 + 11);
	assert_int_equal(ez_message_write(block, bytes - 1, 77, in, 3), -ENOSPC);
	assert_int_equal(block[0], '0');
	assert_int_equal(ez_message_write(block, bytes, 77, in, 3), 0);
	/* What an older, longer message left behind the new one is not part of it. */
	assert_int_equal(ez_message_parse(block, sizeof(block), &message), 0);
	assert_int_equal(message.msg_id, 77);
	assert_int_equal(message.total_bytes, bytes);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ez_message_next(&message, &cursor, &out), 0);
		assert_int_equal(out.iov_len, in[i].iov_len);
		assert_memory_equal(out.iov_base, in[i].iov_base, in[i].iov_len);
	}
	assert_int_equal(ez_message_next(&message, &cursor, &out), -ENOENT);
	for (size_t n = 2; n < bytes; n++)
		assert_int_equal(ez_message_parse(block, n, &message), -EBADMSG);
}

static void test_not_a_message(void **state)
{
	uint8_t block[64];
	struct ez_message message;

	(void)state;
	memset(block, '0', sizeof(block));
	assert_int_equal(ez_message_parse(block, sizeof(block), &message), -ENODATA);
	assert_int_equal(ez_message_parse(block, 0, &message), -ENODATA);
	assert_int_equal(ez_message_parse("E", 1, &message), -ENODATA);
}

static void test_hostile_lengths(void **state)
{
	static const uint64_t counts[] = {0, 7, EZ_MESSAGE_BUFFERS_MAX + 1, UINT64_MAX,
					  UINT64_MAX / 8};
	uint8_t block[64] = "EZ";
	struct ez_message message;

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		ez_store_u64(block + 10, counts[i]);
		assert_int_equal(ez_message_parse(block, sizeof(block), &message), -EBADMSG);
	}
	ez_store_u64(block + 10, 2);
	ez_store_u64(block + 18, UINT64_MAX);
	ez_store_u64(block + 26, 1);
	assert_int_equal(ez_message_parse(block, sizeof(block), &message), -EBADMSG);
	ez_store_u64(block + 18, 30);
	assert_int_equal(ez_message_parse(block, sizeof(block), &message), -EBADMSG);
	ez_store_u64(block + 18, 29);
	assert_int_equal(ez_message_parse(block, sizeof(block), &message), 0);
}

static void test_changed_while_read(void **state)
{
	struct ez_message_cursor cursor = {0};
	struct iovec in[] = {{(void *)"abcd", 4}, {(void *)"efgh", 4}}, out;
	struct ez_message message;
	uint8_t block[64];

	(void)state;
	assert_int_equal(ez_message_write(block, sizeof(block), 0, in, 2), 0);
	assert_int_equal(ez_message_parse(block, sizeof(block), &message), 0);
	ez_store_u64(block + 26, 5);
	assert_int_equal(ez_message_next(&message, &cursor, &out), 0);
	assert_int_equal(ez_message_next(&message, &cursor, &out), -EBADMSG);
}

static void test_size_limits(void **state)
{
	struct iovec two[] = {{NULL, SIZE_MAX}, {NULL, SIZE_MAX}};
	size_t bytes = 5;

	(void)state;
	assert_int_equal(ez_message_size(two, 0, &bytes), -EMSGSIZE);
	assert_int_equal(ez_message_size(two, 2, &bytes), -EMSGSIZE);
	assert_int_equal(bytes, 5);
	assert_int_equal(ez_message_write_header(two, 25, 0, two, 1), -ENOSPC);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),	cmocka_unit_test(test_not_a_message),
		cmocka_unit_test(test_hostile_lengths), cmocka_unit_test(test_changed_while_read),
		cmocka_unit_test(test_size_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
