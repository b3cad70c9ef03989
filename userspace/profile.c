/* SPDX-License-Identifier: MIT */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

/* What a link or client hangs on; in a publisher or channel its own id. */
static const struct ez_uuid *owner_id(const struct ezprof_row *row)
{
	switch (row->endpoint.kind) {
	case EZ_KIND_LINK:
		return &row->endpoint.publisher_id;
	case EZ_KIND_CLIENT:
		return &row->endpoint.channel_id;
	default:
		return &row->endpoint.id;
	}
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Parts of one owner: same kind, same registry, same owner. */
static int compare_group(uint32_t kind, const struct ezprof_row *row, uint32_t registry,
			 const struct ez_uuid *id)
{
	int order = compare_u64(row->endpoint.kind, kind);

	if (!order)
		order = compare_u64(row->registry, registry);
	return order ? order : memcmp(owner_id(row)->bytes, id->bytes, EZ_UUID_BYTES);
}

static int compare_age(const struct ezprof_row *a, const struct ezprof_row *b)
{
	int order = compare_u64(a->endpoint.opened_ns, b->endpoint.opened_ns);

	if (!order)
		order = compare_u64(a->registry, b->registry);
	return order ? order : compare_u64(a->endpoint.index, b->endpoint.index);
}

static int compare_rows(const void *left, const void *right)
{
	const struct ezprof_row *a = left, *b = right;
	int order = compare_u64(a->endpoint.kind, b->endpoint.kind);

	if (!order && (a->endpoint.kind == EZ_KIND_LINK || a->endpoint.kind == EZ_KIND_CLIENT))
		order = compare_group(b->endpoint.kind, a, b->registry, owner_id(b));
	return order ? order : compare_age(a, b);
}

/* First row that isn't before (kind, registry, id); id NULL: of that kind. */
static size_t lower_bound(const struct ezprof_profile *profile, uint32_t kind, uint32_t registry,
			  const struct ez_uuid *id)
{
	size_t low = 0, high = profile->row_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct ezprof_row *row = &profile->rows[middle];
		int order = id && row->endpoint.kind == kind
				    ? compare_group(kind, row, registry, id)
				    : compare_u64(row->endpoint.kind, kind);

		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct ezprof_row *ezprof_profile_kind(const struct ezprof_profile *profile,
					     enum ez_endpoint_kind kind, size_t *ret_count)
{
	size_t first = lower_bound(profile, kind, 0, NULL);

	*ret_count = lower_bound(profile, kind + 1, 0, NULL) - first;
	return profile->rows + first;
}

/*
 * Each part goes to one owner, the oldest of that id: ids are another process's word, and thousands
 * of owners with one id, each with thousands of parts, would not fit into any memory.
 */
static void give_parts(struct ezprof_profile *profile, struct ezprof_row *owner)
{
	uint32_t kind = owner->endpoint.kind == EZ_KIND_PUBLISHER ? EZ_KIND_LINK : EZ_KIND_CLIENT;
	size_t first = lower_bound(profile, kind, owner->registry, &owner->endpoint.id), n = 0;

	owner->first_part = first;
	while (first + n < profile->row_count && !profile->rows[first + n].is_given &&
	       compare_group(kind, &profile->rows[first + n], owner->registry,
			     &owner->endpoint.id) == 0)
		profile->rows[first + n++].is_given = true;
	owner->part_count = n;
}

void ezprof_profile_sort(struct ezprof_profile *profile)
{
	size_t i;

	if (profile->row_count)
		qsort(profile->rows, profile->row_count, sizeof(profile->rows[0]), compare_rows);
	for (i = 0; i < profile->row_count; i++)
		profile->rows[i].is_given = false;
	for (i = 0; i < profile->row_count; i++) {
		struct ezprof_row *row = &profile->rows[i];

		if (row->endpoint.kind == EZ_KIND_PUBLISHER ||
		    row->endpoint.kind == EZ_KIND_CHANNEL)
			give_parts(profile, row);
	}
}

const struct ezprof_row *ezprof_profile_parts(const struct ezprof_profile *profile,
					      const struct ezprof_row *owner, size_t *ret_count)
{
	*ret_count = owner->part_count;
	return profile->rows + owner->first_part;
}

uint64_t ezprof_row_messages(const struct ezprof_row *row)
{
	const struct ezprof_totals *t = &row->endpoint.totals;

	if (row->endpoint.kind == EZ_KIND_PUBLISHER || row->endpoint.kind == EZ_KIND_CHANNEL)
		return t->messages;
	return t->frees - t->disconnect_frees;
}

uint64_t ezprof_row_in_flight(const struct ezprof_row *row)
{
	const struct ezprof_totals *t = &row->endpoint.totals;

	return t->leases > t->frees ? t->leases - t->frees : 0;
}

void ezprof_profile_lost(const struct ezprof_profile *profile, struct ezprof_loss *ret_loss)
{
	struct ezprof_loss sum = {.known = true, .exact = true};
	size_t i;

	for (i = 0; i < profile->row_count; i++) {
		const struct ezprof_row *row = &profile->rows[i];

		if (row->endpoint.kind != EZ_KIND_PUBLISHER && row->endpoint.kind != EZ_KIND_CLIENT)
			continue;
		sum.known = sum.known && row->loss.known;
		sum.exact = sum.exact && row->loss.exact;
		if (row->loss.known && __builtin_add_overflow(sum.lost, row->loss.lost, &sum.lost))
			sum.lost = UINT64_MAX;
	}
	*ret_loss = sum;
}
