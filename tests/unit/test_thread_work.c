/* SPDX-License-Identifier: MIT */
/* What a thread says it is at work on, and how much of that an endpoint's page has covered. */
#include "endpoint.h"
#include "registry.h"
#include "thread_work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ull
#define AT(id, ns) (((uint64_t)(id) << EZ_BUCKET_SHIFT) + (ns))
#define MANY 300u /* more than there is room for */

extern struct ez_registry ez_registry_table __attribute__((visibility("hidden")));

static struct ez_entry *open_endpoint(enum ez_endpoint_kind kind)
{
	const struct ez_endpoint_spec spec = {
		.kind = kind, .num_buffers = 8, .topic = "T", .handle = "H"};
	struct ez_entry *e;

	assert_int_equal(ez_registry_open(&spec, &e), 0);
	return e;
}

static struct ez_covered *covered_of(const struct ez_entry *e)
{
	return &ez_entry_page(e)->covered;
}

static struct ez_thread *own(void)
{
	struct ez_thread *t = ez_thread_self();

	assert_non_null(t);
	return t;
}

static uint64_t said(enum ez_work_kind kind)
{
	return own()->work[kind].endpoint;
}

static void begin(struct ez_entry *e, uint64_t message_id, uint64_t at)
{
	ez_endpoint_lease_at(e, message_id, at);
	ez_endpoint_callback_begin_at(e, message_id, at);
}

static void a_callback_is_said_and_covered(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_CLIENT);

	(void)state;
	begin(e, 0, AT(5, 1 * MS));
	assert_true(said(EZ_WORK_CALLBACK) == ez_entry_ref(e));
	assert_true(own()->work[EZ_WORK_CALLBACK].since_ns == AT(5, 1 * MS));
	assert_true(covered_of(e)->since_ns == AT(5, 1 * MS));
	ez_endpoint_callback_end_at(e, 0, AT(5, 4 * MS));
	assert_int_equal(said(EZ_WORK_CALLBACK), 0);
	assert_int_equal(covered_of(e)->covered_ns, 3 * MS);
	assert_int_equal(covered_of(e)->carry_ns, 0);
	/* Over the end of its bucket: it counts where it ends, and what lies before is told apart.
	 */
	begin(e, 1, AT(5, 10 * MS));
	ez_endpoint_callback_end_at(e, 1, AT(6, 2 * MS));
	assert_int_equal(covered_of(e)->covered_ns, AT(1, 0) - 8 * MS);
	assert_int_equal(covered_of(e)->carry_ns, AT(1, 0) - 10 * MS);
	assert_int_equal(ez_entry_page(e)->bucket.carry_ns, AT(1, 0) - 10 * MS);
	ez_registry_close(e);
}

static void a_wait_is_said_beside_the_callback(void **state)
{
	struct ez_entry *client = open_endpoint(EZ_KIND_CLIENT);
	struct ez_entry *publisher = open_endpoint(EZ_KIND_PUBLISHER);

	(void)state;
	begin(client, 0, AT(5, 1 * MS));
	ez_endpoint_blocked_begin_at(publisher, 0, AT(5, 2 * MS));
	assert_true(said(EZ_WORK_CALLBACK) == ez_entry_ref(client));
	assert_true(said(EZ_WORK_WAIT) == ez_entry_ref(publisher));
	ez_endpoint_blocked_end_at(publisher, 0, AT(5, 9 * MS));
	assert_int_equal(said(EZ_WORK_WAIT), 0);
	assert_int_equal(covered_of(publisher)->covered_ns, 7 * MS);
	ez_endpoint_callback_end_at(client, 0, AT(5, 11 * MS));
	assert_int_equal(covered_of(client)->covered_ns, 10 * MS);
	ez_registry_close(client);
	ez_registry_close(publisher);
}

static void the_outermost_counts(void **state)
{
	struct ez_entry *outer = open_endpoint(EZ_KIND_CLIENT);
	struct ez_entry *inner = open_endpoint(EZ_KIND_CLIENT);

	(void)state;
	begin(outer, 0, AT(5, 1 * MS));
	begin(inner, 0, AT(5, 2 * MS));
	assert_true(said(EZ_WORK_CALLBACK) == ez_entry_ref(outer));
	ez_endpoint_callback_end_at(inner, 0, AT(5, 3 * MS));
	assert_int_equal(covered_of(inner)->covered_ns, 0);
	/* Two messages of one endpoint at once: from the first one's begin to the first end. */
	begin(outer, 1, AT(5, 4 * MS));
	ez_endpoint_callback_end_at(outer, 1, AT(5, 6 * MS));
	ez_endpoint_callback_end_at(outer, 0, AT(5, 8 * MS));
	assert_int_equal(covered_of(outer)->covered_ns, 5 * MS);
	/* One whose end nobody heard doesn't stand in the way for ever. */
	begin(outer, 2, AT(6, 0));
	begin(inner, 1, AT(6, 2 * EZ_WORK_STALE_NS));
	assert_true(said(EZ_WORK_CALLBACK) == ez_entry_ref(inner));
	ez_registry_close(outer);
	assert_true(said(EZ_WORK_CALLBACK) == ez_entry_ref(inner));
	ez_registry_close(inner);
	assert_int_equal(said(EZ_WORK_CALLBACK), 0);
}

