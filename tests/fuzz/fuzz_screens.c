/* SPDX-License-Identifier: MIT */
/*
 * Documents of whoever, one behind the other, through what shows more than one of them: the screen
 * of top with keys that are pressed, the page of report, the series of export. The first byte says
 * how many keys there are.
 */
#include "drawing.h"
#include "export_view.h"
#include "page.h"
#include "shown_text.h"
#include "top_screen.h"
#include "why.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEYS_MAX 16u
#define DOCUMENTS_MAX 3u

struct shown {
	struct ezprof_top_control control;
	struct ezprof_history *history;
	struct ezprof_scrape_memory memory;
	struct ezprof_timeline timeline;
	const uint8_t *keys;
	size_t n_keys;
};

static const struct {
	unsigned int columns, lines;
} sizes[] = {{1, 1}, {20, 5}, {80, 24}, {0, 0}};

static void check_and_free(struct ez_buffer *out)
{
	ezprof_shown_text_check(out);
	ez_buffer_free(out);
}

static void compose(struct shown *shown, const struct ezprof_model *model,
		    const struct ezprof_findings *findings, size_t size)
{
	struct ezprof_top_picture picture = {.model = model,
					     .findings = findings,
					     .history = shown->history,
					     .source = "here",
					     .when = "",
					     .trouble = "",
					     .columns = sizes[size].columns,
					     .lines = sizes[size].lines,
					     .ascii = size == 1,
					     .interactive = size != 3};
	struct ezprof_screen screen;
	struct ez_buffer out;

	ez_buffer_init(&out, SIZE_MAX / 2);
	if (ezprof_top_compose(&picture, &shown->control, &screen) == 0) {
		if (picture.lines && screen.n_lines > picture.lines)
			abort();
		ezprof_screen_plain(&screen, &out);
	}
	ezprof_screen_free(&screen);
	check_and_free(&out);
}

static void top(struct shown *shown, const struct ezprof_model *model,
		const struct ezprof_findings *findings)
{
	ezprof_history_step(shown->history);
	ezprof_top_remember(model, shown->history);
	for (size_t i = 0; i <= shown->n_keys; i++) {
		compose(shown, model, findings, i % (sizeof(sizes) / sizeof(sizes[0])));
		/* Some bytes are keys that are no characters. */
		if (i < shown->n_keys)
			ezprof_top_control_key(&shown->control,
					       shown->keys[i] < 0x80
						       ? shown->keys[i]
						       : EZPROF_KEY_NONE + shown->keys[i] % 13u);
	}
}

static void report(struct shown *shown, const struct ezprof_model *model,
		   const struct ezprof_findings *findings)
{
	struct ezprof_page_input input = {
		.model = model, .findings = findings, .timeline = &shown->timeline};
	struct ezprof_drawing drawing = {0};
	struct ez_buffer out;

	ezprof_timeline_add(&shown->timeline, model);
	if (ezprof_drawing_of_model(model, NULL, &drawing) == 0)
		input.drawing = &drawing;
	ez_buffer_init(&out, SIZE_MAX / 2);
	ezprof_page_put(&out, &input);
	check_and_free(&out);
	ezprof_drawing_free(&drawing);
}

static void export(struct shown *shown, const struct ezprof_model *model)
{
	struct ezprof_export_facts facts = {
		.model = model, .memory = &shown->memory, .failure = "", .series_max = 500};
	struct ez_buffer out;

	ezprof_scrape_memory_renew(&shown->memory, model);
	for (int dialect = EZPROF_OPENMETRICS; dialect <= EZPROF_TEXT_0_0_4; dialect++) {
		ez_buffer_init(&out, SIZE_MAX / 2);
		ezprof_view_export(&out, &facts, (enum ezprof_dialect)dialect);
		ez_buffer_free(&out);
	}
}

static void show_all(struct shown *shown, const char *text, size_t n)
{
	struct ezprof_model *before = NULL, *model;
	size_t at = 0;

	for (unsigned int i = 0; i < DOCUMENTS_MAX; i++) {
		struct ezprof_findings findings = {0};

		if (ezprof_model_next(text, n, &at, &model))
			break;
		if (ezprof_why(model, before, &findings) == 0) {
			top(shown, model, &findings);
			report(shown, model, &findings);
		}
		export(shown, model);
		ezprof_findings_free(&findings);
		ezprof_model_free(before);
		before = model;
	}
	ezprof_model_free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shown shown = {.history = ezprof_history_new()};
	size_t n_keys = size ? data[0] % KEYS_MAX : 0;
	char *text;

	if (!shown.history)
		abort();
	if (size > n_keys) {
		shown.keys = data + 1;
		shown.n_keys = n_keys;
		text = malloc(size - n_keys);
		if (!text)
			abort();
		memcpy(text, data + 1 + n_keys, size - 1 - n_keys);
		text[size - 1 - n_keys] = '\0';
		ezprof_top_control_init(&shown.control);
		show_all(&shown, text, size - 1 - n_keys);
		ezprof_top_control_free(&shown.control);
		free(text);
	}
	ezprof_scrape_memory_free(&shown.memory);
	ezprof_timeline_free(&shown.timeline);
	ezprof_history_free(shown.history);
	return 0;
}
