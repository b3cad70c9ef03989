/* SPDX-License-Identifier: MIT */
/*
 * One message to every channel: wait for its slot, write it there once, lease it to each channel
 * and tell each in its way. Also its callers, which differ in what they put into a message.
 */
#include "publisher.h"

#include <errno.h>
#include <string.h>

#include "endpoint.h"
#include "frame.h"

/* Below this a copy is shorter than what it would cost to let others at the lock meanwhile. */
#define COPY_UNLOCKED_BYTES 32768

static bool is_wanted_locked(const struct ez_publisher *publisher)
{
	const struct ez_link *link;

	for (link = publisher->links; link; link = link->next) {
		if (link->up && ez_link_has_listener(link))
			return true;
	}
	return false;
}

static int make_room_locked(struct ez_publisher *publisher, size_t bytes)
{
	const struct ez_segment *segment = publisher->lease->segment;
	size_t usable = ez_segment_usable(segment);

	if (bytes <= usable && !ez_segment_lost(segment))
		return 0;
	/* Of a lost one the same size again: twice that is asked for. */
	return ez_publisher_resize_locked(publisher, bytes > usable / 2 ? bytes : usable / 2);
}

static void write_slot_locked(struct ez_publisher *publisher, const struct ez_outgoing *outgoing,
			      uint64_t id, size_t bytes)
{
	if (bytes < COPY_UNLOCKED_BYTES) {
		ez_outgoing_write(outgoing, id, ez_publisher_slot(publisher, id));
		return;
	}
	/* The slot is free and it is our turn, so it stays ours. */
	ez_publisher_show_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
	ez_outgoing_write(outgoing, id, ez_publisher_slot(publisher, id));
	pthread_mutex_lock(&publisher->lock);
}

/* Straight into the queues of this process's subscribers, who read the slot itself. */
static void deliver_local(struct ez_link *link, uint64_t id, size_t bytes, struct ez_item **dropped)
{
	struct ez_segment *segment = link->publisher->lease->segment;
	struct ez_channel *channel = link->local;
	struct ez_parts parts;
	bool taken = false;

	if (!__atomic_load_n(&channel->active_taps, __ATOMIC_RELAXED) ||
	    ez_parts_parse(&parts, ez_publisher_slot(link->publisher, id), bytes, id))
		return;
	pthread_mutex_lock(&channel->lock);
	if (channel->active_taps && channel->state == EZ_CHANNEL_UP) {
		ez_link_lease(link, id, EZ_TRANSPORT_LOCAL);
		taken = ez_deliver_locked(channel, id, EZ_VIA_LOCAL, &parts,
					  ez_segment_ref(segment), NULL, dropped);
		if (!taken)
			ez_link_release_locked(link, id);
	} else {
		ez_parts_free(&parts);
	}
	pthread_mutex_unlock(&channel->lock);
}

/* A broadcast makes the own channel a local one, also where nobody listens on it. */
static void mark_own_local(struct ez_publisher *publisher)
{
	struct ez_link *link = publisher->local_link;

	if (!link || publisher->own_marked)
		return;
	publisher->own_marked = true;
	ez_endpoint_set_transport(link->entry, EZ_TRANSPORT_LOCAL);
	pthread_mutex_lock(&link->local->lock);
	ez_endpoint_set_transport(link->local->entry, EZ_TRANSPORT_LOCAL);
	pthread_mutex_unlock(&link->local->lock);
}

/* Off it goes: what lies in its slot, or, where that is told, the pieces. */
static void send_locked(struct ez_publisher *publisher, const struct ez_outgoing *pieces,
			size_t bytes, struct ez_item **dropped)
{
	uint64_t id = publisher->next_id;

	publisher->slots.bytes[id % publisher->num_buffers] = bytes;
	if (pieces)
		ez_links_send_pieces_locked(publisher, id, pieces, bytes);
	else
		ez_links_send_locked(publisher, id, bytes);
	if (publisher->local_link)
		deliver_local(publisher->local_link, id, bytes, dropped);
	mark_own_local(publisher);
	publisher->next_id++;
	publisher->total_bytes += bytes;
	ez_endpoint_publish(publisher->entry, id, bytes);
}

static int broadcast_locked(struct ez_publisher *publisher, const struct ez_outgoing *outgoing,
			    size_t bytes, struct ez_item **dropped)
{
	const struct ez_outgoing *pieces = NULL;

	if (is_wanted_locked(publisher)) {
		int err = make_room_locked(publisher, bytes);

		if (err)
			return err;
		if (bytes >= COPY_UNLOCKED_BYTES &&
		    ez_links_take_pieces_locked(publisher, outgoing))
			pieces = outgoing;
		else
			write_slot_locked(publisher, outgoing, publisher->next_id, bytes);
	}
	send_locked(publisher, pieces, bytes, dropped);
	return 0;
}

