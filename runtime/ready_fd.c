/* SPDX-License-Identifier: MIT */
/* The descriptor that is readable while a subscriber has something to return. */
#include <errno.h>
#include <sys/eventfd.h>

#include "fork_guard.h"
#include "subscriber.h"

static int fd_new(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return ez_own_fd(fd < 0 ? -errno : fd);
}

int ez_subscriber_fd(struct ez_subscriber *subscriber)
{
	int fd = ez_context_check(subscriber->context);

	if (fd)
		return fd;
	if (subscriber->callback)
		return -EINVAL;
	pthread_mutex_lock(&subscriber->lock);
	fd = subscriber->ready_fd;
	if (fd < 0)
		fd = fd_new();
	if (fd >= 0) {
		subscriber->ready_fd = fd;
		ez_subscriber_show_locked(subscriber);
	}
	pthread_mutex_unlock(&subscriber->lock);
	return fd;
}
