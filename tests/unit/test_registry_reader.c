/* SPDX-License-Identifier: MIT */
/*
 * Reading a registry from outside: first a living child's, then memory images that lie in every
 * field. Images live in one buffer that is mapped at IMAGE in the made-up address space.
 */
#include "registry_reader.h"
#include "endpoint.h"
#include "registry.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern struct ez_registry ez_registry_table;

#define NOW_NS 1000000000000ull

/* ---- a living process ---- */

struct child {
	pid_t pid;
	int told; /* readable once the child is ready */
	int mem_fd;
};

static void child_endpoints(void)
{
	static const uint8_t id[16] = {1, 2, 3}, other[16] = {9};
	struct ez_endpoint_spec spec = {.kind = EZ_KIND_PUBLISHER,
					.num_buffers = 8,
					.id = id,
					.publisher_id = id,
					.topic = "A/\xff OUT",
					.handle = NULL};
	struct ez_entry *pub, *client, *gone;
	uint64_t i;

	ez_registry_set_graph_address("127.0.0.1:4711");
	assert_int_equal(ez_registry_open(&spec, &pub), 0);
	assert_int_equal(ez_registry_open(&spec, &gone), 0);
	spec.kind = EZ_KIND_CLIENT;
	spec.subscriber_id = other;
	spec.handle = "handle";
	assert_int_equal(ez_registry_open(&spec, &client), 0);
	ez_registry_close(gone);
	for (i = 0; i < 10007; i++) {
		ez_endpoint_publish(pub, i, 3);
		if (i >= 8)
			ez_endpoint_free(client, i, 2);
		ez_endpoint_lease(client, i);
	}
	ez_endpoint_set_transport(client, EZ_TRANSPORT_SHM);
}

