/* SPDX-License-Identifier: MIT */
/*
 * Byte 15 as the first one: PROFILE of ezmsg's pull request 206, whose 8 bytes of argument follow
 * at once, or SESSION of ezmsg 3.9.0, which says nothing more until it is answered. So silence
 * decides, after a moment in which nobody else waits.
 */
#ifndef EZPROF_AMBIGUOUS_H
#define EZPROF_AMBIGUOUS_H

#include "conn.h"

int ezprof_ambiguous_begin(struct ezprof_conn *conn, struct ez_reader *in);

#endif
