/* SPDX-License-Identifier: MIT */
/*
 * A link that may be asked for its part of a profile, since it said so: a publisher's or channel's
 * with our mark, or an agent's. Answers have no number, so they are matched in the order of the
 * questions. Loop thread only.
 */
#ifndef EZPROF_RESPONDENT_H
#define EZPROF_RESPONDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn.h"
#include "identity.h"

struct ezprof_profile_request;

/* One question that is open, or whose answer nobody waits for any more (request == NULL). */
struct ezprof_question {
	struct ezprof_profile_request *request;
	size_t target;			     /* of the request's fan-out */
	struct ezprof_question *prev, *next; /* of the respondent, oldest first */
	struct ezprof_question *request_prev, *request_next;
};

struct ezprof_respondent {
	struct ezprof_conn *conn;
	bool may_be_asked; /* it said so, or the dialect says so of all */
	bool has_identity;
	struct ezprof_identity identity;
	struct ezprof_question *questions;
	size_t n_questions;
};

/*
 * Sends PROFILE. 0; -EBUSY = it owes too many answers already; -ENOMEM. On an error nothing was
 * sent.
 */
int ezprof_respondent_ask(struct ezprof_respondent *respondent,
			  struct ezprof_profile_request *request, size_t target,
			  uint64_t window_ms);

/* A PROFILE_DATA came: the mark, or the answer to the oldest question; otherwise it is dropped. */
void ezprof_respondent_receive(struct ezprof_respondent *respondent, struct ez_str text);

/* The link is gone: its questions fail. */
void ezprof_respondent_gone(struct ezprof_respondent *respondent);

#endif
