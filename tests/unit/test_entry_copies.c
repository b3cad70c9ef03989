/* SPDX-License-Identifier: MIT */
/*
 * Copies of an entry while its writer goes on: torn at every place, in either order, with every
 * number of the writer's steps in between. First two copies by themselves, then the reader.
 */
#include "entry_copies.h"
#include "registry_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define ENTRY 0x20000ull
#define OLD_TEXT 0x30000ull
#define NEW_TEXT 0x40000ull
#define HEADER 0x10000ull
#define OWNER 77
#define NOW_NS 1000000000000ull
#define CLOSED_NS 900ull
#define WORD 4u
#define BYTES 64u /* of a message */

/* ---- a writer that is advanced step by step, in the order of usdt/registry.c ---- */

static void ids_set(struct ez_entry *e, uint32_t kind, uint8_t byte)
{
	e->kind = kind;
	e->num_buffers = byte;
	e->opened_ns = byte;
	memset(e->id, byte, sizeof(e->id));
	memset(e->publisher_id, byte, sizeof(e->publisher_id));
	memset(e->channel_id, byte, sizeof(e->channel_id));
	memset(e->subscriber_id, byte, sizeof(e->subscriber_id));
}

static void texts_set(struct ez_entry *e, uint64_t text, uint8_t byte)
{
	e->topic = e->handle = e->task = text;
	e->topic_bytes = e->handle_bytes = e->task_bytes = 3;
	e->peer_pid = byte;
}

static void step_free(struct ez_entry *e)
{
	e->state = EZ_ENTRY_FREE;
}

static void step_generation(struct ez_entry *e)
{
	e->generation++;
}

static void step_clear(struct ez_entry *e)
{
	memset(&e->kind, 0, sizeof(*e) - offsetof(struct ez_entry, kind));
}

static void step_ids(struct ez_entry *e)
{
	ids_set(e, EZ_KIND_PUBLISHER, 2);
}

static void step_texts(struct ez_entry *e)
{
	texts_set(e, NEW_TEXT, 2);
}

static void step_open(struct ez_entry *e)
{
	e->state = EZ_ENTRY_OPEN;
}

static void step_begin(struct ez_entry *e)
{
	e->seq++;
	e->messages++;
}

static void step_end(struct ez_entry *e)
{
	e->bytes += BYTES;
	e->seq++;
}

static void step_closed_ns(struct ez_entry *e)
{
	e->closed_ns = CLOSED_NS;
}

static void step_close(struct ez_entry *e)
{
	e->state = EZ_ENTRY_CLOSED;
}

typedef void step(struct ez_entry *entry);

struct writer {
	step *const *steps;
	unsigned int count, done;
	bool goes_on; /* the last two steps, for ever */
	struct ez_entry entry;
};

/* An index is used again; its new endpoint never rests. */
static step *const reuse[] = {step_free,  step_generation, step_clear, step_ids,
			      step_texts, step_open,	   step_begin, step_end};
/* One that never rested is closed. */
static step *const closing[] = {step_begin, step_end, step_closed_ns, step_close};

static void advance(struct writer *w, unsigned int steps)
{
	for (; steps; steps--) {
		if (w->done == w->count && !w->goes_on)
			return;
		if (w->done == w->count)
			w->done -= 2;
		w->steps[w->done++](&w->entry);
	}
}

static struct writer writer_of(step *const *steps)
{
	struct writer w = {.steps = steps, .count = 4};

	w.entry.state = EZ_ENTRY_OPEN;
	w.entry.generation = 1;
	ids_set(&w.entry, EZ_KIND_CLIENT, 1);
	texts_set(&w.entry, OLD_TEXT, 1);
	w.entry.messages = 5000; /* more than the next one gets to here */
	w.entry.bytes = w.entry.messages * BYTES;
	w.entry.seq = 10000;
	if (steps == reuse) {
		w.count = 8;
		w.goes_on = true;
		step_closed_ns(&w.entry);
		step_close(&w.entry);
	}
	return w;
}

/* ---- a copy that the writer overtakes at one place ---- */

struct tear {
	size_t cut;
	bool backwards;
	unsigned int steps;
};

static void copy_torn(struct writer *w, const struct tear *tear, struct ez_entry *ret)
{
	size_t rest = sizeof(*ret) - tear->cut;
	const char *from = (const char *)&w->entry;
	char *to = (char *)ret;

	if (tear->backwards)
		memcpy(to + tear->cut, from + tear->cut, rest);
	else
		memcpy(to, from, tear->cut);
	advance(w, tear->steps);
	if (tear->backwards)
		memcpy(to, from, tear->cut);
	else
		memcpy(to + tear->cut, from + tear->cut, rest);
}

/* ---- two copies ---- */

/* The endpoint as it is known to be, once it has got so far. */
static void expect_identity(const struct ez_entry *e, step *const *steps)
{
	struct writer whole = writer_of(steps);

	if (e->state == EZ_ENTRY_OPEN && steps == reuse)
		advance(&whole, 6);
	if (e->state == EZ_ENTRY_CLOSED && steps == closing)
		advance(&whole, 4);
	if (e->state == EZ_ENTRY_OPEN)
		whole.entry.closed_ns = e->closed_ns; /* its close has begun: of no account yet */
	assert_memory_equal(e, &whole.entry, offsetof(struct ez_entry, seq));
}

