/* SPDX-License-Identifier: MIT */
#include "registry_reader.h"
#include "clock.h"
#include "entry_copies.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Copies of a busy entry that are tried before it counts as unstable, in a glance, and of all of
 * them together until the next reading; about 1.5 us each.
 */
#define TRIES 64u
#define GLANCE_TRIES 3u
#define TRIES_MAX 65536u
#define LEASE_TRIES 4
/*
 * What one reading may read, and what the strings that are kept may take: in a document they are up
 * to six times as long, and it has to stay below EZ_PROFILE_BYTES_MAX.
 */
#define WORK_BYTES_MAX (64u << 20)
#define NAMES_BYTES_MAX (1u << 20)
#define ENTRY_BYTES_MAX 4096u

struct names {
	uint32_t generation; /* 0: none */
	char *topic;
	char *handle;
	char *task;
};

struct ezprof_registry_reader {
	struct ezprof_registry_place place;
	struct ez_registry header;
	struct ezprof_endpoints endpoints; /* of the reading in progress; then swapped */
	size_t endpoints_room;
	struct ezprof_endpoints done; /* of the last reading that succeeded */
	size_t done_room;
	bool done_is_stale;  /* names that it borrows have been freed */
	struct names *names; /* by index */
	size_t names_room;
	size_t names_bytes;
	struct ezprof_closed_blocks closed;
	uint32_t tries_each; /* of one entry */
	uint32_t tries;	     /* since this reading began */
	size_t work_bytes;   /* read so far in this reading */
	size_t lease_bytes;  /* and for leases that were looked at again since */
	uint64_t now_ns;
};

static char no_text[] = "";

static int read_memory(struct ezprof_registry_reader *r, uint64_t address, void *to, size_t n)
{
	if (!address || address > UINT64_MAX - n)
		return -EFAULT;
	if (n > WORK_BYTES_MAX - r->work_bytes)
		return -E2BIG;
	r->work_bytes += n;
	return r->place.memory.read(r->place.memory.context, address, to, n);
}

struct ezprof_registry_reader *ezprof_registry_reader_new(const struct ezprof_registry_place *place)
{
	struct ezprof_registry_reader *r = calloc(1, sizeof(*r));

	if (r) {
		r->place = *place;
		r->tries_each = TRIES;
	}
	return r;
}

static void names_free(struct ezprof_registry_reader *r, struct names *names)
{
	char *texts[] = {names->topic, names->handle, names->task};
	size_t i;

	for (i = 0; i < 3; i++) {
		if (!texts[i] || texts[i] == no_text)
			continue;
		r->names_bytes -= strlen(texts[i]) + 1;
		free(texts[i]);
	}
	memset(names, 0, sizeof(*names));
}

void ezprof_registry_reader_free(struct ezprof_registry_reader *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->names_room; i++)
		names_free(r, &r->names[i]);
	free(r->names);
	free(r->endpoints.list);
	free(r->done.list);
	ezprof_closed_blocks_free(&r->closed);
	free(r);
}

static bool header_is_sane(const struct ez_registry *h)
{
	return h->version == EZ_REGISTRY_VERSION &&
	       h->header_bytes >= EZ_REGISTRY_HEADER_BYTES_MIN &&
	       h->entry_bytes >= sizeof(struct ez_entry) && h->entry_bytes <= ENTRY_BYTES_MAX &&
	       h->entry_bytes % 8 == 0 && h->count <= EZ_REGISTRY_ENTRIES_MAX;
}

/* Host and port are printable ASCII without blanks; anything else isn't an address. */
static void copy_address(const struct ez_registry *h, char *to)
{
	size_t i, n = strnlen(h->graph_address, EZ_REGISTRY_ADDRESS_MAX);

	to[0] = '\0';
	for (i = 0; i < n; i++) {
		if (h->graph_address[i] <= ' ' || h->graph_address[i] > '~')
			return;
	}
	if (n == EZ_REGISTRY_ADDRESS_MAX)
		return;
	memcpy(to, h->graph_address, n);
	to[n] = '\0';
}

static int read_header(struct ezprof_registry_reader *r)
{
	struct ez_registry *h = &r->header;
	int err = read_memory(r, r->place.address, h, sizeof(*h));

	if (err)
		return err;
	if (h->magic == 0)
		return -ENODATA;
	if (h->magic != EZ_REGISTRY_MAGIC || !header_is_sane(h))
		return -EPROTO;
	if (h->owner_pid != (uint32_t)r->place.owner_pid)
		return -ESTALE;
	r->endpoints.dropped = h->dropped;
	r->endpoints.threads = h->header_bytes >= sizeof(*h) ? h->threads : 0;
	r->endpoints.closed = &r->closed;
	copy_address(h, r->endpoints.graph_address);
	return 0;
}

