/* SPDX-License-Identifier: MIT */
/*
 * A process of test_killed_peers.py, to survive or to be killed: kill_node ADDRESS END... An end is
 * pub:TOPIC, tcp:TOPIC (a publisher by tcp only) or sub:TOPIC; each has a thread that publishes or
 * receives until it is told that the graph is gone. Commands:
 *   stat             one word per end: COUNT:ERROR
 *   rejoin ADDRESS   ok     (everything anew, at another server)
 *   quit
 * A message's content is checked against its id: one that was not completed must not arrive.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ezmsg/ezmsg.h>

#define ENDS_MAX 8
#define WORDS 60
#define NUM_BUFFERS 4
/* So that a thread looks whether it shall end. */
#define TRY_NS INT64_C(50000000)
/* Between two messages: slow enough that a dozen processes have time for each other. */
#define PAUSE_US 300

struct end {
	const char *name;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	pthread_t thread;
	uint64_t count;
	int err;
};

static struct ez_context *context;
static struct end ends[ENDS_MAX];
static int num_ends;
static bool stop;

static bool goes_on(struct end *end, int err)
{
	if (!err)
		__atomic_add_fetch(&end->count, 1, __ATOMIC_RELAXED);
	if (err && err != -ETIMEDOUT)
		__atomic_store_n(&end->err, err, __ATOMIC_RELAXED);
	return (!err || err == -ETIMEDOUT) && !__atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void *publish(void *argument)
{
	struct end *end = argument;
	uint64_t content[WORDS], i;
	int err;

	do {
		for (i = 0; i < WORDS; i++)
			content[i] = end->count * WORDS + i;
		err = ez_publish_bytes(end->publisher, content, sizeof(content), TRY_NS);
		usleep(PAUSE_US);
	} while (goes_on(end, err));
	return NULL;
}

static int check(const struct ez_message *message)
{
	uint64_t content[WORDS], i;

	if (message->type != EZ_TYPE_BYTES || message->bytes != sizeof(content))
		return -EBADMSG;
	memcpy(content, message->data, sizeof(content));
	for (i = 0; i < WORDS; i++)
		if (content[i] != message->id * WORDS + i)
			return -EILSEQ;
	return 0;
}

static void *receive(void *argument)
{
	struct end *end = argument;
	struct ez_message message;
	int err;

	do {
		err = ez_receive(end->subscriber, TRY_NS, &message);
		if (err)
			continue;
		err = check(&message);
		usleep(PAUSE_US);
		ez_message_release(&message);
	} while (goes_on(end, err));
	return NULL;
}

static int open_end(struct end *end)
{
	const struct ez_publisher_options options = {
		.num_buffers = NUM_BUFFERS,
		.force_tcp = strncmp(end->name, "tcp:", 4) == 0,
	};
	bool is_sub = strncmp(end->name, "sub:", 4) == 0;
	int err = is_sub ? ez_subscriber_create(context, end->name + 4, NULL, &end->subscriber)
			 : ez_publisher_create(context, end->name + 4, &options, &end->publisher);

	end->count = 0;
	end->err = 0;
	if (!err)
		err = -pthread_create(&end->thread, NULL, is_sub ? receive : publish, end);
	return err;
}

static int join_graph(const char *address)
{
	int err = ez_context_create(address, &context);

	for (int i = 0; i < num_ends && !err; i++)
		err = open_end(&ends[i]);
	return err;
}

static void leave_graph(void)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < num_ends; i++)
		pthread_join(ends[i].thread, NULL);
	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	ez_context_destroy(context);
	context = NULL;
}

static int obey(char *line)
{
	int err = 0;

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "rejoin ", 7) == 0) {
		leave_graph();
		err = join_graph(line + 7);
		printf(err ? "error %d\n" : "ok\n", err);
	} else {
		for (int i = 0; i < num_ends; i++)
			printf("%" PRIu64 ":%d ", __atomic_load_n(&ends[i].count, __ATOMIC_RELAXED),
			       __atomic_load_n(&ends[i].err, __ATOMIC_RELAXED));
		printf("\n");
	}
	return err;
}

int main(int argc, char **argv)
{
	char line[128];
	int err;

	if (argc < 3 || argc > 2 + ENDS_MAX)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	num_ends = argc - 2;
	for (int i = 0; i < num_ends; i++)
		ends[i].name = argv[i + 2];
	err = join_graph(argv[1]);
	if (err) {
		/* Nothing to be taken down in order: its server may just have been killed. */
		printf("error %d %s\n", err, strerror(-err));
		return EXIT_FAILURE;
	}
	puts("ready");
	while (!err && fgets(line, sizeof(line), stdin) && strcmp(line, "quit\n") != 0)
		err = obey(line);
	if (!err)
		leave_graph();
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
