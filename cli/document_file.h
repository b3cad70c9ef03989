/* SPDX-License-Identifier: MIT */
/* Documents that were kept in files, for the views that work on those as well. */
#ifndef EZPROF_DOCUMENT_FILE_H
#define EZPROF_DOCUMENT_FILE_H

#include "samples.h"

/*
 * The PROFILE document in a file, "-" = stdin. Prints why not, and returns an exit status;
 * ezprof_model_free() it.
 */
int ezprof_document_file_read(const char *program, const char *path,
			      struct ezprof_model **ret_model);

/* Its text, unread, to be freed by the caller; likewise. */
int ezprof_document_file_text(const char *program, const char *path, char **ret_text);

/* All documents of a file, or of a text that is called `what` in messages; likewise. */
int ezprof_document_file_samples(const char *program, const char *path,
				 struct ezprof_samples *samples);
int ezprof_document_samples(const char *program, const char *what, const char *text,
			    struct ezprof_samples *samples);

/* The model of a document's text. Prints why not, and returns an exit status. */
int ezprof_document_model(const char *program, const char *text, struct ezprof_model **ret_model);

/* The exit status for what it says: something was lost or silent, or there is no endpoint at all.
 */
int ezprof_document_status(const struct ezprof_model *model);

#endif
