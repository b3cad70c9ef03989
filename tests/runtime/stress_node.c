/* SPDX-License-Identifier: MIT */
/*
 * One process of test_nothing_lost.py: stress_node ADDRESS PUBLISHERS COUNT SEED. It has
 * subscribers that stay (two that may lose nothing, one of them with a callback, and a leaky one),
 * a thread whose subscribers join and leave, and, for PUBLISHERS > 0, publishers that send COUNT
 * messages each; every other one by tcp only. "ready", then "go" on stdin. Each message says whose
 * it is and its number. Sizes vary, and grow twice beyond the publisher's segment. All publishers
 * of the graph are TOTAL in number. Ends with "ok" and 0, or says what went wrong.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ezmsg/ezmsg.h>

#define TOTAL 4
#define STAYING 3
#define TOPIC "STRESS"
#define LARGEST_BYTES 200000
#define SECOND_NS INT64_C(1000000000)
/* So long nothing comes only when something is lost. */
#define PATIENCE_NS (60 * SECOND_NS)

struct content {
	uint64_t publisher, number;
};

/* What one subscriber has seen. */
struct seen {
	struct ez_subscriber *subscriber;
	const char *name;
	bool leaky, joined_late;
	uint64_t next[TOTAL], received, via[4];
	bool begun[TOTAL];
};

struct sender {
	struct ez_publisher *publisher;
	pthread_t thread;
	uint64_t number;
};

static struct ez_context *context;
static uint64_t count;
static unsigned int failures, joins, finished;

static void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	flockfile(stdout);
	vprintf(format, arguments);
	putchar('\n');
	funlockfile(stdout);
	va_end(arguments);
	if (__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) > 20)
		_exit(EXIT_FAILURE);
}

static size_t size_of(uint64_t number)
{
	if (number == count / 3)
		return LARGEST_BYTES / 2;
	if (number == count * 2 / 3)
		return LARGEST_BYTES;
	return number % 1000 == 999 ? 5000 : sizeof(struct content) + number % 50;
}

/* ---- subscribers ---- */

static void check(struct seen *seen, const struct ez_message *message)
{
	struct content content = {TOTAL, 0};
	uint64_t *next;

	if (message->bytes >= sizeof(content))
		memcpy(&content, message->data, sizeof(content));
	if (content.publisher >= TOTAL || content.number != message->id ||
	    message->bytes != size_of(content.number)) {
		complain("%s: a broken message %" PRIu64 " of %zu bytes", seen->name, message->id,
			 message->bytes);
		return;
	}
	next = &seen->next[content.publisher];
	if (!seen->begun[content.publisher] && seen->joined_late)
		*next = message->id;
	if (seen->leaky ? message->id < *next : message->id != *next)
		complain("%s: message %" PRIu64 " of publisher %" PRIu64 ", not %" PRIu64,
			 seen->name, message->id, content.publisher, *next);
	seen->begun[content.publisher] = true;
	*next = message->id + 1;
	seen->via[message->via]++;
	__atomic_add_fetch(&seen->received, 1, __ATOMIC_RELEASE);
}

static void check_in_callback(const struct ez_message *message, void *user)
{
	check(user, message);
}

static int receive_one(struct seen *seen, int64_t timeout_ns)
{
	struct ez_message message;
	int err = ez_receive(seen->subscriber, timeout_ns, &message);

	if (err)
		return err;
	check(seen, &message);
	ez_message_release(&message);
	return 0;
}

static uint64_t dropped(const struct seen *seen)
{
	uint64_t messages, bytes, drops;

	ez_subscriber_totals(seen->subscriber, &messages, &bytes, &drops);
	return drops;
}

static uint64_t accounted(const struct seen *seen)
{
	return __atomic_load_n(&seen->received, __ATOMIC_ACQUIRE) + dropped(seen);
}

/* Until everything that was sent is accounted for. */
static void *stay(void *argument)
{
	struct seen *seen = argument;
	uint64_t wanted = TOTAL * count, before = 0, now;
	int64_t idle_ns = 0;

	while ((now = accounted(seen)) < wanted && idle_ns < PATIENCE_NS) {
		if (receive_one(seen, SECOND_NS / 10) == -EINVAL)
			usleep(100000);
		idle_ns = now == before ? idle_ns + SECOND_NS / 10 : 0;
		before = now;
	}
	if (accounted(seen) != wanted || (!seen->leaky && dropped(seen)) ||
	    receive_one(seen, 0) == 0)
		complain("%s: %" PRIu64 " received and %" PRIu64 " dropped of %" PRIu64, seen->name,
			 seen->received, dropped(seen), wanted);
	__atomic_add_fetch(&finished, 1, __ATOMIC_RELEASE);
	return NULL;
}

static bool all_stayed(void)
{
	return __atomic_load_n(&finished, __ATOMIC_ACQUIRE) == STAYING;
}

