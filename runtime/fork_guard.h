/* SPDX-License-Identifier: MIT */
/*
 * fork(): a child owns none of its parent's objects. It can tell them by their generation, and its
 * copies of the parent's descriptors are closed at once: a link that a child held open would never
 * end, and the life of a link is the life of a lease.
 */
#ifndef EZ_FORK_GUARD_H
#define EZ_FORK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

extern uint32_t ez_fork_count;

/* Prepares for forks. Call before any descriptor is owned; any thread, any number of times. */
void ez_fork_guard_init(void);

/* The number to keep in an object. */
static inline uint32_t ez_fork_generation(void)
{
	return ez_fork_count;
}

/* Was the object made before a fork, in the parent? */
static inline bool ez_forked_since(uint32_t generation)
{
	return generation != ez_fork_count;
}

/*
 * Notes fd as one that a forked child must close. Returns fd, or a negative errno after closing it.
 * A negative fd is passed through, so that calls nest.
 */
int ez_own_fd(int fd);

/* Is that descriptor one of those, whichever object's? Any thread. */
bool ez_owns_fd(int fd);

/* Forgets and closes an owned descriptor; negative ones are ignored. Returns -1. */
int ez_disown_fd(int fd);

#endif
