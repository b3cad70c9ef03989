/* SPDX-License-Identifier: MIT */
/*
 * The ring's protocol under preemption. Programs on one CPU are coroutines here: each may be
 * stopped after every access to the ring, and any other then goes on. Random schedules, each
 * checked for:
 * - no add is lost: the sums are those of all programs;
 * - a ready note holds all adds of programs that were over before the first one of its bucket
 * began, and none of its own bucket or a later one; and it never changes while it is that bucket's;
 * - a new owner's base is what was there before its first add;
 * - no maximum is lost unless that was counted, and none is of another bucket.
 * EZPROF_TEST_SEED repeats a run.
 */
#include <stdint.h>

static void ring_step(void);
#define EZ_RING_STEP() ring_step()
#include "ring_shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define PROGRAMS 24u
#define ALIVE_MAX 4u
#define STACK_BYTES 65536u
#define FIRST_ID 5000u
#define ROUNDS 1500u

struct program {
	ucontext_t context;
	char *stack;
	uint64_t id, bytes, duration_ns;
	uint64_t owner;
	uint64_t started, ended;  /* steps; 0: not yet */
	bool max_lost, max_wiped; /* counted as losses */
};

static struct {
	struct ez_ring ring;
	struct ez_note seen[EZ_RING_BUCKETS]; /* ready notes, as first seen */
	struct program programs[PROGRAMS];
	ucontext_t scheduler;
	struct program *running; /* NULL: no coroutine, steps do nothing */
	uint64_t step;
	unsigned int seed;
	bool aliasing; /* buckets may be a turn of the ring apart */
} sim;

static unsigned int upto(unsigned int n)
{
	return (unsigned int)random() % n;
}

static void ring_step(void)
{
	struct program *me = sim.running;

	if (me)
		swapcontext(&me->context, &sim.scheduler);
}

/* What a hit does to a ring: boundary.bpf.c in small. */
static void run(void)
{
	struct program *p = sim.running;
	enum ez_ring_result owned = ez_ring_own(&sim.ring, p->owner, p->id);

	p->max_wiped = owned == EZ_RING_RACED;
	ez_ring_note(&sim.ring, p->id);
	ez_ring_message(&sim.ring, p->bytes);
	p->max_lost = !ez_ring_interval(&sim.ring, p->id, 1, p->duration_ns);
	p->ended = sim.step;
	sim.running = NULL;
	setcontext(&sim.scheduler);
}

static void start(struct program *p)
{
	getcontext(&p->context);
	p->context.uc_stack.ss_sp = p->stack;
	p->context.uc_stack.ss_size = STACK_BYTES;
	p->context.uc_link = NULL;
	makecontext(&p->context, run, 0);
	p->started = sim.step;
}

static void fail_with_seed(const char *what)
{
	fail_msg("%s: EZPROF_TEST_SEED=%u", what, sim.seed);
}

/* Ready notes stay as they are until a later bucket takes their place. */
static void check_notes_are_constant(void)
{
	for (unsigned int i = 0; i < EZ_RING_BUCKETS; i++) {
		const struct ez_note *note = &sim.ring.notes[i];

		if (!EZ_NOTE_IS_READY(note->state))
			continue;
		if (sim.seen[i].state == note->state &&
		    memcmp(&sim.seen[i].sums, &note->sums, sizeof(note->sums)) != 0)
			fail_with_seed("a ready note has changed");
		if (sim.seen[i].state > note->state)
			fail_with_seed("an older note has taken the place of a newer one");
		sim.seen[i] = *note;
	}
}

/* By one step, or by so many that others seem to have been stopped for long. */
static void go_on(struct program *p)
{
	unsigned int steps = upto(4) ? 1 : 1 + upto(120);

	while (steps-- && !p->ended) {
		sim.step++;
		sim.running = p;
		swapcontext(&sim.scheduler, &p->context);
		sim.running = NULL;
		check_notes_are_constant();
	}
}

/* One of those alive goes on, or one more starts. */
static void schedule(void)
{
	struct program *alive[ALIVE_MAX];
	unsigned int count = 0, next = 0;

	for (;;) {
		count = 0;
		for (next = 0; next < PROGRAMS && sim.programs[next].started; next++) {
			if (!sim.programs[next].ended)
				alive[count++] = &sim.programs[next];
		}
		if (!count && next == PROGRAMS)
			return;
		sim.step++;
		if (!count || (count < ALIVE_MAX && next < PROGRAMS && upto(12) == 0)) {
			start(&sim.programs[next]);
			continue;
		}
		go_on(alive[upto(count)]);
	}
}

