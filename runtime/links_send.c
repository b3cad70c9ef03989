/* SPDX-License-Identifier: MIT */
/* A message's frames to all links: written at once, or in a flow with those of the next messages.
 */
#include "publisher.h"

#include "endpoint.h"

/*
 * So many messages must have come quickly one after the other. Each flow that ends while frames
 * wait doubles it, each full write takes one off: who sends in bursts soon sends each at once.
 */
#define FLOW_MESSAGES_MIN 16
#define FLOW_MESSAGES_MAX 16384
/* Who was away for so long when the I/O thread looked is in none. */
#define FLOW_ENDED_NS (20 * EZ_NS_PER_US)

void ez_link_lease(struct ez_link *link, uint64_t message_id, enum ez_transport transport)
{
	ez_slots_lease(&link->publisher->slots, &link->holder, message_id);
	ez_endpoint_set_transport(link->entry, transport);
	ez_endpoint_lease(link->entry, message_id);
}

/* A local one does too. */
static bool takes_shm(const struct ez_link *link)
{
	return link->shm_ok && !link->publisher->force_tcp;
}

static void put_frame(struct ez_link *link, uint64_t id, size_t bytes)
{
	struct ez_publisher *publisher = link->publisher;

	if (takes_shm(link)) {
		ez_frames_out_add_shm(&link->out, id, publisher->lease->segment->name);
		ez_link_lease(link, id, EZ_TRANSPORT_SHM);
	} else {
		ez_frames_out_add_tcp(&link->out, id, ez_publisher_slot(publisher, id), bytes);
		ez_link_lease(link, id, EZ_TRANSPORT_TCP);
	}
}

/* The thread comes back so quickly that the next message is sooner there than this one written. */
static bool is_flow_locked(struct ez_publisher *publisher, ez_mono_ns_t now_ns)
{
	ez_mono_ns_t away_ns = publisher->left_ns ? now_ns - publisher->left_ns : 0;

	publisher->left_ns = now_ns;
	if (away_ns >= EZ_GATHER_QUICK_NS) {
		publisher->quick = away_ns < FLOW_ENDED_NS ? publisher->quick / 2 : 0;
		return false;
	}
	if (publisher->quick < 4 * publisher->quick_needed)
		publisher->quick++;
	return publisher->quick >= publisher->quick_needed;
}

static void set_late_job_locked(struct ez_publisher *publisher, ez_mono_ns_t now_ns)
{
	ez_publisher_ref(publisher);
	if (!ez_io_at_latest(publisher->context->io, &publisher->gather_job, now_ns))
		ez_publisher_unref(publisher);
}

static void tell_flow_locked(struct ez_publisher *publisher, ez_mono_ns_t now_ns)
{
	if (publisher->poller.usable && ez_poller_is_flow_locked(&publisher->poller, now_ns))
		ez_io_reader_is_here(publisher->context->io, now_ns);
}

/* All of them have a frame more. */
static void send_now_or_soon_locked(struct ez_publisher *publisher, bool room)
{
	ez_mono_ns_t now_ns = ez_clock_mono_ns();

	tell_flow_locked(publisher, now_ns);
	if (is_flow_locked(publisher, now_ns) && ez_gather_add(&publisher->gather, now_ns) &&
	    room) {
		if (publisher->gather.held == 1) {
			set_late_job_locked(publisher, now_ns);
			publisher->left_ns = ez_clock_mono_ns();
		}
		return;
	}
	if (publisher->gather.held == publisher->gather.limit &&
	    publisher->quick_needed > FLOW_MESSAGES_MIN)
		publisher->quick_needed--;
	ez_links_flush_locked(publisher);
	publisher->left_ns = ez_clock_mono_ns();
}

void ez_links_send_locked(struct ez_publisher *publisher, uint64_t message_id, size_t bytes)
{
	bool any = false, room = true;
	struct ez_link *link;

	for (link = publisher->links; link; link = link->next) {
		if (!link->up || link->is_local || !ez_link_has_listener(link))
			continue;
		put_frame(link, message_id, bytes);
		any = true;
		room = room && ez_frames_out_have_room(&link->out);
	}
	if (any)
		send_now_or_soon_locked(publisher, room);
}

bool ez_links_take_pieces_locked(const struct ez_publisher *publisher,
				 const struct ez_outgoing *outgoing)
{
	const struct ez_link *link;

	if (publisher->gather.held || !ez_frames_out_fits(outgoing))
		return false;
	for (link = publisher->links; link; link = link->next)
		if (link->up && ez_link_has_listener(link) && takes_shm(link))
			return false;
	return true;
}

/* What the sockets didn't take: the caller's memory is the caller's again. */
static void keep_rest_locked(struct ez_publisher *publisher, const struct ez_outgoing *outgoing,
			     uint64_t message_id, size_t bytes)
{
	uint8_t *slot = ez_publisher_slot(publisher, message_id);
	struct ez_link *link;

	if (publisher->sending_links)
		ez_outgoing_write(outgoing, message_id, slot);
	for (link = publisher->links; link; link = link->next)
		if (link->sending)
			ez_frames_out_move(&link->out, slot, bytes);
}

void ez_links_send_pieces_locked(struct ez_publisher *publisher, uint64_t message_id,
				 const struct ez_outgoing *outgoing, size_t bytes)
{
	struct ez_link *link;

	tell_flow_locked(publisher, ez_clock_mono_ns());
	for (link = publisher->links; link; link = link->next) {
		if (!link->up || !ez_link_has_listener(link))
			continue;
		ez_frames_out_add_pieces(&link->out, message_id, outgoing, bytes);
		ez_link_lease(link, message_id, EZ_TRANSPORT_TCP);
	}
	ez_links_flush_locked(publisher);
	keep_rest_locked(publisher, outgoing, message_id, bytes);
	publisher->left_ns = ez_clock_mono_ns();
}

void ez_links_flush_locked(struct ez_publisher *publisher)
{
	struct ez_link *link;

	publisher->gather.held = 0;
	for (link = publisher->links; link; link = link->next)
		if (link->up)
			ez_link_flush_locked(link);
}

/* The I/O thread: nobody came back. */
static void flush_on_io(struct ez_io_late *job)
{
	struct ez_publisher *publisher =
		(struct ez_publisher *)((char *)job - offsetof(struct ez_publisher, gather_job));

	pthread_mutex_lock(&publisher->lock);
	if (publisher->gather.held) {
		if (ez_clock_mono_ns() - publisher->left_ns >= FLOW_ENDED_NS) {
			publisher->quick = 0;
			if (publisher->quick_needed < FLOW_MESSAGES_MAX)
				publisher->quick_needed *= 2;
		}
		ez_links_flush_locked(publisher);
	}
	pthread_mutex_unlock(&publisher->lock);
	ez_publisher_unref(publisher);
}

static void flush_at_exit(struct ez_io_late *job)
{
	struct ez_publisher *publisher =
		(struct ez_publisher *)((char *)job - offsetof(struct ez_publisher, gather_job));

	if (pthread_mutex_trylock(&publisher->lock))
		return;
	ez_links_flush_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
}

void ez_links_send_init(struct ez_publisher *publisher)
{
	publisher->gather.limit = ez_gather_limit(publisher->num_buffers);
	publisher->quick_needed = FLOW_MESSAGES_MIN;
	publisher->left_ns = 1; /* long ago */
	publisher->gather_job.run = flush_on_io;
	publisher->gather_job.leave = flush_at_exit;
}
