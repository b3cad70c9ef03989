/* SPDX-License-Identifier: MIT */
#include "top_column.h"

#include <errno.h>
#include <string.h>

static const struct ezprof_top_column columns[] = {
#define COLUMN(name, id, heading_1, heading_2, kind, width, what) \
	{id, {heading_1, heading_2}, EZPROF_TOP_IS_##kind, width, what},
	EZPROF_TOP_COLUMNS(COLUMN)
#undef COLUMN
};

/* clang-format off */
static const struct ezprof_top_place of_edges[] = {
	{EZPROF_TOP_PUBLISHER, 2}, {EZPROF_TOP_SUBSCRIBER, 0}, {EZPROF_TOP_PID, 7},
	{EZPROF_TOP_VIA, 8}, {EZPROF_TOP_RATE, 3}, {EZPROF_TOP_TREND, 6}, {EZPROF_TOP_HELD, 5},
	{EZPROF_TOP_QUEUE, 5}, {EZPROF_TOP_PROCESS, 4}, {EZPROF_TOP_PROCESS_P99, 9},
	{EZPROF_TOP_BUSY, 10}, {EZPROF_TOP_DROPS, 11}, {EZPROF_TOP_STATE, 1},
};
static const struct ezprof_top_place of_publishers[] = {
	{EZPROF_TOP_PUBLISHER, 0}, {EZPROF_TOP_PID, 6}, {EZPROF_TOP_HOST, 11}, {EZPROF_TOP_RATE, 3},
	{EZPROF_TOP_TREND, 7}, {EZPROF_TOP_BYTES, 6}, {EZPROF_TOP_HELD, 4}, {EZPROF_TOP_BLOCKED, 3},
	{EZPROF_TOP_GAP_P50, 9}, {EZPROF_TOP_GAP_LONGEST, 8}, {EZPROF_TOP_STATE, 1},
};
static const struct ezprof_top_place of_subscribers[] = {
	{EZPROF_TOP_SUBSCRIBER, 0}, {EZPROF_TOP_PID, 6}, {EZPROF_TOP_HOST, 11}, {EZPROF_TOP_RATE, 3},
	{EZPROF_TOP_TREND, 8}, {EZPROF_TOP_HELD, 8}, {EZPROF_TOP_QUEUE, 4}, {EZPROF_TOP_PROCESS, 3},
	{EZPROF_TOP_PROCESS_P99, 5}, {EZPROF_TOP_BUSY, 5}, {EZPROF_TOP_GAP_LONGEST, 9},
	{EZPROF_TOP_DROPS, 9}, {EZPROF_TOP_STATE, 1},
};
static const struct ezprof_top_place of_processes[] = {
	{EZPROF_TOP_COMMAND, 2}, {EZPROF_TOP_PID, 0}, {EZPROF_TOP_HOST, 10},
	{EZPROF_TOP_PUBLISHERS, 7}, {EZPROF_TOP_SUBSCRIBERS, 7}, {EZPROF_TOP_PUBLISHED, 3},
	{EZPROF_TOP_RECEIVED, 3}, {EZPROF_TOP_TREND, 5}, {EZPROF_TOP_BYTES, 8},
	{EZPROF_TOP_BLOCKED, 4}, {EZPROF_TOP_BUSY, 4}, {EZPROF_TOP_LOST, 9}, {EZPROF_TOP_STATE, 1},
};

#define PLACES(list) list, sizeof(list) / sizeof(list[0])
static const struct ezprof_top_view views[] = {
#define VIEW_EDGES PLACES(of_edges)
#define VIEW_PUBLISHERS PLACES(of_publishers)
#define VIEW_SUBSCRIBERS PLACES(of_subscribers)
#define VIEW_PROCESSES PLACES(of_processes)
#define VIEW(name, id, what) {id, what, VIEW_##name},
	EZPROF_TOP_VIEWS(VIEW)
};
/* clang-format on */

const struct ezprof_top_column *ezprof_top_column(enum ezprof_top_column_id id)
{
	return &columns[id];
}

const struct ezprof_top_view *ezprof_top_view(enum ezprof_top_view_id id)
{
	return &views[id];
}

int ezprof_top_column_find(enum ezprof_top_view_id view, const char *id,
			   enum ezprof_top_column_id *ret_column)
{
	size_t i;

	for (i = 0; i < views[view].n; i++) {
		if (strcmp(columns[views[view].places[i].column].id, id) == 0) {
			*ret_column = views[view].places[i].column;
			return 0;
		}
	}
	return -ENOENT;
}

bool ezprof_top_has_column(enum ezprof_top_view_id view, enum ezprof_top_column_id column)
{
	size_t i;

	for (i = 0; i < views[view].n; i++) {
		if (views[view].places[i].column == column)
			return true;
	}
	return false;
}

bool ezprof_top_ascends(enum ezprof_top_column_id column)
{
	return columns[column].kind == EZPROF_TOP_IS_NAME || column == EZPROF_TOP_PID ||
	       column == EZPROF_TOP_VIA;
}
