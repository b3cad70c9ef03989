/* SPDX-License-Identifier: MIT */
/* Source, relay and sink: publishers and subscribers in a few calls each. */
#include "node_roles.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ezmsg/ezmsg.h>

#define SLICE_NS 50000000 /* how often a blocked call looks whether it is time to go */

struct node {
	const struct node_options *options;
	int stop_fd;
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscribers[NODE_TOPICS_MAX];
	int num_subscribers;
	uint8_t *content;
};

static bool stopped(const struct node *node, int timeout_ms)
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

/* The pretended work; runs in the subscriber's own thread. */
static void work(const struct ez_message *message, void *user)
{
	const struct node_options *options = user;

	(void)message;
	if (options->work_ns)
		sleep_ns(options->work_ns);
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
static int publish(struct node *node)
{
	int err;

	do {
		if (stopped(node, 0))
			return 1;
		err = ez_publish_bytes(node->publisher, node->content, node->options->bytes,
				       SLICE_NS);
	} while (err == -ETIMEDOUT);
	return err;
}

/* The n-th message of a paced source is due at start + n / rate, so that delays don't add up. */
static void wait_turn(const struct node *node, const struct timespec *start, uint64_t number)
{
	double due_s;
	struct timespec due;

	if (node->options->rate_hz <= 0)
		return;
	due_s = (double)start->tv_nsec * 1e-9 + (double)number / node->options->rate_hz;
	due.tv_sec = start->tv_sec + (time_t)due_s;
	due.tv_nsec = (long)((due_s - (double)(time_t)due_s) * 1e9);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

static int run_source(struct node *node)
{
	const struct node_options *options = node->options;
	struct timespec start;
	uint64_t sent;
	int err = 0;

	while (ez_publisher_channels(node->publisher) < options->wait_channels)
		if (stopped(node, 5))
			return 0;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (sent = 0; !err && (!options->count || sent < options->count); sent++) {
		wait_turn(node, &start, sent);
		err = publish(node);
	}
	if (!err)
		stopped(node, -1);
	return err < 0 ? err : 0;
}

static int run_relay(struct node *node)
{
	struct ez_message message;
	int err = 0;

	while (err == 0 || err == -ETIMEDOUT) {
		if (stopped(node, 0))
			return 0;
		err = ez_receive(node->subscribers[0], SLICE_NS, &message);
		if (err)
			continue;
		work(&message, (void *)(uintptr_t)node->options);
		/* Given back before the next broadcast: what waits there isn't this node's work. */
		ez_message_release(&message);
		err = publish(node);
	}
	return err < 0 ? err : 0;
}

static int set_up(struct node *node, const char **ret_what)
{
	const struct node_options *options = node->options;
	int i, err;

	*ret_what = "context";
	err = ez_context_create(options->address, &node->context);
	*ret_what = "publisher";
	if (!err && options->role != NODE_SINK)
		err = open_publisher(node, options->topics[options->num_topics - 1]);
	if (err)
		return err;
	*ret_what = "subscriber";
	if (options->role == NODE_SOURCE)
		return options->monitor ? open_subscriber(node, options->topics[0], look) : 0;
	if (options->role == NODE_RELAY)
		return open_subscriber(node, options->topics[0], NULL);
	for (i = 0; i < options->num_topics && !err; i++)
		err = open_subscriber(node, options->topics[i], work);
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
		return run_source(node);
	case NODE_RELAY:
		return run_relay(node);
	default:
		stopped(node, -1);
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
	ez_publisher_destroy(node.publisher);
	ez_context_destroy(node.context);
	free(node.content);
	return err;
}
