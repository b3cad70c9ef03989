/* SPDX-License-Identifier: MIT */
/*
 * SYNC: one publisher after the other, in order of registration, is told to pause and to answer
 * once all of its messages were released; then the requester is answered. May take for ever, and
 * holds nobody up.
 */
#ifndef EZPROF_SYNC_REQUEST_H
#define EZPROF_SYNC_REQUEST_H

#include "conn.h"

int ezprof_sync_begin(struct ezprof_conn *conn, struct ez_reader *in);

#endif