/* Ids rise with the order of starting: the clock is read first. A change of owner ends all others.
 */
static void prepare(uint64_t id_step_max)
{
	uint64_t id = FIRST_ID + upto(EZ_RING_BUCKETS);

	memset(&sim.ring, 0, sizeof(sim.ring));
	memset(sim.seen, 0, sizeof(sim.seen));
	sim.step = 1;
	sim.aliasing = id_step_max * PROGRAMS >= EZ_RING_BUCKETS;
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		struct program *p = &sim.programs[i];

		if (upto(4) == 0)
			id += upto((unsigned int)id_step_max + 1);
		p->id = id;
		p->bytes = upto(1000);
		p->duration_ns = upto(1u << 30);
		p->owner = EZ_OWNER_READY(1, 1);
		p->started = p->ended = 0;
	}
}

/* As the reader does: later notes are right about what they do not hold yet. */
static uint64_t cut_to_later(const struct ez_note *note)
{
	uint64_t messages = note->sums.messages;

	for (unsigned int i = 0; i < EZ_RING_BUCKETS; i++) {
		const struct ez_note *other = &sim.ring.notes[i];

		if (EZ_NOTE_IS_READY(other->state) && other->state > note->state &&
		    other->sums.messages < messages)
			messages = other->sums.messages;
	}
	return messages;
}

/* What had certainly been added when the note's bucket began, and what may have been. */
static void check_note(const struct ez_note *note)
{
	uint64_t id = EZ_NOTE_ID(note->state), began = UINT64_MAX, least = 0, most = 0;
	uint64_t messages = cut_to_later(note);

	for (unsigned int i = 0; i < PROGRAMS; i++) {
		if (sim.programs[i].id >= id && sim.programs[i].started < began)
			began = sim.programs[i].started;
	}
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		least += sim.programs[i].ended < began;
		most += sim.programs[i].id < id;
	}
	if (messages < least)
		fail_with_seed("a note lacks what was over before it");
	/* Stopped for a turn of the ring, a program may find all notes gone that would tell. */
	if (messages > most && !sim.aliasing)
		fail_with_seed("a note holds what came after it");
}

/* Somebody lost the race for the ring, and may have wiped the bucket's maxima: it said so. */
static bool was_wiped(uint64_t id)
{
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		if (sim.programs[i].max_wiped &&
		    sim.programs[i].id % EZ_RING_BUCKETS == id % EZ_RING_BUCKETS)
			return true;
	}
	return false;
}

static void check_max(void)
{
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		const struct program *p = &sim.programs[i];
		uint64_t word = ez_ring_note_at(&sim.ring, p->id)->max[1];

		if (EZ_MAX_IS_LATER(word, p->id) || p->max_lost || was_wiped(p->id))
			continue;
		if (!EZ_MAX_IS_OF(word, p->id) || (word & EZ_MAX_NS) < p->duration_ns)
			fail_with_seed("a maximum is lost");
	}
}

static void check_sums(void)
{
	struct ez_sums want = {0};

	for (unsigned int i = 0; i < PROGRAMS; i++) {
		want.messages++;
		want.bytes += sim.programs[i].bytes;
		want.n[1]++;
		want.sum_ns[1] += sim.programs[i].duration_ns;
	}
	if (memcmp(&want, &sim.ring.sums, sizeof(want)) != 0)
		fail_with_seed("sums differ");
}

static void rounds(uint64_t id_step_max, unsigned int salt)
{
	const char *seed = getenv("EZPROF_TEST_SEED");
	unsigned int first = seed ? (unsigned int)strtoul(seed, NULL, 10) : salt;

	for (unsigned int i = 0; i < PROGRAMS; i++)
		sim.programs[i].stack = malloc(STACK_BYTES);
	for (unsigned int r = 0; r < (seed ? 1 : ROUNDS); r++) {
		sim.seed = first + r;
		srandom(sim.seed);
		prepare(id_step_max);
		schedule();
		check_sums();
		check_max();
		for (unsigned int i = 0; i < EZ_RING_BUCKETS; i++) {
			if (EZ_NOTE_IS_READY(sim.ring.notes[i].state))
				check_note(&sim.ring.notes[i]);
		}
		if (sim.ring.owner != EZ_OWNER_READY(1, 1))
			fail_with_seed("the owner is not ready");
	}
	for (unsigned int i = 0; i < PROGRAMS; i++)
		free(sim.programs[i].stack);
}

static void test_same_buckets(void **state)
{
	(void)state;
	rounds(1, 1);
}

