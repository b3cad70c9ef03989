/* SPDX-License-Identifier: MIT */
/*
 * The JSON writer: Python's format, any bytes in, valid ASCII out, numbers independent of the
 * locale.
 */
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "json_writer.h"

static char *finish(struct ez_buffer *buffer)
{
	size_t len;
	char *text = ez_buffer_steal(buffer, &len);

	assert_non_null(text);
	return text;
}

static void test_structure(void **state)
{
	struct ez_buffer buffer;
	struct ez_json json;
	char *text;

	(void)state;
	ez_buffer_init(&buffer, 1000);
	ez_json_init(&json, &buffer);
	ez_json_object_begin(&json);
	ez_json_kv_str(&json, "type", "publisher");
	ez_json_key(&json, "list");
	ez_json_array_begin(&json);
	ez_json_u64(&json, UINT64_MAX);
	ez_json_i64(&json, INT64_MIN);
	ez_json_object_begin(&json);
	ez_json_object_end(&json);
	ez_json_array_begin(&json);
	ez_json_array_end(&json);
	ez_json_raw(&json, "[1]", 3);
	ez_json_array_end(&json);
	ez_json_kv_null(&json, "n");
	ez_json_kv_str(&json, "s", NULL);
	ez_json_kv_bool(&json, "b", false);
	ez_json_object_end(&json);
	assert_int_equal(json.depth, 0);
	text = finish(&buffer);
	assert_string_equal(
		text,
		"{\"type\": \"publisher\", \"list\": [18446744073709551615, "
		"-9223372036854775808, {}, [], [1]], \"n\": null, \"s\": null, \"b\": false}");
	free(text);
}

static void check_string(const char *in, size_t len, const char *expected)
{
	struct ez_buffer buffer;
	struct ez_json json;
	char *text;

	ez_buffer_init(&buffer, 1000);
	ez_json_init(&json, &buffer);
	ez_json_str_n(&json, in, len);
	text = finish(&buffer);
	assert_string_equal(text, expected);
	free(text);
}

static void test_strings(void **state)
{
	(void)state;
	check_string("", 0, "\"\"");
	check_string("a\"b\\c/\n\t\x01\x7f", 10, "\"a\\\"b\\\\c/\\n\\t\\u0001\\u007f\"");
	check_string("\0x", 2, "\"\\u0000x\"");
	check_string("\xc3\xa4\xe2\x82\xac", 5, "\"\\u00e4\\u20ac\"");
	check_string("\xf0\x9f\x98\x80", 4, "\"\\ud83d\\ude00\"");
	/* Cut short, overlong, surrogate, beyond the last code point, stray continuation. */
	check_string("\xe2\x82", 2, "\"\\ufffdxe2\\ufffdx82\"");
	check_string("\xc0\x80", 2, "\"\\ufffdxc0\\ufffdx80\"");
	check_string("\xed\xa0\x80", 3, "\"\\ufffdxed\\ufffdxa0\\ufffdx80\"");
	check_string("\xf4\x90\x80\x80", 4, "\"\\ufffdxf4\\ufffdx90\\ufffdx80\\ufffdx80\"");
	check_string("\x80z", 2, "\"\\ufffdx80z\"");
	check_string("\xef\xbf\xbd", 3, "\"\\ufffd\"");
}

static void check_number(double value, const char *expected)
{
	struct ez_buffer buffer;
	struct ez_json json;
	char *text;

	ez_buffer_init(&buffer, 1000);
	ez_json_init(&json, &buffer);
	ez_json_f64(&json, value);
	text = finish(&buffer);
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_true(strtod(text, NULL) == value);
	free(text);
}

static void check_numbers(void)
{
	check_number(0.0, "0.0");
	check_number(-0.0, "-0.0");
	check_number(1.0, "1.0");
	check_number(100.0, "100.0");
	check_number(0.1, "0.1");
	check_number(0.1 + 0.2, "0.30000000000000004");
	check_number(-2.5, "-2.5");
	check_number(123456.789, "123456.789");
	check_number(1e15, "1000000000000000.0");
	check_number(1e16, "1e+16");
	check_number(1.5e16, "1.5e+16");
	check_number(0.0001, "0.0001");
	check_number(0.00012345, "0.00012345");
	check_number(0.00001, "1e-05");
	check_number(DBL_MAX, "1.7976931348623157e+308");
	check_number(DBL_MIN, "2.2250738585072014e-308");
	check_number(5e-324, "5e-324");
	check_number((double)NAN, "null");
	check_number((double)INFINITY, "null");
}

static void test_numbers(void **state)
{
	uint64_t bits = 88172645463325252u;

	(void)state;
	check_numbers();
	if (setlocale(LC_ALL, "de_DE.UTF-8"))
		check_numbers();
	setlocale(LC_ALL, "C");
	for (int i = 0; i < 20000; i++) {
		double value;

		/* xorshift: every exponent and mantissa has its turn */
		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&value, &bits, sizeof(value));
		if (isfinite(value))
			check_number(value, NULL);
	}
}

static void test_limit(void **state)
{
	struct ez_buffer buffer;
	struct ez_json json;

	(void)state;
	ez_buffer_init(&buffer, 8);
	ez_json_init(&json, &buffer);
	ez_json_array_begin(&json);
	for (int i = 0; i < 10; i++)
		ez_json_u64(&json, 1);
	ez_json_array_end(&json);
	assert_int_equal(buffer.err, -EMSGSIZE);
	ez_buffer_free(&buffer);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_structure),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
