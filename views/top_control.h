/* SPDX-License-Identifier: MIT */
/*
 * What is being looked at in `ezprof top`, and what keys make of it. Pure: keys in, a state out.
 * One thread.
 */
#ifndef EZPROF_TOP_CONTROL_H
#define EZPROF_TOP_CONTROL_H

#include <stdint.h>

#include "top_rows.h"

/* Keys that are no characters; all others are code points. */
enum ezprof_key {
	EZPROF_KEY_NONE = 0x110000,
	EZPROF_KEY_UP,
	EZPROF_KEY_DOWN,
	EZPROF_KEY_LEFT,
	EZPROF_KEY_RIGHT,
	EZPROF_KEY_PAGE_UP,
	EZPROF_KEY_PAGE_DOWN,
	EZPROF_KEY_HOME,
	EZPROF_KEY_END,
	EZPROF_KEY_ENTER,
	EZPROF_KEY_ESCAPE,
	EZPROF_KEY_BACKSPACE
};

enum ezprof_top_mode {
	EZPROF_TOP_BROWSE,
	EZPROF_TOP_FILTER, /* a filter is being typed */
	EZPROF_TOP_WRITE,  /* a file's name is */
	EZPROF_TOP_HELP,
	EZPROF_TOP_DETAILS,
	EZPROF_TOP_CAUSES
};

enum ezprof_top_action {
	EZPROF_TOP_GO_ON,
	EZPROF_TOP_QUIT,
	EZPROF_TOP_SAVE, /* to the file named `typed` */
	EZPROF_TOP_REPAINT
};

#define EZPROF_TOP_TYPED_BYTES 256u

struct ezprof_top_control {
	enum ezprof_top_view_id view;
	struct ezprof_top_order orders[EZPROF_TOP_VIEW_COUNT];
	enum ezprof_top_mode mode;
	char filter[EZPROF_TOP_TYPED_BYTES], filter_before[EZPROF_TOP_TYPED_BYTES];
	char typed[EZPROF_TOP_TYPED_BYTES];
	bool frozen;
	char *selected;	     /* key of a row; NULL: nobody has moved, it is the first */
	size_t index, first; /* the selected row, and the first one that is seen */
	size_t scroll;	     /* of a page */
	size_t room;	     /* rows that are seen, for paging; the screen tells */
	bool moved;	     /* the index goes before the key */
	char notice[256];    /* one line that stays until the next key */
};

/* View 1, problems on top. */
void ezprof_top_control_init(struct ezprof_top_control *control);
void ezprof_top_control_free(struct ezprof_top_control *control);

enum ezprof_top_action ezprof_top_control_key(struct ezprof_top_control *control, uint32_t key);

/* The selected row stays the same object in new rows; index and first suit these. */
void ezprof_top_control_settle(struct ezprof_top_control *control,
			       const struct ezprof_top_rows *rows, size_t room);

#endif