static void test_near_buckets(void **state)
{
	(void)state;
	rounds(5, 50000);
}

static void test_far_buckets(void **state)
{
	(void)state;
	rounds(200, 100000);
}

/*
 * A new owner comes while none of the old one's programs runs, and its own preempt each other: what
 * counts for it is exactly its own.
 */
static void test_new_owner(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < PROGRAMS; i++)
		sim.programs[i].stack = malloc(STACK_BYTES);
	for (unsigned int r = 0; r < ROUNDS; r++) {
		struct ez_sums want = {0};

		sim.seed = 200000 + r;
		srandom(sim.seed);
		prepare(1);
		sim.ring.owner = EZ_OWNER_READY(1, 7);
		sim.ring.sums.messages = upto(100);
		sim.ring.sums.bytes = upto(100);
		sim.ring.notes[sim.programs[0].id % EZ_RING_BUCKETS].max[1] =
			EZ_MAX_WORD(sim.programs[0].id, EZ_MAX_NS);
		for (unsigned int i = 0; i < PROGRAMS; i++) {
			sim.programs[i].owner = EZ_OWNER_READY(2, 1);
			want.messages++;
			want.bytes += sim.programs[i].bytes;
		}
		schedule();
		if (sim.ring.sums.messages - sim.ring.base.messages != want.messages ||
		    sim.ring.sums.bytes - sim.ring.base.bytes != want.bytes)
			fail_with_seed("the new owner's sums differ");
		if (sim.ring.owner != EZ_OWNER_READY(2, 1) || sim.ring.base_id < sim.programs[0].id)
			fail_with_seed("the owner is not ready");
		/* Of buckets before its base the reader takes no maximum. */
		if (sim.ring.base_id == sim.programs[0].id &&
		    (ez_ring_note_at(&sim.ring, sim.ring.base_id)->max[1] & EZ_MAX_NS) == EZ_MAX_NS)
			fail_with_seed("the old owner's maximum is still there");
		check_max();
	}
	for (unsigned int i = 0; i < PROGRAMS; i++)
		free(sim.programs[i].stack);
}

/* A program that was stopped for a whole turn of the ring, its note claimed. */
static void test_claimed_for_a_turn(void **state)
{
	struct ez_note *note = ez_ring_note_at(&sim.ring, FIRST_ID);

	(void)state;
	memset(&sim.ring, 0, sizeof(sim.ring));
	note->state = EZ_NOTE_CLAIMED(FIRST_ID);
	assert_int_equal(ez_ring_note(&sim.ring, FIRST_ID + EZ_RING_BUCKETS), EZ_RING_RACED);
	assert_int_equal(note->state, EZ_NOTE_CLAIMED(FIRST_ID));
}

static void test_stale_owner(void **state)
{
	(void)state;
	memset(&sim.ring, 0, sizeof(sim.ring));
	assert_int_equal(ez_ring_own(&sim.ring, EZ_OWNER_READY(3, 2), 9), EZ_RING_OK);
	assert_int_equal(ez_ring_own(&sim.ring, EZ_OWNER_READY(3, 1), 9), EZ_RING_STALE);
	assert_int_equal(ez_ring_own(&sim.ring, EZ_OWNER_READY(2, 9), 9), EZ_RING_STALE);
	assert_int_equal(ez_ring_own(&sim.ring, EZ_OWNER_READY(3, 2), 9), EZ_RING_OK);
}

static void test_max_words(void **state)
{
	uint64_t id = (1ull << 20) - 1; /* the 20 bits wrap between this one and the next */

	(void)state;
	assert_true(EZ_MAX_IS_OF(EZ_MAX_WORD(id, 5), id));
	assert_false(EZ_MAX_IS_OF(EZ_MAX_WORD(id, 5), id + 1));
	assert_true(EZ_MAX_IS_LATER(EZ_MAX_WORD(id + 1, 5), id));
	assert_false(EZ_MAX_IS_LATER(EZ_MAX_WORD(id, 5), id));
	assert_false(EZ_MAX_IS_LATER(EZ_MAX_WORD(id, 5), id + 1));
	assert_false(EZ_MAX_IS_LATER((uint64_t)0, id));
	assert_int_equal(EZ_MAX_WORD(id, UINT64_MAX) & EZ_MAX_NS, EZ_MAX_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_buckets),	   cmocka_unit_test(test_near_buckets),
		cmocka_unit_test(test_far_buckets),	   cmocka_unit_test(test_new_owner),
		cmocka_unit_test(test_claimed_for_a_turn), cmocka_unit_test(test_stale_owner),
		cmocka_unit_test(test_max_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
