/* SPDX-License-Identifier: MIT */
/*
 * What the calls of endpoint.h do when somebody listens: the current bucket, the span, the probe of
 * the event itself. Each is independent of the others; all are under the endpoint's lock.
 */
#include "endpoint.h"
#include "bucket.h"
#include "spans.h"
#include "thread_work.h"

#include <string.h>

/* Waits that follow each other within this are one, in the span of the message. */
#define WAIT_SLICES_NS 1000000u

/* Buckets are kept for window and for spans: both need the times. */
static inline bool keeps_buckets(const struct ez_entry *e)
{
	return e->page && (ez_probe_enabled(EZ_PROBE_window) || ez_probe_enabled(EZ_PROBE_spans));
}

static inline bool opens_bucket(const struct ez_entry *e)
{
	return keeps_buckets(e) && ez_bucket_open(&ez_entry_page(e)->bucket);
}

/*
 * Calls that follow each other at once in one thread, for one message, share a reading of the
 * clock: a local delivery (the link's lease, the client's, publish) and a release (callback_end,
 * the client's free, the link's). What a call may take over from which is said where it is called.
 */
enum call {
	CALL_NEVER, /* nothing to take over */
	CALL_LINK_LEASE,
	CALL_CLIENT_LEASE,
	CALL_CALLBACK_END,
	CALL_CLIENT_FREE,
	CALL_OTHER,
};

/* Initial-exec: one instruction, and few enough bytes for objects that are loaded late. */
static __thread __attribute__((tls_model("initial-exec"))) struct {
	uint64_t publisher; /* of its id: half of it will do to tell neighbours apart */
	uint64_t message_id;
	uint64_t moment;
	enum call call;
} last;

static inline uint64_t publisher_of(const struct ez_entry *e)
{
	uint64_t half;

	memcpy(&half, e->publisher_id, sizeof(half));
	return half;
}

/* The moment of this call: told, that of the call before if it was `shared`, or now. */
static inline uint64_t moment_of(const struct ez_entry *e, uint64_t told, uint64_t message_id,
				 enum call shared)
{
	if (told)
		return told;
	if (last.call == shared && last.message_id == message_id &&
	    last.publisher == publisher_of(e))
		return last.moment;
	return ez_counter_now_ns();
}

static inline void note_call(const struct ez_entry *e, enum call call, uint64_t message_id,
			     uint64_t moment)
{
	last.call = call;
	last.message_id = message_id;
	last.moment = moment;
	last.publisher = publisher_of(e);
}

static void publish_span(const struct ez_entry *e, struct ez_bucket_page *page, uint64_t message_id,
			 uint64_t bytes, uint64_t now)
{
	struct ez_span span = {
		.message_id = message_id,
		.bytes = bytes,
		.start_ns = page->waited_from_ns,
		.begin_ns = page->waited_to_ns,
		.end_ns = now,
	};

	ez_spans_add(e, &span, e->messages - 1);
}

void ez_endpoint_publish_heard(struct ez_entry *e, uint64_t message_id, uint64_t bytes,
			       uint64_t moment)
{
	ez_entry_begin(e);
	e->messages++;
	e->bytes += bytes;
	if (opens_bucket(e)) {
		struct ez_bucket_page *page = ez_entry_page(e);
		struct ez_bucket *b = &page->bucket;
		uint64_t now, before = e->messages - 1;

		now = moment_of(e, moment, message_id, CALL_CLIENT_LEASE);
		now = ez_bucket_at(e, b, now, before);
		note_call(e, CALL_OTHER, message_id, now);
		ez_bucket_gap(page, now, before, before + 1);
		b->messages++;
		b->bytes += bytes;
		if (ez_probe_enabled(EZ_PROBE_spans))
			publish_span(e, page, message_id, bytes, now);
		page->waited_from_ns = 0;
		page->waited_to_ns = 0;
		ez_bucket_close(b);
	}
	if (ez_probe_enabled(EZ_PROBE_publish))
		ez_probe_publish(ez_entry_ref(e), message_id, bytes, e->messages,
				 ez_entry_topic(e));
	ez_entry_end(e);
}

void ez_endpoint_lease_heard(struct ez_entry *e, uint64_t message_id, uint64_t moment)
{
	uint64_t *start = ez_entry_lease_start(e, message_id);

	ez_entry_begin(e);
	e->leases++;
	if (keeps_buckets(e)) {
		bool client = e->kind == EZ_KIND_CLIENT;

		moment = moment_of(e, moment, message_id, client ? CALL_LINK_LEASE : CALL_NEVER);
		note_call(e, client ? CALL_CLIENT_LEASE : CALL_LINK_LEASE, message_id, moment);
		*start = EZ_START_PRECISE(moment);
	} else {
		*start = EZ_START_COARSE(ez_clock_ns(CLOCK_MONOTONIC_COARSE));
	}
	if (ez_probe_enabled(EZ_PROBE_lease))
		ez_probe_lease(ez_entry_ref(e), message_id, e->num_buffers, e->leases,
			       ez_entry_topic(e), ez_entry_handle(e));
	ez_entry_end(e);
}

