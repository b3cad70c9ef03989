/* SPDX-License-Identifier: MIT */
/*
 * Where a publisher waits. Only real waits for a buffer or a socket are told as backpressure; being
 * paused is not.
 */
#include "publisher.h"

#include <errno.h>

#include "endpoint.h"
#include "log.h"

/* So long a wait is worth a line that says who holds it up. */
#define STUCK_NS (5 * EZ_NS_PER_S)

struct wait {
	struct ez_publisher *publisher;
	uint64_t message_id;
	bool blocked;
	bool logged;
	ez_mono_ns_t since_ns;
	ez_mono_ns_t look_ns; /* when to look who is in the way */
};

static void begin(struct wait *wait)
{
	const struct ez_publisher *publisher = wait->publisher;

	if (wait->blocked)
		return;
	wait->blocked = true;
	wait->since_ns = ez_clock_mono_ns();
	wait->look_ns = wait->since_ns + STUCK_NS;
	if (publisher->lease_timeout_ns && publisher->lease_timeout_ns < STUCK_NS)
		wait->look_ns = wait->since_ns + publisher->lease_timeout_ns;
	ez_endpoint_blocked_begin(publisher->entry, wait->message_id);
}

static void end(struct wait *wait)
{
	if (!wait->blocked)
		return;
	wait->blocked = false;
	ez_endpoint_blocked_end(wait->publisher->entry, wait->message_id);
}

static void log_holder(const struct ez_link *link, uint64_t slot)
{
	char id[EZ_UUID_TEXT_BYTES];

	ez_uuid_format(&link->channel_id, id);
	ez_log(EZ_LOG_WARN, "topic %s waits for channel %s of process %ju to release buffer %ju",
	       link->publisher->topic, id, (uintmax_t)link->pid, (uintmax_t)slot);
}

/* The wait has become long: say for whom, once, and free the lease where that was asked for. */
static void look_who_locked(struct wait *wait, ez_mono_ns_t now_ns)
{
	struct ez_publisher *publisher = wait->publisher;
	uint64_t slot = wait->message_id % publisher->num_buffers;
	bool over = publisher->lease_timeout_ns &&
		    now_ns - wait->since_ns >= publisher->lease_timeout_ns;
	struct ez_link *link;
	uint64_t held;

	for (link = publisher->links; link; link = link->next) {
		if (!link->up || !ez_holder_has(&link->holder, slot, &held))
			continue;
		if (!wait->logged && !publisher->quiet)
			log_holder(link, slot);
		if (over) {
			publisher->lease_timeouts++;
			ez_link_depart_locked(link, held);
		}
	}
	wait->logged = true;
	wait->look_ns = EZ_NEVER;
	if (publisher->lease_timeout_ns && !over)
		wait->look_ns = wait->since_ns + publisher->lease_timeout_ns;
}

static int wait_locked(struct wait *wait, ez_mono_ns_t deadline_ns)
{
	struct ez_publisher *publisher = wait->publisher;
	ez_mono_ns_t until_ns = deadline_ns;
	ez_mono_ns_t now_ns;
	int err;

	if (wait->blocked && wait->look_ns < until_ns)
		until_ns = wait->look_ns;
	err = ez_publisher_wait_locked(publisher, until_ns);
	if (err != -ETIMEDOUT)
		return err;
	now_ns = ez_clock_mono_ns();
	if (wait->blocked && now_ns >= wait->look_ns)
		look_who_locked(wait, now_ns);
	return now_ns >= deadline_ns ? -ETIMEDOUT : 0;
}

void ez_gate_look_locked(struct ez_publisher *publisher, ez_mono_ns_t since_ns)
{
	struct wait wait = {
		.publisher = publisher,
		.message_id = publisher->next_id,
		.since_ns = since_ns,
	};

	look_who_locked(&wait, ez_clock_mono_ns());
}

enum ez_gate ez_gate_locked(const struct ez_publisher *publisher)
{
	if (publisher->closed || publisher->failed)
		return EZ_GATE_ENDED;
	if (publisher->paused)
		return EZ_GATE_PAUSED;
	if (publisher->sending_links || ez_slots_busy(&publisher->slots, publisher->next_id))
		return EZ_GATE_BLOCKED;
	return EZ_GATE_OPEN;
}

int ez_gate_pass_locked(struct ez_publisher *publisher, ez_mono_ns_t deadline_ns)
{
	struct wait wait = {.publisher = publisher, .message_id = publisher->next_id};
	int timed_out = 0;
	enum ez_gate gate;

	while ((gate = ez_gate_locked(publisher)) == EZ_GATE_PAUSED || gate == EZ_GATE_BLOCKED) {
		if (gate == EZ_GATE_PAUSED)
			end(&wait);
		else
			begin(&wait);
		/* Only after a last look: what came in time counts. */
		if (timed_out)
			break;
		timed_out = wait_locked(&wait, deadline_ns);
	}
	end(&wait);
	if (gate == EZ_GATE_OPEN)
		return 0;
	if (gate == EZ_GATE_ENDED)
		return publisher->closed ? -EPIPE : publisher->failed;
	return timed_out;
}

int ez_gate_drain_locked(struct ez_publisher *publisher, uint64_t message_id,
			 ez_mono_ns_t deadline_ns)
{
	struct wait wait = {.publisher = publisher, .message_id = message_id};
	int err = 0;

	while (publisher->sending_links && !publisher->closed && !err) {
		begin(&wait);
		wait.look_ns = EZ_NEVER;
		err = wait_locked(&wait, deadline_ns);
	}
	end(&wait);
	return err;
}
