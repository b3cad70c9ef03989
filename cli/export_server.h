/* SPDX-License-Identifier: MIT */
/* `ezprof export` as an HTTP server: /metrics, /healthz, and what else is asked for. */
#ifndef EZPROF_EXPORT_SERVER_H
#define EZPROF_EXPORT_SERVER_H

#include <stddef.h>

#include "parse.h"

struct ezprof_export_settings {
	struct ez_address listen;
	const struct ez_address *graph; /* what --address said, or NULL */
	double window_s;
	size_t series_max;
};

/*
 * Serves until SIGINT or SIGTERM; prints on stdout where, and on stderr why there are no figures.
 * Returns an exit status.
 */
int ezprof_export_serve(const struct ezprof_export_settings *settings);

#endif