static struct child child_start(bool with_endpoints)
{
	struct child child;
	int told[2];
	char path[64], byte = 0;

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		alarm(30);
		if (with_endpoints)
			child_endpoints();
		if (write(told[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(told[0], &byte, 1), 1);
	close(told[0]);
	close(told[1]);
	snprintf(path, sizeof(path), "/proc/%d/mem", child.pid);
	child.mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(child.mem_fd >= 0);
	return child;
}

static void child_end(struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	close(child->mem_fd);
}

static struct ezprof_registry_place place_of(struct child *child)
{
	struct ezprof_registry_place place = {
		.memory = {ezprof_memory_read_fd, &child->mem_fd},
		.address = (uintptr_t)&ez_registry_table,
		.owner_pid = child->pid,
	};

	return place;
}

static void test_living_process(void **state)
{
	struct child child = child_start(true);
	struct ezprof_registry_place place = place_of(&child);
	struct ezprof_registry_reader *reader = ezprof_registry_reader_new(&place);
	const struct ezprof_endpoints *found;
	const struct ezprof_endpoint *pub, *client;
	struct ezprof_totals again;
	uint64_t now_ns = ez_clock_ns(CLOCK_MONOTONIC);

	(void)state;
	assert_int_equal(ezprof_registry_read(reader, now_ns, &found), 0);
	assert_int_equal(found->count, 2);
	assert_int_equal(found->left_out, 0);
	assert_string_equal(found->graph_address, "127.0.0.1:4711");
	pub = &found->list[0];
	client = &found->list[1];
	assert_int_equal(pub->kind, EZ_KIND_PUBLISHER);
	assert_string_equal(pub->topic, "A/\xef\xbf\xbdxff OUT");
	assert_string_equal(pub->handle, "");
	assert_int_equal(pub->totals.messages, 10007);
	assert_int_equal(pub->totals.bytes, 30021);
	assert_true(pub->totals.stable);
	assert_int_equal(pub->id.bytes[1], 2);
	assert_true(pub->opened_ns && pub->opened_ns <= now_ns);
	assert_int_equal(client->index, 2);
	assert_int_equal(client->totals.leases - client->totals.frees, 8);
	assert_int_equal(client->totals.transport, EZ_TRANSPORT_SHM);
	assert_true(client->oldest_lease_ns && client->oldest_lease_ns <= now_ns);
	assert_int_equal(ezprof_registry_reread(reader, pub, &again, NULL), 0);
	assert_int_equal(again.messages, 10007);

	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	assert_int_equal(ezprof_registry_read(reader, now_ns, &found), -ESRCH);
	ezprof_registry_reader_free(reader);
	close(child.mem_fd);
}

static void test_nothing_opened_yet(void **state)
{
	struct child child = child_start(false);
	struct ezprof_registry_place place = place_of(&child);
	struct ezprof_registry_reader *reader = ezprof_registry_reader_new(&place);
	const struct ezprof_endpoints *found;

	(void)state;
	assert_int_equal(ezprof_registry_read(reader, NOW_NS, &found), -ENODATA);
	ezprof_registry_reader_free(reader);
	child_end(&child);
}

/* A copy of the parent's table in a forked child is none of the child's. */
static void test_owner_is_another(void **state)
{
	struct child child = child_start(true);
	struct ezprof_registry_place place = place_of(&child);
	struct ezprof_registry_reader *reader;
	const struct ezprof_endpoints *found;

	(void)state;
	place.owner_pid = child.pid + 1;
	reader = ezprof_registry_reader_new(&place);
	assert_int_equal(ezprof_registry_read(reader, NOW_NS, &found), -ESTALE);
	ezprof_registry_reader_free(reader);
	child_end(&child);
}

/* ---- images ---- */

#define IMAGE 0x10000ull
#define OWNER 77

struct image {
	struct ez_registry header;
	struct ez_entry entries[EZ_REGISTRY_CHUNK_ENTRIES];
	uint64_t starts[16];
	char text[16];
	unsigned int reads;
	bool flicker; /* the first entry changes at every reading */
	bool racing;  /* its lease is freed right before the table of leases is read */
};

static int image_read(void *context, uint64_t address, void *to, size_t n)
{
	struct image *image = context;

	image->reads++;
	if (image->flicker)
		image->entries[0].messages++;
	if (image->racing && address == IMAGE + offsetof(struct image, starts)) {
		image->entries[0].frees = image->entries[0].leases;
		memset(image->starts, 0, sizeof(image->starts));
	}
	if (address < IMAGE || address - IMAGE > sizeof(*image) ||
	    n > sizeof(*image) - (address - IMAGE))
		return -EFAULT;
	memcpy(to, (const char *)image + (address - IMAGE), n);
	return 0;
}

static uint64_t image_address(size_t offset)
{
	return IMAGE + offset;
}

static int image_setup(void **state)
{
	struct image *image = calloc(1, sizeof(*image));
	uint32_t i;

	image->header = (struct ez_registry){.magic = EZ_REGISTRY_MAGIC,
					     .version = EZ_REGISTRY_VERSION,
					     .header_bytes = sizeof(struct ez_registry),
					     .entry_bytes = sizeof(struct ez_entry),
					     .owner_pid = OWNER,
					     .count = 3,
					     .threads = 0x1000};
	image->header.chunks[0] = image_address(offsetof(struct image, entries));
	for (i = 0; i < EZ_REGISTRY_CHUNK_ENTRIES; i++) {
		image->entries[i] = (struct ez_entry){.state = EZ_ENTRY_OPEN,
						      .generation = 1,
						      .kind = EZ_KIND_CLIENT,
						      .num_buffers = 16,
						      .opened_ns = 5,
						      .index = i};
		image->entries[i].topic = image_address(offsetof(struct image, text));
		image->entries[i].topic_bytes = 5;
		image->entries[i].lease_starts = image_address(offsetof(struct image, starts));
	}
	strcpy(image->text, "topic");
	*state = image;
	return 0;
}

static int image_teardown(void **state)
{
	free(*state);
	return 0;
}

static int image_scan(struct image *image, const struct ezprof_endpoints **ret_found,
		      struct ezprof_registry_reader **ret_reader)
{
	struct ezprof_registry_place place = {
		.memory = {image_read, image}, .address = IMAGE, .owner_pid = OWNER};

	*ret_reader = ezprof_registry_reader_new(&place);
	return ezprof_registry_read(*ret_reader, NOW_NS, ret_found);
}

static void expect(struct image *image, int err, size_t count, uint32_t left_out)
{
	struct ezprof_registry_reader *reader;
	const struct ezprof_endpoints *found = NULL;
	bool is_short = image->header.header_bytes < sizeof(image->header);

	assert_int_equal(image_scan(image, &found, &reader), err);
	if (!err) {
		assert_int_equal(found->count, count);
		assert_int_equal(found->left_out, left_out);
		assert_true(found->threads == (is_short ? 0 : 0x1000));
	}
	ezprof_registry_reader_free(reader);
}

static void test_image(void **state)
{
	expect(*state, 0, 3, 0);
}

static void test_hostile_header(void **state)
{
	struct image *image = *state, good = *image;

	image->header.magic = 1;
	expect(image, -EPROTO, 0, 0);
	*image = good;
	image->header.count = EZ_REGISTRY_ENTRIES_MAX + 1;
	expect(image, -EPROTO, 0, 0);
	*image = good;
	image->header.entry_bytes = 8;
	expect(image, -EPROTO, 0, 0);
	*image = good;
	image->header.version = 2;
	expect(image, -EPROTO, 0, 0);
	*image = good;
	image->header.owner_pid = UINT32_MAX;
	expect(image, -ESTALE, 0, 0);
	*image = good;
	/* A process built before its threads said what they do has a shorter one. */
	image->header.header_bytes = EZ_REGISTRY_HEADER_BYTES_MIN;
	expect(image, 0, 3, 0);
	image->header.header_bytes--;
	expect(image, -EPROTO, 0, 0);
	*image = good;
	memset(image->header.graph_address, 'x', sizeof(image->header.graph_address));
	expect(image, 0, 3, 0);
	*image = good;
	image->header.count = EZ_REGISTRY_ENTRIES_MAX;
	expect(image, 0, EZ_REGISTRY_CHUNK_ENTRIES,
	       EZ_REGISTRY_ENTRIES_MAX - EZ_REGISTRY_CHUNK_ENTRIES);
	*image = good;
	image->header.chunks[0] = UINT64_MAX - 100;
	expect(image, 0, 0, 3);
}

static void test_hostile_entries(void **state)
{
	struct image *image = *state;

	image->entries[0].kind = 77;
	image->entries[1].num_buffers = UINT32_MAX;
	image->entries[2].index = 99;
	expect(image, 0, 0, 3);
	image->entries[0].kind = EZ_KIND_LINK;
	image->entries[1].num_buffers = 1;
	image->entries[2].index = 2;
	image->entries[0].generation = 0;
	image->entries[1].state = 99;
	expect(image, 0, 1, 1);
}

static void test_hostile_strings(void **state)
{
	struct image *image = *state;
	struct ezprof_registry_reader *reader;
	const struct ezprof_endpoints *found;

	image->entries[0].topic = 3;
	image->entries[1].topic_bytes = UINT32_MAX;
	memcpy(image->text, "to\xc3", 3);
	image->entries[2].topic_bytes = 3;
	assert_int_equal(image_scan(image, &found, &reader), 0);
	assert_string_equal(found->list[0].topic, "");
	assert_string_equal(found->list[1].topic, "");
	assert_string_equal(found->list[2].topic, "to\xef\xbf\xbdxc3");
	ezprof_registry_reader_free(reader);
}

static void test_changing_entry(void **state)
{
	struct image *image = *state;
	struct ezprof_registry_reader *reader;
	const struct ezprof_endpoints *found;

	image->flicker = true;
	image->entries[1].seq = 3;
	assert_int_equal(image_scan(image, &found, &reader), 0);
	assert_int_equal(found->count, 3);
	assert_false(found->list[0].totals.stable);
	assert_false(found->list[1].totals.stable);
	assert_true(found->list[2].totals.stable);
	assert_true(image->reads < 1000);
	ezprof_registry_reader_free(reader);
}

static void test_reused_entry(void **state)
{
	struct image *image = *state;
	struct ezprof_registry_reader *reader;
	const struct ezprof_endpoints *found;
	struct ezprof_totals totals;

	assert_int_equal(image_scan(image, &found, &reader), 0);
	image->entries[1].generation = 2;
	image->entries[2].state = EZ_ENTRY_CLOSED;
	assert_int_equal(ezprof_registry_reread(reader, &found->list[0], &totals, NULL), 0);
	assert_int_equal(ezprof_registry_reread(reader, &found->list[1], &totals, NULL), -ESTALE);
	assert_int_equal(ezprof_registry_reread(reader, &found->list[2], &totals, NULL), -ESTALE);
	strcpy(image->text, "other");
	assert_int_equal(ezprof_registry_read(reader, NOW_NS, &found), 0);
	assert_int_equal(found->count, 2);
	assert_string_equal(found->list[0].topic, "topic");
	assert_string_equal(found->list[1].topic, "other");
	ezprof_registry_reader_free(reader);
}

/* Lease starts: the oldest that is possible; and no more work than the budget, whatever is asked.
 */
static void test_lease_ages(void **state)
{
	struct image *image = *state;
	struct ezprof_registry_reader *reader;
	const struct ezprof_endpoints *found;

	image->entries[0].leases = 3;
	image->entries[1].leases = 3;
	image->entries[1].num_buffers = EZ_REGISTRY_BUFFERS_MAX;
	image->starts[3] = NOW_NS + 1;
	image->starts[4] = NOW_NS - 7;
	image->starts[5] = NOW_NS - 5;
	assert_int_equal(image_scan(image, &found, &reader), 0);
	assert_int_equal(found->list[0].oldest_lease_ns, NOW_NS - 7);
	assert_int_equal(found->list[1].oldest_lease_ns, 0);
	assert_int_equal(found->list[2].oldest_lease_ns, 0);
	ezprof_registry_reader_free(reader);
}

/* Counters and age are of one moment: a lease since the list was made, one freed in between. */
static void test_lease_age_again(void **state)
{
	struct image *image = *state;
	struct ezprof_registry_reader *reader;
	const struct ezprof_endpoints *found;
	struct ezprof_totals totals;
	uint64_t oldest_ns, start_ns = ez_clock_ns(CLOCK_MONOTONIC);

	assert_int_equal(image_scan(image, &found, &reader), 0);
	image->entries[0].leases = 1;
	image->starts[2] = start_ns;
	assert_int_equal(ezprof_registry_reread(reader, &found->list[0], &totals, &oldest_ns), 0);
	assert_int_equal(totals.leases - totals.frees, 1);
	assert_int_equal(oldest_ns, start_ns);
	image->racing = true;
	assert_int_equal(ezprof_registry_reread(reader, &found->list[0], &totals, &oldest_ns), 0);
	assert_int_equal(totals.leases - totals.frees, 0);
	assert_int_equal(oldest_ns, 0);
	ezprof_registry_reader_free(reader);
}

static void test_time_namespace(void **state)
{
	struct image *image = *state;
	struct ezprof_registry_place place = {.memory = {image_read, image},
					      .address = IMAGE,
					      .owner_pid = OWNER,
					      .clock_offset_ns = 1000};
	struct ezprof_registry_reader *reader = ezprof_registry_reader_new(&place);
	const struct ezprof_endpoints *found;

	image->entries[0].opened_ns = 5000;
	image->entries[0].blocked_since_ns = 6000;
	assert_int_equal(ezprof_registry_read(reader, NOW_NS, &found), 0);
	assert_int_equal(found->list[0].opened_ns, 4000);
	assert_int_equal(found->list[0].totals.blocked_since_ns, 5000);
	ezprof_registry_reader_free(reader);
}

#define FFFD "\xef\xbf\xbd"

static void test_text_repair(void **state)
{
	static const char *const pairs[][2] = {
		{"plain", "plain"},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x99", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x99"},
		{"\\xff \xef\xbf\xbd", "\\xff \xef\xbf\xbd"},
		{"\xc0\xaf", FFFD "xc0" FFFD "xaf"},
		{"\xed\xa0\x80", FFFD "xed" FFFD "xa0" FFFD "x80"},
		{"\xf4\x90\x80\x80", FFFD "xf4" FFFD "x90" FFFD "x80" FFFD "x80"},
		{"a\x80z\xe2\x82", "a" FFFD "x80z" FFFD "xe2" FFFD "x82"},
	};
	char big[EZPROF_TEXT_BYTES_MAX + 10], *text;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		text = ezprof_text_repair(pairs[i][0], strlen(pairs[i][0]), 0);
		assert_string_equal(text, pairs[i][1]);
		free(text);
	}
	memset(big, 0xff, sizeof(big));
	text = ezprof_text_repair(big, sizeof(big), 0);
	assert_true(strlen(text) <= EZPROF_TEXT_BYTES_MAX + 3);
	/* No half of what stands for a byte. */
	assert_string_equal(text + strlen(text) - 9, FFFD "xff\xe2\x80\xa6");
	free(text);
}

#define IMAGE_TEST(f) cmocka_unit_test_setup_teardown(f, image_setup, image_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_living_process),	 cmocka_unit_test(test_nothing_opened_yet),
		cmocka_unit_test(test_owner_is_another), IMAGE_TEST(test_image),
		IMAGE_TEST(test_hostile_header),	 IMAGE_TEST(test_hostile_entries),
		IMAGE_TEST(test_hostile_strings),	 IMAGE_TEST(test_changing_entry),
		IMAGE_TEST(test_reused_entry),		 IMAGE_TEST(test_lease_ages),
		IMAGE_TEST(test_lease_age_again),	 IMAGE_TEST(test_time_namespace),
		cmocka_unit_test(test_text_repair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
