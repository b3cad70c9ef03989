/* SPDX-License-Identifier: MIT */
/*
 * Values of options, checked: each prints one line on stderr and ends the program with status 2 if
 * the text is no such value. For argp's parsers, which cannot return more than "unknown". The only
 * place below a main that does so.
 */
#ifndef EZPROF_OPTION_VALUE_H
#define EZPROF_OPTION_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "parse.h"

/* argp's `state->name`, the option as typed ("--window"), its value. */
double ezprof_option_window_s(const char *program, const char *option, const char *text);
double ezprof_option_seconds(const char *program, const char *option, const char *text);
uint64_t ezprof_option_count(const char *program, const char *option, const char *text,
			     uint64_t max);
void ezprof_option_address(const char *program, const char *option, const char *text,
			   struct ez_address *ret_address);
/*
 * The place of the text in `choices`, such as "json|table|csv". An option's table has that as the
 * name of its value, so that --help and the shells' completions know them.
 */
size_t ezprof_option_choice(const char *program, const char *option, const char *text,
			    const char *choices);

#endif
