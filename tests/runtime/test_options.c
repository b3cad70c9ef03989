/* SPDX-License-Identifier: MIT */
/* What a publisher can be told, by its options and by the environment; odd topics; edges in series.
 */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph_fixture.h"

#define SHORT_NS (SECOND_NS / 20)
#define FDS_MAX 256

/* A publisher with a subscriber in its own context and one in another. */
struct fixture {
	const struct graph *graph;
	struct ez_context *context;
	struct ez_context *other;
	struct ez_publisher *publisher;
	struct ez_subscriber *near;
	struct ez_subscriber *far;
};

static void open_all(struct fixture *f, void **state, const struct ez_publisher_options *options)
{
	f->graph = *state;
	assert_int_equal(ez_context_create(f->graph->address, &f->context), 0);
	assert_int_equal(ez_context_create(f->graph->address, &f->other), 0);
	assert_int_equal(ez_publisher_create(f->context, "T", options, &f->publisher), 0);
	assert_int_equal(ez_subscriber_create(f->context, "T", NULL, &f->near), 0);
	assert_int_equal(ez_subscriber_create(f->other, "T", NULL, &f->far), 0);
}

static void close_all(struct fixture *f)
{
	ez_context_destroy(f->other);
	ez_context_destroy(f->context);
}

static enum ez_via received_by(struct ez_subscriber *subscriber)
{
	struct ez_message message;

	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
	assert_int_equal(message.bytes, 1);
	ez_message_release(&message);
	return message.via;
}

static void expect_ways(struct fixture *f, enum ez_via near, enum ez_via far)
{
	assert_int_equal(ez_publish_bytes(f->publisher, "x", 1, PATIENCE_NS), 0);
	assert_int_equal(received_by(f->near), near);
	assert_int_equal(received_by(f->far), far);
}

static void run_ways(void **state, const struct ez_publisher_options *options, enum ez_via near,
		     enum ez_via far)
{
	struct fixture f;

	open_all(&f, state, options);
	expect_ways(&f, near, far);
	close_all(&f);
}

/* Nothing leaves until somebody resumes it: here, or the whole graph. */
static void test_start_paused(void **state)
{
	const struct ez_publisher_options options = {.start_paused = true};
	struct ez_message message;
	struct fixture f;

	for (int whole = 0; whole < 2; whole++) {
		open_all(&f, state, &options);
		assert_int_equal(ez_publish_bytes(f.publisher, "x", 1, SHORT_NS), -ETIMEDOUT);
		assert_int_equal(ez_receive(f.near, 0, &message), -ETIMEDOUT);
		assert_int_equal(whole ? ez_resume(f.other) : ez_publisher_resume(f.publisher), 0);
		expect_ways(&f, EZ_VIA_LOCAL, EZ_VIA_SHM);
		close_all(&f);
	}
}

static void test_force_tcp(void **state)
{
	const struct ez_publisher_options options = {.force_tcp = true};

	run_ways(state, &options, EZ_VIA_TCP, EZ_VIA_TCP);
}

static void test_no_local(void **state)
{
	const struct ez_publisher_options options = {.no_local = true};
	const struct ez_publisher_options both = {.no_local = true, .force_tcp = true};

	run_ways(state, &options, EZ_VIA_SHM, EZ_VIA_SHM);
	run_ways(state, &both, EZ_VIA_TCP, EZ_VIA_TCP);
}

static void test_env_force_tcp(void **state)
{
	static const char *const yes[] = {"1", "true", "Yes", "ON"};
	static const char *const no[] = {"0", "false", "", "tcp"};

	for (size_t i = 0; i < 4; i++) {
		setenv("EZMSG_FORCE_TCP", yes[i], 1);
		run_ways(state, NULL, EZ_VIA_TCP, EZ_VIA_TCP);
		setenv("EZMSG_FORCE_TCP", no[i], 1);
		run_ways(state, NULL, EZ_VIA_LOCAL, EZ_VIA_SHM);
	}
	unsetenv("EZMSG_FORCE_TCP");
}

static void test_env_allow_local(void **state)
{
	setenv("EZMSG_ALLOW_LOCAL", "0", 1);
	run_ways(state, NULL, EZ_VIA_SHM, EZ_VIA_SHM);
	setenv("EZMSG_ALLOW_LOCAL", "on", 1);
	run_ways(state, NULL, EZ_VIA_LOCAL, EZ_VIA_SHM);
	unsetenv("EZMSG_ALLOW_LOCAL");
}

static void test_env_server(void **state)
{
	const struct graph *graph = *state;
	struct ez_context *context;

	setenv("EZMSG_GRAPHSERVER_ADDR", graph->address, 1);
	assert_int_equal(ez_context_create(NULL, &context), 0);
	ez_context_destroy(context);
	/* What is named comes first; what can't be an address is no reason for the default. */
	setenv("EZMSG_GRAPHSERVER_ADDR", "nonsense", 1);
	assert_int_equal(ez_context_create(graph->address, &context), 0);
	ez_context_destroy(context);
	assert_int_equal(ez_context_create(NULL, &context), -EINVAL);
	unsetenv("EZMSG_GRAPHSERVER_ADDR");
}

