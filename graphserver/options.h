/* SPDX-License-Identifier: MIT */
/* The command line of ezprof-graphserver. */
#ifndef EZPROF_OPTIONS_H
#define EZPROF_OPTIONS_H

#include "log.h"
#include "server.h"

struct ezprof_options {
	struct ezprof_config config;
	enum ez_log_level log_level;
};

/*
 * Parses argv and the environment. Doesn't return on --help, --version (exit 0) and usage errors
 * (exit 2).
 */
void ezprof_options_parse(int argc, char **argv, struct ezprof_options *ret_options);

#endif
