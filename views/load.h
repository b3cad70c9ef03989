/* SPDX-License-Identifier: MIT */
/* How busy a publisher or subscriber was in the window, from the document's figures. Pure. */
#ifndef EZPROF_LOAD_H
#define EZPROF_LOAD_H

#include "model.h"

/* Are the figures ezmsg's own? Then processing includes what the same task was blocked. */
bool ezprof_is_told_by_ezmsg(const struct ezprof_object *object);

/* Does anybody measure what it does with its messages? */
bool ezprof_is_work_measured(const struct ezprof_object *subscriber);

/* Share of the window in which it processed, 0 to 1; the message in its hands counts. */
double ezprof_busy_share(const struct ezprof_object *subscriber);

/* Share of its processing time in which it could run but others had the CPU; 0 where not known. */
double ezprof_runnable_share(const struct ezprof_object *subscriber);

/* Messages that it held on average (rate by time), or holds now if these are more. */
double ezprof_held(const struct ezprof_object *subscriber);

/* Messages per second that its processing allows; negative = not known. */
double ezprof_capacity_hz(const struct ezprof_object *subscriber);

/* Time that the publisher itself takes per message, waits excluded; negative = not known. */
double ezprof_own_ms(const struct ezprof_object *publisher);

/* Share of the window in which it was blocked; a wait without end counts. */
double ezprof_blocked_share(const struct ezprof_object *publisher);

/* Do messages come in bursts: is the usual gap a small part of the average? */
bool ezprof_is_bursty(const struct ezprof_object *publisher);

#endif
