/* SPDX-License-Identifier: MIT */
#include "node_source.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MESSAGES_PER_CPU 100
#define THREADS_MAX 256

struct source {
	struct node *node;
	struct timespec start;
	uint64_t taken; /* messages that a thread has set out to send; atomic */
	int result;	/* of the first thread that failed; atomic */
};

/* The n-th message of a paced source is due at start + n / rate, so that delays don't add up. */
static void wait_turn(const struct source *source, uint64_t number)
{
	const struct node_options *options = source->node->options;
	double rate_hz = options->rate_hz;
	struct timespec due;
	double due_s;

	if (rate_hz <= 0)
		return;
	number -= number % (options->burst ? options->burst : 1);
	due_s = (double)source->start.tv_nsec * 1e-9 + (double)number / rate_hz;
	due.tv_sec = source->start.tv_sec + (time_t)due_s;
	due.tv_nsec = (long)((due_s - (double)(time_t)due_s) * 1e9);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

static void run_on(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *send_messages(void *argument)
{
	struct source *source = argument;
	const struct node_options *options = source->node->options;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t number;
	int err = 0;

	while (!err && !__atomic_load_n(&source->result, __ATOMIC_RELAXED)) {
		number = __atomic_fetch_add(&source->taken, 1, __ATOMIC_RELAXED);
		if (options->count && number >= options->count)
			return NULL;
		if (options->migrate && number % MESSAGES_PER_CPU == 0)
			run_on((long)(number / MESSAGES_PER_CPU) % cpus);
		wait_turn(source, number);
		err = node_publish(source->node);
	}
	if (err)
		__atomic_store_n(&source->result, err, __ATOMIC_RELAXED);
	return NULL;
}

static int send_from_threads(struct source *source, uint64_t n)
{
	pthread_t threads[THREADS_MAX];
	uint64_t i, started = 0;
	int err = 0;

	while (started < n && !err) {
		err = pthread_create(&threads[started], NULL, send_messages, source);
		started += !err;
	}
	if (err)
		__atomic_store_n(&source->result, -err, __ATOMIC_RELAXED);
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return source->result;
}

int node_run_source(struct node *node)
{
	const struct node_options *options = node->options;
	struct source source = {.node = node};
	int err;

	while (ez_publisher_channels(node->publisher) < options->wait_channels)
		if (node_stopped(node, 5))
			return 0;
	clock_gettime(CLOCK_MONOTONIC, &source.start);
	if (options->threads > 1) {
		err = send_from_threads(&source, options->threads);
	} else {
		send_messages(&source);
		err = source.result;
	}
	if (!err && options->count) {
		puts("{\"type\": \"sent\"}");
		fflush(stdout);
	}
	if (!err)
		node_stopped(node, -1);
	return err < 0 ? err : 0;
}
