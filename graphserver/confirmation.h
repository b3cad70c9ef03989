/* SPDX-License-Identifier: MIT */
/*
 * Waiting until links have confirmed (COMPLETE) what was just sent to them, or have left, or a time
 * limit is over: subscribers their UPDATEs, publishers a SYNC. Several requests may wait at once,
 * also for the same link: confirmations come in the order in which they are owed. Loop thread only.
 */
#ifndef EZPROF_CONFIRMATION_H
#define EZPROF_CONFIRMATION_H

#include <stdint.h>

#include "server.h"

struct ezprof_confirmation;

/* What one link still owes, oldest first. The struct starts zeroed. */
struct ezprof_owed {
	struct ezprof_expectation *first, *last;
	uint64_t n_sent, n_confirmed;
};

/* done is called once, from the loop or from ezprof_confirmation_wait(). NULL without memory. */
struct ezprof_confirmation *ezprof_confirmation_new(struct ezprof_server *server,
						    void (*done)(void *arg), void *arg);

/* Something was sent that has to be confirmed; confirmation may be NULL (nobody waits for it). */
void ezprof_owed_sent(struct ezprof_owed *owed, struct ezprof_confirmation *confirmation);

/* The link confirmed one more, which it may also do unasked. */
void ezprof_owed_confirmed(struct ezprof_owed *owed);

/* The link is gone: nobody waits for it any longer. */
void ezprof_owed_drop(struct ezprof_owed *owed);

/*
 * All are sent: waits (0 = without a limit), or calls done at once if nothing is open. The
 * confirmation frees itself afterwards.
 */
void ezprof_confirmation_wait(struct ezprof_confirmation *confirmation, uint64_t timeout_ms);

/* Whoever waited is gone: done won't be called. */
void ezprof_confirmation_cancel(struct ezprof_confirmation *confirmation);

#endif
