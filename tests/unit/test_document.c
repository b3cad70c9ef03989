/* SPDX-License-Identifier: MIT */
/* Documents: judged and merged; HELLOs of the agent's socket. */
#include "document.h"
#include "hello_json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int read_text(const char *text, struct ezprof_verdict *verdict)
{
	char *pretty;
	int err = ezprof_document_read(text, strlen(text), &pretty, verdict);

	if (!err)
		free(pretty);
	return err;
}

static void test_read(void **state)
{
	static const char *const no_documents[] = {
		"",   "{", "[]", "3", "{\"publishers\":[]}", "{\"publishers\":{},\"channels\":[]}",
		"nul"};
	struct ezprof_verdict verdict;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(no_documents) / sizeof(no_documents[0]); i++)
		assert_int_equal(read_text(no_documents[i], &verdict), -EPROTO);
	assert_int_equal(read_text("{\"publishers\":[{}],\"channels\":[1,2],\"errors\":[{}],"
				   "\"lost\":3}",
				   &verdict),
			 0);
	assert_int_equal(verdict.endpoints, 3);
	assert_int_equal(verdict.errors, 1);
	assert_true(verdict.lost);
	assert_int_equal(read_text("{\"publishers\":[],\"channels\":[],\"lost\":null}", &verdict),
			 0);
	assert_int_equal(verdict.endpoints + verdict.errors, 0);
	assert_false(verdict.lost);
	read_text("{\"publishers\":[{\"lost\":0},{\"lost\":1}],\"channels\":[],\"lost\":null}",
		  &verdict);
	assert_true(verdict.lost);
	read_text("{\"publishers\":[],\"channels\":[3,{\"subscribers\":[{\"lost\":2}]}]}",
		  &verdict);
	assert_true(verdict.lost);
	read_text("{\"publishers\":[3],\"channels\":[{\"subscribers\":[{\"lost\":0}]},{}]}",
		  &verdict);
	assert_false(verdict.lost);
}

/* Doubles keep their text. */
static void test_pretty(void **state)
{
	static const char text[] = "{\"publishers\":[],\"channels\":[],\"x\":0.1,\"y\":2.0}";
	struct ezprof_verdict verdict;
	char *pretty;

	(void)state;
	assert_int_equal(ezprof_document_read(text, strlen(text), &pretty, &verdict), 0);
	assert_non_null(strstr(pretty, "\"x\": 0.1,"));
	assert_non_null(strstr(pretty, "\"y\": 2.0"));
	free(pretty);
}

static void test_merge(void **state)
{
	char a[] = "{\"publishers\":[{\"id\":\"p\",\"n\":1,\"window\":{\"covered_s\":1.0}}],"
		   "\"channels\":[],\"agents\":[1],\"errors\":[],\"lost\":2}";
	char b[] = "{\"publishers\":[{\"id\":\"p\",\"n\":2,\"window\":{\"covered_s\":2.0}},"
		   "{\"id\":\"q\"}],\"channels\":[{\"channel_id\":\"c\"}],\"agents\":[2],"
		   "\"errors\":[{}],\"lost\":3}";
	char unknown[] = "{\"publishers\":[],\"channels\":[],\"lost\":null}";
	char junk[] = "junk";
	char *texts[] = {a, b}, *merged;

	(void)state;
	assert_int_equal(ezprof_document_merge(texts, 2, &merged), 0);
	assert_non_null(strstr(merged, "\"n\":2"));
	assert_null(strstr(merged, "\"n\":1"));
	assert_non_null(strstr(merged, "{\"id\":\"q\"}"));
	assert_non_null(strstr(merged, "\"channels\":[{\"channel_id\":\"c\"}]"));
	assert_non_null(strstr(merged, "\"agents\":[1,2]"));
	assert_non_null(strstr(merged, "\"lost\":5"));
	free(merged);
	texts[1] = unknown;
	assert_int_equal(ezprof_document_merge(texts, 2, &merged), 0);
	assert_non_null(strstr(merged, "\"lost\":null"));
	free(merged);
	texts[1] = junk;
	assert_int_equal(ezprof_document_merge(texts, 2, &merged), -EPROTO);
	assert_int_equal(ezprof_document_merge(texts, 0, &merged), -EPROTO);
}

static void test_hello(void **state)
{
	static const char *const graphs[] = {"127.0.0.1:1", "host:2"};
	static const pid_t pids[] = {5};
	char found[3][16], graph[16];
	char *text = ezprof_hello_agent(graphs, 2, pids, 1);

	(void)state;
	assert_int_equal(ezprof_hello_graphs(text, found[0], sizeof(found[0]), 3), 2);
	assert_string_equal(found[1], "host:2");
	assert_int_equal(ezprof_hello_graphs(text, found[0], sizeof(found[0]), 1), 1);
	free(text);
	assert_int_equal(ezprof_hello_graphs("{}", found[0], sizeof(found[0]), 3), -EPROTO);
	assert_int_equal(ezprof_hello_graphs("{\"graphs\":[1,\"0123456789012345\",\"a\"]}",
					     found[0], sizeof(found[0]), 3),
			 1);
	assert_string_equal(found[0], "a");
	text = ezprof_hello_client("ezprof", "host:3");
	ezprof_hello_graph(text, strlen(text), graph, sizeof(graph));
	assert_string_equal(graph, "host:3");
	free(text);
	ezprof_hello_graph("{\"graph\":7}", 11, graph, sizeof(graph));
	assert_string_equal(graph, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_pretty),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_hello),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