/* Addresses that wrap around are refused by read_memory(). */
static uint64_t entry_address(const struct ezprof_registry_reader *r, uint32_t index)
{
	uint64_t chunk = r->header.chunks[index / EZ_REGISTRY_CHUNK_ENTRIES];
	uint64_t offset = (uint64_t)(index % EZ_REGISTRY_CHUNK_ENTRIES) * r->header.entry_bytes;

	return chunk && chunk <= UINT64_MAX - offset ? chunk + offset : 0;
}

/*
 * One entry by itself; ret_stable: the copy is of one moment. -EFAULT too if no two copies, one
 * after the other, were of one endpoint.
 */
static int read_entry(struct ezprof_registry_reader *r, uint32_t index, struct ez_entry *ret_entry,
		      bool *ret_stable)
{
	uint64_t address = entry_address(r, index);
	struct ez_entry copies[2];
	bool same = false;
	uint32_t i;
	int err;

	err = read_memory(r, address, &copies[0], sizeof(copies[0]));
	*ret_stable = false;
	for (i = 1; !err && i <= r->tries_each && !*ret_stable; i++) {
		if (i > 1 && r->tries++ >= TRIES_MAX)
			break;
		struct ez_entry *now = &copies[i & 1], *before = &copies[!(i & 1)];

		err = read_memory(r, address, now, sizeof(*now));
		same = !err && ezprof_entry_is_same(before, now);
		*ret_stable = !err && ezprof_entry_is_whole(before, now);
		*ret_entry = *now;
	}
	return err || same ? err : -EFAULT;
}

static uint64_t host_ns(const struct ezprof_registry_reader *r, uint64_t process_ns)
{
	int64_t offset = r->place.clock_offset_ns;

	if (!process_ns)
		return 0;
	if (offset > 0 && process_ns <= (uint64_t)offset)
		return 1;
	return process_ns - (uint64_t)offset;
}

static void totals_fill(const struct ezprof_registry_reader *r, const struct ez_entry *e,
			bool stable, struct ezprof_totals *c)
{
	c->messages = e->messages;
	c->bytes = e->bytes;
	c->leases = e->leases;
	c->frees = e->frees;
	c->drops = e->drops;
	c->unsized = e->unsized;
	c->disconnect_frees = e->disconnect_frees;
	if (e->kind != EZ_KIND_PUBLISHER && e->frees < e->disconnect_frees)
		c->disconnect_frees = e->frees;
	c->blocked_since_ns = host_ns(r, e->blocked_since_ns);
	c->blocked_ns = e->blocked_ns;
	c->span_ns = e->span_ns;
	c->hold_ns = e->hold_ns;
	c->hold_max_ns = e->hold_max_ns;
	c->hold_max_at_ns = host_ns(r, e->hold_max_at_ns);
	c->hold_since_ns = host_ns(r, e->callback_since_ns);
	c->transport = e->transport <= EZ_TRANSPORT_TCP ? e->transport : EZ_TRANSPORT_UNKNOWN;
	c->stable = stable;
}

/* A string that can't be read or is over the budget is shown as none. */
static char *read_text(struct ezprof_registry_reader *r, uint64_t address, uint32_t bytes)
{
	size_t n = bytes < EZPROF_TEXT_BYTES_MAX ? bytes : EZPROF_TEXT_BYTES_MAX;
	char buffer[EZPROF_TEXT_BYTES_MAX];
	char *text;

	if (!n || bytes > EZ_REGISTRY_STRING_MAX || read_memory(r, address, buffer, n))
		return no_text;
	text = ezprof_text_repair(buffer, n, n < bytes);
	if (!text)
		return NULL;
	if (strlen(text) + 1 > NAMES_BYTES_MAX - r->names_bytes) {
		free(text);
		return no_text;
	}
	r->names_bytes += strlen(text) + 1;
	return text;
}

static int names_update(struct ezprof_registry_reader *r, uint32_t index, const struct ez_entry *e)
{
	struct names *names = &r->names[index];

	if (names->generation == e->generation)
		return 0;
	r->done_is_stale = r->done_is_stale || names->generation;
	names_free(r, names);
	names->topic = read_text(r, e->topic, e->topic_bytes);
	names->handle = read_text(r, e->handle, e->handle_bytes);
	names->task = read_text(r, e->task, e->task_bytes);
	if (!names->topic || !names->handle || !names->task) {
		names_free(r, names);
		return -ENOMEM;
	}
	names->generation = e->generation;
	return 0;
}

