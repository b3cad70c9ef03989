/* SPDX-License-Identifier: MIT */
/* An agent that sends whatever it likes to a recorder. */
#include "trace_chrome.h"
#include "trace_model.h"
#include "trace_perfetto.h"
#include "trace_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whatever comes: an error, or something that can be drawn. */
static void hostile_frames(void **state)
{
	struct ezprof_stream_frame frame;
	unsigned int seed = 1, taken = 0;
	unsigned char bytes[512];
	struct ezprof_trace_model *model;
	struct ezprof_trace *trace;
	struct ezprof_match *m;
	char *text = NULL;
	size_t n = 0;
	FILE *to;

	(void)state;
	assert_int_equal(ezprof_trace_new(1000, &trace), 0);
	for (unsigned int i = 0; i < 50000; i++) {
		struct ezprof_stream_head head = {1 + (uint32_t)(rand_r(&seed) % 8), 0};

		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (unsigned char)(rand_r(&seed) % 4 ? 0 : rand_r(&seed));
		head.bytes = (uint32_t)rand_r(&seed) % 300;
		if (rand_r(&seed) % 3 == 0)
			head.bytes = 16 + 56 * (uint32_t)(rand_r(&seed) % 3);
		memcpy(bytes, &head, sizeof(head));
		bytes[8] = (unsigned char)(rand_r(&seed) % 10);
		memset(bytes + 9, 0, 3);
		bytes[12] = (unsigned char)(rand_r(&seed) % 4);
		memset(bytes + 13, 0, 3);
		assert_int_equal(ezprof_stream_next(bytes, sizeof(bytes), &frame), 0);
		taken += ezprof_trace_take(trace, (unsigned int)rand_r(&seed) % 2, &frame) == 0;
	}
	assert_true(taken > 300 && trace->endpoint_count > 1);
	bytes[0] = 99;
	assert_int_equal(ezprof_stream_next(bytes, sizeof(bytes), &frame), -EPROTO);
	assert_int_equal(ezprof_stream_next(bytes, 7, &frame), -EAGAIN);
	assert_int_equal(ezprof_match_new(trace, 0, &m), 0);
	assert_int_equal(ezprof_trace_model_new(m, &model), 0);
	to = open_memstream(&text, &n);
	assert_int_equal(
		ezprof_chrome_write(model, &(struct ezprof_trace_about){.host = "", .program = ""},
				    to),
		0);
	assert_int_equal(
		ezprof_perfetto_write(model,
				      &(struct ezprof_trace_about){.host = "", .program = ""}, to),
		0);
	fclose(to);
	free(text);
	ezprof_trace_model_free(model);
	ezprof_match_free(m);
	ezprof_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
