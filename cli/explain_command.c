/* SPDX-License-Identifier: MIT */
/* `ezprof explain`: the list of metrics, as docs/metrics.md is made of it, in a terminal. */
#include "explain_command.h"
#include "exit_status.h"
#include "json_writer.h"
#include "metric.h"
#include "output.h"
#include "text_width.h"
#include "usual_options.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#define PROGRAM "ezprof explain"
/* Of a key that is unknown. */
#define KEY_COLUMNS 60u
#define KEY_BYTES_MAX 4096u

struct request {
	struct ezprof_usual_options usual;
	char **keys;
	int n_keys;
};

static const struct argp_option option_table[] = {
	EZPROF_OPTION_JSON,
	{0},
};

static const char doc[] =
	"\nSays what a metric is: when it starts and ends, its clock and unit, what is left out. "
	"KEY is a metric's name, the part behind its point, a pattern, its place in the document "
	"or "
	"its name in OpenMetrics. Without one all names are listed.\n"
	"\nExamples:\n"
	"  ezprof explain sub.process_p99_ms\n"
	"  ezprof explain in_flight\n"
	"  ezprof explain 'pub.blocked_*'\n"
	"\v"
	"Exit status: 0; 2 a KEY that means nothing.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case ARGP_KEY_ARG: /* all of them at once, next */
		return ARGP_ERR_UNKNOWN;
	case ARGP_KEY_ARGS:
		request->keys = state->argv + state->next;
		request->n_keys = state->argc - state->next;
		return 0;
	default:
		return ezprof_usual_option(key, argument, state, &request->usual);
	}
}

static void put_line(const char *name, const char *text)
{
	if (*text)
		printf("  %-12s%s\n", name, text);
}

static void put_metric(enum ezprof_metric_id id)
{
	const struct ezprof_metric *metric = ezprof_metric(id);
	bool counter = metric->kind == EZPROF_COUNTER;
	char name[EZPROF_OPENMETRICS_NAME_BYTES];
	const char *unit;
	double factor;

	ezprof_metric_openmetrics(id, name, &unit, &factor);
	printf("%s.%s: %s\n", ezprof_scope_id(metric->scope), metric->id, metric->what);
	put_line("of", ezprof_scope_what(metric->scope));
	put_line("start", metric->from);
	put_line("end", metric->to);
	put_line("excluded", metric->without);
	put_line("clock", ezprof_unit_clock(metric->unit));
	put_line("unit", ezprof_unit_words(metric->unit));
	put_line("kind", counter ? "counter: only grows while its endpoint lives" : "gauge");
	put_line("document", metric->path);
	printf("  %-12s%s%s\n", "OpenMetrics", name, counter ? "_total" : "");
}

static void kv_text(struct ez_json *json, const char *key, const char *text)
{
	ez_json_kv_str(json, key, *text ? text : NULL);
}

static void put_json(struct ez_json *json, enum ezprof_metric_id id)
{
	const struct ezprof_metric *metric = ezprof_metric(id);
	bool counter = metric->kind == EZPROF_COUNTER;
	char key[KEY_COLUMNS], name[EZPROF_OPENMETRICS_NAME_BYTES + sizeof("_total")];
	const char *unit;
	double factor;

	ezprof_metric_openmetrics(id, name, &unit, &factor);
	if (counter)
		strcat(name, "_total");
	ez_json_object_begin(json);
	snprintf(key, sizeof(key), "%s.%s", ezprof_scope_id(metric->scope), metric->id);
	ez_json_kv_str(json, "name", key);
	ez_json_kv_str(json, "what", metric->what);
	ez_json_kv_str(json, "of", ezprof_scope_what(metric->scope));
	kv_text(json, "start", metric->from);
	kv_text(json, "end", metric->to);
	kv_text(json, "excluded", metric->without);
	kv_text(json, "clock", ezprof_unit_clock(metric->unit));
	kv_text(json, "unit", ezprof_unit_words(metric->unit));
	ez_json_kv_str(json, "kind", counter ? "counter" : "gauge");
	kv_text(json, "document", metric->path);
	ez_json_kv_str(json, "openmetrics", name);
	ez_json_object_end(json);
}

static void list(void)
{
	for (unsigned int i = 0; i < EZPROF_METRIC_COUNT; i++) {
		const struct ezprof_metric *metric = ezprof_metric((enum ezprof_metric_id)i);

		printf("%s.%s\n", ezprof_scope_id(metric->scope), metric->id);
	}
}

static bool is_known(const char *key)
{
	for (unsigned int i = 0; i < EZPROF_METRIC_COUNT; i++) {
		if (ezprof_metric_meant(key, (enum ezprof_metric_id)i))
			return true;
	}
	return false;
}

static int refuse(const char *key)
{
	char nearest[EZPROF_OPENMETRICS_NAME_BYTES];
	const char *meant = ezprof_metric_nearest(key, nearest, sizeof(nearest));
	struct ez_buffer shown;

	ez_buffer_init(&shown, KEY_BYTES_MAX);
	ezprof_put_shortened(&shown, key, KEY_COLUMNS);
	fprintf(stderr, "%s: no metric '%.*s'", PROGRAM, shown.err ? 0 : (int)shown.len,
		shown.data ? (const char *)shown.data : "");
	if (meant)
		fprintf(stderr, "; did you mean '%s'?", meant);
	fprintf(stderr, " (`%s` lists them)\n", PROGRAM);
	ez_buffer_free(&shown);
	return EZPROF_EXIT_USAGE;
}

static bool is_meant(const struct request *request, enum ezprof_metric_id id)
{
	for (int i = 0; i < request->n_keys; i++) {
		if (ezprof_metric_meant(request->keys[i], id))
			return true;
	}
	return false;
}

static int print_text(const struct request *request)
{
	const char *between = "";

	if (!request->n_keys)
		list();
	for (unsigned int i = 0; i < EZPROF_METRIC_COUNT; i++) {
		if (!is_meant(request, (enum ezprof_metric_id)i))
			continue;
		fputs(between, stdout);
		put_metric((enum ezprof_metric_id)i);
		between = "\n";
	}
	return ezprof_output_flush(PROGRAM);
}

/* Without a key all of them, whole. */
static int print_json(const struct request *request)
{
	struct ez_buffer out;
	struct ez_json json;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ez_json_init(&json, &out);
	ez_json_object_begin(&json);
	ez_json_key(&json, "metrics");
	ez_json_array_begin(&json);
	for (unsigned int i = 0; i < EZPROF_METRIC_COUNT; i++) {
		if (!request->n_keys || is_meant(request, (enum ezprof_metric_id)i))
			put_json(&json, (enum ezprof_metric_id)i);
	}
	ez_json_array_end(&json);
	ez_json_object_end(&json);
	ez_buffer_append_text(&out, "\n");
	return ezprof_output_buffer(PROGRAM, &out);
}

int ezprof_explain_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "[KEY...]", doc,
					 NULL,	       NULL,	     NULL};
	struct request request = {0};

	if (argp_parse(&argp, argc, argv, 0, NULL, &request))
		return EZPROF_EXIT_USAGE;
	for (int i = 0; i < request.n_keys; i++) {
		if (!is_known(request.keys[i]))
			return refuse(request.keys[i]);
	}
	return request.usual.json ? print_json(&request) : print_text(&request);
}
