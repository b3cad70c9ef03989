/* SPDX-License-Identifier: MIT */
#include "rule_list.h"
#include "exit_status.h"
#include "json_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "ezprof.check/1"

void ezprof_rule_list_add(struct ezprof_rule_list *list, const char *program, const char *text)
{
	char fault[256] = "no memory";

	if (list->n == EZPROF_RULES_MAX)
		snprintf(fault, sizeof(fault), "at most %u rules", EZPROF_RULES_MAX);
	else if (ezprof_rule_parse(text, &list->rules[list->n], fault, sizeof(fault)) == 0) {
		list->n++;
		return;
	}
	fprintf(stderr, "%s: --fail-if '%.100s': %s\n", program, text, fault);
	exit(EZPROF_EXIT_USAGE);
}

void ezprof_rule_list_free(struct ezprof_rule_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		ezprof_rule_free(&list->rules[i]);
	list->n = 0;
}

static void put_spread(struct ez_json *json, const char *key, const struct ezprof_spread *spread)
{
	ez_json_key(json, key);
	if (!spread->n) {
		ez_json_null(json);
		return;
	}
	ez_json_object_begin(json);
	ez_json_kv_f64(json, "median", spread->median);
	ez_json_kv_f64(json, "min", spread->min);
	ez_json_kv_f64(json, "max", spread->max);
	ez_json_kv_u64(json, "documents", spread->n);
	ez_json_object_end(json);
}

static void put_result(struct ez_json *json, const struct ezprof_rule *rule,
		       const struct ezprof_samples *samples,
		       const struct ezprof_rule_result *result)
{
	struct ez_buffer name;

	ez_buffer_init(&name, SIZE_MAX / 2);
	if (result->worst)
		ezprof_say_subject(&name, samples, result->worst);
	ez_json_object_begin(json);
	ez_json_kv_str(json, "rule", rule->text);
	ez_json_kv_str(json, "result",
		       result->broken	? "broken"
		       : result->judged ? "kept"
					: "not_judged");
	ez_json_kv_u64(json, "judged", result->judged);
	ez_json_kv_u64(json, "broken", result->broken);
	ez_json_key(json, "worst");
	if (result->worst)
		ez_json_str_n(json, (const char *)name.data, name.len);
	else
		ez_json_null(json);
	put_spread(json, "spread", &result->spread);
	put_spread(json, "baseline", &result->baseline);
	ez_json_object_end(json);
	ez_buffer_free(&name);
}

int ezprof_rule_list_judge(struct ez_buffer *out, const struct ezprof_rule_list *list,
			   const struct ezprof_samples *samples,
			   const struct ezprof_samples *baseline, bool json)
{
	bool broken = false, not_judged = false;
	struct ez_json writer;
	size_t i;

	ez_json_init(&writer, out);
	if (json) {
		ez_json_object_begin(&writer);
		ez_json_kv_str(&writer, "schema", SCHEMA);
		ez_json_kv_u64(&writer, "documents", samples->n_models);
		ez_json_key(&writer, "rules");
		ez_json_array_begin(&writer);
	}
	for (i = 0; i < list->n; i++) {
		struct ezprof_rule_result result;

		ezprof_rule_judge(&list->rules[i], samples, baseline, &result);
		broken = broken || result.broken;
		not_judged = not_judged || !result.judged;
		if (json) {
			put_result(&writer, &list->rules[i], samples, &result);
			continue;
		}
		ezprof_rule_say(out, &list->rules[i], samples, &result);
		ez_buffer_append_text(out, "\n");
	}
	if (json) {
		ez_json_array_end(&writer);
		ez_json_object_end(&writer);
		ez_buffer_append_text(out, "\n");
	}
	if (broken)
		return EZPROF_EXIT_BROKEN;
	return not_judged ? EZPROF_EXIT_NOTHING : EZPROF_EXIT_OK;
}
