/* SPDX-License-Identifier: MIT */
/* Edges of the duration histogram: every value has a bin, and lies between the bin's ends. */
#include "histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_in_bin(uint64_t ns)
{
	uint32_t bin = ez_hist_bin(ns);

	assert_true(bin < EZ_HIST_BINS);
	assert_true(ez_hist_bin_low_ns(bin) <= ns);
	if (bin + 1 < EZ_HIST_BINS)
		assert_true(ns < ez_hist_bin_low_ns(bin + 1));
}

static void edges(void **state)
{
	unsigned k;

	(void)state;
	for (k = 0; k < 64; k++) {
		assert_in_bin((1ull << k) - 1);
		assert_in_bin(1ull << k);
		assert_in_bin((1ull << k) + 1);
	}
	assert_int_equal(ez_hist_bin(0), 0);
	assert_int_equal(ez_hist_bin(255), 0);
	assert_int_equal(ez_hist_bin(256), 1);
	assert_int_equal(ez_hist_bin(2047), 7);
	assert_int_equal(ez_hist_bin(2048), 8);
	assert_int_equal(ez_hist_bin((1ull << 34) - 1), EZ_HIST_BINS - 1);
	assert_int_equal(ez_hist_bin(1ull << 34), EZ_HIST_BINS - 1);
	assert_int_equal(ez_hist_bin(UINT64_MAX), EZ_HIST_BINS - 1);
}

static void bins_meet_without_holes(void **state)
{
	uint32_t bin;

	(void)state;
	for (bin = 0; bin < EZ_HIST_BINS; bin++) {
		assert_int_equal(ez_hist_bin(ez_hist_bin_low_ns(bin)), bin);
		assert_true(ez_hist_bin_low_ns(bin) < ez_hist_bin_low_ns(bin + 1));
	}
	assert_true(ez_hist_bin_low_ns(EZ_HIST_BINS) == 1ull << 34);
}

/* 2ab/(a+b) is off by at most (b-a)/(a+b), or half a bin at the linear end. */
static void the_harmonic_mean_is_near(void **state)
{
	uint32_t bin;

	(void)state;
	for (bin = 8; bin < EZ_HIST_BINS; bin++) {
		double a = (double)ez_hist_bin_low_ns(bin), b = (double)ez_hist_bin_low_ns(bin + 1);
		double mean = 2 * a * b / (a + b);

		assert_true(mean / a - 1 <= 0.059);
		assert_true(1 - mean / b <= 0.059);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges),
		cmocka_unit_test(bins_meet_without_holes),
		cmocka_unit_test(the_harmonic_mean_is_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
