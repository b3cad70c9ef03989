/* SPDX-License-Identifier: MIT */
/*
 * Options that many commands have, with one name, one text and one meaning. A command lists those
 * that it wants in its table, has a struct ezprof_usual_options among its options, and hands every
 * key that isn't its own to ezprof_usual_option().
 */
#ifndef EZPROF_USUAL_OPTIONS_H
#define EZPROF_USUAL_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "parse.h"

enum { EZPROF_KEY_ADDRESS = 'a', EZPROF_KEY_WINDOW = 'w', EZPROF_KEY_JSON = 512 };

/* clang-format off */
#define EZPROF_OPTION_ADDRESS \
	{"address", EZPROF_KEY_ADDRESS, "HOST:PORT", 0, \
	 "the graph server; default: EZMSG_GRAPHSERVER_ADDR, else the one that is there", 0}
#define EZPROF_OPTION_WINDOW \
	{"window", EZPROF_KEY_WINDOW, "SECONDS", 0, \
	 "how far to look back: 0.15 to 16, default 2.0", 0}
#define EZPROF_OPTION_JSON \
	{"json", EZPROF_KEY_JSON, NULL, 0, "one JSON object instead of text", 0}
/* clang-format on */

struct ezprof_usual_options {
	double window_s; /* what it was set to before, if --window isn't given */
	bool json;
	bool have_address;
	struct ez_address address;
};

/*
 * The end of a command's argp parser: takes the options above; an argument of the command line is
 * refused, for commands that have none. Ends the program with status 2 as option_value.h does;
 * ARGP_ERR_UNKNOWN for every other key.
 */
error_t ezprof_usual_option(int key, char *argument, struct argp_state *state,
			    struct ezprof_usual_options *options);

/* The parser of a command that has no others; its input is a struct ezprof_usual_options. */
error_t ezprof_usual_parser(int key, char *argument, struct argp_state *state);

/* What --address said; NULL if it wasn't given. */
const struct ez_address *ezprof_usual_address(const struct ezprof_usual_options *options);

#endif
