/* SPDX-License-Identifier: MIT */
/* Files that are never half there: written under another name beside it, and renamed. */
#ifndef EZPROF_OUTPUT_FILE_H
#define EZPROF_OUTPUT_FILE_H

#include <signal.h>
#include <stdio.h>

/* Whether a file can be written there: found out before the work is done. Negative errno. */
int ezprof_output_file_try(const char *path);

/* Writes the content; 0, or a negative errno. -EIO where errno says more. */
typedef int (*ezprof_output_fn)(FILE *file, void *user);

/* What isn't a regular file (a pipe, /dev/null) is written to as it is. Negative errno. */
int ezprof_output_file_write(const char *path, ezprof_output_fn write, void *user);

/*
 * In between SIGINT, SIGTERM and SIGHUP wait: who ends a program leaves no part of a file behind.
 * In the thread that writes; the functions above do so by themselves.
 */
void ezprof_output_file_hold(sigset_t *ret_before);
void ezprof_output_file_release(const sigset_t *before);

#endif
