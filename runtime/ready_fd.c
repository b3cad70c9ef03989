/* SPDX-License-Identifier: MIT */
#include "ready_fd.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fork_guard.h"

int ez_ready_fd_open(struct ez_ready_fd *ready_fd)
{
	int fd;

	if (ready_fd->fd >= 0)
		return ready_fd->fd;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fd = ez_own_fd(fd < 0 ? -errno : fd);
	if (fd >= 0)
		*ready_fd = (struct ez_ready_fd){.fd = fd};
	return fd;
}

void ez_ready_fd_close(struct ez_ready_fd *ready_fd)
{
	ready_fd->fd = ez_disown_fd(ready_fd->fd);
}

/* Neither fails: the counter is 0 or 1, and nobody else touches it. */
void ez_ready_fd_turn(struct ez_ready_fd *ready_fd)
{
	uint64_t one = 1;
	ssize_t n;

	ready_fd->shown = !ready_fd->shown;
	if (ready_fd->shown)
		n = write(ready_fd->fd, &one, sizeof(one));
	else
		n = read(ready_fd->fd, &one, sizeof(one));
	(void)n;
}