static void free_span(const struct ez_entry *e, const struct ez_mark *mark, uint64_t message_id,
		      uint64_t bytes, uint64_t start, uint64_t now)
{
	struct ez_span span = {
		.message_id = message_id,
		.bytes = bytes,
		.start_ns = EZ_START_IS_PRECISE(start) ? start : 0,
		.end_ns = now,
	};

	if (mark && mark->message == message_id + 1) {
		span.begin_ns = mark->begin_ns;
		span.finish_ns = mark->finish_ns;
	}
	ez_spans_add(e, &span, ez_entry_total(e));
}

/* The lease that began at `start` ends at `now`; the total was `before`. */
static inline void free_in_bucket(const struct ez_entry *e, uint64_t message_id, uint64_t bytes,
				  uint64_t start, uint64_t now, uint64_t before)
{
	struct ez_bucket_page *page = ez_entry_page(e);
	struct ez_bucket *b = &page->bucket;

	b->messages++;
	b->bytes += bytes;
	if (page->heard_total == before)
		page->heard_total = before + 1;
	if (EZ_START_IS_PRECISE(start))
		ez_bucket_sample(b, e->kind == EZ_KIND_CLIENT ? 3 : 0, start, now);
	if (ez_probe_enabled(EZ_PROBE_spans))
		free_span(e, ez_entry_mark(e, message_id), message_id, bytes, start, now);
}

void ez_endpoint_free_heard(struct ez_entry *e, uint64_t message_id, uint64_t bytes,
			    uint64_t moment)
{
	uint64_t *where = ez_entry_lease_start(e, message_id), start = *where;

	ez_entry_begin(e);
	if (opens_bucket(e)) {
		struct ez_bucket *b = &ez_entry_page(e)->bucket;
		uint64_t now, before = ez_entry_total(e);
		bool client = e->kind == EZ_KIND_CLIENT;

		now = moment_of(e, moment, message_id,
				client ? CALL_CALLBACK_END : CALL_CLIENT_FREE);
		now = ez_bucket_at(e, b, now, before);
		note_call(e, client ? CALL_CLIENT_FREE : CALL_OTHER, message_id, now);
		free_in_bucket(e, message_id, bytes, start, now, before);
		ez_bucket_close(b);
	}
	*where = 0;
	e->frees++;
	e->bytes += bytes;
	if (ez_probe_enabled(EZ_PROBE_free))
		ez_probe_free(ez_entry_ref(e), message_id, e->num_buffers, e->frees, bytes,
			      ez_entry_handle(e));
	ez_entry_end(e);
}

/* What the process says was no processing moves the beginning, never beyond now. */
static inline void end_in_bucket(const struct ez_entry *e, struct ez_bucket *b, uint64_t message_id,
				 uint64_t now, uint64_t excluded_ns)
{
	struct ez_mark *mark = ez_entry_mark(e, message_id);
	uint64_t whole_ns, from, bucket_ns = b->id << EZ_BUCKET_SHIFT;

	ez_work_end(e, ez_entry_page(e), now, bucket_ns);
	if (!mark || mark->message != message_id + 1 || mark->finish_ns)
		return;
	whole_ns = now > mark->begin_ns ? now - mark->begin_ns : 0;
	from = excluded_ns < whole_ns ? mark->begin_ns + excluded_ns : now;
	ez_bucket_sample(b, 1, from, now);
	if (from < bucket_ns)
		b->carry_ns += bucket_ns - from;
	mark->finish_ns = now;
	/* Of several callbacks at once the last to begin is the one that shows. */
	if (b->open_since_ns[1] == mark->begin_ns)
		b->open_since_ns[1] = 0;
}

static inline void fire_callback_end(const struct ez_entry *e, uint64_t message_id,
				     uint64_t excluded_ns)
{
	if (ez_probe_enabled(EZ_PROBE_callback_end))
		ez_probe_callback_end(ez_entry_ref(e), message_id, e->num_buffers,
				      ez_entry_topic(e), ez_entry_handle(e), excluded_ns);
}

/* As callback_end and free one after the other, in one go. */
void ez_endpoint_release_heard(struct ez_entry *e, uint64_t message_id, uint64_t bytes)
{
	uint64_t *where = ez_entry_lease_start(e, message_id), start = *where;

	ez_entry_begin(e);
	if (opens_bucket(e)) {
		struct ez_bucket *b = &ez_entry_page(e)->bucket;
		uint64_t before = ez_entry_total(e), now = ez_bucket_at(e, b, 0, before);

		note_call(e, CALL_CLIENT_FREE, message_id, now);
		end_in_bucket(e, b, message_id, now, 0);
		free_in_bucket(e, message_id, bytes, start, now, before);
		ez_bucket_close(b);
	}
	fire_callback_end(e, message_id, 0);
	*where = 0;
	e->frees++;
	e->bytes += bytes;
	if (ez_probe_enabled(EZ_PROBE_free))
		ez_probe_free(ez_entry_ref(e), message_id, e->num_buffers, e->frees, bytes,
			      ez_entry_handle(e));
	ez_entry_end(e);
}

