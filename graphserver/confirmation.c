/* SPDX-License-Identifier: MIT */
#include "confirmation.h"

#include <stdlib.h>

#include <event2/event.h>

struct ezprof_confirmation {
	void (*done)(void *arg); /* NULL once it was called or cancelled */
	void *arg;
	struct event *timer;
	size_t n_open;
	bool waiting;
};

struct ezprof_expectation {
	struct ezprof_expectation *next;
	struct ezprof_confirmation *confirmation;
	uint64_t number; /* among all that its link owed */
};

/* Calls done once, and frees the confirmation as soon as no expectation points to it. */
static void settle(struct ezprof_confirmation *confirmation, bool over)
{
	void (*done)(void *arg) = confirmation->done;

	if (!confirmation->waiting)
		return;
	if (over || confirmation->n_open == 0) {
		confirmation->done = NULL;
		event_del(confirmation->timer);
		if (done)
			done(confirmation->arg);
	}
	if (confirmation->n_open == 0) {
		event_free(confirmation->timer);
		free(confirmation);
	}
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	ez_log(EZ_LOG_WARN,
	       "a subscriber did not confirm its publishers in time; going on without");
	settle(arg, true);
}

struct ezprof_confirmation *ezprof_confirmation_new(struct ezprof_server *server,
						    void (*done)(void *arg), void *arg)
{
	struct ezprof_confirmation *confirmation = calloc(1, sizeof(*confirmation));

	if (!confirmation)
		return NULL;
	confirmation->done = done;
	confirmation->arg = arg;
	confirmation->timer = event_new(server->base, -1, 0, on_timeout, confirmation);
	if (!confirmation->timer) {
		free(confirmation);
		return NULL;
	}
	return confirmation;
}

void ezprof_owed_sent(struct ezprof_owed *owed, struct ezprof_confirmation *confirmation)
{
	struct ezprof_expectation *expectation;

	owed->n_sent++;
	if (!confirmation)
		return;
	expectation = calloc(1, sizeof(*expectation));
	if (!expectation)
		return; /* then nobody waits for this one */
	expectation->confirmation = confirmation;
	expectation->number = owed->n_sent;
	confirmation->n_open++;
	if (owed->last)
		owed->last->next = expectation;
	else
		owed->first = expectation;
	owed->last = expectation;
}

static void release_first(struct ezprof_owed *owed)
{
	struct ezprof_expectation *expectation = owed->first;
	struct ezprof_confirmation *confirmation = expectation->confirmation;

	owed->first = expectation->next;
	if (!owed->first)
		owed->last = NULL;
	free(expectation);
	confirmation->n_open--;
	settle(confirmation, false);
}

void ezprof_owed_confirmed(struct ezprof_owed *owed)
{
	/* One too many doesn't count for an UPDATE that is still to come. */
	if (owed->n_confirmed == owed->n_sent)
		return;
	owed->n_confirmed++;
	while (owed->first && owed->first->number <= owed->n_confirmed)
		release_first(owed);
}

void ezprof_owed_drop(struct ezprof_owed *owed)
{
	while (owed->first)
		release_first(owed);
}

void ezprof_confirmation_wait(struct ezprof_confirmation *confirmation, uint64_t timeout_ms)
{
	struct timeval after = {.tv_sec = (time_t)(timeout_ms / 1000),
				.tv_usec = (suseconds_t)(timeout_ms % 1000 * 1000)};

	confirmation->waiting = true;
	if (confirmation->n_open && timeout_ms)
		event_add(confirmation->timer, &after);
	settle(confirmation, false);
}

void ezprof_confirmation_cancel(struct ezprof_confirmation *confirmation)
{
	confirmation->done = NULL;
	confirmation->waiting = true;
	settle(confirmation, true);
}
