/* SPDX-License-Identifier: MIT */
/*
 * One end of the runtime's benchmarks: runtime_node ADDRESS ROLE TOPIC BYTES BUFFERS. Role `alone`
 * publishes and receives in one thread, as Python does, BUFFERS messages at a time; `local`
 * publishes in one thread and receives in another; `shm` and `tcp` publish to the role `sink` in
 * another process. A line with a number on stdin sends so many messages; the publisher's answer is
 * the time that they took in ns, the receiver's the latencies' percentiles (runtime_stamp.h).
 */
#include <pthread.h>
#include <stdbool.h>

#include <ezmsg/ezmsg.h>

#include "runtime_stamp.h"

struct node {
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	struct latencies latencies;
	size_t bytes;
	uint32_t buffers;
	bool alone, local;
};

static int set_up(struct node *node, char **argv)
{
	const char *role = argv[2], *topic = argv[3];
	struct ez_publisher_options options = {
		.force_tcp = strcmp(role, "tcp") == 0,
		.num_buffers = (uint32_t)strtoul(argv[5], NULL, 10),
		.buffer_bytes = strtoul(argv[4], NULL, 10) + 4096,
	};
	int err = ez_context_create(argv[1], &node->context);

	node->bytes = options.buffer_bytes - 4096;
	node->buffers = options.num_buffers;
	node->local = strcmp(role, "local") == 0;
	node->alone = strcmp(role, "alone") == 0;
	if (!err && strcmp(role, "sink") != 0)
		err = ez_publisher_create(node->context, topic, &options, &node->publisher);
	if (!err && (node->local || node->alone || !node->publisher))
		err = ez_subscriber_create(node->context, topic, NULL, &node->subscriber);
	return err;
}

static int receive_one(struct node *node, int64_t timeout_ns)
{
	struct ez_message message;
	int err = ez_receive(node->subscriber, timeout_ns, &message);
	bool report;

	if (err)
		return err;
	report = message.bytes == REPORT_BYTES;
	if (message.bytes >= STAMP_BYTES)
		latencies_take(&node->latencies, message.data);
	ez_message_release(&message);
	if (report)
		latencies_report(&node->latencies);
	return 0;
}

/* Until the publisher or the graph is gone. */
static void *receive_all(void *argument)
{
	struct node *node = argument;

	while (!receive_one(node, EZ_FOREVER))
		;
	return NULL;
}

static void receive_what_is_there(struct node *node)
{
	while (!receive_one(node, 0))
		;
}

static int run(struct node *node, uint64_t messages, void *content)
{
	uint64_t i, begin = stamp_now_ns();
	int err = 0;

	for (i = 0; i < messages && !err; i++) {
		stamp_put(content);
		err = ez_publish_bytes(node->publisher, content, node->bytes, EZ_FOREVER);
		if (node->alone && (i + 1) % node->buffers == 0)
			receive_what_is_there(node);
	}
	if (node->alone)
		receive_what_is_there(node);
	printf("%" PRIu64 "\n", stamp_now_ns() - begin);
	if (!err)
		err = ez_publish_bytes(node->publisher, content, REPORT_BYTES, EZ_FOREVER);
	if (node->alone)
		receive_what_is_there(node);
	return err;
}

static int obey(struct node *node)
{
	void *content = calloc(1, node->bytes + STAMP_BYTES);
	char line[64];
	int err = content ? 0 : -1;

	while (!err && fgets(line, sizeof(line), stdin))
		err = run(node, strtoull(line, NULL, 10), content);
	free(content);
	return err;
}

int main(int argc, char **argv)
{
	struct node node = {0};
	pthread_t receiver;
	int err;

	if (argc != 6) {
		fprintf(stderr, "usage: runtime_node ADDRESS alone|local|shm|tcp|sink TOPIC BYTES "
				"BUFFERS\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	err = latencies_init(&node.latencies);
	if (!err)
		err = set_up(&node, argv);
	if (!err)
		puts("ready");
	if (!err && node.local)
		err = pthread_create(&receiver, NULL, receive_all, &node);
	if (err)
		fprintf(stderr, "runtime_node: %s\n", strerror(-err));
	else if (node.publisher)
		err = obey(&node);
	else
		receive_all(&node);
	if (node.local)
		ez_subscriber_destroy(node.subscriber);
	if (!err && node.local)
		pthread_join(receiver, NULL);
	ez_context_destroy(node.context);
	free(node.latencies.ns);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
