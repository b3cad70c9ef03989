/* SPDX-License-Identifier: MIT */
/* The PROFILE document out of answers, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "json_text.h"
#include "reply_merge.h"
#include "verbatim.h"

struct fixture {
	struct ezprof_fanout *fanout;
	struct json_object *document;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->fanout = ezprof_fanout_new(2000, 1000);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	ezprof_fanout_free(fixture->fanout);
	json_object_put(fixture->document);
	free(fixture);
	return 0;
}

static size_t ask(struct fixture *fixture, const char *who, const char *id, const char *topic)
{
	struct ezprof_asked asked = {
		.who = who, .id = id, .topic = topic, .pid = 42, .host = "box"};
	size_t index;

	assert_int_equal(ezprof_fanout_add(fixture->fanout, &asked, &index), 0);
	return index;
}

static void answer(struct fixture *fixture, const char *who, const char *id, const char *text)
{
	size_t index = ask(fixture, who, id, NULL);

	ezprof_fanout_answer(fixture->fanout, index, text, strlen(text));
	ezprof_reply_read(fixture->fanout, index);
}

static struct json_object *merge(struct fixture *fixture)
{
	struct ezprof_document_origin origin = {.host = "here", .time_ns = 77, .time_unix_s = 1.5};
	size_t len;
	char *text;

	assert_int_equal(ezprof_reply_merge(fixture->fanout, &origin, &text, &len), 0);
	assert_int_equal(strlen(text), len);
	assert_null(strchr(text, '\n'));
	fixture->document = ezprof_json_object(text, len);
	assert_non_null(fixture->document);
	free(text);
	return fixture->document;
}

static struct json_object *item(struct json_object *document, const char *list, size_t count,
				size_t i)
{
	struct json_object *array = ezprof_json_member(document, list, json_type_array);

	assert_non_null(array);
	assert_int_equal(json_object_array_length(array), count);
	return count ? json_object_array_get_idx(array, i) : NULL;
}

static void check_error(struct json_object *document, size_t count, size_t i, const char *reason)
{
	assert_string_equal(ezprof_json_text(item(document, "errors", count, i), "reason"), reason);
}

static void test_empty(void **state)
{
	struct json_object *document = merge(*state);
	struct json_object *lost;

	item(document, "publishers", 0, 0);
	item(document, "channels", 0, 0);
	item(document, "agents", 0, 0);
	item(document, "errors", 0, 0);
	assert_true(json_object_object_get_ex(document, "lost", &lost));
	assert_null(lost);
	assert_string_equal(ezprof_json_text(document, "schema"), "ezprof.profile/1");
	assert_string_equal(ezprof_json_text(document, "host"), "here");
	assert_true(json_object_get_double(
			    ezprof_json_member(document, "window_s", json_type_double)) == 2.0);
}

static void test_own_answers(void **state)
{
	struct json_object *document;

	answer(*state, "publisher", "p1",
	       "{\"type\":\"publisher\",\"id\":\"p1\",\"topic\":\"T\",\"x\":0.0}");
	answer(*state, "channel", "c1",
	       "{\"type\":\"channel\",\"channel_id\":\"c1\",\"pub_id\":\"p1\"}");
	document = merge(*state);
	assert_string_equal(ezprof_json_text(item(document, "publishers", 1, 0), "id"), "p1");
	/* 0.0 stays a float on its way through. */
	assert_non_null(
		ezprof_json_member(item(document, "publishers", 1, 0), "x", json_type_double));
	assert_string_equal(ezprof_json_text(item(document, "channels", 1, 0), "topic"), "T");
	item(document, "errors", 0, 0);
}

/* As it came, byte by byte, where that is JSON beyond doubt; else as the parser understood it. */
static void test_verbatim(void **state)
{
	static const char own[] = "{ \"type\":\"publisher\", \"id\":\"p\",\"topic\":\"T\\\"\", "
				  "\"x\":[1.50,-0,1E+2,123456789012345678901234567890] }";
	struct ezprof_document_origin origin = {.host = "here"};
	struct fixture *fixture = *state;
	size_t len;
	char *text;

	answer(fixture, "publisher", "p", own);
	answer(fixture, "publisher", "q",
	       "{\"type\":\"publisher\",\"id\":\"q\",\"topic\":\"\\ud800\"}");
	assert_int_equal(ezprof_reply_merge(fixture->fanout, &origin, &text, &len), 0);
	assert_non_null(strstr(text, own));
	assert_null(strstr(text, "ud800"));
	free(text);
}

