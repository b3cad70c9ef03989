/* SPDX-License-Identifier: MIT */
/*
 * `ezprof top` as a screen: a document, what was found in it, its history and what is being looked
 * at make lines of styled text. Pure; one thread.
 */
#ifndef EZPROF_TOP_SCREEN_H
#define EZPROF_TOP_SCREEN_H

#include "screen_text.h"
#include "top_control.h"

struct ezprof_top_picture {
	const struct ezprof_model *model; /* NULL: there is none yet */
	const struct ezprof_findings *findings;
	const struct ezprof_history *history;
	const char *source;	     /* where the document is from */
	const char *when;	     /* time of day of the document */
	const char *trouble;	     /* why it isn't fresh; "" = it is */
	unsigned int columns, lines; /* 0 = as many as it takes */
	bool ascii;		     /* no bars and sparklines of other characters */
	bool interactive;	     /* there are keys, and a cursor */
};

/*
 * At most picture->lines lines, whatever the size. The control's selection is settled. -ENOMEM; the
 * screen is the caller's to free in any case.
 */
int ezprof_top_compose(const struct ezprof_top_picture *picture, struct ezprof_top_control *control,
		       struct ezprof_screen *ret_screen);

#endif
