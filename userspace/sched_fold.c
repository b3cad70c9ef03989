/* SPDX-License-Identifier: MIT */
#include "sched_fold.h"

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t id_ns(uint64_t id)
{
	return id > UINT64_MAX >> EZ_BUCKET_SHIFT ? UINT64_MAX : id << EZ_BUCKET_SHIFT;
}

/* Of a sum whose part `carry` lies right before the bucket: what lies after `begin`. */
static uint64_t inside(uint64_t sum, uint64_t carry, uint64_t bucket_ns, uint64_t begin)
{
	return add(sub(sum, carry), min_u64(carry, sub(bucket_ns, begin)));
}

/* The part of a stretch that lies in the window. */
static uint64_t part(const struct ezprof_sched_input *in, uint64_t from, uint64_t to)
{
	return sub(min_u64(to, in->end_ns), max_u64(from, in->begin_ns));
}

/*
 * Work that began before threads were looked at is not known: of a bucket in which such work ended
 * only the time off the CPU is, which is later work's.
 */
static uint64_t covered_in(const struct ezprof_sched_input *in, const struct ezprof_sched_bucket *b,
			   uint64_t bucket_ns)
{
	if (b->covered_carry_ns > sub(bucket_ns, in->from_ns))
		return min_u64(b->covered_ns, add(b->off_ns[0], b->off_ns[1]));
	return inside(b->covered_ns, b->covered_carry_ns, bucket_ns, in->begin_ns);
}

static uint64_t open_work(const struct ezprof_sched_input *in)
{
	uint64_t since = in->covered_since_ns;

	if (!since || since < in->from_ns)
		return 0;
	return add(part(in, since, in->end_ns),
		   min_u64(in->covered_kept_ns, sub(since, in->begin_ns)));
}

static void add_open(const struct ezprof_sched_input *in, uint64_t off[EZ_SCHED_STATES])
{
	for (size_t i = 0; i < in->open_count; i++) {
		const struct ezprof_sched_open *o = &in->open[i];
		uint64_t wake = o->wake_ns ? o->wake_ns : in->end_ns;

		off[EZ_SCHED_BLOCKED] = add(off[EZ_SCHED_BLOCKED], part(in, o->off_ns, wake));
		off[EZ_SCHED_RUNNABLE] = add(off[EZ_SCHED_RUNNABLE], part(in, wake, in->end_ns));
	}
}

/* Readings of several moments need not agree to the last ns: what is too much is cut. */
static void settle(uint64_t time, uint64_t covered, const uint64_t off[EZ_SCHED_STATES],
		   struct ezprof_sched *s)
{
	s->known = true;
	s->time_ns = time;
	s->blocked_ns = min_u64(off[EZ_SCHED_BLOCKED], time);
	s->runnable_ns = min_u64(off[EZ_SCHED_RUNNABLE], time - s->blocked_ns);
	s->on_cpu_ns =
		min_u64(sub(covered, add(off[0], off[1])), time - s->blocked_ns - s->runnable_ns);
	s->other_ns = time - s->blocked_ns - s->runnable_ns - s->on_cpu_ns;
}

void ezprof_sched_fold(const struct ezprof_sched_input *in, struct ezprof_sched *ret_sched)
{
	uint64_t time = in->since_ns ? part(in, in->since_ns, in->end_ns) : 0;
	uint64_t covered = open_work(in), off[EZ_SCHED_STATES] = {0};

	for (size_t i = 0; i < in->count; i++) {
		const struct ezprof_sched_bucket *b = &in->buckets[i];
		uint64_t ns = id_ns(add(in->first_id, i));

		time = add(time, inside(b->sum_ns, b->carry_ns, ns, in->begin_ns));
		covered = add(covered, covered_in(in, b, ns));
		for (unsigned int state = 0; state < EZ_SCHED_STATES; state++)
			off[state] = add(off[state], b->off_ns[state]);
	}
	add_open(in, off);
	settle(time, covered, off, ret_sched);
}