static void test_what_is_safe(void **state)
{
	static const char *const safe[] = {"{\"a\":[0,-1.5e-3,true,null,\"\\\\\\\"\"]}", "{}",
					   "[0.0]"};
	static const char *const unsafe[] = {"[01]",  "[1.]",  "[.5]",	   "[1e]",	    "[+1]",
					     "[-]",   "[1]\n", "[\"\t\"]", "[\"\\u0041\"]", "[\"a]",
					     "[NaN]", "['a']", "[\"\\"};

	(void)state;
	for (size_t i = 0; i < sizeof(safe) / sizeof(*safe); i++)
		assert_true(ezprof_verbatim_is_safe(safe[i], strlen(safe[i])));
	for (size_t i = 0; i < sizeof(unsafe) / sizeof(*unsafe); i++)
		assert_false(ezprof_verbatim_is_safe(unsafe[i], strlen(unsafe[i])));
}

static void test_topic_of_silent_publisher(void **state)
{
	struct fixture *fixture = *state;
	size_t index = ask(fixture, "channel", "c1", "KNOWN");
	static const char text[] =
		"{\"type\":\"channel\",\"channel_id\":\"c1\",\"pub_id\":\"gone\"}";

	ezprof_fanout_answer(fixture->fanout, index, text, strlen(text));
	assert_string_equal(ezprof_json_text(item(merge(fixture), "channels", 1, 0), "topic"),
			    "KNOWN");
}

static void test_bad_answers(void **state)
{
	static const char deep[] =
		"{\"type\":\"publisher\",\"id\":\"p\",\"a\":"
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}";
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"", "bad_json"},
		{"nonsense", "bad_json"},
		{"[]", "bad_json"},
		{"{\"type\":\"publisher\",\"id\":\"p\"} trailing", "bad_json"},
		{"{\"type\":\"publisher\",\"id\":\"p\",\"x\":NaN}", "bad_json"},
		{"{\"type\":\"publisher\",\"id\":\"p\",\"x\":[1,{\"y\":-Infinity}]}", "bad_json"},
		{"{\"type\":\"publisher\",\"id\":\"p\",\"x\":1e999}", "bad_json"},
		{"{\"type\":\"publisher\",\"id\":\"p\",\"x\":\"\xff\"}", "bad_json"},
		{deep, "bad_json"},
		{"{}", "bad_answer"},
		{"{\"type\":\"publisher\",\"id\":\"other\"}", "bad_answer"},
		{"{\"type\":\"channel\",\"channel_id\":\"p\"}", "bad_answer"},
		{"{\"type\":\"publisher\",\"id\":5}", "bad_answer"},
		{"{\"type\":\"agent\",\"endpoints\":[]}", "bad_answer"},
	};
	size_t n = sizeof(cases) / sizeof(*cases);
	struct json_object *document;

	for (size_t i = 0; i < n; i++)
		answer(*state, "publisher", "p", cases[i].text);
	document = merge(*state);
	item(document, "publishers", 0, 0);
	for (size_t i = 0; i < n; i++)
		check_error(document, n, i, cases[i].reason);
}

static void test_silent(void **state)
{
	struct fixture *fixture = *state;
	struct json_object *document, *error;

	ask(fixture, "publisher", "p1", "T");
	ezprof_fanout_fail(fixture->fanout, ask(fixture, "agent", NULL, NULL), "died", "why");
	ezprof_fanout_expire(fixture->fanout, 1000);
	document = merge(fixture);
	error = item(document, "errors", 2, 0);
	assert_string_equal(ezprof_json_text(error, "who"), "publisher");
	assert_string_equal(ezprof_json_text(error, "id"), "p1");
	assert_string_equal(ezprof_json_text(error, "topic"), "T");
	assert_string_equal(ezprof_json_text(error, "host"), "box");
	assert_string_equal(ezprof_json_text(error, "reason"), "timeout");
	assert_int_equal(json_object_get_int(ezprof_json_member(error, "pid", json_type_int)), 42);
	check_error(document, 2, 1, "died");
	assert_null(ezprof_json_text(item(document, "errors", 2, 1), "id"));
}

#define PUBLISHER(source, covered) \
	"{\"type\":\"publisher\",\"id\":\"p1\",\"topic\":\"T\",\"source\":\"" source \
	"\",\"window\":{\"covered_s\":" covered "}}"
