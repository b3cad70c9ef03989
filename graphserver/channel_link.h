/* SPDX-License-Identifier: MIT */
/*
 * CHANNEL, and the link that it makes: a process's end of one publisher. Loop thread only.
 */
#ifndef EZPROF_CHANNEL_LINK_H
#define EZPROF_CHANNEL_LINK_H

#include "conn.h"
#include "respondent.h"
#include "uuid.h"

struct ezprof_channel {
	struct ezprof_conn *conn;
	char id[EZ_UUID_TEXT_BYTES];
	struct ezprof_topic *topic; /* its publisher's, which may be gone by now; held */
	struct ezprof_respondent respondent;
	struct ezprof_channel *prev, *next;
};

int ezprof_channel_begin(struct ezprof_conn *conn, struct ez_reader *in);

#endif
