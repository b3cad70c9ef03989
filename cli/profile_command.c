/* SPDX-License-Identifier: MIT */
/* `ezprof profile`: the document, in one of its formats, once or again and again. */
#include "profile_command.h"
#include "document.h"
#include "document_file.h"
#include "exit_status.h"
#include "option_value.h"
#include "output.h"
#include "profile_source.h"
#include "report_loop.h"
#include "terminal.h"
#include "usual_options.h"
#include "view.h"
#include "visible_name.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "ezprof profile"
#define COUNT_MAX UINT64_C(1000000000000)
#define SERIES_MAX 20000u
#define FORMATS "json|table|jsonl|csv|openmetrics"

struct options;

/* Appends the document in one format, and what it comes to. Returns an exit status. */
typedef int (*render_fn)(struct ez_buffer *out, const char *text, const struct options *options,
			 struct ezprof_verdict *ret_verdict);

struct options {
	struct ezprof_usual_options usual; /* window_s 0: not said */
	double interval_s;		   /* likewise */
	uint64_t count;
	bool wide;
	render_fn render;
	const char *from; /* a file instead of the running graph; NULL = none */
	bool continued;	  /* a report has been printed already */
	struct ezprof_source_memory memory;
};

enum { KEY_WIDE = 256, KEY_FROM };

static const struct argp_option option_table[] = {
	{"window", EZPROF_KEY_WINDOW, "SECONDS", 0,
	 "how far to look back: 0.15 to 16, default 2.0, with --interval that one", 0},
	EZPROF_OPTION_ADDRESS,
	{"format", 'f', FORMATS, 0, "default: json", 0},
	{"interval", 'i', "SECONDS", 0, "again and again, each so many seconds, until Ctrl-C", 0},
	{"count", 'c', "N", 0, "so many times; without --interval each second", 0},
	{"wide", KEY_WIDE, NULL, 0, "table: don't shorten names to the terminal's width", 0},
	{"from", KEY_FROM, "FILE", 0,
	 "show the document in FILE (\"-\": stdin) instead of a running graph's", 0},
	{0},
};

static const char doc[] =
	"\nPrints one JSON document (ezprof-json(5)) about the last seconds of a graph.\n"
	"\nExamples:\n"
	"  ezprof profile\n"
	"  ezprof profile --format table\n"
	"  ezprof profile --window 0.5 --address 127.0.0.1:25978\n"
	"  ezprof profile --format jsonl --interval 1 --count 60 > minute.jsonl\n"
	"\v"
	"Exit status: 0; 1 nobody answers; 2 usage; 4 there is no endpoint at all; 5 something was "
	"lost or somebody is silent (the document is complete otherwise). Ctrl-C after a report is "
	"0.";

static int explain(int err)
{
	fprintf(stderr, "%s: %s\n", PROGRAM,
		err == -EPROTO ? "the answer is no PROFILE document" : strerror(-err));
	return EZPROF_EXIT_FAILURE;
}

static int judge(const char *text, char **ret_pretty, struct ezprof_verdict *ret_verdict)
{
	int err = ezprof_document_read(text, strlen(text), ret_pretty, ret_verdict);

	return err ? explain(err) : EZPROF_EXIT_OK;
}

/* Indented for a person; a line each in a stream, for programs. */
static int render_json(struct ez_buffer *out, const char *text, const struct options *options,
		       struct ezprof_verdict *ret_verdict)
{
	char *pretty;
	int status = judge(text, &pretty, ret_verdict);

	if (status)
		return status;
	ez_visible_json(out, options->interval_s > 0 ? text : pretty);
	ez_buffer_append_text(out, "\n");
	free(pretty);
	return EZPROF_EXIT_OK;
}

static int render_jsonl(struct ez_buffer *out, const char *text, const struct options *options,
			struct ezprof_verdict *ret_verdict)
{
	char *pretty;
	int status = judge(text, &pretty, ret_verdict), err;

	(void)options;
	if (status)
		return status;
	free(pretty);
	err = ezprof_view_jsonl(out, text, strlen(text));
	return err ? explain(err) : EZPROF_EXIT_OK;
}

typedef void (*view_fn)(struct ez_buffer *out, const struct ezprof_model *model,
			const struct ezprof_view_options *options);