#define AGENT(endpoints, lost) \
	"{\"type\":\"agent\",\"endpoints\":[" endpoints "],\"agent\":{\"lost\":" lost \
	"},\"errors\":[]}"

static void test_agent_wins(void **state)
{
	struct json_object *document;

	answer(*state, "agent", NULL, AGENT(PUBLISHER("bpf1", "1.0"), "2"));
	answer(*state, "publisher", "p1", PUBLISHER("process", "null"));
	answer(*state, "agent", NULL, AGENT(PUBLISHER("bpf2", "1.9"), "3"));
	answer(*state, "agent", NULL, AGENT(PUBLISHER("bpf3", "0.5"), "0"));
	document = merge(*state);
	assert_string_equal(ezprof_json_text(item(document, "publishers", 1, 0), "source"), "bpf2");
	item(document, "agents", 3, 0);
	assert_int_equal(json_object_get_int(ezprof_json_member(document, "lost", json_type_int)),
			 5);
	item(document, "errors", 0, 0);
}

/* A sum with an unknown part is unknown, and what isn't an error is left out of them. */
static void test_lost_is_unknown(void **state)
{
	static const char *const unknown[] = {"null", "-1", "0.5", "\"\""};
	char text[200];

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		struct fixture *fixture = *state;
		struct json_object *document;

		answer(fixture, "agent", NULL, AGENT("", "2"));
		snprintf(text, sizeof(text),
			 "{\"endpoints\":[],\"agent\":{\"lost\":%s},\"errors\":[1,null,[]]}",
			 unknown[i]);
		answer(fixture, "agent", NULL, text);
		document = merge(fixture);
		assert_true(json_object_object_get_ex(document, "lost", NULL));
		assert_null(json_object_object_get(document, "lost"));
		item(document, "errors", 0, 0);
		tear_down(state);
		set_up(state);
	}
}

static void test_agent_that_knows_nothing_yet(void **state)
{
	struct json_object *document;

	answer(*state, "publisher", "p1", PUBLISHER("process", "null"));
	answer(*state, "agent", NULL, AGENT(PUBLISHER("bpf", "null"), "null"));
	document = merge(*state);
	assert_string_equal(ezprof_json_text(item(document, "publishers", 1, 0), "source"), "bpf");
}

static void test_bad_agent(void **state)
{
	struct json_object *document;

	answer(*state, "agent", NULL, "{\"type\":\"agent\"}");
	answer(*state, "agent", NULL, AGENT("5", "0"));
	answer(*state, "agent", NULL,
	       AGENT("{\"type\":\"publisher\"}," PUBLISHER("bpf", "1"), "0"));
	answer(*state, "agent", NULL,
	       "{\"endpoints\":[],\"agent\":{},\"errors\":[{\"who\":\"process\",\"reason\":"
	       "\"hostile\"}]}");
	document = merge(*state);
	for (size_t i = 0; i < 3; i++)
		check_error(document, 4, i, "bad_answer");
	check_error(document, 4, 3, "hostile");
	item(document, "publishers", 1, 0);
}

static void test_order(void **state)
{
	struct json_object *document;

	answer(*state, "publisher", "b", "{\"type\":\"publisher\",\"id\":\"b\"}");
	answer(*state, "publisher", "a", "{\"type\":\"publisher\",\"id\":\"a\"}");
	answer(*state, "agent", NULL,
	       AGENT("{\"type\":\"publisher\",\"id\":\"c\"},{\"type\":\"publisher\",\"id\":\"a\"}",
		     "0"));
	document = merge(*state);
	assert_string_equal(ezprof_json_text(item(document, "publishers", 3, 0), "id"), "b");
	assert_string_equal(ezprof_json_text(item(document, "publishers", 3, 1), "id"), "a");
	assert_string_equal(ezprof_json_text(item(document, "publishers", 3, 2), "id"), "c");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_own_answers),
		TEST(test_topic_of_silent_publisher),
		TEST(test_verbatim),
		cmocka_unit_test(test_what_is_safe),
		TEST(test_bad_answers),
		TEST(test_silent),
		TEST(test_agent_wins),
		TEST(test_bad_agent),
		TEST(test_order),
		TEST(test_lost_is_unknown),
		TEST(test_agent_that_knows_nothing_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
