/* SPDX-License-Identifier: MIT */
#include "snapshot_window.h"
#include "clock.h"
#include "window_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where the page was never at rest the window ends some buckets ago: where a process was stopped.
 */
#define IDS_SLACK 3
/* Only where a fold was overtaken by a whole turn of the ring. */
#define FOLD_TRIES 3

struct pending {
	size_t place;
	const struct ezprof_target *target;
	const struct ezprof_target_object *object;
	uint64_t window_ns;
	uint64_t now_ns; /* before its page was read */
	struct ezprof_page page;
};

struct ezprof_window_rows {
	const struct ezprof_measurement *measurement;
	struct pending *pending;
	size_t count, room;
};

struct ezprof_window_rows *ezprof_window_rows_new(const struct ezprof_measurement *measurement)
{
	struct ezprof_window_rows *rows = calloc(1, sizeof(*rows));

	if (rows)
		rows->measurement = measurement;
	return rows;
}

void ezprof_window_rows_free(struct ezprof_window_rows *rows)
{
	if (!rows)
		return;
	free(rows->pending);
	free(rows);
}

void ezprof_window_rows_clear(struct ezprof_window_rows *rows)
{
	rows->count = 0;
}

static int make_room(struct ezprof_window_rows *rows)
{
	size_t room = rows->room * 2 + 64;
	struct pending *grown;

	if (rows->count < rows->room)
		return 0;
	grown = reallocarray(rows->pending, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	rows->pending = grown;
	rows->room = room;
	return 0;
}

int ezprof_window_rows_add(struct ezprof_window_rows *rows, const struct ezprof_row_maker *maker,
			   const struct ezprof_row *row, size_t place)
{
	struct ezprof_memory memory = {ezprof_memory_read_fd, &maker->target->process->mem_fd};
	struct pending *p;

	if (row->endpoint.kind == EZ_KIND_CHANNEL)
		return 0;
	if (make_room(rows))
		return -ENOMEM;
	p = &rows->pending[rows->count++];
	p->place = place;
	p->target = maker->target;
	p->object = maker->object;
	p->window_ns = maker->window_ns;
	p->now_ns = ez_clock_mono_ns();
	/* A page that can't be read is one that was never seen at rest. */
	if (ezprof_page_read(&memory, row->endpoint.page, &p->page))
		memset(&p->page, 0, sizeof(p->page));
	return 0;
}

static uint64_t to_process_ns(const struct ezprof_target *target, uint64_t host_ns)
{
	return host_ns ? host_ns + (uint64_t)target->clock_offset_ns : 0;
}

static void fill_input(const struct pending *p, const struct ezprof_row *row,
		       struct ezprof_window_input *in)
{
	const struct ezprof_totals *t = &row->endpoint.totals;
	uint32_t index = row->endpoint.index;
	const struct ezprof_attach_total *at =
		index < p->object->at_attach_count ? &p->object->at_attach[index] : NULL;

	*in = (struct ezprof_window_input){
		.page = p->page.at_rest ? &p->page.bucket : NULL,
		.page_id = p->page.id,
		.from_id = p->object->from_id,
		.opened_ns = to_process_ns(p->target, row->endpoint.opened_ns),
		.now_ns = to_process_ns(p->target, p->now_ns),
		.window_ns = p->window_ns,
		.clock_offset_ns = p->target->clock_offset_ns,
		.blocked_since_ns = to_process_ns(p->target, t->blocked_since_ns),
		.publisher = row->endpoint.kind == EZ_KIND_PUBLISHER,
		.in_flight = ezprof_row_in_flight(row),
		.total = ezprof_row_messages(row),
		.total_stable = t->stable,
	};
	if (at && at->generation == row->endpoint.generation) {
		in->have_attach = true;
		in->attach_total = at->running.total - at->running.departed;
	}
}

/* The process keeps a link's lease where there is a distribution; everybody else expects it here.
 */
static void move_link_lease(struct ezprof_row *row)
{
	struct ezprof_window *w = &row->window;

	if (row->endpoint.kind != EZ_KIND_LINK)
		return;
	w->interval[EZ_LINK_LEASE] = w->interval[EZ_PUB_LEASE];
	w->interval[EZ_PUB_LEASE] = (struct ezprof_interval){0};
}

/* One bucket's intervals, out of the maps or of the page. */
static void add_intervals(const struct pending *p, const struct ezprof_bucket_list *list,
			  uint64_t first, size_t count, struct ezprof_sched_bucket *buckets)
{
	const struct ez_bucket *page = &p->page.bucket;

	for (size_t i = 0; i < list->count; i++) {
		const struct ezprof_bucket *b = &list->buckets[i];

		if (b->id < first || b->id - first >= count)
			continue;
		buckets[b->id - first].sum_ns = b->sums.sum_ns[1];
		buckets[b->id - first].carry_ns = b->sums.carry_ns;
	}
	if (!p->page.at_rest || page->id < first || page->id - first >= count ||
	    (list->have_totals && page->id <= list->totals.last_id))
		return;
	buckets[page->id - first].sum_ns = page->sum_ns[1];
	buckets[page->id - first].carry_ns = page->carry_ns;
	buckets[page->id - first].covered_ns = p->page.covered.covered_ns;
	buckets[page->id - first].covered_carry_ns = p->page.covered.carry_ns;
}

/* Of the endpoint's window the part in which its process's threads were looked at. */
static void fold_sched(struct ezprof_scheds *scheds, const struct pending *p,
		       const struct ezprof_window_input *in, const struct ezprof_bucket_list *list,
		       const struct ezprof_loss *loss, struct ezprof_window *w)
{
	struct ezprof_sched_bucket buckets[EZ_RING_BUCKETS] = {0};
	struct ezprof_sched_open open[EZPROF_SCHED_OPEN_MAX];
	struct ezprof_sched_input s = {
		.begin_ns = to_process_ns(p->target, w->begin_ns),
		.end_ns = to_process_ns(p->target, w->end_ns),
		.from_ns = p->object->sched_from_id << EZ_BUCKET_SHIFT,
		.buckets = buckets,
		.open = open,
	};

	/*
	 * Without a place no time off the CPU was counted: that would read as time on it. Messages
	 * that were lost tell of an endpoint that had none for a while.
	 */
	if (!p->object->sched_from_id || !w->covered_ns || in->no_place || loss->lost)
		return;
	if (s.begin_ns < s.from_ns)
		s.begin_ns = s.from_ns < s.end_ns ? s.from_ns : s.end_ns;
	s.first_id = EZ_BUCKET_ID(s.begin_ns);
	s.count = EZ_BUCKET_ID(s.end_ns - 1) - s.first_id + 1;
	if (s.begin_ns == s.end_ns || s.count > EZ_RING_BUCKETS)
		s.count = 0;
	if (list->have_slot)
		ezprof_scheds_read(scheds, list->slot, list->epoch, s.first_id, s.count, buckets,
				   open, &s.open_count);
	add_intervals(p, list, s.first_id, s.count, buckets);
	if (in->page) {
		s.since_ns = in->publisher || in->in_flight ? in->page->open_since_ns[1] : 0;
		s.covered_since_ns = p->page.covered.since_ns;
		s.covered_kept_ns = p->page.covered.kept_ns;
	} else if (in->publisher) {
		s.since_ns = in->blocked_since_ns;
	}
	ezprof_sched_fold(&s, &w->sched);
}

static int fold_one(struct ezprof_buckets *buckets, struct ezprof_scheds *scheds,
		    const struct pending *p, struct ezprof_row *row)
{
	struct ezprof_bucket_list list;
	struct ezprof_window_input in;
	uint64_t last, back;
	int err;

	fill_input(p, row, &in);
	last = EZ_BUCKET_ID(in.now_ns);
	back = EZ_BUCKET_ID(p->window_ns < EZPROF_WINDOW_MAX_NS ? p->window_ns
								: EZPROF_WINDOW_MAX_NS) +
	       1 + (p->page.at_rest ? 0 : IDS_SLACK);
	for (int i = 0; i < FOLD_TRIES; i++) {
		err = ezprof_buckets_read(buckets, p->target->process->pid, p->object->file,
					  row->endpoint.index, row->endpoint.generation,
					  last > back ? last - back : 0, last, &list);
		if (err && err != -ENOENT && err != -ENOSPC)
			return err;
		in.no_place = err == -ENOSPC;
		in.buckets = list.buckets;
		in.count = list.count;
		in.totals = list.have_totals ? &list.totals : NULL;
		ezprof_window_fold(&in, &row->window);
		ezprof_window_loss(&in, &row->loss);
		if (scheds)
			fold_sched(scheds, p, &in, &list, &row->loss, &row->window);
		if (ezprof_buckets_valid(buckets, &list))
			break;
	}
	move_link_lease(row);
	return 0;
}

/*
 * It was closed since: its running numbers are all that tells, and of bytes only what was measured.
 * Where that isn't all, the counters stay as they were read, of one moment.
 */
static void raise_totals(struct ezprof_row *row)
{
	struct ezprof_totals *t = &row->endpoint.totals;
	const struct ezprof_window *w = &row->window;

	if (w->measured_messages != w->last_total)
		return;
	if (row->endpoint.kind == EZ_KIND_PUBLISHER)
		t->messages = w->last_total;
	else
		t->frees = w->last_total + t->disconnect_frees;
	t->bytes = w->measured_bytes;
}

/*
 * A busy endpoint went on between the reading of its counters and that of its page: then they are
 * read again, so that no window has more than there was in all. The loss is that of the first
 * reading.
 */
static void catch_up(const struct pending *p, struct ezprof_row *row)
{
	struct ezprof_endpoint *e = &row->endpoint;
	struct ezprof_totals totals;
	uint64_t oldest_ns;
	int err;

	if (e->kind == EZ_KIND_TASK || row->window.last_total <= ezprof_row_messages(row))
		return;
	err = ezprof_registry_reread(p->object->reader, e, &totals, &oldest_ns);
	if (err == -ESTALE)
		raise_totals(row);
	if (err)
		return;
	e->totals = totals;
	e->oldest_lease_ns = oldest_ns;
}

int ezprof_window_rows_fold(struct ezprof_window_rows *rows, struct ezprof_row *profile_rows)
{
	struct ezprof_buckets *buckets = rows->measurement->buckets;
	struct ezprof_scheds *scheds = rows->measurement->scheds;
	int err = ezprof_buckets_begin(buckets);

	if (scheds)
		ezprof_scheds_begin(scheds);
	for (size_t i = 0; i < rows->count && !err; i++) {
		struct ezprof_row *row = &profile_rows[rows->pending[i].place];

		err = fold_one(buckets, scheds, &rows->pending[i], row);
		if (!err)
			catch_up(&rows->pending[i], row);
	}
	return err;
}

void ezprof_window_row_finish(const struct ezprof_row_maker *maker, struct ezprof_row *row)
{
	struct ezprof_buckets *buckets = maker->measurement->buckets;
	struct pending *p = calloc(1, sizeof(*p));

	if (p && row->endpoint.kind != EZ_KIND_CHANNEL) {
		p->target = maker->target;
		p->object = maker->object;
		p->window_ns = maker->window_ns;
		p->now_ns = ez_clock_mono_ns();
		if (!ezprof_buckets_begin(buckets))
			fold_one(buckets, NULL, p, row);
	}
	free(p);
}
