/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "uuid.h"

static void test_text(void **state)
{
	static const char text[] = "00112233-4455-6677-8899-aabbccddeeff";
	char back[EZ_UUID_TEXT_BYTES];
	struct ez_uuid uuid;

	(void)state;
	assert_int_equal(ez_uuid_parse(text, 36, &uuid), 0);
	for (int i = 0; i < EZ_UUID_BYTES; i++)
		assert_int_equal(uuid.bytes[i], i * 0x11);
	ez_uuid_format(&uuid, back);
	assert_string_equal(back, text);
	assert_int_equal(ez_uuid_parse("00112233-4455-6677-8899-AABBCCDDEEFF", 36, &uuid), 0);
	ez_uuid_format(&uuid, back);
	assert_string_equal(back, text);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"00112233-4455-6677-8899-aabbccddeef",
		"00112233-4455-6677-8899-aabbccddeefff",
		"00112233x4455-6677-8899-aabbccddeeff",
		"0011223344556677-8899-aabbccddeeff--",
		"00112233-4455-6677-8899-aabbccddeefg",
		"{0112233-4455-6677-8899-aabbccddeef}",
		NULL,
	};
	struct ez_uuid uuid;

	(void)state;
	for (int i = 0; bad[i]; i++)
		assert_int_equal(ez_uuid_parse(bad[i], strlen(bad[i]), &uuid), -EINVAL);
}

static void test_random(void **state)
{
	struct ez_uuid a, b, nil = {{0}};

	(void)state;
	assert_int_equal(ez_uuid_random(&a), 0);
	assert_int_equal(ez_uuid_random(&b), 0);
	assert_false(ez_uuid_equal(&a, &b));
	assert_false(ez_uuid_is_nil(&a));
	assert_true(ez_uuid_is_nil(&nil));
	assert_int_equal(a.bytes[6] >> 4, 4);
	assert_int_equal(a.bytes[8] >> 6, 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
