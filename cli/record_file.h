/* SPDX-License-Identifier: MIT */
/* The files of a recording. */
#ifndef EZPROF_RECORD_FILE_H
#define EZPROF_RECORD_FILE_H

#include "trace_match.h"
#include "record_run.h"

/*
 * Writes what is matched. dump: 0: the file itself, else the number of one beside it
 * ("name-1.pftrace"). ret_path is owned by the caller. Errors: -ENOMEM; those of writing.
 */
int ezprof_record_file_write(const struct ezprof_record_options *options,
			     const struct ezprof_match *match, unsigned int dump, char **ret_path);

#endif
