/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "complaints.h"

static char said[4096];

static void say(void *context, const char *line)
{
	size_t n = strlen(said);

	(void)context;
	snprintf(said + n, sizeof(said) - n, "%s\n", line);
}

static void check(struct ezprof_complaints *c, const char *expected)
{
	*said = '\0';
	ezprof_complaints_tell(c, say, NULL);
	assert_string_equal(said, expected);
}

static void test_one_and_many(void **state)
{
	struct ezprof_complaints c = {.count = 0};

	(void)state;
	check(&c, "");
	assert_true(ezprof_complaints_note(&c, 7, "is gone"));
	assert_true(ezprof_complaints_note(&c, 7, "is gone"));
	assert_true(ezprof_complaints_note(&c, 8, "is new"));
	assert_true(ezprof_complaints_note(&c, 9, "is new"));
	check(&c, "process 7: is gone\nprocesses 8, 9: is new\n");
	check(&c, "");
}

static void test_again_when_doubled(void **state)
{
	struct ezprof_complaints c = {.count = 0};

	(void)state;
	ezprof_complaints_note(&c, 1, "x");
	ezprof_complaints_note(&c, 2, "x");
	check(&c, "processes 1, 2: x\n");
	ezprof_complaints_note(&c, 3, "x");
	check(&c, "");
	ezprof_complaints_note(&c, 4, "x");
	check(&c, "processes 3, 4 (4 in all): x\n");
	for (int pid = 10; pid < 30; pid++)
		ezprof_complaints_note(&c, pid, "x");
	check(&c, "processes 10, 11, 12, 13, 14, 15, 16, 17 and 12 more (24 in all): x\n");
}

static void test_no_room(void **state)
{
	struct ezprof_complaints c = {.count = 0};
	char sentence[EZPROF_SENTENCE_BYTES + 1];

	(void)state;
	memset(sentence, 'x', sizeof(sentence));
	sentence[EZPROF_SENTENCE_BYTES - 1] = '\0';
	for (int i = 0; i < (int)EZPROF_COMPLAINTS_MAX; i++) {
		sentence[0] = (char)('a' + i);
		assert_true(ezprof_complaints_note(&c, INT32_MAX, sentence));
	}
	assert_false(ezprof_complaints_note(&c, 1, "another"));
	ezprof_complaints_tell(&c, say, NULL);
	assert_true(ezprof_complaints_note(&c, 1, "another"));
	check(&c, "process 1: another\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_and_many),
		cmocka_unit_test(test_again_when_doubled),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
