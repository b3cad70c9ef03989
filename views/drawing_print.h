/* SPDX-License-Identifier: MIT */
/* A drawing as text for people and for programs that draw. */
#ifndef EZPROF_DRAWING_PRINT_H
#define EZPROF_DRAWING_PRINT_H

#include "buffer.h"
#include "drawing.h"

/*
 * Appends the graph, its names escaped as the format wants it: lines that end in a line break. The
 * buffer's sticky error tells of a failure. An empty graph is an empty drawing, and no text at all.
 */
typedef void (*ezprof_drawing_print_fn)(struct ez_buffer *out,
					const struct ezprof_drawing *drawing);

/* "text", "dot", "mermaid" or "json"; NULL = none of them. */
ezprof_drawing_print_fn ezprof_drawing_format(const char *name);

#endif
