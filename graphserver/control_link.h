/* SPDX-License-Identifier: MIT */
/*
 * HELLO, and the link that it makes, on which every byte has one meaning: an agent's, which the
 * server asks for profiles, or a client's, which asks the server. Loop thread only.
 */
#ifndef EZPROF_CONTROL_LINK_H
#define EZPROF_CONTROL_LINK_H

#include "conn.h"
#include "respondent.h"

struct ezprof_profile_request;

struct ezprof_control {
	struct ezprof_conn *conn;
	bool is_agent;
	struct ezprof_respondent respondent;	/* an agent's */
	struct ezprof_profile_request *request; /* what a client waits for */
	struct ezprof_control *prev, *next;	/* of the server's agents */
};

int ezprof_control_begin(struct ezprof_conn *conn, struct ez_reader *in);

#endif
