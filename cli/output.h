/* SPDX-License-Identifier: MIT */
/* Results on stdout, so that a full disk or a closed pipe is noticed. */
#ifndef EZPROF_OUTPUT_H
#define EZPROF_OUTPUT_H

#include <stddef.h>

/*
 * Before any output: a reader that has gone is an error of write(), not a signal, and a stream that
 * was closed at the start stays closed. Errors: see ez_standard_streams_reserve().
 */
int ezprof_output_init(void);

/* Flushes stdout. Returns an exit status: a reader that has gone is no failure, all else is. */
int ezprof_output_flush(const char *program);

/* So many bytes, flushed; likewise. */
int ezprof_output_bytes(const char *program, const void *data, size_t n);

/* The text and a line break, flushed; likewise. */
int ezprof_output_line(const char *program, const char *text);

#endif
