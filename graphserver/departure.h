/* SPDX-License-Identifier: MIT */
/*
 * A publisher has left: it is off every list at once, but the subscribers downstream hear of it a
 * moment later, by an UPDATE, unless they got one for another reason meanwhile. Not at once, since
 * a whole graph often ends together and ezmsg 3.9.0 bears no UPDATE while it closes:
 * Subscriber.close() cancels a task that may just be in Channel.wait_closed(), which swallows the
 * cancellation, and the process then waits for ever. Loop thread only.
 */
#ifndef EZPROF_DEPARTURE_H
#define EZPROF_DEPARTURE_H

#include "server.h"

/* A publisher of this topic has left the lists. */
void ezprof_departure_of(struct ezprof_server *server, struct ezprof_topic *topic);

/* Forgets all that weren't told yet. */
void ezprof_departures_drop(struct ezprof_server *server);

#endif
