/* SPDX-License-Identifier: MIT */
/* Records and pages of spans are checked, and running numbers say what is missing. */
#include "spans_decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES(room) (sizeof(struct ez_span_record) + (room) * sizeof(struct ez_span))

static struct ez_span spans[EZ_SPANS_PER_PAGE];

static void records_are_checked(void **state)
{
	struct ez_span_record *record = calloc(1, RECORD_BYTES(4));
	struct ezprof_span_batch batch = {.count = 77};

	(void)state;
	assert_non_null(record);
	*record = (struct ez_span_record){.tgid = 4242,
					  .file = 3,
					  .endpoint = 5ull << 32 | 17,
					  .first_total = 1000,
					  .count = 4,
					  .room = 4};
	record->spans[3].message_id = 99;
	assert_int_equal(ezprof_span_record_decode(record, RECORD_BYTES(4), &batch), 0);
	assert_int_equal(batch.tgid, 4242);
	assert_int_equal(batch.file, 3);
	assert_int_equal(batch.index, 17);
	assert_int_equal(batch.generation, 5);
	assert_int_equal(batch.first_total, 1000);
	assert_int_equal(batch.count, 4);
	assert_int_equal(batch.spans[3].message_id, 99);
	batch.count = 77;
	assert_int_equal(ezprof_span_record_decode(record, RECORD_BYTES(4) - 1, &batch), -EPROTO);
	assert_int_equal(ezprof_span_record_decode(record, 63, &batch), -EPROTO);
	assert_int_equal(ezprof_span_record_decode(record, 0, &batch), -EPROTO);
	record->count = 0;
	assert_int_equal(ezprof_span_record_decode(record, RECORD_BYTES(4), &batch), -EPROTO);
	record->count = UINT32_MAX;
	assert_int_equal(ezprof_span_record_decode(record, RECORD_BYTES(4), &batch), -EPROTO);
	record->count = 4;
	record->first_total = UINT64_MAX - 3;
	assert_int_equal(ezprof_span_record_decode(record, RECORD_BYTES(4), &batch), -EPROTO);
	assert_int_equal(batch.count, 77);
	free(record);
}

static void pages_are_checked(void **state)
{
	static struct ez_span_page page = {.count = EZ_SPANS_PER_PAGE, .first_total = 7};
	struct ezprof_span_batch batch;

	(void)state;
	assert_int_equal(ezprof_span_page_decode(&page, &batch), 0);
	assert_int_equal(batch.count, EZ_SPANS_PER_PAGE);
	assert_int_equal(batch.first_total, 7);
	page.count = 0;
	assert_int_equal(ezprof_span_page_decode(&page, &batch), 0);
	assert_int_equal(batch.count, 0);
	page.count = EZ_SPANS_PER_PAGE + 1;
	assert_int_equal(ezprof_span_page_decode(&page, &batch), -EPROTO);
}

static struct ezprof_span_batch take(struct ezprof_span_account *account, uint64_t first,
				     uint32_t count)
{
	struct ezprof_span_batch batch = {.first_total = first, .count = count, .spans = spans};

	ezprof_span_account_take(account, &batch);
	return batch;
}

static void holes_are_counted(void **state)
{
	struct ezprof_span_account account = {0};
	struct ezprof_span_batch batch;

	(void)state;
	ezprof_span_account_begin(&account, 100);
	/* A left-over of an earlier recording. */
	assert_int_equal(take(&account, 3, 20).count, 0);
	/* Half of it from before the beginning. */
	batch = take(&account, 90, 20);
	assert_int_equal(batch.count, 10);
	assert_int_equal(batch.first_total, 100);
	assert_ptr_equal(batch.spans, spans + 10);
	assert_int_equal(account.lost, 0);
	assert_int_equal(take(&account, 174, 64).count, 64);
	assert_int_equal(account.lost, 64);
	assert_int_equal(take(&account, 238, 0).count, 0);
	ezprof_span_account_end(&account, 238);
	assert_int_equal(account.lost, 64);
	ezprof_span_account_end(&account, 241);
	assert_int_equal(account.lost, 67);
	ezprof_span_account_end(&account, 241);
	assert_int_equal(account.lost, 67);
	assert_int_equal(account.taken, 74);
	assert_int_equal(account.taken + account.lost, account.next - account.first);
}

/* The page was read before the ring was drained: of what is in both, the ring's is taken. */
static void nothing_is_there_twice(void **state)
{
	struct ezprof_span_account account = {0};

	(void)state;
	take(&account, 0, 64);
	assert_int_equal(take(&account, 64, 30).count, 30);
	assert_int_equal(take(&account, 64, 12).count, 0);
	assert_int_equal(take(&account, 64, 31).count, 1);
	assert_int_equal(account.taken, 95);
	assert_int_equal(account.lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_checked),
		cmocka_unit_test(pages_are_checked),
		cmocka_unit_test(holes_are_counted),
		cmocka_unit_test(nothing_is_there_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
