/* SPDX-License-Identifier: MIT */
/* A PROFILE request as a state machine, under a clock of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fanout.h"

static size_t add(struct ezprof_fanout *fanout, const char *id)
{
	struct ezprof_asked asked = {.who = "publisher", .id = id, .topic = "T", .pid = 5};
	size_t index;

	assert_int_equal(ezprof_fanout_add(fanout, &asked, &index), 0);
	return index;
}

static void test_all_answer(void **state)
{
	struct ezprof_fanout *fanout = ezprof_fanout_new(2000, 1000);
	size_t a = add(fanout, "a"), b = add(fanout, "b");

	(void)state;
	assert_false(ezprof_fanout_is_done(fanout));
	ezprof_fanout_answer(fanout, b, "bb", 2);
	assert_false(ezprof_fanout_is_done(fanout));
	ezprof_fanout_answer(fanout, a, "", 0);
	assert_true(ezprof_fanout_is_done(fanout));
	assert_int_equal(fanout->targets[b].answer_bytes, 2);
	assert_memory_equal(fanout->targets[b].answer, "bb", 2);
	assert_int_equal(fanout->targets[a].answer_bytes, 0);
	ezprof_fanout_free(fanout);
}

static void test_nobody_to_ask(void **state)
{
	struct ezprof_fanout *fanout = ezprof_fanout_new(2000, 1000);

	(void)state;
	assert_true(ezprof_fanout_is_done(fanout));
	ezprof_fanout_expire(fanout, 5000);
	ezprof_fanout_answer(fanout, 0, "x", 1);
	ezprof_fanout_fail(fanout, 7, "died", "");
	assert_true(ezprof_fanout_is_done(fanout));
	ezprof_fanout_free(fanout);
	ezprof_fanout_free(NULL);
}

static void test_deadline(void **state)
{
	struct ezprof_fanout *fanout = ezprof_fanout_new(2000, 1000);
	size_t a = add(fanout, "a"), b = add(fanout, "b"), c = add(fanout, "c");

	(void)state;
	ezprof_fanout_answer(fanout, a, "x", 1);
	ezprof_fanout_fail(fanout, b, "died", "detail");
	ezprof_fanout_expire(fanout, 999);
	assert_false(ezprof_fanout_is_done(fanout));
	ezprof_fanout_expire(fanout, 1000);
	assert_true(ezprof_fanout_is_done(fanout));
	assert_int_equal(fanout->targets[a].state, EZPROF_TARGET_ANSWERED);
	assert_string_equal(fanout->targets[b].reason, "died");
	assert_string_equal(fanout->targets[c].reason, "timeout");
	/* Too late. */
	ezprof_fanout_answer(fanout, c, "y", 1);
	assert_int_equal(fanout->targets[c].state, EZPROF_TARGET_FAILED);
	assert_null(fanout->targets[c].answer);
	ezprof_fanout_free(fanout);
}

static void test_only_the_first_counts(void **state)
{
	struct ezprof_fanout *fanout = ezprof_fanout_new(2000, 1000);
	size_t a = add(fanout, "a"), b = add(fanout, "b");

	(void)state;
	ezprof_fanout_answer(fanout, a, "first", 5);
	ezprof_fanout_answer(fanout, a, "second", 6);
	ezprof_fanout_fail(fanout, a, "died", "");
	assert_memory_equal(fanout->targets[a].answer, "first", 5);
	assert_int_equal(fanout->n_pending, 1);
	ezprof_fanout_fail(fanout, b, "died", "");
	ezprof_fanout_fail(fanout, b, "timeout", "");
	assert_string_equal(fanout->targets[b].reason, "died");
	assert_int_equal(fanout->n_pending, 0);
	ezprof_fanout_free(fanout);
}

static void test_strings_are_copied(void **state)
{
	struct ezprof_fanout *fanout = ezprof_fanout_new(2000, 1000);
	char id[] = "id", topic[] = "topic", host[] = "host", data[] = "data";
	struct ezprof_asked asked = {.who = "channel", .id = id, .topic = topic, .host = host};
	size_t index;

	(void)state;
	assert_int_equal(ezprof_fanout_add(fanout, &asked, &index), 0);
	ezprof_fanout_answer(fanout, index, data, 4);
	*id = *topic = *host = *data = '?';
	assert_string_equal(fanout->targets[index].asked.id, "id");
	assert_string_equal(fanout->targets[index].asked.topic, "topic");
	assert_string_equal(fanout->targets[index].asked.host, "host");
	assert_memory_equal(fanout->targets[index].answer, "data", 4);
	ezprof_fanout_free(fanout);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_answer),
		cmocka_unit_test(test_nobody_to_ask),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_only_the_first_counts),
		cmocka_unit_test(test_strings_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
