/* SPDX-License-Identifier: MIT */
#include "spans_decode.h"
#include "registry_layout.h"

#include <errno.h>
#include <string.h>

static bool is_possible(uint64_t first_total, uint64_t count)
{
	return count <= EZ_SPANS_PER_PAGE && first_total <= UINT64_MAX - count;
}

int ezprof_span_record_decode(const void *data, size_t bytes, struct ezprof_span_batch *ret_batch)
{
	const struct ez_span_record *record = data;

	if (bytes < sizeof(*record) || !record->count ||
	    !is_possible(record->first_total, record->count) ||
	    record->count > (bytes - sizeof(*record)) / sizeof(record->spans[0]))
		return -EPROTO;
	*ret_batch = (struct ezprof_span_batch){
		.tgid = record->tgid,
		.file = record->file,
		.index = EZ_ENDPOINT_INDEX(record->endpoint),
		.generation = EZ_ENDPOINT_GENERATION(record->endpoint),
		.first_total = record->first_total,
		.count = record->count,
		.spans = record->spans,
	};
	memcpy(ret_batch->publisher_id, record->publisher_id, sizeof(record->publisher_id));
	return 0;
}

int ezprof_span_page_decode(const struct ez_span_page *page, struct ezprof_span_batch *ret_batch)
{
	if (!is_possible(page->first_total, page->count))
		return -EPROTO;
	*ret_batch = (struct ezprof_span_batch){
		.first_total = page->first_total,
		.count = page->count,
		.spans = page->spans,
	};
	memcpy(ret_batch->publisher_id, page->publisher_id, sizeof(page->publisher_id));
	return 0;
}

void ezprof_span_account_begin(struct ezprof_span_account *account, uint64_t total)
{
	if (account->begun)
		return;
	account->begun = true;
	account->first = account->next = total;
}

void ezprof_span_account_take(struct ezprof_span_account *account, struct ezprof_span_batch *batch)
{
	uint64_t twice;

	/* Recorded since before it was looked at: a gain. */
	ezprof_span_account_begin(account, batch->first_total);
	if (batch->first_total > account->next) {
		account->lost += batch->first_total - account->next;
		account->next = batch->first_total;
	}
	twice = account->next - batch->first_total;
	if (twice > batch->count)
		twice = batch->count;
	batch->first_total += twice;
	batch->spans += twice;
	batch->count -= (uint32_t)twice;
	account->next += batch->count;
	account->taken += batch->count;
}

void ezprof_span_account_end(struct ezprof_span_account *account, uint64_t total)
{
	if (!account->begun || total <= account->next)
		return;
	account->lost += total - account->next;
	account->next = total;
}
