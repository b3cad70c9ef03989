/* SPDX-License-Identifier: MIT */
/* `ezprof report`: some seconds of a graph as one HTML file. */
#include "report_command.h"
#include "clock.h"
#include "document_file.h"
#include "exit_status.h"
#include "load.h"
#include "option_value.h"
#include "output.h"
#include "output_file.h"
#include "page.h"
#include "profile_source.h"
#include "report_loop.h"
#include "usual_options.h"
#include "why.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "ezprof report"
#define DURATION_DEFAULT_S 10.0
#define INTERVAL_MIN_S 0.5
#define POINTS_DEFAULT 120.0
/* Plots are not wider than that. */
#define POINTS_MAX 2000.0
/* Finding who feeds whom takes the product of both. */
#define PAIRS_MAX 250000u
#define PAGE_BYTES_MAX (1u << 28)

struct options {
	struct ezprof_usual_options usual; /* window_s 0: as long as it lasted */
	double duration_s, interval_s;
	const char *path, *from;
};

/* What was seen so far. */
struct seen {
	const struct options *options;
	struct ezprof_model *first, *latest; /* the same while there is one only */
	struct ezprof_timeline timeline;
	bool looked; /* the first point of the loop is there already */
	struct ezprof_source_memory memory;
};

enum { KEY_FROM = 256 };

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0, "the HTML file; \"-\": stdout", 0},
	{"duration", 'd', "SECONDS", 0, "how long to watch, default 10; Ctrl-C ends it early", 0},
	{"interval", 'i', "SECONDS", 0,
	 "how far the points over time are apart; default: 0.5, or what gives 120 of them", 0},
	{"window", EZPROF_KEY_WINDOW, "SECONDS", 0,
	 "how far the figures look back at the end: 0.15 to 16, default: as long as it lasted", 0},
	{"from", KEY_FROM, "FILE", 0,
	 "show the documents in FILE (\"-\": stdin), the last one's figures, instead of a running "
	 "graph's",
	 0},
	EZPROF_OPTION_ADDRESS,
	{0},
};

static const char doc[] =
	"\nWatches a graph for some seconds and writes one HTML file that needs nothing else: the "
	"graph with rates and heat, what holds it up (as `ezprof why` has it), figures, latencies, "
	"the course of time, and who was measured.\n"
	"\nExamples:\n"
	"  ezprof report -o report.html\n"
	"  ezprof report -o report.html --duration 60\n"
	"  ezprof profile --interval 1 --count 60 > minute.json; "
	"ezprof report -o minute.html --from minute.json\n"
	"\v"
	"Exit status: 0, also when something is wrong with the graph; 1 failure; 2 usage; 4 there "
	"is no endpoint at all; 5 something was lost or somebody is silent (the page says what).";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'o':
		o->path = argument;
		return 0;
	case 'd':
		o->duration_s = ezprof_option_seconds(PROGRAM, "--duration", argument);
		return 0;
	case 'i':
		o->interval_s = ezprof_option_seconds(PROGRAM, "--interval", argument);
		return 0;
	case KEY_FROM:
		o->from = argument;
		return 0;
	default:
		return ezprof_usual_option(key, argument, state, &o->usual);
	}
}

static int explain(const char *what, int err)
{
	fprintf(stderr, "%s: %.200s: %s\n", PROGRAM, what, strerror(-err));
	return EZPROF_EXIT_FAILURE;
}

static double within(double seconds, double least, double most)
{
	return seconds < least ? least : seconds > most ? most : seconds;
}

/* Takes the model over; the first and the latest are kept. */
static int take(struct seen *seen, struct ezprof_model *model, bool as_point)
{
	int err = as_point ? ezprof_timeline_add(&seen->timeline, model) : 0;

	if (seen->latest != seen->first)
		ezprof_model_free(seen->latest);
	seen->latest = model;
	if (!seen->first)
		seen->first = model;
	return err ? explain("the documents", err) : EZPROF_EXIT_OK;
}

static int fetch(struct seen *seen, double window_s, bool as_point)
{
	struct ezprof_model *model;
	char *text = NULL;
	int status = ezprof_profile_fetch(PROGRAM, ezprof_usual_address(&seen->options->usual),
					  window_s, &seen->memory, &text);

	if (!status)
		status = ezprof_document_model(PROGRAM, text, &model);
	free(text);
	return status ? status : take(seen, model, as_point);
}

static int sample(void *user)
{
	struct seen *seen = user;
	double window_s = within(seen->options->interval_s, EZ_WINDOW_MIN_S, EZ_WINDOW_MAX_S);

	if (seen->looked) {
		seen->looked = false;
		return EZPROF_EXIT_OK;
	}
	return fetch(seen, window_s, true);
}

/* What ezmsg tells by itself takes as long as its window: one document has to do. */
static bool is_told(const struct ezprof_model *model)
{
	size_t i;

	for (i = model->first[EZPROF_PUB]; i < model->first[EZPROF_SUB + 1]; i++) {
		if (ezprof_is_told_by_ezmsg(&model->objects[i]))
			return true;
	}
	return ezprof_document_status(model) == EZPROF_EXIT_NOTHING;
}

