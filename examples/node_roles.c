/* SPDX-License-Identifier: MIT */
/* Source, relay and sink: publishers and subscribers in a few calls each. */
#include "node_roles.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "node_source.h"

#define SLICE_NS 50000000 /* how often a blocked call looks whether it is time to go */

bool node_stopped(const struct node *node, int timeout_ms)
{
	struct pollfd pollfd = {.fd = node->stop_fd, .events = POLLIN};

	return poll(&pollfd, 1, timeout_ms) > 0;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR)
		;
}

/* So much time on a CPU, however long that takes. */
static void spin_ns(uint64_t ns)
{
	struct timespec now;
	uint64_t end = 0, used;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		used = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
		end = end ? end : used + ns;
	} while (used < end);
}

/* The pretended work; runs in the subscriber's own thread. */
static void work(const struct ez_message *message, void *user)
{
	const struct node_options *options = user;

	(void)message;
	if (options->work_ns && options->spin)
		spin_ns(options->work_ns);
	else if (options->work_ns)
		sleep_ns(options->work_ns);
}

/* Takes one message and keeps it; the others wait in the queue until the publisher is held up. */
static int run_stalled(struct node *node)
{
	int err;

	do {
		if (node_stopped(node, 0))
			return 0;
		err = ez_receive(node->subscribers[0], SLICE_NS, &node->kept);
	} while (err == -ETIMEDOUT);
	if (!err)
		node_stopped(node, -1);
	return err;
}

static void look(const struct ez_message *message, void *user)
{
	(void)message;
	(void)user;
}

static int open_publisher(struct node *node, const char *topic)
{
	struct ez_publisher_options options = {
		.num_buffers = (uint32_t)node->options->num_buffers,
		.force_tcp = node->options->tcp,
		.host = node->options->host,
	};

	return ez_publisher_create(node->context, topic, &options, &node->publisher);
}

static int open_subscriber(struct node *node, const char *topic, ez_message_fn callback)
{
	struct ez_subscriber_options options = {
		.handle = node->options->handle,
		.callback = callback,
		.user = (void *)(uintptr_t)node->options,
		.leaky = node->options->leaky,
	};
	int err;

	err = ez_subscriber_create(node->context, topic, &options,
				   &node->subscribers[node->num_subscribers]);
	if (!err)
		node->num_subscribers++;
	return err;
}

/* Sends one message; 1 when it is time to go instead. */
int node_publish(struct node *node)
{
	int err;

	do {
		if (node_stopped(node, 0))
			return 1;
		err = ez_publish_bytes(node->publisher, node->content, node->options->bytes,
				       SLICE_NS);
	} while (err == -ETIMEDOUT);
	return err;
}

static int run_relay(struct node *node)
{
	struct ez_message message;
	int err = 0;

	while (err == 0 || err == -ETIMEDOUT) {
		if (node_stopped(node, 0))
			return 0;
		err = ez_receive(node->subscribers[0], SLICE_NS, &message);
		if (err)
			continue;
		work(&message, (void *)(uintptr_t)node->options);
		/* Given back before the next broadcast: what waits there isn't this node's work. */
		ez_message_release(&message);
		err = node_publish(node);
	}
	return err < 0 ? err : 0;
}

static int set_up(struct node *node, const char **ret_what)
{
	const struct node_options *options = node->options;
	int i, err;

	*ret_what = "graph server (`ezprof serve` starts one)";
	err = ez_context_create(options->address, &node->context);
	if (err)
		return err;
	*ret_what = "publisher";
	if (options->role != NODE_SINK)
		err = open_publisher(node, options->topics[options->num_topics - 1]);
	if (err)
		return err;
	*ret_what = "subscriber";
	if (options->role == NODE_SOURCE)
		return options->monitor ? open_subscriber(node, options->topics[0], look) : 0;
	if (options->role == NODE_RELAY)
		return open_subscriber(node, options->topics[0], NULL);
	for (i = 0; i < options->num_topics && !err; i++)
		err = open_subscriber(node, options->topics[i],
				      options->stall_first && i == 0 ? NULL : work);
	return err;
}

static void report(const struct node *node)
{
	const struct node_options *options = node->options;
	uint64_t messages, bytes, drops;
	int i;

	if (node->publisher) {
		ez_publisher_totals(node->publisher, &messages, &bytes);
		printf("{\"type\": \"publisher\", \"topic\": \"%s\", \"messages\": %" PRIu64
		       ", \"bytes\": %" PRIu64 "}\n",
		       options->topics[options->num_topics - 1], messages, bytes);
	}
	for (i = 0; i < node->num_subscribers; i++) {
		ez_subscriber_totals(node->subscribers[i], &messages, &bytes, &drops);
		printf("{\"type\": \"subscriber\", \"topic\": \"%s\", \"messages\": %" PRIu64
		       ", \"bytes\": %" PRIu64 ", \"drops\": %" PRIu64 "}\n",
		       options->topics[i], messages, bytes, drops);
	}
	fflush(stdout);
}

static int play(struct node *node)
{
	switch (node->options->role) {
	case NODE_SOURCE:
		return node_run_source(node);
	case NODE_RELAY:
		return run_relay(node);
	default:
		if (node->options->stall_first)
			return run_stalled(node);
		node_stopped(node, -1);
		return 0;
	}
}

int node_run(const struct node_options *options, int stop_fd, const char **ret_what)
{
	struct node node = {.options = options, .stop_fd = stop_fd};
	int i, err;

	node.content = calloc(1, options->bytes ? options->bytes : 1);
	if (!node.content)
		return -ENOMEM;
	err = set_up(&node, ret_what);
	if (!err) {
		puts("{\"type\": \"ready\"}");
		fflush(stdout);
		*ret_what = "running";
		err = play(&node);
		report(&node);
	}
	for (i = 0; i < node.num_subscribers; i++)
		ez_subscriber_destroy(node.subscribers[i]);
	ez_message_release(&node.kept);
	ez_publisher_destroy(node.publisher);
	ez_context_destroy(node.context);
	free(node.content);
	return err;
}
