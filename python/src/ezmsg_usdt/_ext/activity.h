/* SPDX-License-Identifier: MIT */
/*
 * User code at work on a message: from callback_begin to callback_end, and what of that time
 * doesn't count as processing because the same asyncio task was blocked publishing.
 *
 * Only while somebody listens; else these are a load and a branch. The caller holds the GIL.
 */
#ifndef EZPY_ACTIVITY_H
#define EZPY_ACTIVITY_H

#include "pyinc.h"

#include <endpoint.h>
#include <stdbool.h>

struct activity {
	struct activity *next, *previous;
	struct ez_entry *entry; /* NULL: its endpoint is gone */
	const void *task;	/* identity of the asyncio task, NULL outside of one */
	uint64_t message_id;
	uint64_t excluded_ns;
	uint64_t user_end_ns; /* when the last callable ended; 0: not known */
	bool open;
};

static inline bool activity_wanted(void)
{
	return ez_probe_enabled(EZ_PROBE_callback_begin) ||
	       ez_probe_enabled(EZ_PROBE_callback_end) || ez_probe_enabled(EZ_PROBE_window) ||
	       ez_probe_enabled(EZ_PROBE_spans);
}

void activity_open(struct activity *a, struct ez_entry *entry, uint64_t message_id);
/* Ends it and fires callback_end. Nothing happens if it isn't open. */
void activity_close(struct activity *a);
/* Ends it without a word: its end was not seen, or its endpoint leaves. */
void activity_forget(struct activity *a);
/* `to` (not open) takes the place of `from`. */
void activity_move(struct activity *to, struct activity *from);
/* The endpoint leaves (NULL: all of them, in a forked child). */
void activity_forget_entry(const struct ez_entry *entry);

/*
 * A step of a unit's coroutine begins: this thread now works for the messages of the current task;
 * and it ends (`ended`: for good). In between others have the thread, so it says for nobody.
 */
void activity_step_begin(void);
void activity_step_end(bool ended);

/* The current task was blocked that long: not processing. */
void activity_credit_blocked(uint64_t ns);
/* Identity of the current asyncio task, or NULL. Never leaves an exception. */
const void *current_task(void);

#endif