static void check_pair(struct writer w, const struct tear tears[2], unsigned int between)
{
	struct ez_entry copies[2];

	copy_torn(&w, &tears[0], &copies[0]);
	advance(&w, between);
	copy_torn(&w, &tears[1], &copies[1]);
	if (ezprof_entry_is_same(&copies[0], &copies[1]) && copies[1].state != EZ_ENTRY_FREE)
		expect_identity(&copies[1], w.steps);
	if (!ezprof_entry_is_whole(&copies[0], &copies[1]))
		return;
	assert_true(ezprof_entry_is_same(&copies[0], &copies[1]));
	assert_int_equal(copies[1].bytes, copies[1].messages * BYTES);
}

static void check_orders(const struct writer *w, struct tear tears[2], unsigned int between)
{
	size_t cut;
	int order;

	for (order = 0; order < 4; order++) {
		tears[0].backwards = order & 1;
		tears[1].backwards = order & 2;
		for (cut = WORD; cut < sizeof(struct ez_entry); cut += WORD) {
			tears[0].cut = tears[1].cut = cut;
			check_pair(*w, tears, between);
		}
	}
}

static void check_pairs(step *const *steps)
{
	struct writer w = writer_of(steps);
	struct tear tears[2] = {0};
	unsigned int between;

	for (; w.done < w.count; advance(&w, 1)) {
		for (tears[0].steps = 0; tears[0].steps <= w.count; tears[0].steps++) {
			for (between = 0; between <= w.count; between++) {
				for (tears[1].steps = 0; tears[1].steps <= w.count;
				     tears[1].steps++)
					check_orders(&w, tears, between);
			}
		}
	}
}

static void test_index_used_again(void **state)
{
	(void)state;
	check_pairs(reuse);
}

static void test_close(void **state)
{
	(void)state;
	check_pairs(closing);
}

/* ---- the reader ---- */

struct process {
	struct ez_registry header;
	struct writer writer;
	struct tear tear;
	unsigned int wait, slow; /* so many copies without a step, then with one, then as in tear */
	unsigned int copies;	 /* of the entry */
};

static int process_read(void *context, uint64_t address, void *to, size_t n)
{
	struct process *p = context;
	struct tear tear = p->tear;
	struct ez_entry entry;

	if (address == HEADER) {
		memcpy(to, &p->header, n);
	} else if (address == ENTRY) {
		if (p->copies < p->wait + p->slow)
			tear.steps = p->copies >= p->wait;
		copy_torn(&p->writer, &tear, &entry);
		p->copies++;
		memcpy(to, &entry, n);
	} else {
		memcpy(to, address == NEW_TEXT ? "new" : "old", n);
	}
	return 0;
}

static void expect_new(const struct ezprof_endpoint *e)
{
	assert_int_equal(e->generation, 2);
	assert_int_equal(e->kind, EZ_KIND_PUBLISHER);
	assert_int_equal(e->num_buffers, 2);
	assert_int_equal(e->opened_ns, 2);
	assert_int_equal(e->id.bytes[15], 2);
	assert_string_equal(e->topic, "new");
	assert_string_equal(e->task, "new");
	if (e->totals.stable)
		assert_int_equal(e->totals.bytes, e->totals.messages * BYTES);
}

typedef int reading(struct ezprof_registry_reader *reader, uint64_t now_ns,
		    const struct ezprof_endpoints **ret_endpoints);

static void check_reading(reading *read, struct process *p, unsigned int copies_max)
{
	struct ezprof_registry_place place = {
		.memory = {process_read, p}, .address = HEADER, .owner_pid = OWNER};
	struct ezprof_registry_reader *reader = ezprof_registry_reader_new(&place);
	const struct ezprof_endpoints *found;

	p->writer = writer_of(reuse);
	p->copies = 0;
	assert_int_equal(read(reader, NOW_NS, &found), 0);
	assert_true(found->count + found->left_out <= 1);
	if (found->count)
		expect_new(&found->list[0]);
	assert_true(p->copies <= copies_max);
	advance(&p->writer, p->writer.count);
	p->copies = p->wait + p->slow;
	assert_int_equal(read(reader, NOW_NS, &found), 0);
	assert_int_equal(found->count, 1);
	expect_new(&found->list[0]);
	assert_false(found->list[0].totals.stable);
	assert_true(p->copies - p->wait - p->slow <= copies_max);
	ezprof_registry_reader_free(reader);
}

static void check_tears(reading *read, struct process *p, unsigned int copies_max)
{
	size_t cut;

	for (p->tear.steps = 1; p->tear.steps <= 8; p->tear.steps++) {
		for (cut = WORD; cut < sizeof(struct ez_entry); cut += WORD) {
			p->tear.cut = cut;
			p->tear.backwards = false;
			check_reading(read, p, copies_max);
			p->tear.backwards = true;
			check_reading(read, p, copies_max);
		}
	}
}

static void check_readings(reading *read, unsigned int copies_max)
{
	struct process p = {.header = {.magic = EZ_REGISTRY_MAGIC,
				       .version = EZ_REGISTRY_VERSION,
				       .header_bytes = sizeof(struct ez_registry),
				       .entry_bytes = sizeof(struct ez_entry),
				       .owner_pid = OWNER,
				       .count = 1,
				       .chunks = {ENTRY}}};

	for (p.wait = 0; p.wait < 3; p.wait++) {
		for (p.slow = 0; p.slow < 8; p.slow++)
			check_tears(read, &p, copies_max);
	}
}

static void test_reading(void **state)
{
	(void)state;
	check_readings(ezprof_registry_read, 67);
}

/* However busy an endpoint is, it is noticed, and doesn't cost more than a few copies. */
static void test_glance(void **state)
{
	(void)state;
	check_readings(ezprof_registry_glance, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index_used_again),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_glance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
