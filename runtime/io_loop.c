/* SPDX-License-Identifier: MIT */
#include "io_loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "fork_guard.h"
#include "left.h"
#include "segment_guard.h"
#include "soon.h"

#define EVENTS_AT_ONCE 64

struct job_list {
	struct ez_io_job *first;
	struct ez_io_job **last;
};

struct ez_io {
	int epoll_fd;
	struct ez_io_source wake; /* an eventfd */
	struct ez_soon soon;
	pthread_t thread;
	pthread_mutex_t seat;
	pthread_mutex_t lock;
	struct job_list posted; /* under the lock */
	bool wake_pending;	/* under the lock */
	bool stop;		/* I/O thread only, as all below */
	struct ez_left left;
	struct job_list deferred;
	struct ez_io_timer *timers; /* the next one first */
};

static void job_list_init(struct job_list *list)
{
	list->first = NULL;
	list->last = &list->first;
}

static void job_list_add(struct job_list *list, struct ez_io_job *job)
{
	job->next = NULL;
	*list->last = job;
	list->last = &job->next;
}

static void run_posted(struct ez_io *io)
{
	struct ez_io_job *job, *next;

	pthread_mutex_lock(&io->lock);
	job = io->posted.first;
	job_list_init(&io->posted);
	io->wake_pending = false;
	pthread_mutex_unlock(&io->lock);
	for (; job; job = next) {
		next = job->next;
		__atomic_store_n(&job->posted, false, __ATOMIC_RELEASE);
		job->run(job);
	}
}

static void wake_ready(struct ez_io_source *source, uint32_t events)
{
	uint64_t n;
	ssize_t got = read(source->fd, &n, sizeof(n));

	(void)got;
	(void)events;
}

static void wake_up(struct ez_io *io)
{
	uint64_t one = 1;
	ssize_t n = write(io->wake.fd, &one, sizeof(one));

	/* It fails only when the counter is full, and then the thread is awake anyway. */
	(void)n;
}

bool ez_io_post(struct ez_io *io, struct ez_io_job *job)
{
	bool wake = false, is_new;

	pthread_mutex_lock(&io->lock);
	is_new = !__atomic_load_n(&job->posted, __ATOMIC_ACQUIRE);
	if (is_new) {
		job->posted = true;
		job_list_add(&io->posted, job);
		wake = !io->wake_pending;
		io->wake_pending = true;
	}
	pthread_mutex_unlock(&io->lock);
	if (wake)
		wake_up(io);
	return is_new;
}

bool ez_io_at_latest(struct ez_io *io, struct ez_io_late *job, ez_mono_ns_t now_ns)
{
	return ez_soon_set(&io->soon, job, now_ns);
}

void ez_io_defer(struct ez_io *io, struct ez_io_job *job)
{
	job_list_add(&io->deferred, job);
}

static void run_deferred(struct ez_io *io)
{
	struct ez_io_job *job, *next;

	while (io->deferred.first) {
		job = io->deferred.first;
		job_list_init(&io->deferred);
		for (; job; job = next) {
			next = job->next;
			job->run(job);
		}
	}
}

static void run_timers(struct ez_io *io)
{
	ez_mono_ns_t now;

	if (!io->timers)
		return;
	now = ez_clock_mono_ns();
	while (io->timers && io->timers->at_ns <= now) {
		struct ez_io_timer *timer = io->timers;

		io->timers = timer->next;
		timer->armed = false;
		timer->fire(timer);
	}
}

static int timeout_ms(const struct ez_io *io)
{
	return io->timers ? ez_clock_left_ms(io->timers->at_ns, ez_clock_mono_ns()) : -1;
}

static int watch(const struct ez_io *io, struct ez_io_source *source)
{
	return ez_left_watch(io->epoll_fd, source);
}

/* The events of one wake-up; returns with the seat. */
static int wait_events(struct ez_io *io, struct epoll_event events[EVENTS_AT_ONCE])
{
	int n = epoll_wait(io->epoll_fd, events, EVENTS_AT_ONCE, timeout_ms(io));

	pthread_mutex_lock(&io->seat);
	return ez_left_take_out(&io->left, events, n);
}

static void *io_thread(void *argument)
{
	struct ez_io *io = argument;
	struct epoll_event events[EVENTS_AT_ONCE];
	int i, n;

	while (!io->stop) {
		n = wait_events(io, events);
		for (i = 0; i < n; i++) {
			struct ez_io_source *source = events[i].data.ptr;

			/* Closed by an event before this one, but still in memory. */
			if (source->fd >= 0)
				source->ready(source, events[i].events);
		}
		run_posted(io);
		run_timers(io);
		run_deferred(io);
		pthread_mutex_unlock(&io->seat);
	}
	return NULL;
}

void ez_io_take_seat(struct ez_io *io)
{
	pthread_mutex_lock(&io->seat);
}

void ez_io_leave_seat(struct ez_io *io)
{
	pthread_mutex_unlock(&io->seat);
}

void ez_io_reader_is_here(struct ez_io *io, ez_mono_ns_t now_ns)
{
	ez_left_reader_is_here(&io->left, now_ns);
}

int ez_io_watch(struct ez_io *io, struct ez_io_source *source, int fd, uint32_t events)
{
	int err;

	source->fd = fd;
	source->events = events;
	source->shared = false;
	source->overdue = false;
	err = watch(io, source);
	if (err)
		source->fd = ez_disown_fd(fd);
	return err;
}