static uint64_t oldest_lease(struct ezprof_registry_reader *r, const struct ez_entry *e,
			     uint64_t now_ns)
{
	uint64_t starts[512], oldest = 0;
	uint32_t done, i, n;

	if (e->leases <= e->frees || e->num_buffers > EZ_REGISTRY_BUFFERS_MAX)
		return 0;
	for (done = 0; done < e->num_buffers; done += n) {
		n = e->num_buffers - done;
		n = n < 512 ? n : 512;
		if (read_memory(r, e->lease_starts + done * sizeof(starts[0]), starts,
				n * sizeof(starts[0])))
			return 0;
		for (i = 0; i < n; i++) {
			uint64_t start = host_ns(r, starts[i]);

			if (start && start <= now_ns && (!oldest || start < oldest))
				oldest = start;
		}
	}
	return oldest;
}

static void endpoint_fill(struct ezprof_registry_reader *r, uint32_t index,
			  const struct ez_entry *e, bool stable, struct ezprof_endpoint *p)
{
	memset(p, 0, sizeof(*p));
	p->index = index;
	p->generation = e->generation;
	p->kind = e->kind;
	p->num_buffers = e->num_buffers;
	p->opened_ns = host_ns(r, e->opened_ns);
	memcpy(p->id.bytes, e->id, EZ_UUID_BYTES);
	memcpy(p->publisher_id.bytes, e->publisher_id, EZ_UUID_BYTES);
	memcpy(p->channel_id.bytes, e->channel_id, EZ_UUID_BYTES);
	memcpy(p->subscriber_id.bytes, e->subscriber_id, EZ_UUID_BYTES);
	p->topic = r->names[index].topic;
	p->handle = r->names[index].handle;
	p->task = r->names[index].task;
	p->peer_pid = e->peer_pid <= INT32_MAX ? (pid_t)e->peer_pid : 0;
	p->page = e->page;
	p->oldest_lease_ns = oldest_lease(r, e, r->now_ns);
	totals_fill(r, e, stable, &p->totals);
}

static int add_endpoint(struct ezprof_registry_reader *r, uint32_t index, const struct ez_entry *e,
			bool stable)
{
	int err;

	if (stable && e->state == EZ_ENTRY_CLOSED)
		ezprof_closed_blocks_note(&r->closed, index, host_ns(r, e->closed_ns));
	if (e->state != EZ_ENTRY_OPEN)
		return 0;
	if (r->endpoints.count >= EZPROF_ENDPOINTS_READ_MAX || !e->generation ||
	    e->kind < EZ_KIND_PUBLISHER || e->kind > EZ_KIND_TASK || e->index != index ||
	    e->num_buffers > EZ_REGISTRY_BUFFERS_MAX) {
		r->endpoints.left_out++;
		return 0;
	}
	err = names_update(r, index, e);
	if (err)
		return err;
	endpoint_fill(r, index, e, stable, &r->endpoints.list[r->endpoints.count]);
	r->endpoints.count++;
	return 0;
}

/* Room for `count` endpoints in both tables, which are indexed with the same bound. */
static int make_room(struct ezprof_registry_reader *r, size_t count)
{
	struct ezprof_endpoint *list;
	struct names *names;

	if (count > r->names_room) {
		names = reallocarray(r->names, count, sizeof(*names));
		if (!names)
			return -ENOMEM;
		memset(names + r->names_room, 0, (count - r->names_room) * sizeof(*names));
		r->names = names;
		r->names_room = count;
	}
	if (count > r->endpoints_room) {
		list = reallocarray(r->endpoints.list, count, sizeof(*list));
		if (!list)
			return -ENOMEM;
		r->endpoints.list = list;
		r->endpoints_room = count;
	}
	return 0;
}

static int read_one(struct ezprof_registry_reader *r, uint32_t index)
{
	struct ez_entry entry;
	bool stable;
	int err = read_entry(r, index, &entry, &stable);

	if (err == -EFAULT || err == -E2BIG) {
		r->endpoints.left_out++;
		return 0;
	}
	return err ? err : add_endpoint(r, index, &entry, stable);
}

/*
 * The entries of a chunk by two readings of all of them; only those that moved in between are read
 * again one by one. Layouts of another entry size are read one by one.
 */
