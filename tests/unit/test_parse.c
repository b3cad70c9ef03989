/* SPDX-License-Identifier: MIT */
/* Strict parsing: what isn't exactly a value is refused, whatever the locale. */
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse.h"

static const char *const never_numbers[] = {
	"",	 "-1",	"+1",  " 1", "1 ",  "2s", "nan", "inf", "Infinity", "0x10",
	"1_000", "1,5", "1\n", "--", "abc", ".",  "e5",	 "1e",	"1e+",	    "\xd9\xa1",
};

static void test_u64(void **state)
{
	uint64_t value = 7;

	(void)state;
	assert_int_equal(ez_parse_u64("0", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(ez_parse_u64("18446744073709551615", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(ez_parse_u64("18446744073709551616", &value), -ERANGE);
	assert_int_equal(ez_parse_u64("99999999999999999999999", &value), -ERANGE);
	assert_int_equal(ez_parse_u64("1.0", &value), -EINVAL);
	for (size_t i = 0; i < sizeof(never_numbers) / sizeof(*never_numbers); i++)
		assert_int_equal(ez_parse_u64(never_numbers[i], &value), -EINVAL);
	assert_true(value == UINT64_MAX);
	assert_int_equal(ez_parse_u64_range("5", 6, 9, &value), -ERANGE);
	assert_int_equal(ez_parse_u64_range("9", 6, 9, &value), 0);
}

static void test_pid_and_port(void **state)
{
	uint16_t port;
	pid_t pid;

	(void)state;
	assert_int_equal(ez_parse_pid("1", &pid), 0);
	assert_int_equal(ez_parse_pid("0", &pid), -ERANGE);
	assert_int_equal(ez_parse_pid("2147483647", &pid), 0);
	assert_int_equal(ez_parse_pid("2147483648", &pid), -ERANGE);
	assert_int_equal(ez_parse_pid("-5", &pid), -EINVAL);
	assert_int_equal(ez_parse_port("65535", &port), 0);
	assert_int_equal(ez_parse_port("65536", &port), -ERANGE);
	assert_int_equal(ez_parse_port("0", &port), 0);
}

static void check_doubles(void)
{
	double value = 0;

	assert_int_equal(ez_parse_double("2.5", &value), 0);
	assert_true(value == 2.5);
	assert_int_equal(ez_parse_double(".5", &value), 0);
	assert_true(value == 0.5);
	assert_int_equal(ez_parse_double("5.", &value), 0);
	assert_int_equal(ez_parse_double("1e3", &value), 0);
	assert_true(value == 1000);
	assert_int_equal(ez_parse_double("1e999", &value), -ERANGE);
	for (size_t i = 0; i < sizeof(never_numbers) / sizeof(*never_numbers); i++)
		assert_int_equal(ez_parse_double(never_numbers[i], &value), -EINVAL);
}

static void test_double(void **state)
{
	static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", NULL};

	(void)state;
	check_doubles();
	for (int i = 0; locales[i]; i++)
		if (setlocale(LC_ALL, locales[i]))
			check_doubles();
	setlocale(LC_ALL, "C");
}

static void test_window(void **state)
{
	static const char *const bad[] = {"0", "0.149", "16.001", "1e9", "1e-9", NULL};
	double seconds = -1;

	(void)state;
	assert_int_equal(ez_parse_window_s("2.0", &seconds), 0);
	assert_true(seconds == 2.0);
	assert_int_equal(ez_parse_window_s("0.15", &seconds), 0);
	assert_int_equal(ez_parse_window_s("16", &seconds), 0);
	for (int i = 0; bad[i]; i++)
		assert_int_equal(ez_parse_window_s(bad[i], &seconds), -ERANGE);
	for (size_t i = 0; i < sizeof(never_numbers) / sizeof(*never_numbers); i++)
		assert_int_equal(ez_parse_window_s(never_numbers[i], &seconds), -EINVAL);
	assert_true(seconds == 16);
}

static void test_address(void **state)
{
	static const char *const bad[] = {
		"",	  "127.0.0.1", ":1",	"h:",	 "h:-1",     "::1:5",	  "[::1]",
		"[::1]5", "[]:5",      "a b:5", "h:1:2", "h:65536x", "h\x1b[1:5", NULL,
	};
	struct ez_address address;
	char text[EZ_ADDRESS_BYTES], longest[EZ_HOST_BYTES + 8];

	(void)state;
	assert_int_equal(ez_parse_address("127.0.0.1:25978", &address), 0);
	assert_string_equal(address.host, "127.0.0.1");
	assert_int_equal(address.port, 25978);
	assert_int_equal(ez_parse_address("[fe80::1%eth0]:1", &address), 0);
	assert_string_equal(address.host, "fe80::1%eth0");
	ez_address_format(&address, text);
	assert_string_equal(text, "[fe80::1%eth0]:1");
	assert_int_equal(ez_parse_address("my-host.example_1:0", &address), 0);
	ez_address_format(&address, text);
	assert_string_equal(text, "my-host.example_1:0");
	for (int i = 0; bad[i]; i++)
		assert_int_equal(ez_parse_address(bad[i], &address), -EINVAL);
	assert_int_equal(ez_parse_address("h:65536", &address), -ERANGE);
	assert_int_equal(ez_parse_address_n("a:1\0b:2", 7, &address), -EINVAL);
	assert_int_equal(ez_parse_address_n("a:123", 4, &address), 0);
	assert_int_equal(address.port, 12);
	memset(longest, 'a', sizeof(longest));
	strcpy(longest + EZ_HOST_BYTES, ":1");
	assert_int_equal(ez_parse_address(longest, &address), -EINVAL);
	strcpy(longest + EZ_HOST_BYTES - 1, ":1");
	assert_int_equal(ez_parse_address(longest, &address), 0);
}

static void test_environment(void **state)
{
	struct ez_address address;

	(void)state;
	unsetenv(EZ_ADDRESS_VARIABLE);
	assert_int_equal(ez_address_from_env(&address), -ENOENT);
	setenv(EZ_ADDRESS_VARIABLE, "", 1);
	assert_int_equal(ez_address_from_env(&address), -ENOENT);
	setenv(EZ_ADDRESS_VARIABLE, "nonsense", 1);
	assert_int_equal(ez_address_from_env(&address), -EINVAL);
	setenv(EZ_ADDRESS_VARIABLE, "[::1]:7", 1);
	assert_int_equal(ez_address_from_env(&address), 0);
	assert_int_equal(address.port, 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),	cmocka_unit_test(test_pid_and_port),
		cmocka_unit_test(test_double),	cmocka_unit_test(test_window),
		cmocka_unit_test(test_address), cmocka_unit_test(test_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