void ez_io_close(struct ez_io *io, struct ez_io_source *source)
{
	if (source->fd < 0)
		return;
	ez_left_forget(&io->left, source);
	epoll_ctl(io->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	source->fd = ez_disown_fd(source->fd);
}

void ez_io_set_events(struct ez_io *io, struct ez_io_source *source, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = source};

	if (source->fd < 0 || source->events == events)
		return;
	source->events = events;
	if (!source->shared) {
		epoll_ctl(io->epoll_fd, EPOLL_CTL_MOD, source->fd, &event);
		return;
	}
	/* The kernel modifies no exclusive one. */
	epoll_ctl(io->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	watch(io, source);
}

int ez_io_share(struct ez_io *io, struct ez_io_source *source, int epoll_fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = source->fd};

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, source->fd, &event) < 0)
		return errno == EEXIST ? 0 : -errno;
	source->shared = true;
	epoll_ctl(io->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	return watch(io, source);
}

int ez_io_unshare(struct ez_io *io, struct ez_io_source *source, int epoll_fd)
{
	int err;

	if (source->fd < 0 || !source->shared)
		return 0;
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	ez_left_forget(&io->left, source);
	source->shared = false;
	epoll_ctl(io->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	err = watch(io, source);
	/* To share it once more, or to try this again, mends it. */
	source->shared = err != 0;
	return err;
}

void ez_io_timer_stop(struct ez_io *io, struct ez_io_timer *timer)
{
	struct ez_io_timer **at = &io->timers;

	if (!timer->armed)
		return;
	while (*at != timer)
		at = &(*at)->next;
	*at = timer->next;
	timer->armed = false;
}

void ez_io_timer_set(struct ez_io *io, struct ez_io_timer *timer, ez_mono_ns_t at_ns)
{
	struct ez_io_timer **at = &io->timers;

	ez_io_timer_stop(io, timer);
	timer->at_ns = at_ns;
	timer->armed = true;
	while (*at && (*at)->at_ns <= at_ns)
		at = &(*at)->next;
	timer->next = *at;
	*at = timer;
}

struct call {
	struct ez_io_job job;
	void (*fn)(void *argument);
	void *argument;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
};

static void run_call(struct ez_io_job *job)
{
	struct call *call = (struct call *)job;

	call->fn(call->argument);
	pthread_mutex_lock(&call->lock);
	call->done = true;
	pthread_cond_signal(&call->cond);
	pthread_mutex_unlock(&call->lock);
}

void ez_io_call(struct ez_io *io, void (*fn)(void *argument), void *argument)
{
	struct call call = {.job.run = run_call, .fn = fn, .argument = argument};

	pthread_mutex_init(&call.lock, NULL);
	pthread_cond_init(&call.cond, NULL);
	ez_io_post(io, &call.job);
	pthread_mutex_lock(&call.lock);
	while (!call.done)
		pthread_cond_wait(&call.cond, &call.lock);
	pthread_mutex_unlock(&call.lock);
	pthread_cond_destroy(&call.cond);
	pthread_mutex_destroy(&call.lock);
}

/* The application's signals are not this thread's business. */
static int start_thread(struct ez_io *io)
{
	sigset_t all, old;
	int err;

	ez_signals_of_others(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&io->thread, NULL, io_thread, io);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_setname_np(io->thread, "ezmsg-io");
	return -err;
}

static void io_free(struct ez_io *io)
{
	ez_soon_close(&io->soon);
	ez_disown_fd(io->wake.fd);
	ez_disown_fd(io->epoll_fd);
	pthread_mutex_destroy(&io->lock);
	pthread_mutex_destroy(&io->seat);
	free(io);
}

static int fd_or_errno(int fd)
{
	return fd < 0 ? -errno : fd;
}

int ez_io_create(struct ez_io **ret_io)
{
	struct ez_io *io = calloc(1, sizeof(*io));
	int err = 0;

	if (!io)
		return -ENOMEM;
	pthread_mutex_init(&io->seat, NULL);
	pthread_mutex_init(&io->lock, NULL);
	job_list_init(&io->posted);
	job_list_init(&io->deferred);
	io->wake.ready = wake_ready;
	io->wake.events = EPOLLIN;
	io->epoll_fd = ez_own_fd(fd_or_errno(epoll_create1(EPOLL_CLOEXEC)));
	io->wake.fd = ez_own_fd(fd_or_errno(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
	err = ez_soon_open(&io->soon);
	if (io->epoll_fd < 0 || io->wake.fd < 0)
		err = io->epoll_fd < 0 ? io->epoll_fd : io->wake.fd;
	if (!err)
		err = watch(io, &io->wake);
	if (!err)
		err = watch(io, &io->soon.source);
	ez_left_init(&io->left, io->epoll_fd, &io->soon);
	if (!err)
		err = start_thread(io);
	if (err) {
		io_free(io);
		return err;
	}
	*ret_io = io;
	return 0;
}

static void stop_loop(void *argument)
{
	struct ez_io *io = argument;

	io->stop = true;
	/* They hold references. */
	ez_soon_run_all(&io->soon);
}

void ez_io_destroy(struct ez_io *io)
{
	if (!io)
		return;
	ez_io_call(io, stop_loop, io);
	pthread_join(io->thread, NULL);
	io_free(io);
}
