/* SPDX-License-Identifier: MIT */
#include "left.h"

#include <errno.h>
#include <stddef.h>

/* A thread that has read its sockets so shortly ago is expected to do it again. */
#define READER_RECENT_NS (50 * EZ_NS_PER_US)
/* So often it says so. */
#define READER_SAYS_NS (20 * EZ_NS_PER_US)
/* What none of them has read for so long is read by the loop. */
#define LEFT_NS EZ_NS_PER_MS

int ez_left_watch(int epoll_fd, struct ez_io_source *source)
{
	struct epoll_event event = {.events = source->events, .data.ptr = source};

	if (source->shared)
		event.events |= EPOLLEXCLUSIVE;
	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, source->fd, &event) < 0 ? -errno : 0;
}

static bool reader_is_here(const struct ez_left *left, ez_mono_ns_t now_ns)
{
	return now_ns < READER_RECENT_NS + __atomic_load_n(&left->read_at_ns, __ATOMIC_RELAXED);
}

static void leave(struct ez_left *left, struct ez_io_source *source, ez_mono_ns_t now_ns)
{
	epoll_ctl(left->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	if (source->left)
		return; /* and watched for the sake of other events */
	source->left = true;
	source->left_next = left->sources;
	left->sources = source;
	if (left->since_ns)
		return;
	__atomic_store_n(&left->since_ns, now_ns, __ATOMIC_RELAXED);
	ez_soon_set(left->soon, &left->look_job, now_ns);
}

static bool may_be_left(const struct epoll_event *event)
{
	struct ez_io_source *source = event->data.ptr;
	bool overdue = source->overdue;

	source->overdue = false;
	return source->shared && !overdue && !(event->events & ~(uint32_t)EPOLLIN);
}

int ez_left_take_out(struct ez_left *left, struct epoll_event *events, int n)
{
	ez_mono_ns_t now_ns = ez_clock_mono_ns();
	int remain = 0;

	for (int i = 0; i < n; i++) {
		if (may_be_left(&events[i]) && reader_is_here(left, now_ns))
			leave(left, events[i].data.ptr, now_ns);
		else
			events[remain++] = events[i];
	}
	return remain;
}

/* Those that nobody has read since then; are there others? */
static bool take_back(struct ez_left *left, ez_mono_ns_t since_ns)
{
	struct ez_io_source **at = &left->sources, *source;

	while ((source = *at)) {
		if (source->read_ns > since_ns) {
			at = &source->left_next;
			continue;
		}
		*at = source->left_next;
		source->left = false;
		source->overdue = true;
		ez_left_watch(left->epoll_fd, source); /* or it was already, for other events */
	}
	return left->sources;
}

/* No reader has put it off, or they did so for long. */
static void look(struct ez_io_late *job)
{
	struct ez_left *left = (struct ez_left *)((char *)job - offsetof(struct ez_left, look_job));
	ez_mono_ns_t now_ns = ez_clock_mono_ns();
	ez_mono_ns_t since_ns = left->since_ns;

	if (!reader_is_here(left, now_ns))
		since_ns = take_back(left, EZ_NEVER) ? now_ns : 0;
	else if (now_ns - since_ns >= LEFT_NS)
		since_ns = take_back(left, since_ns) ? now_ns : 0;
	__atomic_store_n(&left->since_ns, since_ns, __ATOMIC_RELAXED);
	if (since_ns)
		ez_soon_set(left->soon, job, now_ns);
}

void ez_left_forget(struct ez_left *left, struct ez_io_source *source)
{
	struct ez_io_source **at = &left->sources;

	if (!source->left)
		return;
	while (*at != source)
		at = &(*at)->left_next;
	*at = source->left_next;
	source->left = false;
}

void ez_left_reader_is_here(struct ez_left *left, ez_mono_ns_t now_ns)
{
	ez_mono_ns_t since_ns = __atomic_load_n(&left->since_ns, __ATOMIC_RELAXED);
	ez_mono_ns_t before_ns = __atomic_load_n(&left->read_at_ns, __ATOMIC_RELAXED);

	if (now_ns - before_ns < READER_SAYS_NS)
		return;
	__atomic_store_n(&left->read_at_ns, now_ns, __ATOMIC_RELAXED);
	if (since_ns && now_ns - since_ns < LEFT_NS)
		ez_soon_set(left->soon, &left->look_job, now_ns);
}

void ez_left_init(struct ez_left *left, int epoll_fd, struct ez_soon *soon)
{
	*left = (struct ez_left){.epoll_fd = epoll_fd, .soon = soon, .look_job.run = look};
}
