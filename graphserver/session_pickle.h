/* SPDX-License-Identifier: MIT */
/*
 * The pickles that answer a session's questions: classes of ezmsg.core.graphmeta. Appended to a
 * buffer, whose sticky error tells of a failure.
 */
#ifndef EZPROF_SESSION_PICKLE_H
#define EZPROF_SESSION_PICKLE_H

#include "buffer.h"
#include "frame.h"
#include "server.h"

/* GraphSnapshot: topics, edges with their owners, sessions; no processes, since none is kept. */
void ezprof_session_pickle_snapshot(struct ez_buffer *out, struct ezprof_server *server);

/* An empty dict; an empty list. */
void ezprof_session_pickle_no_settings(struct ez_buffer *out);
void ezprof_session_pickle_no_events(struct ez_buffer *out);

/* ProcessControlResponse of a request to a unit that no process owns. */
void ezprof_session_pickle_unroutable(struct ez_buffer *out, const char *request_id,
				      struct ez_str unit);

#endif