static void *end_elsewhere(void *argument)
{
	struct ez_entry *e = argument;

	ez_endpoint_callback_end_at(e, 0, AT(5, 6 * MS));
	return NULL;
}

static void *begin_elsewhere(void *argument)
{
	begin(argument, 1, AT(5, 2 * MS));
	assert_int_equal(said(EZ_WORK_CALLBACK), 0);
	return NULL;
}

static void run(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
	pthread_join(thread, NULL);
}

static void another_thread_may_end_it(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_CLIENT);

	(void)state;
	begin(e, 0, AT(5, 1 * MS));
	run(begin_elsewhere, e);
	assert_true(said(EZ_WORK_CALLBACK) == ez_entry_ref(e));
	run(end_elsewhere, e);
	assert_int_equal(said(EZ_WORK_CALLBACK), 0);
	assert_int_equal(covered_of(e)->covered_ns, 5 * MS);
	ez_registry_close(e);
}

static void work_put_aside_is_not_covered(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_CLIENT);
	uint64_t start = ez_counter_now_ns();

	(void)state;
	begin(e, 0, start);
	ez_work_suspend(e);
	assert_int_equal(said(EZ_WORK_CALLBACK), 0);
	assert_int_equal(covered_of(e)->since_ns, 0);
	usleep(30000);
	ez_work_resume(e);
	assert_true(said(EZ_WORK_CALLBACK) == ez_entry_ref(e));
	ez_endpoint_callback_end_at(e, 0, ez_counter_now_ns());
	/* 30 ms less than the whole, but for a moment on both sides of the pause. */
	assert_in_range(covered_of(e)->covered_ns, 1, ez_counter_now_ns() - start - 30 * MS);
	/* Ended while it was put aside: what there was. */
	begin(e, 1, ez_counter_now_ns());
	ez_work_suspend(e);
	ez_endpoint_callback_end_at(e, 1, ez_counter_now_ns());
	ez_work_resume(e);
	assert_int_equal(said(EZ_WORK_CALLBACK), 0);
	ez_registry_close(e);
}

static pthread_barrier_t all_there;

static void *claim(void *argument)
{
	bool *has_room = argument;

	*has_room = ez_thread_self() != NULL;
	pthread_barrier_wait(&all_there);
	return NULL;
}

static unsigned int claimed_by_many(void)
{
	static pthread_t threads[MANY];
	bool has_room[MANY];
	unsigned int i, n = 0;

	pthread_barrier_init(&all_there, NULL, MANY);
	for (i = 0; i < MANY; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, claim, &has_room[i]), 0);
	for (i = 0; i < MANY; i++) {
		pthread_join(threads[i], NULL);
		n += has_room[i];
	}
	pthread_barrier_destroy(&all_there);
	return n;
}

static void ended_threads_make_room(void **state)
{
	const unsigned int room = EZ_THREAD_SETS * EZ_THREAD_WAYS;

	(void)state;
	assert_non_null(ez_thread_self());
	/* Ids follow each other, other processes take some of them: sets fill up unevenly. */
	for (unsigned int i = 0; i < 3; i++)
		assert_in_range(claimed_by_many(), room / 2, room - 1);
}

static void a_forked_child_has_its_own(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_CLIENT);
	int status;
	pid_t pid;

	(void)state;
	begin(e, 0, AT(5, 0));
	pid = fork();
	if (pid == 0) {
		const struct ez_thread_table *t = (void *)(uintptr_t)ez_registry_table.threads;
		static const struct ez_thread_table empty;

		if (memcmp(t, &empty, sizeof(empty)))
			_exit(1);
		e = open_endpoint(EZ_KIND_CLIENT);
		begin(e, 0, AT(6, 0));
		_exit(said(EZ_WORK_CALLBACK) != ez_entry_ref(e));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(said(EZ_WORK_CALLBACK) == ez_entry_ref(e));
	ez_registry_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_callback_is_said_and_covered),
		cmocka_unit_test(a_wait_is_said_beside_the_callback),
		cmocka_unit_test(the_outermost_counts),
		cmocka_unit_test(another_thread_may_end_it),
		cmocka_unit_test(work_put_aside_is_not_covered),
		cmocka_unit_test(ended_threads_make_room),
		cmocka_unit_test(a_forked_child_has_its_own),
	};

	/* As if somebody listened. */
	ez_probe_semaphores[EZ_PLACE_window] = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
