/* SPDX-License-Identifier: MIT */
/* `ezprof top` on a terminal: keys, signals and documents as they come, until somebody ends it. */
#ifndef EZPROF_TOP_RUN_H
#define EZPROF_TOP_RUN_H

#include "parse.h"
#include "top_control.h"

enum ezprof_color { EZPROF_COLOR_AUTO, EZPROF_COLOR_ALWAYS, EZPROF_COLOR_NEVER };

struct ezprof_top_options {
	double window_s, interval_s;
	bool once, wide;
	const struct ez_address *address; /* that was asked for; NULL = none */
	const char *from; /* a file of documents instead of the running graph; NULL = none */
	enum ezprof_color color;
};

/* The control is as the options want it. Returns an exit status; prints why not. */
int ezprof_top_run(const char *program, const struct ezprof_top_options *options,
		   struct ezprof_top_control *control);

#endif
