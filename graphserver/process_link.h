/* SPDX-License-Identifier: MIT */
/*
 * Links of ezmsg 3.9.0 that are kept open and told nothing: PROCESS, on which a process reports its
 * units, which is accepted and not looked at; and the streams of events that tools subscribe to, on
 * which none come.
 */
#ifndef EZPROF_PROCESS_LINK_H
#define EZPROF_PROCESS_LINK_H

#include "conn.h"

int ezprof_process_begin(struct ezprof_conn *conn, struct ez_reader *in);
int ezprof_stream_begin(struct ezprof_conn *conn, struct ez_reader *in);

#endif
