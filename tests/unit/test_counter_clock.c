/* SPDX-License-Identifier: MIT */
/* The counter clock against clock_gettime(). */
#include "counter_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How far the clock lies outside of two readings around it; the least of a few tries. */
static uint64_t error_ns(void)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < 20; i++) {
		uint64_t before = monotonic_ns(), now = ez_counter_now_ns();
		uint64_t after = monotonic_ns(), error = 0;

		if (now < before)
			error = before - now;
		else if (now > after)
			error = now - after;
		if (error < best)
			best = error;
	}
	return best;
}

static void agrees_before_it_is_calibrated(void **state)
{
	(void)state;
	ez_counter_init();
	assert_true(error_ns() < 10000);
}

static void agrees_when_calibrated_and_extrapolated(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 12; i++) {
		usleep(110000);
		ez_counter_anchor();
		assert_true(error_ns() < 10000);
	}
	printf("valid %llu\n", (unsigned long long)ez_counter_clock_state.valid);
	usleep(900000);
	assert_true(error_ns() < 20000);
	/* Past its validity it anchors by itself. */
	usleep(1100000);
	assert_true(error_ns() < 20000);
}

static void a_leap_of_the_counter_is_noticed(void **state)
{
	struct ez_counter_clock *c = &ez_counter_clock_state;

	(void)state;
	if (c->valid <= 1)
		return; /* not trusted here */
	/* As if the machine had slept: the counter went on for an hour that the clock didn't see.
	 */
	c->counter -= 3600 * c->valid;
	c->base_counter -= 3600 * c->valid;
	assert_true(error_ns() < 20000);
	ez_counter_anchor();
	assert_true(error_ns() < 20000);
	usleep(150000);
	ez_counter_anchor();
	assert_true(error_ns() < 20000);
	assert_true(c->valid > 1);
}

static void a_child_has_it_too(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	ez_counter_clock_state.taken = 1; /* as if another thread were just at it */
	pid = fork();
	if (pid == 0) {
		ez_counter_fork_child();
		_exit(ez_counter_clock_state.taken == 0 && error_ns() < 20000 ? 0 : 1);
	}
	ez_counter_clock_state.taken = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_before_it_is_calibrated),
		cmocka_unit_test(agrees_when_calibrated_and_extrapolated),
		cmocka_unit_test(a_leap_of_the_counter_is_noticed),
		cmocka_unit_test(a_child_has_it_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
