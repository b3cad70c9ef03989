/* SPDX-License-Identifier: MIT */
/*
 * How a publisher comes to be: a link to the graph server, a segment, an id, a listening socket,
 * its address told, and at last a channel to itself. The order of the requests is that of the real
 * one.
 */
#include "publisher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "environment.h"
#include "fd.h"
#include "greeting.h"
#include "registry.h"
#include "request.h"

#define DEFAULT_BUFFERS 32
#define DEFAULT_BUFFER_BYTES 65536
#define DEFAULT_HOST "127.0.0.1"
#define LISTEN_BACKLOG 128
#define GRAPH_SERVER_PORT 25978 /* of every machine: left to a server */

static struct ez_publisher *publisher_new(struct ez_context *context, const char *topic,
					  const struct ez_publisher_options *options)
{
	struct ez_publisher *publisher = calloc(1, sizeof(*publisher));

	if (!publisher)
		return NULL;
	publisher->context = context;
	publisher->refs = 1;
	publisher->num_buffers = options->num_buffers ? options->num_buffers : DEFAULT_BUFFERS;
	ez_links_send_init(publisher);
	publisher->force_tcp = options->force_tcp || ez_env_flag("EZMSG_FORCE_TCP", false);
	publisher->allow_local = !options->no_local && ez_env_flag("EZMSG_ALLOW_LOCAL", true);
	publisher->quiet = getenv("EZMSG_DISABLE_BACKPRESSURE_WARNING") != NULL;
	publisher->pr206 = ez_env_is("EZ_HANDSHAKE", "pr206");
	publisher->lease_timeout_ns =
		ez_env_u64("EZ_LEASE_TIMEOUT_MS", 0, UINT32_MAX, 0) * EZ_NS_PER_MS;
	publisher->paused = options->start_paused;
	publisher->listener = (struct ez_io_source){.fd = -1, .ready = ez_link_accept};
	publisher->graph.source.fd = -1;
	ez_lock_init(&publisher->lock);
	ez_cond_init(&publisher->cond);
	ez_cond_init(&publisher->turn_cond);
	ez_poller_init(&publisher->poller);
	ez_ready_fd_init(&publisher->ready_fd);
	publisher->topic = strdup(topic);
	if (publisher->topic && !ez_slots_init(&publisher->slots, publisher->num_buffers))
		return publisher;
	ez_publisher_unref(publisher);
	return NULL;
}

struct creation {
	struct ez_publisher *publisher;
	const struct ez_publisher_options *options;
	ez_mono_ns_t deadline_ns;
	int graph_fd;
	int listen_fd;
	uint16_t port;
	int err;
};

/* Upwards from the first port, as all ezmsg publishers do. */
static int listen_somewhere(const char *host, uint16_t *ret_port)
{
	uint64_t port = ez_env_u64("EZMSG_PUBLISHER_PORT_START", 1, UINT16_MAX, 25980);
	int fd = -EADDRINUSE;

	for (; port <= UINT16_MAX && fd == -EADDRINUSE; port++)
		if (port != GRAPH_SERVER_PORT)
			fd = ez_fd_listen(host, (uint16_t)port, LISTEN_BACKLOG, ret_port);
	return fd;
}

static int open_listener(struct creation *creation)
{
	const char *host = creation->options->host ? creation->options->host : DEFAULT_HOST;
	uint16_t port = creation->options->port;
	int fd = port ? ez_fd_listen(host, port, LISTEN_BACKLOG, &creation->port)
		      : listen_somewhere(host, &creation->port);
	int err = fd < 0 ? fd : ez_fd_nonblock(fd, true);

	if (err && fd >= 0)
		ez_fd_close(fd);
	if (!err)
		creation->listen_fd = fd;
	return err;
}

/* PUBLISH and the id that it is answered with. */
static int ask_for_id(struct creation *creation)
{
	struct ez_publisher *publisher = creation->publisher;
	struct ez_buffer request;
	char *id = NULL;
	size_t len;
	int err;

	ez_buffer_init(&request, EZ_TOPIC_BYTES_MAX + 16);
	ez_request_publish(&request, publisher->topic);
	err = ez_link_send(creation->graph_fd, &request, creation->deadline_ns);
	ez_buffer_free(&request);
	if (!err)
		err = ez_link_read_str(creation->graph_fd, EZ_NAME_BYTES_MAX, creation->deadline_ns,
				       &id, &len);
	if (!err && ez_uuid_parse(id, len, &publisher->id))
		err = -EPROTO;
	free(id);
	return err;
}

static void open_entry_locked(struct ez_publisher *publisher)
{
	const struct ez_endpoint_spec spec = {
		.kind = EZ_KIND_PUBLISHER,
		.num_buffers = publisher->num_buffers,
		.id = publisher->id.bytes,
		.publisher_id = publisher->id.bytes,
		.topic = publisher->topic,
		.handle = publisher->topic,
	};

	ez_registry_open(&spec, &publisher->entry);
}

/* Channels may connect from now on; they do so before the server says that we exist. */
static void begin_on_io(void *argument)
{
	struct creation *creation = argument;
	struct ez_publisher *publisher = creation->publisher;
	struct ez_context *context = publisher->context;
	int fd;

	ez_publisher_ref(publisher);
	publisher->next = context->publishers;
	context->publishers = publisher;
	pthread_mutex_lock(&publisher->lock);
	open_entry_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
	fd = ez_own_fd(creation->listen_fd);
	creation->listen_fd = -1;
	creation->err = fd < 0 ? fd : ez_io_watch(context->io, &publisher->listener, fd, EPOLLIN);
}

