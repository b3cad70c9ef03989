/* SPDX-License-Identifier: MIT */
/* Files that are never half there: written under another name beside it, and renamed. */
#ifndef EZPROF_OUTPUT_FILE_H
#define EZPROF_OUTPUT_FILE_H

#include <stdio.h>

/* Whether a file can be written there: found out before the work is done. Negative errno. */
int ezprof_output_file_try(const char *path);

/* Writes the content; 0, or a negative errno. -EIO where errno says more. */
typedef int (*ezprof_output_fn)(FILE *file, void *user);

/* What isn't a regular file (a pipe, /dev/null) is written to as it is. Negative errno. */
int ezprof_output_file_write(const char *path, ezprof_output_fn write, void *user);

#endif