/* One broadcast after the other: the lock alone won't do, since it is dropped while waiting. */
static int take_turn_locked(struct ez_publisher *publisher, ez_mono_ns_t deadline_ns)
{
	int err = 0;

	publisher->turn_waiters++;
	while (publisher->turn_taken && !publisher->closed && !err)
		err = ez_cond_wait_until(&publisher->turn_cond, &publisher->lock, deadline_ns);
	publisher->turn_waiters--;
	if (publisher->turn_taken) {
		err = publisher->closed ? -EPIPE : err;
	} else {
		err = 0;
		publisher->turn_taken = true;
	}
	if (publisher->closed)
		pthread_cond_broadcast(&publisher->turn_cond);
	return err;
}

static void give_turn_locked(struct ez_publisher *publisher)
{
	publisher->turn_taken = false;
	ez_publisher_show_locked(publisher);
	if (publisher->closed)
		pthread_cond_broadcast(&publisher->turn_cond);
	else if (publisher->turn_waiters)
		pthread_cond_signal(&publisher->turn_cond);
}

/* What was put off until the message is out. */
static void settle_locked(struct ez_publisher *publisher)
{
	publisher->publishing = false;
	if (publisher->syncs_owed)
		ez_publisher_check_sync_locked(publisher);
	if (publisher->old_leases)
		ez_publisher_end_old_leases(publisher, false);
}

static int broadcast_in_turn_locked(struct ez_publisher *publisher,
				    const struct ez_outgoing *outgoing, size_t bytes,
				    ez_mono_ns_t deadline_ns, struct ez_item **dropped)
{
	int err = ez_gate_pass_locked(publisher, deadline_ns);

	if (!err) {
		publisher->publishing = true;
		err = broadcast_locked(publisher, outgoing, bytes, dropped);
		publisher->publishing = false;
	}
	if (!err && publisher->sending_links)
		ez_gate_drain_locked(publisher, publisher->next_id - 1, deadline_ns);
	settle_locked(publisher);
	return err;
}

int ez_broadcast(struct ez_publisher *publisher, const struct ez_outgoing *outgoing,
		 int64_t timeout_ns)
{
	ez_mono_ns_t deadline_ns = ez_deadline_ns(timeout_ns);
	struct ez_item *dropped = NULL;
	size_t bytes;
	int err = ez_context_check(publisher->context);

	if (!err)
		err = ez_outgoing_size(outgoing, &bytes);
	if (err)
		return err;
	pthread_mutex_lock(&publisher->lock);
	err = take_turn_locked(publisher, deadline_ns);
	if (!err) {
		err = broadcast_in_turn_locked(publisher, outgoing, bytes, deadline_ns, &dropped);
		give_turn_locked(publisher);
	}
	pthread_mutex_unlock(&publisher->lock);
	ez_items_drop(dropped);
	return err;
}

void ez_broadcast_finish(struct ez_publisher *publisher, ez_mono_ns_t deadline_ns)
{
	pthread_mutex_lock(&publisher->lock);
	if (publisher->gather.held && !take_turn_locked(publisher, deadline_ns)) {
		ez_links_flush_locked(publisher);
		ez_gate_drain_locked(publisher, publisher->next_id - 1, deadline_ns);
		give_turn_locked(publisher);
	}
	pthread_mutex_unlock(&publisher->lock);
}

/* ---- the same in two steps, the writing being the caller's ---- */

int ez_broadcast_begin(struct ez_publisher *publisher, size_t bytes, ez_mono_ns_t deadline_ns,
		       uint8_t **ret_slot)
{
	int err = ez_context_check(publisher->context);

	if (err)
		return err;
	pthread_mutex_lock(&publisher->lock);
	err = take_turn_locked(publisher, deadline_ns);
	if (!err) {
		err = ez_gate_pass_locked(publisher, deadline_ns);
		publisher->publishing = !err;
		if (!err)
			err = make_room_locked(publisher, bytes);
		if (!err) {
			*ret_slot = ez_publisher_slot(publisher, publisher->next_id);
			ez_publisher_show_locked(publisher);
		} else {
			settle_locked(publisher);
			give_turn_locked(publisher);
		}
	}
	pthread_mutex_unlock(&publisher->lock);
	return err;
}

void ez_broadcast_commit(struct ez_publisher *publisher, size_t bytes, ez_mono_ns_t deadline_ns)
{
	struct ez_item *dropped = NULL;

	pthread_mutex_lock(&publisher->lock);
	send_locked(publisher, NULL, bytes, &dropped);
	publisher->publishing = false;
	if (publisher->sending_links)
		ez_gate_drain_locked(publisher, publisher->next_id - 1, deadline_ns);
	settle_locked(publisher);
	give_turn_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
	ez_items_drop(dropped);
}

void ez_broadcast_abort(struct ez_publisher *publisher)
{
	pthread_mutex_lock(&publisher->lock);
	settle_locked(publisher);
	give_turn_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
}
