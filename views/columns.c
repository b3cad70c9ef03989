/* SPDX-License-Identifier: MIT */
#include "columns.h"
#include "view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const enum ezprof_metric_id pub_metrics[] = {
	EZPROF_PUB_RATE_HZ,	  EZPROF_PUB_BYTES_PER_S,   EZPROF_PUB_IN_FLIGHT,
	EZPROF_PUB_NUM_BUFFERS,	  EZPROF_PUB_BLOCKED_SHARE, EZPROF_PUB_GAP_P50_MS,
	EZPROF_PUB_GAP_LONGEST_MS};
static const enum ezprof_metric_id sub_metrics[] = {
	EZPROF_SUB_RATE_HZ,	   EZPROF_SUB_IN_FLIGHT,      EZPROF_SUB_QUEUE_AVG_MS,
	EZPROF_SUB_PROCESS_AVG_MS, EZPROF_SUB_PROCESS_P99_MS, EZPROF_SUB_DROPS_TOTAL};
static const enum ezprof_metric_id task_metrics[] = {
	EZPROF_TASK_CALLS_TOTAL, EZPROF_TASK_BUSY_TOTAL_MS, EZPROF_TASK_HOLD_TOTAL_MS,
	EZPROF_TASK_HOLD_MAX_MS};

static void name_publisher(struct ez_buffer *out, const struct ezprof_model *model,
			   const struct ezprof_object *object, size_t which)
{
	(void)model;
	(void)which;
	ez_buffer_append_text(out, ezprof_label(object, EZPROF_LABEL_TOPIC));
}

static void name_subscriber(struct ez_buffer *out, const struct ezprof_model *model,
			    const struct ezprof_object *object, size_t which)
{
	const char *task = ezprof_label(object, EZPROF_LABEL_TASK);
	const char *handle = ezprof_label(object, EZPROF_LABEL_HANDLE);

	if (which == 1)
		ez_buffer_append_text(out, ezprof_from_topic(model, object));
	else if (strchr(task, ':')) /* else it doesn't say of which unit */
		ez_buffer_append_text(out, task);
	else
		ez_buffer_append_text(out,
				      *handle ? handle : ezprof_label(object, EZPROF_LABEL_TOPIC));
}

static void name_task(struct ez_buffer *out, const struct ezprof_model *model,
		      const struct ezprof_object *object, size_t which)
{
	(void)model;
	(void)which;
	ez_buffer_append_text(out, ezprof_label(object, EZPROF_LABEL_TASK));
}

#define METRICS(of) of, sizeof(of) / sizeof(of[0])
static const struct ezprof_columns list[] = {
	{EZPROF_PUB, {"publisher", NULL}, name_publisher, METRICS(pub_metrics), false},
	{EZPROF_SUB, {"subscriber", "of"}, name_subscriber, METRICS(sub_metrics), true},
	{EZPROF_TASK, {"task", NULL}, name_task, METRICS(task_metrics), false},
};

const struct ezprof_columns *ezprof_columns(size_t number)
{
	return number < sizeof(list) / sizeof(list[0]) ? &list[number] : NULL;
}

void ezprof_cell_text(char out[EZPROF_CELL_BYTES], struct ezprof_number number)
{
	double value = fabs(ezprof_as_double(number, 0.0));
	int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;

	if (number.kind == EZPROF_WHOLE)
		snprintf(out, EZPROF_CELL_BYTES, "%llu", (unsigned long long)number.whole);
	else if (number.kind == EZPROF_REAL && value < 1e15)
		snprintf(out, EZPROF_CELL_BYTES, "%.*f", decimals, number.real);
	else if (number.kind == EZPROF_REAL)
		snprintf(out, EZPROF_CELL_BYTES, "%.3e", number.real);
	else
		snprintf(out, EZPROF_CELL_BYTES, "-");
}
