/* SPDX-License-Identifier: MIT */
/* The wire's encodings: incremental, bounded, and without trust in lengths. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"
#include "frame.h"
#include "request.h"

static void test_round_trip_at_every_cut(void **state)
{
	struct ez_buffer buffer;

	(void)state;
	ez_buffer_init(&buffer, 1000);
	ez_request_connect(&buffer, "A/OUT", "");
	ez_put_u64(&buffer, UINT64_MAX);
	assert_int_equal(buffer.err, 0);
	assert_int_equal(buffer.len, 1 + 8 + 5 + 8 + 8);
	for (size_t n = 0; n <= buffer.len; n++) {
		struct ez_reader reader;
		struct ez_str from, to;
		uint64_t number;
		uint8_t command;
		int err;

		ez_reader_init(&reader, buffer.data, n);
		err = ez_read_u8(&reader, &command);
		err = err ? err : ez_read_str(&reader, 100, &from);
		err = err ? err : ez_read_str(&reader, 100, &to);
		err = err ? err : ez_read_u64(&reader, &number);
		assert_int_equal(err, n == buffer.len ? 0 : -EAGAIN);
		if (err)
			continue;
		assert_int_equal(command, EZ_CMD_CONNECT);
		assert_int_equal(from.len, 5);
		assert_memory_equal(from.data, "A/OUT", 5);
		assert_int_equal(to.len, 0);
		assert_true(number == UINT64_MAX);
		assert_int_equal(reader.pos, n);
	}
	ez_buffer_free(&buffer);
}

static void test_lengths_are_judged_first(void **state)
{
	static const uint8_t huge[] = {0, 0, 0, 0, 0, 0, 0, 0x80, 'x'};
	static const uint8_t all_ones[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 'x'};
	static const uint8_t four[] = {4, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'};
	struct ez_reader reader;
	struct ez_str str;

	(void)state;
	ez_reader_init(&reader, huge, sizeof(huge));
	assert_int_equal(ez_read_str(&reader, 4096, &str), -EMSGSIZE);
	assert_int_equal(reader.pos, 0);
	ez_reader_init(&reader, all_ones, sizeof(all_ones));
	assert_int_equal(ez_read_str(&reader, SIZE_MAX - 1, &str), -EMSGSIZE);
	assert_int_equal(ez_read_str(&reader, SIZE_MAX, &str), -EAGAIN);
	ez_reader_init(&reader, four, sizeof(four));
	assert_int_equal(ez_read_str(&reader, 3, &str), -EMSGSIZE);
	assert_int_equal(ez_read_str(&reader, 4, &str), -EAGAIN);
	assert_int_equal(reader.pos, 0);
}

static void test_buffer_limit_sticks(void **state)
{
	struct ez_buffer buffer;
	size_t len;

	(void)state;
	ez_buffer_init(&buffer, 10);
	ez_buffer_append(&buffer, "0123456789", 10);
	assert_int_equal(buffer.err, 0);
	ez_put_u8(&buffer, 1);
	assert_int_equal(buffer.err, -EMSGSIZE);
	assert_int_equal(buffer.len, 10);
	assert_null(ez_buffer_steal(&buffer, &len));
	ez_buffer_reset(&buffer);
	ez_buffer_append_text(&buffer, "abcdef");
	ez_buffer_consume(&buffer, 2);
	assert_int_equal(buffer.len, 4);
	assert_memory_equal(buffer.data, "cdef", 4);
	assert_null(ez_buffer_reserve(&buffer, SIZE_MAX));
	ez_buffer_free(&buffer);
}

static void test_steal(void **state)
{
	struct ez_buffer buffer;
	size_t len;
	char *text;

	(void)state;
	ez_buffer_init(&buffer, 4);
	text = ez_buffer_steal(&buffer, &len);
	assert_string_equal(text, "");
	free(text);
	ez_buffer_append_text(&buffer, "full");
	text = ez_buffer_steal(&buffer, &len);
	assert_string_equal(text, "full");
	assert_int_equal(len, 4);
	free(text);
}

static void test_hello(void **state)
{
	struct ez_buffer buffer;
	struct ez_reader reader;
	struct ez_str text;
	uint8_t command;

	(void)state;
	ez_buffer_init(&buffer, 1000);
	ez_request_hello(&buffer, "prog\"ram", "agent");
	ez_reader_init(&reader, buffer.data, buffer.len);
	assert_int_equal(ez_read_u8(&reader, &command), 0);
	assert_int_equal(command, EZ_CMD_HELLO);
	assert_int_equal(ez_read_str(&reader, 1000, &text), 0);
	assert_int_equal(reader.pos, buffer.len);
	assert_non_null(memmem(text.data, text.len, "{\"program\": \"prog\\\"ram\", ", 25));
	assert_non_null(memmem(text.data, text.len, "\"role\": \"agent\"", 15));
	ez_buffer_free(&buffer);
}

static void test_command_names(void **state)
{
	(void)state;
	assert_string_equal(ez_command_name(0x0c), "TX_SHM");
	assert_string_equal(ez_command_name(0xe0), "HELLO");
	assert_string_equal(ez_command_name(0xee), "unknown");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip_at_every_cut),
		cmocka_unit_test(test_lengths_are_judged_first),
		cmocka_unit_test(test_buffer_limit_sticks),
		cmocka_unit_test(test_steal),
		cmocka_unit_test(test_hello),
		cmocka_unit_test(test_command_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
