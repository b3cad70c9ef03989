/* SPDX-License-Identifier: MIT */
/*
 * PROFILE documents as texts: joined, judged, and made readable. What comes in may be anything.
 * Pure; any thread.
 */
#ifndef EZPROF_DOCUMENT_H
#define EZPROF_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

/* What a program makes its exit status from. */
struct ezprof_verdict {
	size_t endpoints; /* publishers and channels */
	size_t errors;	  /* of errors[] */
	bool lost;	  /* something was lost */
	bool by_ezmsg;	  /* it is what ezmsg tells by itself */
};

/*
 * The document indented, terminated, owned by the caller, and what it comes to. -EPROTO: it is no
 * PROFILE document; -ENOMEM.
 */
int ezprof_document_read(const char *text, size_t n, char **ret_pretty,
			 struct ezprof_verdict *ret_verdict);

/*
 * One document of several agents' documents. An endpoint that several have seen is taken from the
 * one that covers more of the window. Owned by the caller. -EPROTO, -ENOMEM.
 */
int ezprof_document_merge(char *const *texts, size_t n, char **ret_text);

#endif
