/* SPDX-License-Identifier: MIT */
/* Results on stdout, so that a full disk or a closed pipe is noticed. */
#ifndef EZPROF_OUTPUT_H
#define EZPROF_OUTPUT_H

#include <stddef.h>

#include "buffer.h"

/*
 * Before any output: a reader that has gone is an error of write(), not a signal, and a stream that
 * was closed at the start stays closed. Errors: see ez_standard_streams_reserve().
 */
int ezprof_output_init(void);

/* Flushes stdout. Returns an exit status: a reader that has gone is no failure, all else is. */
int ezprof_output_flush(const char *program);

/* So many bytes, flushed; likewise. */
int ezprof_output_bytes(const char *program, const void *data, size_t n);

/* What the buffer holds, flushed; likewise, and also if it could not be filled. Frees it. */
int ezprof_output_buffer(const char *program, struct ez_buffer *buffer);

/* The text and a line break, flushed; likewise. */
int ezprof_output_line(const char *program, const char *text);

#endif
