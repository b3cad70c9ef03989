/* SPDX-License-Identifier: MIT */
#include "poller.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fork_guard.h"

void ez_poller_init(struct ez_poller *poller)
{
	*poller = (struct ez_poller){.epoll_fd = -1, .kick_fd = -1};
}

void ez_poller_close(struct ez_poller *poller)
{
	poller->epoll_fd = ez_disown_fd(poller->epoll_fd);
	poller->kick_fd = ez_disown_fd(poller->kick_fd);
}

static int fd_or_errno(int fd)
{
	return fd < 0 ? -errno : fd;
}

int ez_poller_open(struct ez_poller *poller)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll_fd, kick_fd;

	epoll_fd = ez_own_fd(fd_or_errno(epoll_create1(EPOLL_CLOEXEC)));
	kick_fd = ez_own_fd(fd_or_errno(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
	event.data.fd = kick_fd;
	if (epoll_fd < 0 || kick_fd < 0 ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, kick_fd, &event) < 0) {
		ez_disown_fd(epoll_fd);
		ez_disown_fd(kick_fd);
		return -EMFILE;
	}
	poller->epoll_fd = epoll_fd;
	poller->kick_fd = kick_fd;
	return 0;
}

void ez_poller_kick_locked(struct ez_poller *poller)
{
	uint64_t one = 1;
	ssize_t n;

	if (poller->kicked || !__atomic_load_n(&poller->waiting, __ATOMIC_RELAXED))
		return;
	poller->kicked = true;
	n = write(poller->kick_fd, &one, sizeof(one)); /* the counter is 0: it can't fail */
	(void)n;
}

void ez_poller_calm_locked(struct ez_poller *poller)
{
	uint64_t count;
	ssize_t n;

	if (!poller->kicked)
		return;
	poller->kicked = false;
	n = read(poller->kick_fd, &count, sizeof(count));
	(void)n;
}

static int wait_ms(const struct ez_poller *poller, struct epoll_event *events,
		   ez_mono_ns_t deadline_ns)
{
	return epoll_wait(poller->epoll_fd, events, EZ_POLLER_EVENTS,
			  ez_clock_left_ms(deadline_ns, ez_clock_mono_ns()));
}

/* Nanoseconds where the kernel (5.11) knows them, milliseconds elsewhere. */
static int wait_events(const struct ez_poller *poller, struct epoll_event *events,
		       ez_mono_ns_t deadline_ns)
{
	static bool unknown; /* atomic */
	ez_mono_ns_t now_ns, left_ns;
	struct timespec left;
	long n;

	if (deadline_ns == EZ_NEVER)
		return epoll_wait(poller->epoll_fd, events, EZ_POLLER_EVENTS, -1);
	if (__atomic_load_n(&unknown, __ATOMIC_RELAXED))
		return wait_ms(poller, events, deadline_ns);
	now_ns = ez_clock_mono_ns();
	left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	left.tv_sec = (time_t)(left_ns / EZ_NS_PER_S);
	left.tv_nsec = (long)(left_ns % EZ_NS_PER_S);
	n = syscall(SYS_epoll_pwait2, poller->epoll_fd, events, EZ_POLLER_EVENTS, &left, NULL, 0);
	if (n >= 0 || errno != ENOSYS)
		return (int)n;
	__atomic_store_n(&unknown, true, __ATOMIC_RELAXED);
	return wait_ms(poller, events, deadline_ns);
}

int ez_poller_wait(struct ez_poller *poller, ez_mono_ns_t deadline_ns,
		   int ret_fds[EZ_POLLER_EVENTS])
{
	struct epoll_event events[EZ_POLLER_EVENTS];
	int n = wait_events(poller, events, deadline_ns);
	int found = 0;

	__atomic_sub_fetch(&poller->waiting, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < n; i++)
		if (events[i].data.fd != poller->kick_fd)
			ret_fds[found++] = events[i].data.fd;
	return n == 0 && ez_poller_is_late(deadline_ns) ? -ETIMEDOUT : found;
}

void ez_poller_forget(const struct ez_poller *poller, int fd)
{
	epoll_ctl(poller->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}
