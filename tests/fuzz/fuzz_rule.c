/* SPDX-License-Identifier: MIT */
/* What is typed behind `check --fail-if`, and `explain`'s keys. */
#include "metric.h"
#include "rule.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char document[] =
	"{\"window_s\":2.0,\"host\":\"here\",\"publishers\":[{\"id\":\"1\",\"topic\":\"A\","
	"\"pid\":7,\"message_rate_hz\":10.5,\"links\":[]}],\"channels\":[{\"channel_id\":\"2\","
	"\"pub_id\":\"1\",\"topic\":\"A\",\"pid\":8,\"subscribers\":[{\"handle\":\"sink\","
	"\"topic\":\"A\",\"message_rate_hz\":10.5,\"processing\":{\"avg_ms\":2.5,\"p99_ms\":7}}]}],"
	"\"agents\":[{\"pid\":1,\"tasks\":[{\"task\":\"t\",\"pid\":8,\"calls\":4}]}]}";

static void judge(const struct ezprof_rule *rule)
{
	static struct ezprof_samples samples;
	struct ezprof_rule_result result;
	struct ez_buffer out;

	if (!samples.n_models && ezprof_samples_read(&samples, document, strlen(document)))
		abort();
	ez_buffer_init(&out, SIZE_MAX / 2);
	ezprof_rule_judge(rule, &samples, &samples, &result);
	if (result.broken > result.judged)
		abort();
	ezprof_rule_say(&out, rule, &samples, &result);
	ez_buffer_free(&out);
}

static void explain(const char *key)
{
	char near[EZPROF_OPENMETRICS_NAME_BYTES];

	for (unsigned int i = 0; i < EZPROF_METRIC_COUNT; i++)
		ezprof_metric_meant(key, (enum ezprof_metric_id)i);
	ezprof_metric_nearest(key, near, sizeof(near));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ezprof_rule rule;
	char *text = malloc(size + 1), fault[200] = "";

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (ezprof_rule_parse(text, &rule, fault, sizeof(fault)) == 0) {
		judge(&rule);
		ezprof_rule_free(&rule);
	} else if (!memchr(fault, '\0', sizeof(fault)) || !*fault) {
		abort();
	}
	explain(text);
	free(text);
	return 0;
}
