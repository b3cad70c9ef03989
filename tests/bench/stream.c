/* SPDX-License-Identifier: MIT */
/*
 * A publisher and a subscriber in one thread, 64-byte messages within the process: what benchmarks
 * measure. Commands on stdin, one answer a line:
 *
 *   run CHUNKS MESSAGES  -> ns per message of each chunk: the thread's own time, traps included
 *   clock                -> ns of one clock_gettime(CLOCK_MONOTONIC)
 *
 * Built with STREAM_LTTNG every message also passes the four LTTng-UST events that stand for
 * publish, lease, free and callback_end.
 */
#include "ezmsg/ezmsg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef STREAM_LTTNG
#include "stream_lttng.h"
#define STREAM_EVENT(name, id) lttng_ust_tracepoint(ezbench, name, 1, id, 64)
#else
#define STREAM_EVENT(name, id) ((void)(id))
#endif

#define BYTES 64

static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int one(struct ez_publisher *publisher, struct ez_subscriber *subscriber)
{
	static const char data[BYTES];
	struct ez_message message;
	int err = ez_publish_bytes(publisher, data, BYTES, EZ_FOREVER);

	if (!err)
		err = ez_receive(subscriber, EZ_FOREVER, &message);
	if (err)
		return err;
	STREAM_EVENT(publish, message.id);
	STREAM_EVENT(lease, message.id);
	STREAM_EVENT(callback_end, message.id);
	STREAM_EVENT(free, message.id);
	ez_message_release(&message);
	return 0;
}

static int run(struct ez_publisher *publisher, struct ez_subscriber *subscriber, long chunks,
	       long messages)
{
	int err = 0;

	for (long c = 0; c < chunks && !err; c++) {
		double start = now_ns(CLOCK_THREAD_CPUTIME_ID);

		for (long i = 0; i < messages && !err; i++)
			err = one(publisher, subscriber);
		printf("%.2f ", (now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)messages);
	}
	printf("\n");
	return err;
}

static void clock_cost(void)
{
	double best = 1e9;

	for (int c = 0; c < 50; c++) {
		double start = now_ns(CLOCK_MONOTONIC), cost;

		for (int i = 0; i < 10000; i++)
			(void)now_ns(CLOCK_MONOTONIC);
		cost = (now_ns(CLOCK_MONOTONIC) - start) / 10000;
		best = cost < best ? cost : best;
	}
	printf("%.2f\n", best);
}

/* Many streams of one graph keep apart by their topics. */
static const char *topic(void)
{
	const char *name = getenv("STREAM_TOPIC");

	return name ? name : "STREAM";
}

static int obey(struct ez_publisher *publisher, struct ez_subscriber *subscriber)
{
	char line[100];
	long chunks, messages;
	int err = 0;

	printf("ready\n");
	while (!err && fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "clock\n") == 0)
			clock_cost();
		else if (sscanf(line, "run %ld %ld", &chunks, &messages) == 2)
			err = run(publisher, subscriber, chunks, messages);
	}
	return err;
}

int main(void)
{
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	int err = ez_context_create(NULL, &context);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!err)
		err = ez_subscriber_create(context, topic(), NULL, &subscriber);
	if (!err)
		err = ez_publisher_create(context, topic(), NULL, &publisher);
	while (!err && ez_publisher_channels(publisher) == 0)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	if (!err)
		err = obey(publisher, subscriber);
	if (err) {
		printf("%s\n", strerror(-err));
		return 1;
	}
	ez_context_destroy(context);
	return 0;
}
