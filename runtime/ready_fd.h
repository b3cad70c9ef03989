/* SPDX-License-Identifier: MIT */
/*
 * A descriptor for event loops that is readable while its owner has something to say; an eventfd
 * that nobody else reads or writes. The owner's lock guards it.
 */
#ifndef EZ_READY_FD_H
#define EZ_READY_FD_H

#include <stdbool.h>

struct ez_ready_fd {
	int fd;	    /* -1: nobody asked for it */
	bool shown; /* it is readable */
};

static inline void ez_ready_fd_init(struct ez_ready_fd *ready_fd)
{
	*ready_fd = (struct ez_ready_fd){.fd = -1};
}

/* Makes it, unreadable, unless it is there; returns it. Negative errno. */
int ez_ready_fd_open(struct ez_ready_fd *ready_fd);
void ez_ready_fd_close(struct ez_ready_fd *ready_fd);

/* Makes it readable, or not: it must be the other. */
void ez_ready_fd_turn(struct ez_ready_fd *ready_fd);

static inline void ez_ready_fd_show(struct ez_ready_fd *ready_fd, bool ready)
{
	if (ready_fd->fd >= 0 && ready != ready_fd->shown)
		ez_ready_fd_turn(ready_fd);
}

#endif