/* ---- ports ---- */

/* The port at which this process listens; 0 = none, and it must be one at most. */
static unsigned int listening_port(void)
{
	struct sockaddr_in address;
	socklen_t bytes, int_bytes;
	unsigned int port = 0;
	int listens;

	for (int fd = 0; fd < FDS_MAX; fd++) {
		bytes = sizeof(address);
		int_bytes = sizeof(listens);
		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &int_bytes) || !listens ||
		    getsockname(fd, (struct sockaddr *)&address, &bytes))
			continue;
		assert_int_equal(port, 0);
		port = ntohs(address.sin_port);
	}
	return port;
}

static unsigned int port_from(struct ez_context *context, const char *start)
{
	struct ez_publisher *publisher;
	unsigned int port;

	if (start)
		setenv("EZMSG_PUBLISHER_PORT_START", start, 1);
	else
		unsetenv("EZMSG_PUBLISHER_PORT_START");
	assert_int_equal(ez_publisher_create(context, "T", NULL, &publisher), 0);
	port = listening_port();
	ez_publisher_destroy(publisher);
	return port;
}

static void test_env_port_start(void **state)
{
	const struct graph *graph = *state;
	struct ez_context *context;

	assert_int_equal(ez_context_create(graph->address, &context), 0);
	assert_in_range(port_from(context, NULL), 25980, 65535);
	assert_in_range(port_from(context, "41000"), 41000, 65535);
	/* The graph server's own is left out; what is no port is no start. */
	assert_in_range(port_from(context, "25978"), 25979, 65535);
	assert_in_range(port_from(context, "port"), 25980, 65535);
	assert_in_range(port_from(context, "70000"), 25980, 65535);
	unsetenv("EZMSG_PUBLISHER_PORT_START");
	ez_context_destroy(context);
}

/* One that nobody has now; those where others begin to look for one are taken in no time. */
static uint16_t free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, bytes), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
	close(fd);
	return ntohs(address.sin_port);
}

static void test_port_and_host(void **state)
{
	struct ez_publisher_options options = {.host = "0.0.0.0", .port = free_port()};
	struct ez_publisher *publisher;
	struct fixture f;

	open_all(&f, state, &options);
	assert_int_equal(listening_port(), options.port);
	expect_ways(&f, EZ_VIA_LOCAL, EZ_VIA_SHM);
	assert_int_equal(ez_publisher_create(f.context, "U", &options, &publisher), -EADDRINUSE);
	ez_publisher_destroy(f.publisher);
	/* At once again, though connections of the last one are in TIME_WAIT. */
	assert_int_equal(ez_publisher_create(f.context, "T", &options, &f.publisher), 0);
	assert_int_equal(listening_port(), options.port);
	expect_ways(&f, EZ_VIA_LOCAL, EZ_VIA_SHM);
	close_all(&f);
}

/* ---- topics and edges ---- */

static void pass_on_topic(struct fixture *f, const char *topic)
{
	struct ez_subscriber *near, *far, *behind;
	struct ez_publisher *publisher;
	struct ez_message message;

	assert_int_equal(ez_connect(f->context, topic, "behind"), 0);
	assert_int_equal(ez_publisher_create(f->context, topic, NULL, &publisher), 0);
	assert_int_equal(ez_subscriber_create(f->context, topic, NULL, &near), 0);
	assert_int_equal(ez_subscriber_create(f->other, topic, NULL, &far), 0);
	assert_int_equal(ez_subscriber_create(f->other, "behind", NULL, &behind), 0);
	assert_int_equal(ez_publish_bytes(publisher, "x", 1, PATIENCE_NS), 0);
	assert_int_equal(ez_receive(far, PATIENCE_NS, &message), 0);
	assert_string_equal(message.topic, topic);
	ez_message_release(&message);
	assert_int_equal(received_by(near), EZ_VIA_LOCAL);
	assert_int_equal(received_by(behind), EZ_VIA_SHM);
	assert_int_equal(ez_receive(f->near, 0, &message), -ETIMEDOUT);
	assert_int_equal(ez_disconnect(f->context, topic, "behind"), 0);
	ez_subscriber_destroy(behind);
	ez_subscriber_destroy(far);
	ez_subscriber_destroy(near);
	ez_publisher_destroy(publisher);
}

