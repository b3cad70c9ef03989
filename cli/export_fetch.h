/* SPDX-License-Identifier: MIT */
/*
 * Gets documents of a graph in a thread of its own, one at a time: a graph server that is slow or
 * gone holds up nobody else. Whoever asks meanwhile shares the one that is on its way.
 */
#ifndef EZPROF_EXPORT_FETCH_H
#define EZPROF_EXPORT_FETCH_H

#include <stdbool.h>

#include "clock.h"
#include "model.h"
#include "parse.h"
#include "profile_source.h"

struct ezprof_export_fetch;

struct ezprof_fetched {
	struct ezprof_model *model; /* NULL = there is none */
	const char *failure;	    /* why, in a word; NULL = there is one */
	char *messages;		    /* for people, lines; "" = none */
	ez_mono_ns_t begun_ns, ended_ns;
};

/* address: what --address said, or NULL; it stays valid. -errno. */
int ezprof_export_fetch_new(const struct ez_address *address, double window_s,
			    struct ezprof_export_fetch **ret_fetch);

/* Ends it, without waiting for a document that is on its way. NULL is fine. */
void ezprof_export_fetch_free(struct ezprof_export_fetch *fetch);

/* A descriptor that is readable when a document has come. */
int ezprof_export_fetch_fd(const struct ezprof_export_fetch *fetch);

/* Begins one, unless one is on its way. */
void ezprof_export_fetch_begin(struct ezprof_export_fetch *fetch);

/* The one that has come; false if none has. ezprof_fetched_free() it. */
bool ezprof_export_fetch_take(struct ezprof_export_fetch *fetch,
			      struct ezprof_fetched *ret_fetched);
void ezprof_fetched_free(struct ezprof_fetched *fetched);

/* Gets one here and now, in the caller's thread. memory: see profile_source.h. */
void ezprof_export_fetch_now(const struct ez_address *address, double window_s,
			     struct ezprof_source_memory *memory,
			     struct ezprof_fetched *ret_fetched);

#endif
