/* SPDX-License-Identifier: MIT */
/*
 * Pickles for sessions and processes: instances of the classes of ezmsg.core.graphmeta. Everything
 * is appended to a buffer, whose sticky error tells of a failure. What begins with ezprof_pickle_
 * is a value within a pickle, unless said otherwise.
 */
#ifndef EZPROF_META_PICKLE_H
#define EZPROF_META_PICKLE_H

#include <stdbool.h>

#include "buffer.h"
#include "frame.h"
#include "server.h"

struct ezprof_process;
struct ezprof_session;

/* A value of a pickle, written already. Owned by whoever holds it. */
struct ezprof_fragment {
	char *data;
	size_t len;
};

#define EZPROF_PICKLE_FRAME_BYTES 3 /* what begin and STOP take */

/* The first opcode of every pickle. */
void ezprof_pickle_begin(struct ez_buffer *out);

/* An instance; its state, a dict that the members go to, is open until ezprof_pickle_build(). */
void ezprof_pickle_instance(struct ez_buffer *out, const char *class_name);
void ezprof_pickle_build(struct ez_buffer *out);

/* One member each. A text of NULL is None. */
void ezprof_pickle_member_int(struct ez_buffer *out, const char *key, int64_t value);
void ezprof_pickle_member_float(struct ez_buffer *out, const char *key, double value);
void ezprof_pickle_member_text(struct ez_buffer *out, const char *key, const char *text);
void ezprof_pickle_member_none(struct ez_buffer *out, const char *key);
void ezprof_pickle_member_fragment(struct ez_buffer *out, const char *key,
				   const struct ezprof_fragment *value);
/* uuid.UUID of the text, None for NULL; the value alone as well. */
void ezprof_pickle_member_uuid(struct ez_buffer *out, const char *key, const char *id);
void ezprof_pickle_uuid(struct ez_buffer *out, const char *id);
/* Member of an enumeration, by its value. */
void ezprof_pickle_member_enum(struct ez_buffer *out, const char *key, const char *class_name,
			       const char *value);

/* Whole pickle: GraphSnapshot with topics, edges and their owners, sessions, processes. */
void ezprof_pickle_snapshot(struct ez_buffer *out, struct ezprof_server *server);

/* Member of a DAG: who holds each edge, as ezmsg 3.9.0 has it; older ones don't look at it. */
void ezprof_pickle_dag_owners(struct ez_buffer *out, const struct ezprof_server *server);

/* Whole pickle: ProcessControlResponse of a request that failed. process_id may be NULL. */
void ezprof_pickle_failure(struct ez_buffer *out, const char *request_id, const char *error_code,
			   const char *process_id, const struct ez_buffer *error);

/* Whole pickle: ProcessControlRequest. */
void ezprof_pickle_request(struct ez_buffer *out, const char *request_id, struct ez_str unit,
			   struct ez_str operation, struct ez_str payload);

#endif