void ez_endpoint_drop_heard(struct ez_entry *e)
{
	struct ez_bucket *b;

	if (!opens_bucket(e))
		return;
	b = &ez_entry_page(e)->bucket;
	ez_bucket_at(e, b, 0, ez_entry_total(e));
	b->drops++;
	ez_bucket_close(b);
}

void ez_endpoint_callback_begin_heard(struct ez_entry *e, uint64_t message_id, uint64_t moment)
{
	if (opens_bucket(e)) {
		struct ez_bucket_page *page = ez_entry_page(e);
		struct ez_bucket *b = &page->bucket;
		struct ez_mark *mark = ez_entry_mark(e, message_id);
		uint64_t start = *ez_entry_lease_start(e, message_id);
		uint64_t now, total = ez_entry_total(e);

		now = ez_bucket_at(e, b, moment, total);
		note_call(e, CALL_OTHER, message_id, now);
		if (EZ_START_IS_PRECISE(start))
			ez_bucket_sample(b, 0, start, now);
		ez_bucket_gap(page, now, total, total);
		b->open_since_ns[1] = now;
		if (mark) {
			mark->message = message_id + 1;
			mark->begin_ns = now;
			mark->finish_ns = 0;
		}
		ez_work_begin(e, page, EZ_WORK_CALLBACK, now);
		ez_bucket_close(b);
	}
	if (ez_probe_enabled(EZ_PROBE_callback_begin))
		ez_probe_callback_begin(ez_entry_ref(e), message_id, e->num_buffers,
					ez_entry_topic(e), ez_entry_handle(e));
}

void ez_endpoint_callback_end_heard(struct ez_entry *e, uint64_t message_id, uint64_t moment,
				    uint64_t excluded_ns)
{
	if (opens_bucket(e)) {
		struct ez_bucket *b = &ez_entry_page(e)->bucket;
		uint64_t now = ez_bucket_at(e, b, moment, ez_entry_total(e));

		note_call(e, CALL_CALLBACK_END, message_id, now);
		end_in_bucket(e, b, message_id, now, excluded_ns);
		ez_bucket_close(b);
	}
	fire_callback_end(e, message_id, excluded_ns);
}

/*
 * Waits are rare and long: their start is kept in the page whether or not anybody listens, so that
 * one in progress at the attach shows at once, with its true age.
 */
void ez_endpoint_blocked_begin_at(struct ez_entry *e, uint64_t message_id, uint64_t moment)
{
	struct ez_bucket_page *page;

	if (!e)
		return;
	page = ez_entry_page(e);
	ez_entry_begin(e);
	e->blocked_since_ns = moment ? moment : ez_counter_now_ns();
	if (page && ez_bucket_open(&page->bucket)) {
		page->bucket.open_since_ns[1] = e->blocked_since_ns;
		ez_work_begin(e, page, EZ_WORK_WAIT, e->blocked_since_ns);
		ez_bucket_close(&page->bucket);
	}
	if (ez_probe_enabled(EZ_PROBE_backpressure_begin))
		ez_probe_backpressure_begin(ez_entry_ref(e), message_id, ez_entry_topic(e));
	ez_entry_end(e);
}

static uint64_t end_wait_in_bucket(struct ez_entry *e, struct ez_bucket_page *page, uint64_t moment)
{
	struct ez_bucket *b = &page->bucket;
	uint64_t from = e->blocked_since_ns, now = ez_bucket_at(e, b, moment, ez_entry_total(e));
	uint64_t bucket_ns = b->id << EZ_BUCKET_SHIFT;

	ez_bucket_sample(b, 1, from, now);
	if (from < bucket_ns)
		b->carry_ns += bucket_ns - from;
	/* One who waits in slices, looking at something else in between, waits all the same. */
	if (!page->waited_from_ns || from > page->waited_to_ns + WAIT_SLICES_NS)
		page->waited_from_ns = from;
	page->waited_to_ns = now;
	return now;
}

void ez_endpoint_blocked_end_at(struct ez_entry *e, uint64_t message_id, uint64_t moment)
{
	struct ez_bucket_page *page;
	uint64_t now = moment;

	if (!e)
		return;
	page = ez_entry_page(e);
	ez_entry_begin(e);
	if (page && ez_bucket_open(&page->bucket)) {
		if (keeps_buckets(e))
			now = end_wait_in_bucket(e, page, moment);
		ez_work_end(e, page, now, page->bucket.id << EZ_BUCKET_SHIFT);
		page->bucket.open_since_ns[1] = 0;
		ez_bucket_close(&page->bucket);
	}
	if (!now)
		now = ez_counter_now_ns();
	if (now > e->blocked_since_ns)
		e->blocked_ns += now - e->blocked_since_ns;
	e->blocked_since_ns = 0;
	if (ez_probe_enabled(EZ_PROBE_backpressure_end))
		ez_probe_backpressure_end(ez_entry_ref(e), message_id, ez_entry_topic(e));
	ez_entry_end(e);
}
