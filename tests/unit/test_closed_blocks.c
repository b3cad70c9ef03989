/* SPDX-License-Identifier: MIT */
/* When a block of the registry is at rest: all closed, none long enough to be in use again. */
#include "closed_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void close_all(struct ezprof_closed_blocks *b, uint32_t block, uint64_t first_ns)
{
	for (uint32_t i = 0; i < EZPROF_BLOCK_ENTRIES; i++)
		ezprof_closed_blocks_note(b, block * EZPROF_BLOCK_ENTRIES + i, first_ns + i);
}

static void test_rest(void **state)
{
	struct ezprof_closed_blocks b = {0};

	(void)state;
	assert_int_equal(ezprof_closed_blocks_begin(&b, 2 * EZPROF_BLOCK_ENTRIES + 1), 0);
	close_all(&b, 1, 1000);
	assert_true(ezprof_closed_block_rests(&b, 1, 1015, 100));
	assert_true(ezprof_closed_block_rests(&b, 1, 1099, 100));
	/* The one that was closed first may be in use again. */
	assert_false(ezprof_closed_block_rests(&b, 1, 1100, 100));
	/* A close in the future is a lie, or another clock. */
	assert_false(ezprof_closed_block_rests(&b, 1, 1014, 100));
	assert_false(ezprof_closed_block_rests(&b, 0, 1015, 100));
	assert_false(ezprof_closed_block_rests(&b, 3, 1015, 100));
	ezprof_closed_blocks_free(&b);
}

static void test_partly(void **state)
{
	struct ezprof_closed_blocks b = {0};

	(void)state;
	assert_int_equal(ezprof_closed_blocks_begin(&b, EZPROF_BLOCK_ENTRIES), 0);
	for (uint32_t i = 1; i < EZPROF_BLOCK_ENTRIES; i++)
		ezprof_closed_blocks_note(&b, i, 1000);
	assert_false(ezprof_closed_block_rests(&b, 0, 1001, 100));
	ezprof_closed_blocks_note(&b, 0, 1000);
	assert_true(ezprof_closed_block_rests(&b, 0, 1001, 100));
	/* Forgotten by the next reading; and nothing is written beyond the room. */
	assert_int_equal(ezprof_closed_blocks_begin(&b, 3), 0);
	assert_false(ezprof_closed_block_rests(&b, 0, 1001, 100));
	ezprof_closed_blocks_note(&b, EZPROF_BLOCK_ENTRIES, 1000);
	assert_int_equal(ezprof_closed_blocks_begin(&b, 0), 0);
	assert_false(ezprof_closed_block_rests(&b, 0, 1001, 100));
	ezprof_closed_blocks_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_partly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
