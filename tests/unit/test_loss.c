/* SPDX-License-Identifier: MIT */
/* What is lost, in every case that running numbers can show. */
#include "loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define STABLE(t) \
	{ \
		.total = (t), .stable = true \
	}

static struct ezprof_loss compute(const struct ezprof_loss_input *in)
{
	struct ezprof_loss loss;

	ezprof_loss_compute(in, &loss);
	return loss;
}

static void expect(struct ezprof_loss loss, uint64_t lost, bool exact)
{
	assert_true(loss.known);
	assert_int_equal(loss.lost, lost);
	assert_int_equal(loss.exact, exact);
}

static void test_nothing_lost(void **state)
{
	struct ezprof_loss_input in = {.have_attach = true,
				       .at_attach = STABLE(100),
				       .before = STABLE(10107),
				       .after = STABLE(10107),
				       .measured = 10007,
				       .first_total = 101,
				       .maps_stable = true};

	(void)state;
	expect(compute(&in), 0, true);
	/* counted before the table was read at the attach */
	in.first_total = 98;
	in.measured = 10010;
	expect(compute(&in), 0, true);
}

static void test_lost(void **state)
{
	struct ezprof_loss_input in = {.have_attach = true,
				       .at_attach = STABLE(100),
				       .before = STABLE(1100),
				       .after = STABLE(1100),
				       .measured = 900,
				       .first_total = 151,
				       .maps_stable = true};

	(void)state;
	expect(compute(&in), 100, true);
	/* no slot: nothing was counted at all */
	in.measured = 0;
	in.first_total = 0;
	expect(compute(&in), 1000, true);
	in.opened_after = true;
	expect(compute(&in), 1100, true);
}

static void test_busy(void **state)
{
	struct ezprof_loss_input in = {.have_attach = true,
				       .at_attach = STABLE(0),
				       .before = STABLE(1000),
				       .after = STABLE(1010),
				       .measured = 1005,
				       .first_total = 1,
				       .maps_stable = true};

	(void)state;
	expect(compute(&in), 0, false);
	in.measured = 990;
	expect(compute(&in), 10, false);
	in.after = in.before;
	in.maps_stable = false;
	expect(compute(&in), 10, false);
	in.before.stable = false;
	expect(compute(&in), 9, false);
}

static void test_not_known(void **state)
{
	struct ezprof_loss_input in = {
		.before = STABLE(1000), .after = STABLE(1000), .maps_stable = true};

	(void)state;
	assert_false(compute(&in).known);
	in.first_total = 501;
	in.measured = 499;
	expect(compute(&in), 1, true);
}

static void test_departed(void **state)
{
	struct ezprof_loss_input in = {.have_attach = true,
				       .at_attach = {.total = 50, .departed = 5, .stable = true},
				       .before = {.total = 150, .departed = 8, .stable = true},
				       .after = {.total = 150, .departed = 8, .stable = true},
				       .measured = 97,
				       .first_total = 51,
				       .maps_stable = true};

	(void)state;
	expect(compute(&in), 0, true);
	in.measured = 90;
	expect(compute(&in), 7, true);
	/* which of the five came before the first hit isn't known: a lower bound */
	in.first_total = 41;
	in.measured = 100;
	expect(compute(&in), 2, false);
}

/* Hostile totals: nothing negative, nothing huge. */
static void test_hostile(void **state)
{
	struct ezprof_loss_input in = {
		.have_attach = true,
		.at_attach = {.total = UINT64_MAX, .stable = true},
		.before = {.total = 3, .departed = UINT64_MAX, .stable = true},
		.after = STABLE(3),
		.measured = UINT64_MAX,
		.first_total = UINT64_MAX};

	(void)state;
	expect(compute(&in), 0, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_lost), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_busy),	     cmocka_unit_test(test_not_known),
		cmocka_unit_test(test_departed),     cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