static int render_view(struct ez_buffer *out, const char *text, const struct options *options,
		       struct ezprof_verdict *ret_verdict, view_fn view)
{
	struct ezprof_view_options how = {
		.columns = options->wide ? 0 : ezprof_terminal_columns(),
		.continued = options->continued,
		.series_max = SERIES_MAX,
	};
	struct ezprof_model *model;
	char *pretty;
	int status = judge(text, &pretty, ret_verdict);

	if (status)
		return status;
	free(pretty);
	status = ezprof_document_model(PROGRAM, text, &model);
	if (status)
		return status;
	view(out, model, &how);
	ezprof_model_free(model);
	return EZPROF_EXIT_OK;
}

static int render_table(struct ez_buffer *out, const char *text, const struct options *options,
			struct ezprof_verdict *ret_verdict)
{
	if (options->continued)
		ez_buffer_append_text(out, "\n");
	return render_view(out, text, options, ret_verdict, ezprof_view_table);
}

static int render_csv(struct ez_buffer *out, const char *text, const struct options *options,
		      struct ezprof_verdict *ret_verdict)
{
	return render_view(out, text, options, ret_verdict, ezprof_view_csv);
}

static int render_openmetrics(struct ez_buffer *out, const char *text,
			      const struct options *options, struct ezprof_verdict *ret_verdict)
{
	return render_view(out, text, options, ret_verdict, ezprof_view_openmetrics);
}

/* In the order of FORMATS. */
static const render_fn renders[] = {render_json, render_table, render_jsonl, render_csv,
				    render_openmetrics};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'f':
		o->render = renders[ezprof_option_choice(PROGRAM, "--format", argument, FORMATS)];
		return 0;
	case 'i':
		o->interval_s = ezprof_option_seconds(PROGRAM, "--interval", argument);
		return 0;
	case 'c':
		o->count = ezprof_option_count(PROGRAM, "--count", argument, COUNT_MAX);
		return 0;
	case KEY_FROM:
		o->from = argument;
		return 0;
	case KEY_WIDE:
		o->wide = true;
		return 0;
	default:
		return ezprof_usual_option(key, argument, state, &o->usual);
	}
}

static int status_of(const struct ezprof_verdict *verdict)
{
	if (verdict->errors || verdict->lost)
		return EZPROF_EXIT_PARTIAL;
	if (verdict->endpoints)
		return EZPROF_EXIT_OK;
	/* What ezmsg tells by itself is no list of what is there. */
	fprintf(stderr, "%s: %s\n", PROGRAM,
		verdict->by_ezmsg
			? "no publisher or subscriber has told anything"
			: "the graph has no endpoint: no publisher or subscriber is there");
	return EZPROF_EXIT_NOTHING;
}

static int fetch(struct options *o, char **ret_text)
{
	if (o->from)
		return ezprof_document_file_text(PROGRAM, o->from, ret_text);
	return ezprof_profile_fetch(PROGRAM, ezprof_usual_address(&o->usual), o->usual.window_s,
				    &o->memory, ret_text);
}

static int report(void *user)
{
	struct options *o = user;
	struct ezprof_verdict verdict;
	struct ez_buffer out;
	char *text = NULL;
	int status = fetch(o, &text);

	if (status)
		return status;
	ez_buffer_init(&out, SIZE_MAX / 2);
	status = o->render(&out, text, o, &verdict);
	if (!status)
		status = ezprof_output_buffer(PROGRAM, &out);
	if (!status)
		status = status_of(&verdict);
	o->continued = true;
	ez_buffer_free(&out);
	free(text);
	return status;
}

/* Windows of a stream lie one behind the other unless something else is asked for. */
static void settle(struct options *o)
{
	if (o->count > 1 && o->interval_s <= 0)
		o->interval_s = 1.0;
	if (o->usual.window_s > 0)
		return;
	o->usual.window_s = o->interval_s > 0 ? o->interval_s : EZ_WINDOW_DEFAULT_S;
	if (o->usual.window_s < EZ_WINDOW_MIN_S)
		o->usual.window_s = EZ_WINDOW_MIN_S;
	if (o->usual.window_s > EZ_WINDOW_MAX_S)
		o->usual.window_s = EZ_WINDOW_MAX_S;
}

int ezprof_profile_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct options o = {.render = render_json};

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	settle(&o);
	if (o.interval_s <= 0 || o.from)
		return report(&o);
	return ezprof_report_loop(PROGRAM, o.interval_s, o.count, report, &o);
}
