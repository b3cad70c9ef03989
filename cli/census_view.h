/* SPDX-License-Identifier: MIT */
/* A census (census.h) as text and as JSON. Pure. */
#ifndef EZPROF_CENSUS_VIEW_H
#define EZPROF_CENSUS_VIEW_H

#include "buffer.h"
#include "census.h"

/* A line for each process and graph, orphans explained below; each endpoint too if asked for. */
void ezprof_census_text(struct ez_buffer *out, const struct ezprof_census *census, bool endpoints);

/*
 * Who may not be looked into: for each reason a line that names the first ones, why, and what to
 * do; nothing where all may be. program: what lines begin with.
 */
void ezprof_census_refused_text(struct ez_buffer *out, const char *program,
				const struct ezprof_refused_processes *refused);

/* One object on one line. */
void ezprof_census_json(struct ez_buffer *out, const struct ezprof_census *census);

/* Named by its registry, on this machine, and nobody listens there. NULL is none. */
bool ezprof_census_is_orphan(const struct ezprof_census_graph *graph);

#endif
