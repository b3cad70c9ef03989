/* SPDX-License-Identifier: MIT */
/*
 * The publisher's shared memory: asked for at the graph server, whose connection is the lease.
 * Moving to a larger segment keeps the old one until every message in it has been acknowledged.
 */
#include "publisher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "fd.h"
#include "greeting.h"
#include "log.h"
#include "prelude.h"
#include "request.h"

#define FRAME_BYTES_MAX 1024

static struct ez_segment_lease *of_job(struct ez_io_job *job)
{
	return (struct ez_segment_lease *)((char *)job - offsetof(struct ez_segment_lease, job));
}

/* SHM_CREATE and its answer, the name, to be freed. */
static int ask(int fd, uint32_t num_buffers, uint64_t buffer_bytes, ez_mono_ns_t deadline_ns,
	       char **ret_name)
{
	struct ez_buffer request;
	uint8_t command;
	size_t len;
	int err;

	ez_buffer_init(&request, FRAME_BYTES_MAX);
	ez_request_shm_create(&request, num_buffers, buffer_bytes);
	err = ez_link_send(fd, &request, deadline_ns);
	ez_buffer_free(&request);
	if (!err)
		err = ez_link_read_u8(fd, deadline_ns, &command);
	if (!err && command != EZ_CMD_COMPLETE)
		err = -EPROTO;
	if (!err)
		err = ez_link_read_str(fd, EZ_SEGMENT_NAME_BYTES - 1, deadline_ns, ret_name, &len);
	return err;
}

/* The server may be on another host, and the segment with it. */
static int map_own(const char *name, uint32_t num_buffers, uint64_t buffer_bytes,
		   struct ez_segment **ret_segment)
{
	struct ez_segment *segment;
	int err = ez_segment_map(name, true, &segment);

	if (err == -ENOENT)
		err = ez_segment_private(name, num_buffers, buffer_bytes, &segment);
	if (err)
		return err;
	if (segment->slots != num_buffers) {
		ez_segment_unref(segment);
		return -EPROTO;
	}
	*ret_segment = segment;
	return 0;
}

static int skip(struct ez_stream *stream, struct ez_reader *reader)
{
	uint8_t command;

	(void)stream;
	return ez_read_u8(reader, &command);
}

/* The server is gone, or ended the lease: the mapping stays. */
static void lease_closed(struct ez_stream *stream, int err)
{
	(void)stream;
	(void)err;
}

static void lease_free(struct ez_io_job *job)
{
	struct ez_segment_lease *lease =
		(struct ez_segment_lease *)((char *)job -
					    offsetof(struct ez_segment_lease, free_job));

	ez_segment_unref(lease->segment);
	free(lease);
}

static void lease_end(struct ez_io_job *job)
{
	struct ez_segment_lease *lease = of_job(job);

	ez_stream_close(&lease->stream);
	lease->free_job.run = lease_free;
	ez_io_defer(lease->stream.io, &lease->free_job);
}

struct watch {
	struct ez_segment_lease *lease;
	int fd;
	int err;
};

static void watch_on_io(void *argument)
{
	struct watch *watch = argument;

	watch->err = ez_stream_adopt(&watch->lease->stream, watch->fd);
}

static int lease_new(struct ez_publisher *publisher, int fd, struct ez_segment *segment,
		     struct ez_segment_lease **ret_lease)
{
	struct watch watch = {.lease = calloc(1, sizeof(struct ez_segment_lease)), .fd = fd};
	struct ez_io *io = publisher->context->io;

	if (!watch.lease) {
		ez_fd_close(fd);
		ez_segment_unref(segment);
		return -ENOMEM;
	}
	watch.lease->segment = segment;
	watch.lease->job.run = lease_end;
	ez_stream_init(&watch.lease->stream, io, FRAME_BYTES_MAX);
	watch.lease->stream.parse = skip;
	watch.lease->stream.closed = lease_closed;
	ez_io_call(io, watch_on_io, &watch);
	if (watch.err) {
		ez_segment_lease_end(publisher, watch.lease);
		return watch.err;
	}
	*ret_lease = watch.lease;
	return 0;
}

uint64_t ez_segment_aligned_bytes(const struct ez_publisher *publisher, uint64_t bytes)
{
	uint64_t spare = UINT64_C(16) * publisher->num_buffers;

	return ((bytes + spare + EZ_VALUE_ALIGNMENT - 1) & ~(uint64_t)(EZ_VALUE_ALIGNMENT - 1)) -
	       spare;
}

int ez_segment_lease_create(struct ez_publisher *publisher, uint64_t buffer_bytes,
			    ez_mono_ns_t deadline_ns, struct ez_segment_lease **ret_lease)
{
	int fd = ez_greeting_open(&publisher->context->address, deadline_ns, NULL);
	struct ez_segment *segment;
	char *name = NULL;
	int err;

	if (fd < 0)
		return fd;
	err = ask(fd, publisher->num_buffers, buffer_bytes, deadline_ns, &name);
	if (!err)
		err = map_own(name, publisher->num_buffers, buffer_bytes, &segment);
	free(name);
	if (err) {
		ez_fd_close(fd);
		return err == -ENODATA ? -EPROTO : err;
	}
	return lease_new(publisher, fd, segment, ret_lease);
}

void ez_segment_lease_end(struct ez_publisher *publisher, struct ez_segment_lease *lease)
{
	if (lease)
		ez_io_post(publisher->context->io, &lease->job);
}

/*
 * Channels up to ezmsg 3.9.0 read what they hold again, from the new segment. All channels are
 * served that way; only messages that are still leased matter.
 */
static void copy_leased(const struct ez_publisher *publisher, const struct ez_segment *to)
{
	const struct ez_segment *from = publisher->lease->segment;
	uint32_t slot;

	for (slot = 0; slot < publisher->num_buffers; slot++)
		if (publisher->slots.leases[slot])
			memcpy(ez_segment_slot(to, slot), ez_segment_slot(from, slot),
			       publisher->slots.bytes[slot]);
}

int ez_publisher_resize_locked(struct ez_publisher *publisher, size_t bytes)
{
	struct ez_segment_lease *lease, *old = publisher->lease;
	int err;

	if (bytes > SIZE_MAX / 4 / publisher->num_buffers)
		return -EMSGSIZE;
	/* It takes a while. */
	ez_links_flush_locked(publisher);
	ez_publisher_show_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
	err = ez_segment_lease_create(publisher,
				      ez_segment_aligned_bytes(publisher, 2 * (uint64_t)bytes),
				      ez_clock_mono_ns() + EZ_CREATE_NS, &lease);
	pthread_mutex_lock(&publisher->lock);
	if (err)
		return err;
	if (ez_segment_usable(lease->segment) < bytes) {
		ez_segment_lease_end(publisher, lease);
		return -EPROTO;
	}
	copy_leased(publisher, lease->segment);
	ez_log(EZ_LOG_DEBUG, "topic %s moves to segment %s", publisher->topic,
	       lease->segment->name);
	publisher->lease = lease;
	old->gone_at = publisher->next_id + publisher->num_buffers - 1;
	old->next = publisher->old_leases;
	publisher->old_leases = old;
	return 0;
}

void ez_publisher_end_old_leases(struct ez_publisher *publisher, bool all)
{
	struct ez_segment_lease **at = &publisher->old_leases;
	struct ez_segment_lease *lease;

	while ((lease = *at)) {
		if (!all && publisher->next_id <= lease->gone_at) {
			at = &lease->next;
			continue;
		}
		*at = lease->next;
		ez_segment_lease_end(publisher, lease);
	}
}