static int watch(struct seen *seen)
{
	const struct options *o = seen->options;
	uint64_t begin_ns = ez_clock_mono_ns();
	double window_s = o->usual.window_s, points = o->duration_s / o->interval_s;
	int status = sample(seen);

	if (status)
		return status;
	if (!is_told(seen->latest)) {
		seen->looked = true;
		status = ezprof_report_loop(PROGRAM, o->interval_s, (uint64_t)points + 1, sample,
					    seen);
		if (status == EZPROF_EXIT_FAILURE)
			return EZPROF_EXIT_PARTIAL;
	} else if (window_s <= 0) {
		window_s = within(o->duration_s, EZ_WINDOW_MIN_S, EZ_WINDOW_MAX_S);
	}
	if (window_s <= 0)
		window_s = within((double)(ez_clock_mono_ns() - begin_ns) / 1e9, EZ_WINDOW_MIN_S,
				  EZ_WINDOW_MAX_S);
	return fetch(seen, window_s, false) ? EZPROF_EXIT_PARTIAL : EZPROF_EXIT_OK;
}

static int read_file(struct seen *seen)
{
	const char *path = seen->options->from;
	struct ezprof_model *model;
	size_t at = 0, n;
	char *text;
	int err = 0, status = ezprof_document_file_text(PROGRAM, path, &text);

	if (status)
		return status;
	n = strlen(text);
	while (!status && !err) {
		err = ezprof_model_next(text, n, &at, &model);
		if (!err)
			status = take(seen, model, true);
	}
	free(text);
	if (status || (err == -ENODATA && seen->latest))
		return status;
	fprintf(stderr, "%s: %.200s: %s\n", PROGRAM, path,
		err == -ENOMEM ? strerror(ENOMEM)
			       : "this is no PROFILE document (`ezprof profile` prints them)");
	return EZPROF_EXIT_FAILURE;
}

static bool is_drawable(const struct ezprof_model *model)
{
	size_t pubs = model->first[EZPROF_PUB + 1] - model->first[EZPROF_PUB];
	size_t subs = model->first[EZPROF_SUB + 1] - model->first[EZPROF_SUB];

	return pubs * subs <= PAIRS_MAX && model->n_edges <= EZPROF_PAGE_ARROWS_MAX;
}

/* The page; a document that is too large to be drawn has all but the drawing. */
static int make_page(const struct seen *seen, struct ez_buffer *out)
{
	struct ezprof_findings findings = {0};
	struct ezprof_drawing drawing = {0};
	struct ezprof_page_input input = {
		.model = seen->latest, .findings = &findings, .timeline = &seen->timeline};
	int err = ezprof_why(seen->latest, seen->first == seen->latest ? NULL : seen->first,
			     &findings);

	if (!err && is_drawable(seen->latest)) {
		err = ezprof_drawing_of_model(seen->latest, NULL, &drawing);
		input.drawing = &drawing;
	}
	if (!err)
		ezprof_page_put(out, &input);
	ezprof_drawing_free(&drawing);
	ezprof_findings_free(&findings);
	return err ? err : out->err;
}

static int write_bytes(FILE *file, void *user)
{
	const struct ez_buffer *page = user;

	return fwrite(page->data, 1, page->len, file) == page->len ? 0 : -EIO;
}

static int write_page(const struct options *o, struct ez_buffer *page)
{
	int err;

	if (strcmp(o->path, "-") == 0)
		return ezprof_output_bytes(PROGRAM, page->data, page->len);
	err = ezprof_output_file_write(o->path, write_bytes, page);
	if (err)
		return explain(o->path, err);
	fprintf(stderr, "%s: %.200s: %zu bytes\n", PROGRAM, o->path, page->len);
	return EZPROF_EXIT_OK;
}

static int report(const struct options *o)
{
	struct seen seen = {.options = o};
	struct ez_buffer page;
	int err, status = o->from ? read_file(&seen) : watch(&seen), written;

	ez_buffer_init(&page, PAGE_BYTES_MAX);
	if (seen.latest && (!status || status == EZPROF_EXIT_PARTIAL)) {
		err = make_page(&seen, &page);
		written = err ? explain("the page", err) : write_page(o, &page);
		if (written || !status)
			status = written ? written : ezprof_document_status(seen.latest);
	}
	ez_buffer_free(&page);
	ezprof_timeline_free(&seen.timeline);
	if (seen.first != seen.latest)
		ezprof_model_free(seen.first);
	ezprof_model_free(seen.latest);
	return status;
}

static int refuse(const char *why)
{
	fprintf(stderr, "%s: %s\n", PROGRAM, why);
	return EZPROF_EXIT_USAGE;
}

/* Whether it can be done at all is known before any time has passed. */
static int settle(struct options *o)
{
	int err;

	if (!o->path)
		return refuse("-o FILE says where to write to (\"-\": stdout)");
	if (strcmp(o->path, "-") == 0 && isatty(STDOUT_FILENO))
		return refuse("-o -: the page is for a file or a pipe, not for a terminal");
	if (o->interval_s <= 0)
		o->interval_s = within(o->duration_s / POINTS_DEFAULT, INTERVAL_MIN_S, 1e9);
	if (o->interval_s > o->duration_s)
		o->interval_s = o->duration_s;
	if (o->duration_s / o->interval_s > POINTS_MAX) {
		fprintf(stderr, "%s: --interval %g: at least %g is wanted for %g s (%.0f points)\n",
			PROGRAM, o->interval_s, o->duration_s / POINTS_MAX, o->duration_s,
			POINTS_MAX);
		return EZPROF_EXIT_USAGE;
	}
	err = strcmp(o->path, "-") == 0 ? 0 : ezprof_output_file_try(o->path);
	return err ? explain(o->path, err) : EZPROF_EXIT_OK;
}

int ezprof_report_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct options o = {.duration_s = DURATION_DEFAULT_S};
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	status = settle(&o);
	return status ? status : report(&o);
}