/* Topics are names and nothing else: no pattern, no separator, no form that means something. */
static void test_odd_topics(void **state)
{
	static const char *const topics[] = {
		"*",
		"#",
		"+",
		"T*",
		"A/B/C",
		"a b",
		"A,B",
		"line\nline",
		"\t",
		"psm_0123abcd",
		"\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80",
		"00000000-0000-0000-0000-000000000000",
	};
	char longest[4098];
	struct fixture f;
	struct ez_publisher *publisher;

	open_all(&f, state, NULL);
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
		pass_on_topic(&f, topics[i]);
	memset(longest, 't', sizeof(longest));
	longest[4097] = '\0';
	assert_int_equal(ez_publisher_create(f.context, longest, NULL, &publisher), -EINVAL);
	assert_int_equal(ez_connect(f.context, longest, "T"), -EINVAL);
	assert_int_equal(ez_publisher_create(f.context, NULL, NULL, &publisher), -EINVAL);
	longest[4096] = '\0';
	pass_on_topic(&f, longest);
	close_all(&f);
}

/* Two ways lead to D; each message arrives once, and at each topic on its way. */
static void test_fan_out(void **state)
{
	static const char *const edges[][2] = {{"T", "B"}, {"T", "C"}, {"B", "D"}, {"C", "D"}};
	static const char *const topics[] = {"B", "C", "D"};
	struct ez_subscriber *subscribers[3];
	struct ez_message message;
	struct fixture f;

	open_all(&f, state, NULL);
	for (int i = 0; i < 4; i++)
		assert_int_equal(ez_connect(f.context, edges[i][0], edges[i][1]), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ez_subscriber_create(i % 2 ? f.context : f.other, topics[i], NULL,
						      &subscribers[i]),
				 0);
	/* Two processes' worth of channels, however many subscribers there are. */
	assert_int_equal(ez_publisher_channels(f.publisher), 2);
	for (uint64_t n = 0; n < 107; n++) {
		send_number(f.publisher, n);
		for (int i = 0; i < 3; i++)
			assert_int_equal(receive_number(subscribers[i], n), n);
		receive_number(f.near, n);
		receive_number(f.far, n);
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(ez_receive(subscribers[i], 0, &message), -ETIMEDOUT);
	close_all(&f);
}

/* ---- what is written on stderr ---- */

struct listening {
	int stderr_fd;
	FILE *file;
};

static void listen_begin(struct listening *l)
{
	l->stderr_fd = dup(STDERR_FILENO);
	l->file = tmpfile();
	assert_non_null(l->file);
	assert_int_equal(dup2(fileno(l->file), STDERR_FILENO), STDERR_FILENO);
}

static void listen_end(struct listening *l, char *said, size_t bytes)
{
	dup2(l->stderr_fd, STDERR_FILENO);
	close(l->stderr_fd);
	rewind(l->file);
	said[fread(said, 1, bytes - 1, l->file)] = '\0';
	fclose(l->file);
}

/* A wait for a buffer that somebody keeps: what is said of it. */
static void held_up(void **state, char *said, size_t bytes)
{
	const struct ez_publisher_options options = {.num_buffers = 1};
	struct listening listening;
	struct fixture f;

	listen_begin(&listening);
	open_all(&f, state, &options);
	assert_int_equal(ez_publish_bytes(f.publisher, "x", 1, PATIENCE_NS), 0);
	assert_int_equal(ez_publish_bytes(f.publisher, "x", 1, PATIENCE_NS), 0);
	close_all(&f);
	listen_end(&listening, said, bytes);
}

static void without_server(char *said, size_t bytes)
{
	struct listening listening;
	struct ez_context *context;

	listen_begin(&listening);
	assert_int_equal(ez_context_create("127.0.0.1:1", &context), -ECONNREFUSED);
	listen_end(&listening, said, bytes);
}

/* The last one: a level that was set stays. */
static void test_env_log(void **state)
{
	char said[4096];

	setenv("EZ_LEASE_TIMEOUT_MS", "100", 1);
	held_up(state, said, sizeof(said));
	assert_string_equal(said, "");
	without_server(said, sizeof(said));
	assert_string_equal(said, "");
	setenv("EZMSG_LOGLEVEL", "WARNING", 1);
	without_server(said, sizeof(said));
	assert_non_null(strstr(said, "no ezmsg graph server at 127.0.0.1:1: Connection refused"));
	setenv("EZMSG_DISABLE_BACKPRESSURE_WARNING", "", 1);
	held_up(state, said, sizeof(said));
	assert_string_equal(said, "");
	unsetenv("EZMSG_DISABLE_BACKPRESSURE_WARNING");
	held_up(state, said, sizeof(said));
	assert_non_null(strstr(said, "topic T waits for channel "));
	unsetenv("EZ_LEASE_TIMEOUT_MS");
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_start_paused),	  GRAPH_TEST(test_force_tcp),
		GRAPH_TEST(test_no_local),	  GRAPH_TEST(test_env_force_tcp),
		GRAPH_TEST(test_env_allow_local), GRAPH_TEST(test_env_server),
		GRAPH_TEST(test_env_port_start),  GRAPH_TEST(test_port_and_host),
		GRAPH_TEST(test_odd_topics),	  GRAPH_TEST(test_fan_out),
		GRAPH_TEST(test_env_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
