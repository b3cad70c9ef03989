/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nearest.h"

static void test_spelling(void **state)
{
	static const struct {
		const char *typed, *name;
		unsigned int errors;
	} pairs[] = {{"top", "top", 0},
		     {"tpo", "top", 1},
		     {"to", "top", 1},
		     {"topp", "top", 1},
		     {"profil", "profile", 1},
		     {"porfiel", "profile", 2},
		     {"sub.proces_p98_ms", "sub.process_p99_ms", 2},
		     {"ac", "bca", EZ_FAR}};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_int_equal(ez_nearness(pairs[i].typed, pairs[i].name), pairs[i].errors);
}

static void test_nothing_near(void **state)
{
	static const char *const pairs[][2] = {{"", "ps"},	     {"", ""},
					       {"foo", "top"},	     {"foo", "pub.rate_hz"},
					       {"x", "ps"},	     {"rec", "ps"},
					       {"help", "shutdown"}, {"hz", "pub.rate_hz"},
					       {"ate", "rate_hz"},   {"rate.pub", "pub.rate_hz"}};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_int_equal(ez_nearness(pairs[i][0], pairs[i][1]), EZ_FAR);
}

static void test_words(void **state)
{
	(void)state;
	assert_in_range(ez_nearness("prof", "profile"), 100, EZ_FAR - 1);
	assert_in_range(ez_nearness("rate", "pub.rate_hz"), 100, EZ_FAR - 1);
	assert_in_range(ez_nearness("sub.p99", "sub.process_p99_ms"), 100, EZ_FAR - 1);
	assert_true(ez_nearness("rate", "pub.rate_hz") < ez_nearness("rate", "pub.rate_hz_of_all"));
}

static void test_long(void **state)
{
	char typed[98], name[98];

	(void)state;
	memset(typed, 'a', sizeof(typed));
	memset(name, 'a', sizeof(name));
	typed[96] = name[96] = '\0';
	name[50] = 'b';
	assert_int_equal(ez_nearness(typed, name), 1);
	typed[96] = 'a';
	typed[97] = '\0';
	assert_int_equal(ez_nearness(typed, name), EZ_FAR);
	assert_int_equal(ez_nearness(name, typed), EZ_FAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spelling),
		cmocka_unit_test(test_nothing_near),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
