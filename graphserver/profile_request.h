/* SPDX-License-Identifier: MIT */
/*
 * One PROFILE request on its way: asks everybody who may be asked, waits until all have answered or
 * the deadline is over, makes the document. Any number of them run side by side. Loop thread only.
 */
#ifndef EZPROF_PROFILE_REQUEST_H
#define EZPROF_PROFILE_REQUEST_H

#include "conn.h"
#include "respondent.h"

struct ezprof_profile_request;

/* json is borrowed for the call; NULL = no memory for the document. */
typedef void (*ezprof_profile_done_fn)(void *arg, const char *json, size_t len);

/* done is called once, from the loop, never from here. NULL without memory. */
struct ezprof_profile_request *ezprof_profile_start(struct ezprof_server *server,
						    uint64_t window_ms, ezprof_profile_done_fn done,
						    void *arg);

/* Nobody waits for it any more: done won't be called. */
void ezprof_profile_cancel(struct ezprof_profile_request *request);

/* PROFILE without HELLO, as ezmsg's branch sends it: answers on this connection, then closes it. */
int ezprof_profile_begin(struct ezprof_conn *conn, struct ez_reader *in);

/* Appends a document to a connection: PROFILE_DATA, the text, COMPLETE. */
void ezprof_profile_put(struct ezprof_conn *conn, const char *json, size_t len);

/* For respondents: keeping track of open questions, and their ends. */
void ezprof_profile_add_question(struct ezprof_profile_request *request,
				 struct ezprof_question *question);
void ezprof_profile_remove_question(struct ezprof_profile_request *request,
				    struct ezprof_question *question);
void ezprof_profile_answered(struct ezprof_profile_request *request, size_t target,
			     struct ez_str text);
void ezprof_profile_died(struct ezprof_profile_request *request, size_t target);

#endif
