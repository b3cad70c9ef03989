/* SPDX-License-Identifier: MIT */
#include "soon.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "fork_guard.h"

/* The timer is put off when it would run out sooner than that. */
#define PUT_OFF_NS (EZ_IO_LATE_NS / 4)

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ez_soon *all;

static void arm_locked(struct ez_soon *soon, ez_mono_ns_t at_ns)
{
	const struct itimerspec at = {
		.it_value.tv_sec = (time_t)(at_ns / EZ_NS_PER_S),
		.it_value.tv_nsec = (long)(at_ns % EZ_NS_PER_S),
	};

	soon->armed_ns = at_ns;
	timerfd_settime(soon->source.fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static ez_mono_ns_t first_due_locked(const struct ez_soon *soon)
{
	ez_mono_ns_t first_ns = EZ_NEVER;
	const struct ez_io_late *job;

	for (job = soon->jobs; job; job = job->next)
		if (job->due_ns < first_ns)
			first_ns = job->due_ns;
	return first_ns;
}

bool ez_soon_set(struct ez_soon *soon, struct ez_io_late *job, ez_mono_ns_t now_ns)
{
	bool is_new;

	pthread_mutex_lock(&soon->lock);
	is_new = !job->set;
	job->due_ns = now_ns + EZ_IO_LATE_NS;
	if (is_new) {
		job->set = true;
		job->next = soon->jobs;
		soon->jobs = job;
	}
	/* Else it runs out before, and is set again then. */
	if (soon->armed_ns == EZ_NEVER || soon->armed_ns < now_ns + PUT_OFF_NS)
		arm_locked(soon, first_due_locked(soon));
	pthread_mutex_unlock(&soon->lock);
	return is_new;
}

/* Takes out one that is due by then. */
static struct ez_io_late *take_locked(struct ez_soon *soon, ez_mono_ns_t by_ns)
{
	struct ez_io_late **at = &soon->jobs, *job;

	while (*at && (*at)->due_ns > by_ns)
		at = &(*at)->next;
	job = *at;
	if (job) {
		*at = job->next;
		job->set = false;
	}
	return job;
}

static void run(struct ez_soon *soon, ez_mono_ns_t by_ns)
{
	struct ez_io_late *job;

	/* One after the other: as soon as it isn't set any more it may be set again. */
	pthread_mutex_lock(&soon->lock);
	while ((job = take_locked(soon, by_ns))) {
		pthread_mutex_unlock(&soon->lock);
		job->run(job);
		pthread_mutex_lock(&soon->lock);
	}
	soon->armed_ns = EZ_NEVER;
	if (soon->jobs)
		arm_locked(soon, first_due_locked(soon));
	pthread_mutex_unlock(&soon->lock);
}

static void ready(struct ez_io_source *source, uint32_t events)
{
	struct ez_soon *soon =
		(struct ez_soon *)((char *)source - offsetof(struct ez_soon, source));
	uint64_t count;
	ssize_t n = read(source->fd, &count, sizeof(count));

	(void)n;
	(void)events;
	run(soon, ez_clock_mono_ns());
}

void ez_soon_run_all(struct ez_soon *soon)
{
	run(soon, EZ_NEVER);
}

int ez_soon_open(struct ez_soon *soon)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	*soon = (struct ez_soon){.armed_ns = EZ_NEVER};
	soon->source.events = EPOLLIN;
	soon->source.ready = ready;
	pthread_mutex_init(&soon->lock, NULL);
	soon->source.fd = ez_own_fd(fd < 0 ? -errno : fd);
	soon->generation = ez_fork_generation();
	pthread_mutex_lock(&all_lock);
	soon->next = all;
	all = soon;
	pthread_mutex_unlock(&all_lock);
	return soon->source.fd < 0 ? soon->source.fd : 0;
}

void ez_soon_close(struct ez_soon *soon)
{
	struct ez_soon **at = &all;

	pthread_mutex_lock(&all_lock);
	while (*at != soon)
		at = &(*at)->next;
	*at = soon->next;
	pthread_mutex_unlock(&all_lock);
	ez_disown_fd(soon->source.fd);
	pthread_mutex_destroy(&soon->lock);
}

static void leave(struct ez_soon *soon)
{
	struct ez_io_late *job;

	if (ez_forked_since(soon->generation) || pthread_mutex_trylock(&soon->lock))
		return;
	for (job = soon->jobs; job; job = job->next)
		if (job->leave)
			job->leave(job);
	pthread_mutex_unlock(&soon->lock);
}

/* What was published is sent also if the program ends without destroying anything. */
static __attribute__((destructor)) void leave_all(void)
{
	struct ez_soon *soon;

	if (pthread_mutex_trylock(&all_lock))
		return;
	for (soon = all; soon; soon = soon->next)
		leave(soon);
	pthread_mutex_unlock(&all_lock);
}