static void graph_on_io(void *argument)
{
	struct creation *creation = argument;

	creation->err = ez_publisher_graph_start(creation->publisher, creation->graph_fd);
	creation->graph_fd = -1;
}

static int send_address(struct creation *creation)
{
	const char *host = creation->options->host ? creation->options->host : DEFAULT_HOST;
	char text[EZ_ADDRESS_BYTES + 8];
	struct ez_buffer request;
	int err;

	snprintf(text, sizeof(text), "%s:%u", host, creation->port);
	ez_buffer_init(&request, sizeof(text) + 8);
	ez_put_text(&request, text);
	err = ez_link_send(creation->graph_fd, &request, creation->deadline_ns);
	ez_buffer_free(&request);
	return err;
}

/* With a condition that another thread makes true under the lock. */
static int wait_for(struct ez_publisher *publisher, const bool *condition, ez_mono_ns_t deadline_ns)
{
	int err = 0;

	pthread_mutex_lock(&publisher->lock);
	publisher->observers++;
	while (!*condition && !publisher->failed && !err)
		err = ez_cond_wait_until(&publisher->cond, &publisher->lock, deadline_ns);
	publisher->observers--;
	if (*condition)
		err = 0;
	else if (publisher->failed)
		err = publisher->failed;
	pthread_mutex_unlock(&publisher->lock);
	return err;
}

static void own_settled(void *argument)
{
	struct ez_publisher *publisher = argument;

	pthread_mutex_lock(&publisher->lock);
	publisher->own_settled = true;
	ez_publisher_wake_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
}

static void open_own_on_io(void *argument)
{
	struct ez_publisher *publisher = argument;
	struct ez_channel *channel = ez_channel_get(publisher->context, &publisher->id);

	if (!channel) {
		own_settled(publisher);
		return;
	}
	publisher->own = ez_channel_ref(channel);
	if (channel->state == EZ_CHANNEL_SETUP) {
		channel->settled = own_settled;
		channel->settled_argument = publisher;
	} else {
		own_settled(publisher);
	}
}

/* Like every ezmsg publisher it opens a channel to itself: its subscribers' way in this process. */
static int open_own_channel(struct creation *creation)
{
	struct ez_publisher *publisher = creation->publisher;
	bool up;
	int err;

	ez_io_call(publisher->context->io, open_own_on_io, publisher);
	err = wait_for(publisher, &publisher->own_settled, creation->deadline_ns);
	if (err)
		return err;
	if (!publisher->own)
		return -ENOMEM;
	pthread_mutex_lock(&publisher->own->lock);
	up = publisher->own->state == EZ_CHANNEL_UP;
	pthread_mutex_unlock(&publisher->own->lock);
	return up ? 0 : -ECONNABORTED;
}

static int create(struct creation *creation)
{
	struct ez_publisher *publisher = creation->publisher;
	struct ez_io *io = publisher->context->io;
	uint64_t bytes = creation->options->buffer_bytes;
	int err;

	err = ez_poller_open(&publisher->poller);
	if (err)
		return err;
	creation->graph_fd =
		ez_greeting_open(&publisher->context->address, creation->deadline_ns, NULL);
	if (creation->graph_fd < 0)
		return creation->graph_fd;
	if (!bytes)
		bytes = ez_segment_aligned_bytes(publisher, DEFAULT_BUFFER_BYTES);
	err = ez_segment_lease_create(publisher, bytes, creation->deadline_ns, &publisher->lease);
	if (!err)
		err = ask_for_id(creation);
	if (!err)
		err = open_listener(creation);
	if (err)
		return err;
	ez_io_call(io, begin_on_io, creation);
	err = creation->err;
	if (!err)
		err = send_address(creation);
	if (err)
		return err;
	ez_io_call(io, graph_on_io, creation);
	err = creation->err;
	if (!err)
		err = wait_for(publisher, &publisher->created, creation->deadline_ns);
	if (!err)
		err = open_own_channel(creation);
	return err;
}

static bool options_are_valid(const char *topic, const struct ez_publisher_options *options)
{
	return topic && strlen(topic) <= EZ_TOPIC_BYTES_MAX &&
	       options->num_buffers <= EZ_REGISTRY_BUFFERS_MAX &&
	       options->buffer_bytes <= UINT64_MAX / 4 / EZ_REGISTRY_BUFFERS_MAX;
}

int ez_publisher_create(struct ez_context *context, const char *topic,
			const struct ez_publisher_options *options,
			struct ez_publisher **ret_publisher)
{
	static const struct ez_publisher_options defaults;
	struct creation creation = {
		.options = options ? options : &defaults,
		.deadline_ns = ez_clock_mono_ns() + EZ_CREATE_NS,
		.graph_fd = -1,
		.listen_fd = -1,
	};
	int err = ez_context_check(context);

	if (err)
		return err;
	if (!options_are_valid(topic, creation.options))
		return -EINVAL;
	creation.publisher = publisher_new(context, topic, creation.options);
	if (!creation.publisher)
		return -ENOMEM;
	err = create(&creation);
	if (err) {
		ez_fd_close(creation.graph_fd);
		ez_fd_close(creation.listen_fd);
		ez_publisher_destroy(creation.publisher);
		return err;
	}
	*ret_publisher = creation.publisher;
	return 0;
}