/* One that joins under traffic, reads some, and leaves with the rest unread. */
static void visit(unsigned int *seed)
{
	const struct ez_subscriber_options options = {.leaky = rand_r(seed) % 4 == 0,
						      .max_queue = 3};
	struct seen seen = {.name = "visitor", .leaky = options.leaky, .joined_late = true};
	int err = ez_subscriber_create(context, TOPIC, &options, &seen.subscriber);

	if (err) {
		complain("a visitor can't join: %s", strerror(-err));
		return;
	}
	for (int left = rand_r(seed) % 2000; left && !all_stayed(); left--)
		receive_one(&seen, SECOND_NS / 100);
	ez_subscriber_destroy(seen.subscriber);
	joins++;
}

static void *join_and_leave(void *argument)
{
	unsigned int *seed = argument;

	while (!all_stayed())
		visit(seed);
	return NULL;
}

static int create_staying(struct seen *all)
{
	static const char *const names[STAYING] = {"receiver", "callback", "leaky"};
	int err = 0;

	for (int i = 0; i < STAYING && !err; i++) {
		struct ez_subscriber_options options = {.leaky = i == 2, .max_queue = 5};

		all[i].name = names[i];
		all[i].leaky = options.leaky;
		if (i == 1) {
			options.callback = check_in_callback;
			options.user = &all[i];
		}
		err = ez_subscriber_create(context, TOPIC, &options, &all[i].subscriber);
	}
	return err;
}

/* ---- publishers ---- */

static void *send_all(void *argument)
{
	struct sender *sender = argument;
	uint8_t *buffer = calloc(1, LARGEST_BYTES);
	struct content content = {.publisher = sender->number};
	int err = buffer ? 0 : -ENOMEM;

	for (; content.number < count && !err; content.number++) {
		memcpy(buffer, &content, sizeof(content));
		err = ez_publish_bytes(sender->publisher, buffer, size_of(content.number),
				       PATIENCE_NS);
	}
	if (err)
		complain("publisher %" PRIu64 ", message %" PRIu64 ": %s", sender->number,
			 content.number, strerror(-err));
	free(buffer);
	return NULL;
}

static int create_senders(struct sender *senders, unsigned int n)
{
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++) {
		const struct ez_publisher_options options = {.force_tcp = i % 2};

		senders[i].number = i;
		err = ez_publisher_create(context, TOPIC, &options, &senders[i].publisher);
	}
	return err;
}

/* ---- the process ---- */

static void report(const struct seen *all)
{
	for (int i = 0; i < STAYING; i++)
		printf("%s: %" PRIu64 " received (%" PRIu64 " local, %" PRIu64 " shm, %" PRIu64
		       " tcp), %" PRIu64 " dropped\n",
		       all[i].name, all[i].received, all[i].via[EZ_VIA_LOCAL],
		       all[i].via[EZ_VIA_SHM], all[i].via[EZ_VIA_TCP], dropped(&all[i]));
	printf("%u joined and left\n", joins);
}

static void run(struct seen *staying, struct sender *senders, unsigned int num_senders,
		unsigned int seed)
{
	pthread_t threads[STAYING], visitors;

	for (int i = 0; i < STAYING; i++)
		pthread_create(&threads[i], NULL, stay, &staying[i]);
	pthread_create(&visitors, NULL, join_and_leave, &seed);
	for (unsigned int i = 0; i < num_senders; i++)
		pthread_create(&senders[i].thread, NULL, send_all, &senders[i]);
	for (unsigned int i = 0; i < num_senders; i++)
		pthread_join(senders[i].thread, NULL);
	for (int i = 0; i < STAYING; i++)
		pthread_join(threads[i], NULL);
	pthread_join(visitors, NULL);
	report(staying);
}

int main(int argc, char **argv)
{
	struct seen staying[STAYING] = {0};
	struct sender senders[TOTAL] = {0};
	unsigned int num_senders;
	char line[16];
	int err;

	if (argc != 5)
		return 2;
	num_senders = (unsigned int)strtoul(argv[2], NULL, 10) % (TOTAL + 1);
	count = strtoull(argv[3], NULL, 10);
	setvbuf(stdout, NULL, _IOLBF, 0);
	err = ez_context_create(argv[1], &context);
	if (!err)
		err = create_senders(senders, num_senders);
	if (!err)
		err = create_staying(staying);
	if (err) {
		printf("%s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	puts("ready");
	if (fgets(line, sizeof(line), stdin))
		run(staying, senders, num_senders, (unsigned int)strtoul(argv[4], NULL, 10));
	puts(failures ? "failed" : "ok");
	/* Others may still read: with this process its publishers go. */
	if (!fgets(line, sizeof(line), stdin))
		complain("no word that all are through");
	ez_context_destroy(context);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
