/* SPDX-License-Identifier: MIT */
/* Exit statuses, the same for all programs. */
#ifndef EZPROF_EXIT_STATUS_H
#define EZPROF_EXIT_STATUS_H

enum ezprof_exit_status {
	EZPROF_EXIT_OK = 0,
	EZPROF_EXIT_FAILURE = 1,
	EZPROF_EXIT_USAGE = 2,
	EZPROF_EXIT_BROKEN = 3,	 /* a check or a bar is broken */
	EZPROF_EXIT_NOTHING = 4, /* nothing to measure */
	EZPROF_EXIT_PARTIAL = 5, /* something was lost, silent or failed; the rest is there */
	EZPROF_EXIT_NOPERM = 77
};

#endif