static int read_chunk(struct ezprof_registry_reader *r, uint32_t first)
{
	struct ez_entry copies[2][EZ_REGISTRY_CHUNK_ENTRIES];
	uint32_t i, n = r->header.count - first;
	uint64_t address = entry_address(r, first);
	int err = -EFAULT;

	n = n < EZ_REGISTRY_CHUNK_ENTRIES ? n : EZ_REGISTRY_CHUNK_ENTRIES;
	if (r->header.entry_bytes == sizeof(struct ez_entry)) {
		err = read_memory(r, address, copies[0], n * sizeof(copies[0][0]));
		if (!err)
			err = read_memory(r, address, copies[1], n * sizeof(copies[1][0]));
	}
	if (err && err != -EFAULT && err != -E2BIG)
		return err;
	for (i = 0; i < n; i++) {
		int one = !err && ezprof_entry_is_whole(&copies[0][i], &copies[1][i])
				  ? add_endpoint(r, first + i, &copies[1][i], true)
				  : read_one(r, first + i);

		if (one)
			return one;
	}
	return 0;
}

static void publish(struct ezprof_registry_reader *r)
{
	struct ezprof_endpoints old = r->done;
	size_t old_room = r->done_room;

	r->done = r->endpoints;
	r->done_room = r->endpoints_room;
	r->endpoints = old;
	r->endpoints_room = old_room;
	r->done_is_stale = false;
}

int ezprof_registry_read(struct ezprof_registry_reader *r, uint64_t now_ns,
			 const struct ezprof_endpoints **ret_endpoints)
{
	uint32_t i;
	int err;

	r->work_bytes = 0;
	r->lease_bytes = 0;
	r->tries = 0;
	r->now_ns = now_ns;
	r->endpoints.count = 0;
	r->endpoints.left_out = 0;
	err = read_header(r);
	if (!err)
		err = make_room(r, r->header.count);
	if (!err)
		err = ezprof_closed_blocks_begin(&r->closed, r->header.count);
	for (i = 0; !err && i < r->header.count; i += EZ_REGISTRY_CHUNK_ENTRIES)
		err = read_chunk(r, i);
	if (err && r->done_is_stale)
		r->done.count = 0;
	if (err)
		return err;
	publish(r);
	*ret_endpoints = &r->done;
	return 0;
}

int ezprof_registry_glance(struct ezprof_registry_reader *r, uint64_t now_ns,
			   const struct ezprof_endpoints **ret_endpoints)
{
	int err;

	r->tries_each = GLANCE_TRIES;
	err = ezprof_registry_read(r, now_ns, ret_endpoints);
	r->tries_each = TRIES;
	return err;
}

static int reread_entry(struct ezprof_registry_reader *r, const struct ezprof_endpoint *endpoint,
			struct ez_entry *ret_entry, bool *ret_stable)
{
	int err;

	r->work_bytes = 0;
	if (endpoint->index >= r->header.count)
		return -EINVAL;
	err = read_entry(r, endpoint->index, ret_entry, ret_stable);
	if (err)
		return err;
	if (ret_entry->generation != endpoint->generation || ret_entry->state != EZ_ENTRY_OPEN)
		return -ESTALE;
	return 0;
}

/* With a budget of its own for all endpoints together: there may be many, with long tables. */
static uint64_t oldest_lease_again(struct ezprof_registry_reader *r, const struct ez_entry *e)
{
	uint64_t oldest;

	r->work_bytes = r->lease_bytes;
	oldest = oldest_lease(r, e, ez_clock_mono_ns());
	r->lease_bytes = r->work_bytes;
	return oldest;
}

int ezprof_registry_reread(struct ezprof_registry_reader *r, const struct ezprof_endpoint *endpoint,
			   struct ezprof_totals *ret_totals, uint64_t *ret_oldest_ns)
{
	struct ez_entry entry;
	uint64_t oldest_ns = 0;
	bool stable;
	int i, err;

	/* What was leased by then may all have been freed by the time that the table is read. */
	for (i = 0; i < LEASE_TRIES; i++) {
		err = reread_entry(r, endpoint, &entry, &stable);
		if (err)
			return err;
		if (ret_oldest_ns)
			oldest_ns = oldest_lease_again(r, &entry);
		if (!ret_oldest_ns || oldest_ns || entry.leases <= entry.frees)
			break;
	}
	totals_fill(r, &entry, stable, ret_totals);
	if (ret_oldest_ns)
		*ret_oldest_ns = oldest_ns;
	return 0;
}
