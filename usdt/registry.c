/* SPDX-License-Identifier: MIT */
/*
 * Endpoint registry: chunks of entries that never move, an index per endpoint, reused late. One
 * lock; readers are other processes and take none (registry_layout.h says what they may rely on).
 */
#include "registry.h"
#include "bucket.h"
#include "counter_clock.h"
#include "endpoint.h"
#include "probes.h"
#include "spans.h"
#include "thread_work.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The leak checker doesn't look into mappings; entries there hold the strings. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#define LEAK_ROOT(start, bytes) __lsan_register_root_region(start, bytes)
#else
#define LEAK_ROOT(start, bytes) ((void)0)
#endif

/* Pages of all entries of a chunk: address space, which is memory only once it is used. */
#define CHUNK_PAGES_BYTES ((size_t)EZ_REGISTRY_CHUNK_ENTRIES * EZ_PAGES_PER_ENTRY * EZ_PAGE_BYTES)

/* Hidden: every object with probes has its own. `used` keeps it for the note alone. */
__attribute__((visibility("hidden"), used)) struct ez_registry ez_registry_table;

/* clang-format off */
__asm__(
"	.pushsection .note.ezprof,\"\",%note\n"
"	.balign 4\n"
"	.4byte 2f-1f, 4f-3f, 1\n"
"1:	.asciz \"ezprof\"\n"
"2:	.balign 4\n"
"3:	.4byte 1, 0\n"
"	.8byte ez_registry_table\n"
"	.8byte _.stapsdt.base\n"
"4:	.balign 4\n"
"	.popsection\n"
"	.ifndef _.stapsdt.base\n"
"	.pushsection .stapsdt.base,\"aGR\",%progbits,.stapsdt.base,comdat\n"
"	.weak _.stapsdt.base\n"
"	.hidden _.stapsdt.base\n"
"_.stapsdt.base: .space 1\n"
"	.size _.stapsdt.base, 1\n"
"	.popsection\n"
"	.endif\n");
/* clang-format on */

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static char *chunk_pages[EZ_REGISTRY_CHUNKS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct ez_entry *entry_at(uint32_t index)
{
	struct ez_entry *chunk =
		(void *)(uintptr_t)ez_registry_table.chunks[index / EZ_REGISTRY_CHUNK_ENTRIES];

	return &chunk[index % EZ_REGISTRY_CHUNK_ENTRIES];
}

static void header_init(void)
{
	struct ez_registry *r = &ez_registry_table;

	r->version = EZ_REGISTRY_VERSION;
	r->header_bytes = sizeof(*r);
	r->entry_bytes = sizeof(struct ez_entry);
	r->owner_pid = (uint32_t)getpid();
	__atomic_store_n(&r->magic, EZ_REGISTRY_MAGIC, __ATOMIC_RELEASE);
}

static void fork_prepare(void)
{
	pthread_mutex_lock(&table_lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&table_lock);
}

/*
 * The child's endpoints are the parent's: it starts anew. The parent's chunks stay mapped, because
 * copies of pointers to them may still be in use in the child, but nothing leads there any more.
 */
static void fork_child(void)
{
	struct ez_registry *r = &ez_registry_table;

	__atomic_store_n(&r->magic, 0, __ATOMIC_RELEASE);
	r->count = 0;
	r->dropped = 0;
	r->changes = 0;
	memset(r->chunks, 0, sizeof(r->chunks));
	memset(chunk_pages, 0, sizeof(chunk_pages));
	ez_counter_fork_child();
	ez_spans_fork_child();
	ez_thread_fork_child();
	header_init();
	pthread_mutex_init(&table_lock, NULL);
}

/*
 * Whoever listens has the last bucket, and the last spans, of endpoints that nobody closed. Other
 * threads may still be at work, and may be stopped anywhere: nothing here waits for a lock.
 */
__attribute__((destructor)) static void hand_over_at_exit(void)
{
	struct ez_registry *r = &ez_registry_table;
	uint32_t i, count = __atomic_load_n(&r->count, __ATOMIC_ACQUIRE);

	if (!count || !ez_probe_enabled(EZ_PROBE_window))
		return;
	ez_bucket_end_all();
	for (i = 0; i < count; i++)
		/* Spans are written while the bucket is open: it is at rest, and so are they. */
		if (entry_at(i)->state == EZ_ENTRY_OPEN && ez_bucket_flush_ended(entry_at(i)))
			ez_spans_flush(entry_at(i));
}

static void registry_init(void)
{
	ez_registry_table.threads = ez_thread_table_make();
	header_init();
	ez_counter_init();
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* Private, never shared or huge: what other processes and BPF read must stay resident. */
static void *map_private(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static int add_chunk_locked(uint32_t chunk)
{
	void *p;

	if (chunk >= EZ_REGISTRY_CHUNKS)
		return -ENOSPC;
	p = map_private(EZ_REGISTRY_CHUNK_ENTRIES * sizeof(struct ez_entry));
	if (!p)
		return -ENOMEM;
	LEAK_ROOT(p, EZ_REGISTRY_CHUNK_ENTRIES * sizeof(struct ez_entry));
	chunk_pages[chunk] = map_private(CHUNK_PAGES_BYTES);
	__atomic_store_n(&ez_registry_table.chunks[chunk], (uint64_t)(uintptr_t)p,
			 __ATOMIC_RELEASE);
	return 0;
}

/* A channel only counts arrivals; without memory for pages an endpoint has its totals alone. */
static uint64_t page_for(uint32_t index, enum ez_endpoint_kind kind)
{
	char *pages = chunk_pages[index / EZ_REGISTRY_CHUNK_ENTRIES];
	size_t place = index % EZ_REGISTRY_CHUNK_ENTRIES;

	if (!pages || kind == EZ_KIND_CHANNEL || kind == EZ_KIND_TASK)
		return 0;
	pages += place * EZ_PAGES_PER_ENTRY * EZ_PAGE_BYTES;
	ez_bucket_reset((struct ez_bucket_page *)(void *)pages);
	return (uintptr_t)pages;
}

static int find_index_locked(uint64_t now, uint32_t *ret_index)
{
	struct ez_registry *r = &ez_registry_table;
	uint32_t i;
	int err;

	for (i = 0; i < r->count; i++) {
		const struct ez_entry *e = entry_at(i);

		if (e->state == EZ_ENTRY_CLOSED && now - e->closed_ns >= EZ_REGISTRY_REUSE_NS) {
			*ret_index = i;
			return 0;
		}
	}
	if (r->count % EZ_REGISTRY_CHUNK_ENTRIES == 0) {
		err = add_chunk_locked(r->count / EZ_REGISTRY_CHUNK_ENTRIES);
		if (err)
			return err;
	}
	*ret_index = r->count;
	return 0;
}

/* The storage behind an entry: lease starts, marks of a client, then the three strings. */
struct storage {
	uint64_t *lease_starts;
	struct ez_mark *marks;
	char *topic, *handle, *task;
	uint32_t topic_bytes, handle_bytes, task_bytes;
};

static uint32_t string_bytes(const char *s)
{
	return s ? (uint32_t)strnlen(s, EZ_REGISTRY_STRING_MAX) : 0;
}

static char *string_put(char **where, const char *s, uint32_t bytes)
{
	char *start = *where;

	if (bytes)
		memcpy(start, s, bytes);
	start[bytes] = '\0';
	*where = start + bytes + 1;
	return start;
}

static int storage_make(const struct ez_endpoint_spec *spec, struct storage *ret)
{
	size_t starts = spec->num_buffers * sizeof(uint64_t), marks = 0;
	char *p;

	ret->topic_bytes = string_bytes(spec->topic);
	ret->handle_bytes = string_bytes(spec->handle);
	ret->task_bytes = string_bytes(spec->task);
	if (spec->kind == EZ_KIND_CLIENT)
		marks = spec->num_buffers * sizeof(struct ez_mark);
	p = calloc(1, starts + marks + ret->topic_bytes + ret->handle_bytes + ret->task_bytes + 3);
	if (!p)
		return -ENOMEM;
	ret->lease_starts = (uint64_t *)(void *)p;
	p += starts;
	ret->marks = marks ? (struct ez_mark *)(void *)p : NULL;
	p += marks;
	ret->topic = string_put(&p, spec->topic, ret->topic_bytes);
	ret->handle = string_put(&p, spec->handle, ret->handle_bytes);
	ret->task = string_put(&p, spec->task, ret->task_bytes);
	return 0;
}

static void copy_id(uint8_t to[16], const uint8_t *from)
{
	if (from)
		memcpy(to, from, 16);
}

static void entry_fill(struct ez_entry *e, uint32_t index, const struct ez_endpoint_spec *spec,
		       const struct storage *st, uint64_t now)
{
	uint32_t generation = e->generation + 1;

	/* Raised first and alone: a reader that saw the old identity sees that it is void. */
	__atomic_store_n(&e->state, EZ_ENTRY_FREE, __ATOMIC_RELEASE);
	__atomic_store_n(&e->generation, generation, __ATOMIC_SEQ_CST);
	free((void *)(uintptr_t)e->lease_starts);
	memset(&e->kind, 0, sizeof(*e) - __builtin_offsetof(struct ez_entry, kind));
	e->index = index;
	e->kind = spec->kind;
	e->num_buffers = spec->num_buffers;
	e->opened_ns = now;
	copy_id(e->id, spec->id);
	copy_id(e->publisher_id, spec->publisher_id);
	copy_id(e->channel_id, spec->channel_id);
	copy_id(e->subscriber_id, spec->subscriber_id);
	e->topic = (uintptr_t)st->topic;
	e->handle = (uintptr_t)st->handle;
	e->task = (uintptr_t)st->task;
	e->topic_bytes = st->topic_bytes;
	e->handle_bytes = st->handle_bytes;
	e->task_bytes = st->task_bytes;
	e->peer_pid = spec->peer_pid;
	e->lease_starts = (uintptr_t)st->lease_starts;
	e->marks = (uintptr_t)st->marks;
	e->page = page_for(index, spec->kind);
	__atomic_store_n(&e->state, EZ_ENTRY_OPEN, __ATOMIC_RELEASE);
}

static int open_locked(const struct ez_endpoint_spec *spec, struct ez_entry **ret_entry)
{
	struct ez_registry *r = &ez_registry_table;
	uint64_t now = now_ns();
	struct storage st;
	uint32_t index;
	int err;

	err = find_index_locked(now, &index);
	if (!err)
		err = storage_make(spec, &st);
	if (err) {
		r->dropped++;
		return err;
	}
	entry_fill(entry_at(index), index, spec, &st, now);
	if (index == r->count)
		__atomic_store_n(&r->count, index + 1, __ATOMIC_RELEASE);
	r->changes++;
	*ret_entry = entry_at(index);
	return 0;
}

int ez_registry_open(const struct ez_endpoint_spec *spec, struct ez_entry **ret_entry)
{
	struct ez_entry *entry;
	int err;

	if (spec->num_buffers > EZ_REGISTRY_BUFFERS_MAX)
		return -EINVAL;
	pthread_once(&once, registry_init);
	pthread_mutex_lock(&table_lock);
	err = open_locked(spec, &entry);
	pthread_mutex_unlock(&table_lock);
	if (err)
		return err;
	if (ez_probe_enabled(EZ_PROBE_endpoint_open))
		ez_probe_endpoint_open(ez_entry_ref(entry), entry->kind, ez_entry_topic(entry),
				       ez_entry_handle(entry));
	*ret_entry = entry;
	return 0;
}

void ez_registry_close(struct ez_entry *entry)
{
	if (!entry)
		return;
	ez_work_drop(entry);
	ez_bucket_flush(entry);
	ez_spans_flush(entry);
	if (ez_probe_enabled(EZ_PROBE_endpoint_close))
		ez_probe_endpoint_close(ez_entry_ref(entry), entry->kind, ez_entry_topic(entry),
					ez_entry_handle(entry));
	pthread_mutex_lock(&table_lock);
	entry->closed_ns = now_ns();
	__atomic_store_n(&entry->state, EZ_ENTRY_CLOSED, __ATOMIC_RELEASE);
	ez_registry_table.changes++;
	pthread_mutex_unlock(&table_lock);
}

void ez_registry_set_graph_address(const char *address)
{
	struct ez_registry *r = &ez_registry_table;
	size_t n = strnlen(address, EZ_REGISTRY_ADDRESS_MAX - 1);

	pthread_once(&once, registry_init);
	pthread_mutex_lock(&table_lock);
	memset(r->graph_address, 0, sizeof(r->graph_address));
	memcpy(r->graph_address, address, n);
	r->changes++;
	pthread_mutex_unlock(&table_lock);
}
