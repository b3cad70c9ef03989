/* SPDX-License-Identifier: MIT */
/* A report each so many seconds, until enough, a signal, or a reader that has gone. */
#ifndef EZPROF_REPORT_LOOP_H
#define EZPROF_REPORT_LOOP_H

#include <stdint.h>

/*
 * Makes one report and writes it, flushed. Returns an exit status; EZPROF_EXIT_PARTIAL doesn't end
 * the loop, others but 0 do.
 */
typedef int (*ezprof_report_fn)(void *user);

/*
 * Reports at once and then each interval_s, `count` times (0: without end). SIGINT and SIGTERM end
 * it after one report more, for what has happened since; a reader of stdout that has gone ends it
 * within the interval. Returns the exit status: the first failure, or the worst.
 */
int ezprof_report_loop(const char *program, double interval_s, uint64_t count,
		       ezprof_report_fn report, void *user);

#endif
