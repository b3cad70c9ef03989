/* SPDX-License-Identifier: MIT */
/*
 * A process that takes part in a graph on command: one line in, one line out.
 *   sub TOPIC [leaky]          ok
 *   pub TOPIC BUFFERS [tcp]    ok
 *   send COUNT BYTES           sent COUNT | error
 *   recv COUNT                 got COUNT BYTES VIA
 *   take                       took ID       (kept until release)
 *   release                    released
 *   fail                       -ERRNO        (what ez_receive() says)
 *   quit
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ezmsg/ezmsg.h>

#define PATIENCE_NS INT64_C(20000000000)

struct peer {
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	struct ez_message kept;
};

static void say(int err, const char *text)
{
	if (err)
		printf("error %d %s\n", err, strerror(-err));
	else
		printf("%s\n", text);
}

static void do_sub(struct peer *peer, const char *topic, const char *flag)
{
	const struct ez_subscriber_options options = {.leaky = strcmp(flag, "leaky") == 0};

	say(ez_subscriber_create(peer->context, topic, &options, &peer->subscriber), "ok");
}

static void do_pub(struct peer *peer, const char *topic, unsigned int buffers, const char *flag)
{
	const struct ez_publisher_options options = {
		.num_buffers = buffers,
		.force_tcp = strcmp(flag, "tcp") == 0,
	};

	say(ez_publisher_create(peer->context, topic, &options, &peer->publisher), "ok");
}

static void do_send(struct peer *peer, unsigned int count, unsigned int bytes)
{
	char *content = calloc(1, bytes + 1);
	unsigned int i;
	int err = content ? 0 : -ENOMEM;

	for (i = 0; i < count && !err; i++)
		err = ez_publish_bytes(peer->publisher, content, bytes, PATIENCE_NS);
	free(content);
	if (err)
		say(err, "");
	else
		printf("sent %u\n", count);
}

static void do_recv(struct peer *peer, unsigned int count)
{
	static const char *const names[] = {"unknown", "local", "shm", "tcp"};
	struct ez_message message = {.via = EZ_VIA_UNKNOWN};
	uint64_t bytes = 0;
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		err = ez_receive(peer->subscriber, PATIENCE_NS, &message);
		if (err)
			break;
		bytes += message.total_bytes;
		ez_message_release(&message);
	}
	if (err)
		say(err, "");
	else
		printf("got %u %" PRIu64 " %s\n", count, bytes, names[message.via]);
}

static void do_take(struct peer *peer)
{
	int err = ez_receive(peer->subscriber, PATIENCE_NS, &peer->kept);

	if (err)
		say(err, "");
	else
		printf("took %" PRIu64 "\n", peer->kept.id);
}

static void do_fail(struct peer *peer)
{
	struct ez_message message;

	printf("%d\n", ez_receive(peer->subscriber, PATIENCE_NS, &message));
}

static void obey(struct peer *peer, const char *line)
{
	char topic[64] = "", flag[16] = "";
	unsigned int a = 0, b = 0;

	if (sscanf(line, "sub %63s %15s", topic, flag) >= 1) {
		do_sub(peer, topic, flag);
	} else if (sscanf(line, "pub %63s %u %15s", topic, &a, flag) >= 2) {
		do_pub(peer, topic, a, flag);
	} else if (sscanf(line, "send %u %u", &a, &b) == 2) {
		do_send(peer, a, b);
	} else if (sscanf(line, "recv %u", &a) == 1) {
		do_recv(peer, a);
	} else if (strcmp(line, "take\n") == 0) {
		do_take(peer);
	} else if (strcmp(line, "release\n") == 0) {
		ez_message_release(&peer->kept);
		say(0, "released");
	} else if (strcmp(line, "fail\n") == 0) {
		do_fail(peer);
	} else {
		say(-EINVAL, "");
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct peer peer = {0};
	char line[128];
	int err;

	if (argc != 2)
		return 2;
	err = ez_context_create(argv[1], &peer.context);
	say(err, "ready");
	fflush(stdout);
	while (!err && fgets(line, sizeof(line), stdin) && strcmp(line, "quit\n") != 0)
		obey(&peer, line);
	ez_context_destroy(peer.context);
	return err ? 1 : 0;
}
