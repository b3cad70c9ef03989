/* SPDX-License-Identifier: MIT */
/*
 * What if a peer cuts a segment short that is mapped here? Every access behind the new end is a
 * SIGBUS. The guard knows the mappings: its handler puts zeros there and notes that the segment is
 * lost; whoever finds that ends the link. Other SIGBUS go to whoever handled them before. Threads
 * of the library must not block the signal: a fault that is blocked ends the process.
 */
#ifndef EZ_SEGMENT_GUARD_H
#define EZ_SEGMENT_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct ez_guarded;

/*
 * From now on accesses to that mapping are safe; installs the handler before the first one. Any
 * thread. NULL: no memory.
 */
struct ez_guarded *ez_segment_guard(void *base, size_t bytes);
/* Before it is unmapped. NULL is fine. */
void ez_segment_unguard(struct ez_guarded *guarded);
/* Was something of it replaced by zeros? */
bool ez_segment_guard_tripped(const struct ez_guarded *guarded);

/* The signals for a thread of the library to block: all but those that its own faults raise. */
void ez_signals_of_others(sigset_t *ret_set);

#endif
