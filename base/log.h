/* SPDX-License-Identifier: MIT */
/*
 * Lines on stderr, for programs. Off until a program calls ez_log_setup(): a library that is linked
 * into somebody else's process stays silent. Under systemd (JOURNAL_STREAM names our stderr) each
 * line gets a priority prefix instead of the level's name.
 */
#ifndef EZ_LOG_H
#define EZ_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

enum ez_log_level {
	EZ_LOG_OFF = 0,
	EZ_LOG_ERROR,
	EZ_LOG_WARN,
	EZ_LOG_INFO,
	EZ_LOG_DEBUG,
};

/*
 * Lets lines up to this level through, each starting with program (a string that stays valid; may
 * be NULL). Call before other threads log.
 */
void ez_log_setup(enum ez_log_level level, const char *program);

/* "off", "error", "warn", "info" or "debug"; -EINVAL for anything else. */
int ez_log_parse_level(const char *text, enum ez_log_level *ret_level);

bool ez_log_enabled(enum ez_log_level level);

/*
 * One line, in one write(); line breaks and control characters of the text become '?'. Any thread;
 * keeps errno, never waits.
 */
void ez_log(enum ez_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Lets one event per interval through, and says how many it held back since. Zero-initialised; one
 * thread.
 */
struct ez_log_limit {
	ez_mono_ns_t next_ns;
	uint64_t held_back;
};

bool ez_log_limited(struct ez_log_limit *limit, uint64_t interval_ns, uint64_t *ret_held_back);

#endif
