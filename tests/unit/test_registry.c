/* SPDX-License-Identifier: MIT */
/* Registry and endpoint calls: what a reader from outside would find. */
#include "endpoint.h"
#include "registry.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern struct ez_registry ez_registry_table;

static struct ez_entry *open_client(const char *topic)
{
	static const uint8_t id[16] = {1, 2, 3};
	struct ez_endpoint_spec spec = {
		.kind = EZ_KIND_CLIENT,
		.num_buffers = 4,
		.id = id,
		.topic = topic,
		.handle = "SYS/U:task",
	};
	struct ez_entry *entry = NULL;

	assert_int_equal(ez_registry_open(&spec, &entry), 0);
	return entry;
}

static void header_says_what_it_is(void **state)
{
	struct ez_entry *e = open_client("T");

	(void)state;
	assert_true(ez_registry_table.magic == EZ_REGISTRY_MAGIC);
	assert_int_equal(ez_registry_table.version, EZ_REGISTRY_VERSION);
	assert_int_equal(ez_registry_table.entry_bytes, sizeof(*e));
	assert_int_equal(ez_registry_table.owner_pid, getpid());
	assert_int_equal(e->state, EZ_ENTRY_OPEN);
	assert_string_equal(ez_entry_topic(e), "T");
	assert_string_equal(ez_entry_handle(e), "SYS/U:task");
	assert_int_equal(e->task_bytes, 0);
	assert_int_equal(e->id[2], 3);
	assert_true(e->opened_ns > 0);
	ez_registry_close(e);
	assert_int_equal(e->state, EZ_ENTRY_CLOSED);
}

static void counters_move_without_a_listener(void **state)
{
	struct ez_entry *e = open_client("T");

	(void)state;
	for (uint64_t id = 0; id < 23; id++) {
		ez_endpoint_lease(e, id);
		assert_true(*ez_entry_lease_start(e, id) > 0);
		ez_endpoint_free(e, id, 10);
	}
	ez_endpoint_lease(e, 23);
	ez_endpoint_free_departed(e, 23);
	ez_endpoint_lease(e, 24);
	assert_int_equal(e->leases, 25);
	assert_int_equal(e->frees, 24);
	assert_int_equal(e->disconnect_frees, 1);
	assert_int_equal(e->bytes, 230);
	assert_int_equal(e->seq % 2, 0);
	assert_int_equal(*ez_entry_lease_start(e, 23), 0);
	assert_true(*ez_entry_lease_start(e, 24) > 0);
	ez_registry_close(e);
}

static void blocked_time_adds_up(void **state)
{
	struct ez_entry *e = open_client("T");

	(void)state;
	ez_endpoint_blocked_begin(e, 0);
	assert_true(e->blocked_since_ns > 0);
	usleep(2000);
	ez_endpoint_blocked_end(e, 0);
	assert_int_equal(e->blocked_since_ns, 0);
	assert_true(e->blocked_ns >= 2000000);
	ez_registry_close(e);
}

static void null_entries_are_ignored(void **state)
{
	(void)state;
	ez_endpoint_publish(NULL, 1, 2);
	ez_endpoint_lease(NULL, 1);
	ez_endpoint_free(NULL, 1, 2);
	ez_endpoint_callback_begin(NULL, 1);
	ez_endpoint_blocked_begin(NULL, 1);
	ez_registry_close(NULL);
	assert_true(ez_entry_ref(NULL) == 0);
}

static void a_closed_index_rests_before_reuse(void **state)
{
	struct ez_entry *a = open_client("A"), *b, *c;
	uint64_t ref = ez_entry_ref(a);

	(void)state;
	ez_registry_close(a);
	b = open_client("B");
	assert_true(b != a);
	/* As if the twenty seconds were over. */
	a->closed_ns -= EZ_REGISTRY_REUSE_NS;
	c = open_client("C");
	assert_true(c == a);
	assert_int_equal(EZ_ENDPOINT_INDEX(ez_entry_ref(c)), EZ_ENDPOINT_INDEX(ref));
	assert_int_equal(EZ_ENDPOINT_GENERATION(ez_entry_ref(c)), EZ_ENDPOINT_GENERATION(ref) + 1);
	assert_int_equal(c->frees, 0);
	ez_registry_close(b);
	ez_registry_close(c);
}

static void the_table_grows_and_says_when_it_is_full(void **state)
{
	uint32_t before = ez_registry_table.count;
	struct ez_endpoint_spec spec = {.kind = EZ_KIND_PUBLISHER, .num_buffers = 1, .topic = "x"};
	struct ez_entry *entry, *last = NULL;
	int err = 0;
	uint32_t made = 0;

	(void)state;
	while (!(err = ez_registry_open(&spec, &entry)) && made <= EZ_REGISTRY_ENTRIES_MAX) {
		last = entry;
		made++;
	}
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(ez_registry_table.count, EZ_REGISTRY_ENTRIES_MAX);
	assert_true(made >= EZ_REGISTRY_ENTRIES_MAX - before);
	assert_int_equal(ez_registry_table.dropped, 1);
	assert_int_equal(EZ_ENDPOINT_INDEX(ez_entry_ref(last)), EZ_REGISTRY_ENTRIES_MAX - 1);
}

static int child_checks(void)
{
	struct ez_entry *e;
	struct ez_endpoint_spec spec = {
		.kind = EZ_KIND_PUBLISHER, .num_buffers = 2, .topic = "kid"};

	if (ez_registry_table.count != 0 || ez_registry_table.owner_pid != (uint32_t)getpid())
		return 1;
	if (ez_registry_open(&spec, &e) || ez_registry_table.count != 1)
		return 2;
	ez_endpoint_publish(e, 0, 5);
	return e->messages == 1 ? 0 : 3;
}

static void a_forked_child_starts_empty(void **state)
{
	uint32_t count = ez_registry_table.count;
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(child_checks());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(ez_registry_table.count, count);
}

static void odd_arguments_are_refused(void **state)
{
	struct ez_endpoint_spec spec = {.kind = EZ_KIND_CLIENT,
					.num_buffers = EZ_REGISTRY_BUFFERS_MAX + 1};
	struct ez_entry *entry = NULL;

	(void)state;
	assert_int_equal(ez_registry_open(&spec, &entry), -EINVAL);
	assert_null(entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_says_what_it_is),
		cmocka_unit_test(counters_move_without_a_listener),
		cmocka_unit_test(blocked_time_adds_up),
		cmocka_unit_test(null_entries_are_ignored),
		cmocka_unit_test(a_closed_index_rests_before_reuse),
		cmocka_unit_test(odd_arguments_are_refused),
		cmocka_unit_test(a_forked_child_starts_empty),
		cmocka_unit_test(the_table_grows_and_says_when_it_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
