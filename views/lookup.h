/* SPDX-License-Identifier: MIT */
/*
 * Objects by a hash of what they are looked up by, so that what compares all with all needn't. Who
 * looks one up compares what is meant itself: a key may be another's too. Filled, sorted, then
 * read.
 */
#ifndef EZPROF_LOOKUP_H
#define EZPROF_LOOKUP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of those with one key the weightiest come first, of equals in the order of their numbers. */
struct ezprof_found {
	uint64_t key;
	double weight;
	size_t object;
};

struct ezprof_lookup {
	struct ezprof_found *list;
	size_t n, room;
};

/* -ENOMEM. */
int ezprof_lookup_add(struct ezprof_lookup *lookup, uint64_t key, double weight, size_t object);
void ezprof_lookup_sort(struct ezprof_lookup *lookup);
void ezprof_lookup_free(struct ezprof_lookup *lookup); /* bears a zeroed one */

/* The first with that key; NULL = there is none. */
const struct ezprof_found *ezprof_lookup_first(const struct ezprof_lookup *lookup, uint64_t key);

/* The one behind it, if it has the same key. */
static inline const struct ezprof_found *ezprof_lookup_next(const struct ezprof_lookup *lookup,
							    const struct ezprof_found *found)
{
	const struct ezprof_found *next = found + 1;

	return next < lookup->list + lookup->n && next->key == found->key ? next : NULL;
}

#define EZPROF_EACH_FOUND(lookup, key, found) \
	for (const struct ezprof_found *found = ezprof_lookup_first(lookup, key); found; \
	     found = ezprof_lookup_next(lookup, found))

/* Keys are made part by part (FNV-1a); the first part says of what kind they are. */
static inline uint64_t ezprof_key_bytes(uint64_t key, const void *data, size_t n)
{
	const unsigned char *at = data;

	while (n--)
		key = (key ^ *at++) * UINT64_C(0x100000001b3);
	return key;
}

static inline uint64_t ezprof_key_whole(uint64_t key, uint64_t whole)
{
	return ezprof_key_bytes(key, &whole, sizeof(whole));
}

static inline uint64_t ezprof_key_text(uint64_t key, const char *text)
{
	return ezprof_key_bytes(key, text, strlen(text) + 1);
}

static inline uint64_t ezprof_key(unsigned int kind)
{
	return ezprof_key_whole(UINT64_C(0xcbf29ce484222325), kind);
}

#endif
