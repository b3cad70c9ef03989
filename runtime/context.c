/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "environment.h"
#include "fd.h"
#include "greeting.h"
#include "hello.h"
#include "log.h"
#include "publisher.h"
#include "registry.h"
#include "subscriber.h"

#define CHECK_NS (5 * EZ_NS_PER_S)

ez_mono_ns_t ez_deadline_ns(int64_t timeout_ns)
{
	ez_mono_ns_t now_ns;

	if (timeout_ns == EZ_FOREVER)
		return EZ_NEVER;
	now_ns = ez_clock_mono_ns();
	return timeout_ns > 0 ? now_ns + (uint64_t)timeout_ns : now_ns;
}

void ez_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

void ez_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

int ez_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, ez_mono_ns_t deadline_ns)
{
	struct timespec until;

	if (deadline_ns == EZ_NEVER)
		return -pthread_cond_wait(cond, lock);
	/* A try: the kernel would put even that to sleep for its timer slack, 50 us. */
	if (deadline_ns <= ez_clock_mono_ns())
		return -ETIMEDOUT;
	until.tv_sec = (time_t)(deadline_ns / EZ_NS_PER_S);
	until.tv_nsec = (long)(deadline_ns % EZ_NS_PER_S);
	return -pthread_cond_timedwait(cond, lock, &until);
}

struct ez_channel *ez_context_channel_of(const struct ez_context *context,
					 const struct ez_uuid *publisher_id)
{
	struct ez_channel *channel = context->channels;

	while (channel && !ez_uuid_equal(&channel->publisher_id, publisher_id))
		channel = channel->next;
	return channel;
}

struct ez_channel *ez_context_channel(const struct ez_context *context,
				      const struct ez_uuid *channel_id)
{
	struct ez_channel *channel = context->channels;

	while (channel && !ez_uuid_equal(&channel->id, channel_id))
		channel = channel->next;
	return channel;
}

struct ez_publisher *ez_context_publisher(const struct ez_context *context,
					  const struct ez_uuid *id)
{
	struct ez_publisher *publisher = context->publishers;

	while (publisher && !ez_uuid_equal(&publisher->id, id))
		publisher = publisher->next;
	return publisher;
}

static int choose_address(const char *text, struct ez_address *ret_address)
{
	int err;

	if (text)
		return ez_parse_address(text, ret_address);
	err = ez_address_from_env(ret_address);
	return err == -ENOENT ? ez_parse_address(EZ_DEFAULT_ADDRESS, ret_address) : err;
}

/*
 * Finds the server, and notes the one of the name's addresses that it is at: the I/O thread, which
 * connects to it again and again, must not wait for a name server.
 */
static int find_server(struct ez_context *context, ez_mono_ns_t deadline_ns)
{
	int fd = ez_greeting_open(&context->address, deadline_ns, NULL);
	int err;

	if (fd < 0)
		return fd;
	err = ez_fd_peer_host(fd, context->address.host, sizeof(context->address.host));
	ez_fd_close(fd);
	return err;
}

static int check_server(struct ez_context *context)
{
	ez_mono_ns_t deadline_ns = ez_clock_mono_ns() + CHECK_NS;
	int err = find_server(context, deadline_ns);
	char text[EZ_ADDRESS_BYTES];

	if (err) {
		ez_address_format(&context->address, text);
		ez_log(EZ_LOG_ERROR, "no ezmsg graph server at %s: %s", text, strerror(-err));
		return err;
	}
	err = ez_hello_is_ours(&context->address, EZ_PROGRAM, NULL, 0, deadline_ns);
	context->server_is_ours = err > 0;
	return 0;
}

int ez_context_create(const char *address, struct ez_context **ret_context)
{
	struct ez_context *context = calloc(1, sizeof(*context));
	char text[EZ_ADDRESS_BYTES];
	int err;

	if (!context)
		return -ENOMEM;
	ez_env_log_setup();
	ez_fork_guard_init();
	context->count_only = ez_env_flag("EZ_COUNT_ONLY", false);
	context->elide_ok = context->count_only && !getenv("EZMSG_DISABLE_AXIS_ELISION");
	context->generation = ez_fork_generation();
	err = choose_address(address, &context->address);
	if (!err)
		err = check_server(context);
	if (!err)
		err = ez_io_create(&context->io);
	if (err) {
		free(context);
		return err;
	}
	ez_address_format(&context->address, text);
	ez_registry_set_graph_address(text);
	*ret_context = context;
	return 0;
}

/* ---- the end ---- */

struct left {
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
};

static void find_left(void *argument)
{
	struct left *left = argument;

	left->publisher = left->context->publishers;
	left->subscriber = left->context->subscribers;
}

/* Channels whose messages the user still holds: the memory stays readable, the link ends. */
static void close_channels(void *argument)
{
	struct ez_context *context = argument;

	while (context->channels)
		ez_channel_close(context->channels);
}

void ez_context_destroy(struct ez_context *context)
{
	struct left left = {.context = context};

	if (!context || ez_context_check(context))
		return;
	for (;;) {
		ez_io_call(context->io, find_left, &left);
		if (!left.publisher && !left.subscriber)
			break;
		if (left.subscriber)
			ez_subscriber_destroy(left.subscriber);
		else
			ez_publisher_destroy(left.publisher);
	}
	ez_io_call(context->io, close_channels, context);
	ez_io_destroy(context->io);
	free(context);
}

const char *ez_version(void)
{
	return EZPROF_VERSION;
}
