/* SPDX-License-Identifier: MIT */
/*
 * A document of whoever, through everything that is made of one. What is for people must be valid
 * UTF-8 without a character that moves a cursor, whatever the document holds.
 */
#include "diff_view.h"
#include "drawing.h"
#include "drawing_print.h"
#include "rule.h"
#include "shown_text.h"
#include "view.h"
#include "visible_name.h"
#include "why.h"
#include "why_print.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned int widths[] = {0, 1, 20, 80};
static const char *const forms[] = {"text", "dot", "mermaid", "json"};

static void begin(struct ez_buffer *out)
{
	ez_buffer_init(out, SIZE_MAX / 2);
}

/* The bytes are for programs: they are only read. */
static void end(struct ez_buffer *out)
{
	ez_buffer_free(out);
}

static void end_for_people(struct ez_buffer *out)
{
	ezprof_shown_text_check(out);
	ez_buffer_free(out);
}

static void say_why(const struct ezprof_model *model, const struct ezprof_model *before)
{
	struct ezprof_findings findings = {0};
	struct ez_buffer out;

	if (ezprof_why(model, before, &findings) == 0) {
		for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
			begin(&out);
			ezprof_why_text(&out, &findings, widths[i]);
			end_for_people(&out);
		}
		begin(&out);
		ezprof_why_json(&out, model, &findings);
		end_for_people(&out);
	}
	ezprof_findings_free(&findings);
}

static void view(const struct ezprof_model *model)
{
	struct ez_buffer out;

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		struct ezprof_view_options how = {.columns = widths[i], .series_max = 50 * i};

		begin(&out);
		ezprof_view_table(&out, model, &how);
		end_for_people(&out);
		begin(&out);
		ezprof_view_openmetrics(&out, model, &how);
		end(&out);
	}
	begin(&out);
	ezprof_view_csv(&out, model, &(struct ezprof_view_options){0});
	end(&out);
}

static void print(const struct ezprof_drawing *drawing)
{
	struct ez_buffer out;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		begin(&out);
		ezprof_drawing_format(forms[i])(&out, drawing);
		end_for_people(&out);
	}
}

static void draw(const struct ezprof_model *model)
{
	struct ezprof_drawing drawing, compact;

	if (ezprof_drawing_of_model(model, NULL, &drawing))
		return;
	print(&drawing);
	if (ezprof_drawing_compact(&drawing, &compact) == 0) {
		print(&compact);
		ezprof_drawing_free(&compact);
	}
	ezprof_drawing_free(&drawing);
}

static void judge(const struct ezprof_samples *samples, const struct ezprof_samples *baseline)
{
	static const char *const rules[] = {"sub.process_p99_ms > 5", "pub.rate_hz < +10%",
					    "task.hold_max_ms{task=*,pid=1*} != 0",
					    "sub.queue_avg_ms{publisher=A*} >= -1%"};
	struct ezprof_rule_result result;
	struct ezprof_rule rule;
	struct ez_buffer out;
	char fault[200];

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (ezprof_rule_parse(rules[i], &rule, fault, sizeof(fault)))
			abort();
		ezprof_rule_judge(&rule, samples, baseline, &result);
		begin(&out);
		ezprof_rule_say(&out, &rule, samples, &result);
		end_for_people(&out);
		ezprof_rule_free(&rule);
	}
}

/* The first half of the text is the earlier run. */
static void compare(const char *text, size_t n)
{
	struct ezprof_samples before = {0}, after = {0};
	struct ezprof_diff_options how = {.all = true};
	struct ez_buffer out;

	if (!ezprof_samples_read(&after, text, n) && !ezprof_samples_read(&before, text, n)) {
		begin(&out);
		ezprof_diff_text(&out, &before, &after, &how);
		end_for_people(&out);
		begin(&out);
		ezprof_diff_json(&out, &before, &after, &how);
		end_for_people(&out);
		judge(&after, &before);
		judge(&after, NULL);
	}
	ezprof_samples_free(&before);
	ezprof_samples_free(&after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ezprof_model *model = NULL, *next = NULL;
	char *text = malloc(size + 1);
	struct ez_buffer out;
	size_t at = 0;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	begin(&out);
	ezprof_view_jsonl(&out, text, size);
	ez_visible_json(&out, text);
	end(&out);
	if (ezprof_model_next(text, size, &at, &model) == 0) {
		view(model);
		draw(model);
		say_why(model, NULL);
		/* Another document behind it is the later one. */
		if (ezprof_model_next(text, size, &at, &next) == 0)
			say_why(next, model);
		compare(text, size);
	}
	ezprof_model_free(next);
	ezprof_model_free(model);
	free(text);
	return 0;
}
