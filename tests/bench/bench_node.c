/* SPDX-License-Identifier: MIT */
/*
 * One end of a benchmark, built with libezmsg as it is and without probes: bench_node ADDRESS ROLE
 * TOPIC. Role `local` publishes and receives in one thread; `shm` and `tcp` publish to the role
 * `sink` in another process. A line with a number on stdin makes it handle so many messages; the
 * answer is the time that they took, in ns; of its own CPU for `local`, which waits for nobody.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ezmsg/ezmsg.h>

#define MESSAGE_BYTES 64

struct bench {
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	int local;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void ignore(const struct ez_message *message, void *user)
{
	(void)message;
	(void)user;
}

static int set_up(struct bench *bench, const char *address, const char *role, const char *topic)
{
	struct ez_publisher_options publisher = {.force_tcp = strcmp(role, "tcp") == 0};
	struct ez_subscriber_options subscriber = {0};
	int err = ez_context_create(address, &bench->context);

	if (err)
		return err;
	if (strcmp(role, "sink") == 0) {
		subscriber.callback = ignore;
		return ez_subscriber_create(bench->context, topic, &subscriber, &bench->subscriber);
	}
	err = ez_publisher_create(bench->context, topic, &publisher, &bench->publisher);
	bench->local = strcmp(role, "local") == 0;
	if (!err && bench->local)
		err = ez_subscriber_create(bench->context, topic, &subscriber, &bench->subscriber);
	return err;
}

static int run(struct bench *bench, uint64_t messages, uint64_t *ret_ns)
{
	static const uint8_t content[MESSAGE_BYTES];
	struct ez_message message;
	clockid_t clock = bench->local ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	uint64_t i, begin = now_ns(clock);
	int err = 0;

	for (i = 0; i < messages && !err; i++) {
		err = ez_publish_bytes(bench->publisher, content, sizeof(content), EZ_FOREVER);
		if (err || !bench->local)
			continue;
		err = ez_receive(bench->subscriber, EZ_FOREVER, &message);
		if (!err)
			ez_message_release(&message);
	}
	*ret_ns = now_ns(clock) - begin;
	return err;
}

int main(int argc, char **argv)
{
	struct bench bench = {0};
	char line[64];
	uint64_t ns;
	int err;

	if (argc != 4) {
		fprintf(stderr, "usage: bench_node ADDRESS local|shm|tcp|sink TOPIC\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	err = set_up(&bench, argv[1], argv[2], argv[3]);
	if (!err)
		puts("ready");
	while (!err && fgets(line, sizeof(line), stdin)) {
		err = bench.publisher ? run(&bench, strtoull(line, NULL, 10), &ns) : -1;
		if (!err)
			printf("%" PRIu64 "\n", ns);
	}
	ez_subscriber_destroy(bench.subscriber);
	ez_publisher_destroy(bench.publisher);
	ez_context_destroy(bench.context);
	if (err)
		fprintf(stderr, "bench_node: %s\n", strerror(-err));
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
