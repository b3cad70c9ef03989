/* SPDX-License-Identifier: MIT */
#include "usual_options.h"
#include "exit_status.h"
#include "option_value.h"

#include <stdio.h>
#include <stdlib.h>

error_t ezprof_usual_option(int key, char *argument, struct argp_state *state,
			    struct ezprof_usual_options *options)
{
	switch (key) {
	case EZPROF_KEY_ADDRESS:
		ezprof_option_address(state->name, "--address", argument, &options->address);
		options->have_address = true;
		return 0;
	case EZPROF_KEY_WINDOW:
		options->window_s = ezprof_option_window_s(state->name, "--window", argument);
		return 0;
	case EZPROF_KEY_JSON:
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		fprintf(stderr, "%s: '%.60s': no argument is wanted\n", state->name, argument);
		exit(EZPROF_EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

error_t ezprof_usual_parser(int key, char *argument, struct argp_state *state)
{
	return ezprof_usual_option(key, argument, state, state->input);
}

const struct ez_address *ezprof_usual_address(const struct ezprof_usual_options *options)
{
	return options->have_address ? &options->address : NULL;
}
