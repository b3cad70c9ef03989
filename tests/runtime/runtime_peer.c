/* SPDX-License-Identifier: MIT */
/*
 * A process that takes part in a graph on command: one line in, one line out. I counts the "sub"
 * commands from 0 and may be left out.
 *   sub TOPIC [leaky]              ok
 *   unsub I                        ok
 *   pub TOPIC BUFFERS [FLAG [BYTES]]  ok     (FLAG tcp or paused, else ignored; BYTES: of a buffer)
 *   channels                       N
 *   send COUNT BYTES               sent COUNT
 *   poll COUNT BYTES               sent COUNT  (each when the descriptor says so, without waiting)
 *   try BYTES MS                   sent 1     (or an error after so long)
 *   raw HEX[,HEX...]               sent 1      (buffers as they are, the pickle first)
 *   array COUNT ELEMENTS           sent COUNT  (float32: 0, 1, 2 ...)
 *   recv COUNT [I]                 got COUNT BYTES VIA
 *   recvfor MS                     got 1           (or an error after so long)
 *   drain BYTES                    drained COUNT   (messages before one of so many bytes)
 *   sum COUNT [I]                  sum COUNT CONTENT  (content bytes; arrays: their elements' sum)
 *   take [I]                       took ID     (kept until release, or for ever)
 *   look                           saw SUM     (of the bytes of what was taken)
 *   release                        released
 *   fail                           -ERRNO      (what ez_receive() says)
 *   connect FROM TO, disconnect FROM TO   ok
 *   pause, resume, sync MS         ok
 *   rejoin                         ready  (the context anew, and nothing in it)
 *   profile                        the document
 *   leave COUNT BYTES              sent COUNT  (and ends there and then, nothing destroyed)
 *   quit
 * or "error -ERRNO text" instead.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ezmsg/ezmsg.h>

#define PATIENCE_NS INT64_C(20000000000)
#define SUBSCRIBERS_MAX 8
#define RAW_BUFFERS_MAX 8
#define LINE_BYTES 16384

struct peer {
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscribers[SUBSCRIBERS_MAX];
	unsigned int num_subscribers;
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
	const struct ez_subscriber_options options = {
		.leaky = strcmp(flag, "leaky") == 0,
		.count_only = strcmp(flag, "count") == 0,
	};
	int err = -ENOSPC;

	if (peer->num_subscribers < SUBSCRIBERS_MAX)
		err = ez_subscriber_create(peer->context, topic, &options,
					   &peer->subscribers[peer->num_subscribers]);
	peer->num_subscribers += !err;
	say(err, "ok");
}

static void do_unsub(struct peer *peer, unsigned int index)
{
	ez_subscriber_destroy(peer->subscribers[index]);
	peer->subscribers[index] = NULL;
	say(0, "ok");
}

static void do_pub(struct peer *peer, const char *topic, unsigned int buffers, const char *flag,
		   unsigned int bytes)
{
	const struct ez_publisher_options options = {
		.num_buffers = buffers,
		.buffer_bytes = bytes,
		.force_tcp = strcmp(flag, "tcp") == 0,
		.start_paused = strcmp(flag, "paused") == 0,
	};

	say(ez_publisher_create(peer->context, topic, &options, &peer->publisher), "ok");
}

static void say_sent(int err, unsigned int count)
{
	char text[32];

	snprintf(text, sizeof(text), "sent %u", count);
	say(err, text);
}

static void do_send(struct peer *peer, unsigned int count, unsigned int bytes)
{
	char *content = calloc(1, bytes + 1);
	unsigned int i;
	int err = content ? 0 : -ENOMEM;

	for (i = 0; i < count && !err; i++)
		err = ez_publish_bytes(peer->publisher, content, bytes, PATIENCE_NS);
	free(content);
	say_sent(err, count);
}

static void do_poll(struct peer *peer, unsigned int count, unsigned int bytes)
{
	struct pollfd ready = {.fd = ez_publisher_fd(peer->publisher), .events = POLLIN};
	char *content = calloc(1, bytes + 1);
	unsigned int i;
	int err = content ? 0 : -ENOMEM;

	for (i = 0; i < count && !err; i++) {
		err = poll(&ready, 1, (int)(PATIENCE_NS / 1000000)) == 1 ? 0 : -ETIME;
		if (!err)
			err = ez_publish_bytes(peer->publisher, content, bytes, 0);
	}
	free(content);
	say_sent(err, count);
}

/* As `send`, without a copy. */
static void do_slot(struct peer *peer, unsigned int count, unsigned int bytes)
{
	struct ez_slot slot;
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		err = ez_publish_begin(peer->publisher, bytes + 100, PATIENCE_NS, &slot);
		if (err)
			break;
		memset(slot.data, 0, bytes);
		err = ez_publish_commit(&slot, bytes);
	}
	say_sent(err, count);
}

/* As `array`, without a copy. */
static void do_slot_array(struct peer *peer, unsigned int count, unsigned int elements)
{
	const uint64_t shape = elements;
	struct ez_slot slot;
	unsigned int i, e;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		err = ez_publish_begin_array(peer->publisher, "f4", &shape, 1, PATIENCE_NS, &slot);
		for (e = 0; !err && e < elements; e++)
			((float *)slot.data)[e] = (float)e;
		if (!err)
			err = ez_publish_commit(&slot, slot.bytes);
	}
	say_sent(err, count);
}

static void do_try(struct peer *peer, unsigned int bytes, unsigned int ms)
{
	char *content = calloc(1, bytes + 1);

	say_sent(content ? ez_publish_bytes(peer->publisher, content, bytes, ms * INT64_C(1000000))
			 : -ENOMEM,
		 1);
	free(content);
}

static void do_array(struct peer *peer, unsigned int count, unsigned int elements)
{
	const uint64_t shape[] = {elements};
	float *content = calloc(elements + 1, sizeof(*content));
	unsigned int i;
	int err = content ? 0 : -ENOMEM;

	for (i = 0; i < elements && !err; i++)
		content[i] = (float)i;
	for (i = 0; i < count && !err; i++)
		err = ez_publish_array(peer->publisher, "f4", shape, 1, content, PATIENCE_NS);
	free(content);
	say_sent(err, count);
}

/* Hexadecimal digits, in place. */
static size_t decode(char *text)
{
	size_t n = strlen(text) / 2, i;
	unsigned int byte;

	for (i = 0; i < n; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return i;
		text[i] = (char)byte;
	}
	return n;
}

static void do_raw(struct peer *peer, char *text)
{
	struct iovec buffers[RAW_BUFFERS_MAX];
	char *save, *part = strtok_r(text, ",\n", &save);
	size_t n = 0;

	for (; part && n < RAW_BUFFERS_MAX; part = strtok_r(NULL, ",\n", &save)) {
		buffers[n].iov_base = part;
		buffers[n++].iov_len = decode(part);
	}
	say_sent(ez_publish_buffers(peer->publisher, buffers, n, PATIENCE_NS), 1);
}

static double content_of(const struct ez_message *message)
{
	const uint8_t *elements = message->data;
	double sum = 0;
	float element;
	size_t i;

	if (message->type != EZ_TYPE_ARRAY)
		return (double)message->bytes;
	/* From Python they lie where the pickle happened to end, aligned to nothing. */
	for (i = 0; i < message->bytes / sizeof(element); i++) {
		memcpy(&element, elements + i * sizeof(element), sizeof(element));
		sum += (double)element;
	}
	return sum;
}

static void do_recv(struct peer *peer, unsigned int count, unsigned int index, bool sum)
{
	static const char *const names[] = {"unknown", "local", "shm", "tcp"};
	struct ez_message message = {.via = EZ_VIA_UNKNOWN};
	uint64_t bytes = 0;
	double content = 0;
	unsigned int i;
	int err = 0;

	for (i = 0; i < count; i++) {
		err = ez_receive(peer->subscribers[index], PATIENCE_NS, &message);
		if (err)
			break;
		bytes += message.total_bytes;
		content += content_of(&message);
		ez_message_release(&message);
	}
	if (err)
		say(err, "");
	else if (sum)
		printf("sum %u %.0f\n", count, content);
	else
		printf("got %u %" PRIu64 " %s\n", count, bytes, names[message.via]);
}

static void do_recv_for(struct peer *peer, unsigned int ms)
{
	struct ez_message message;
	int err = ez_receive(peer->subscribers[0], ms * INT64_C(1000000), &message);

	if (!err)
		ez_message_release(&message);
	say(err, "got 1");
}

static void do_drain(struct peer *peer, size_t bytes)
{
	struct ez_message message;
	unsigned int count = 0;
	bool found = false;
	int err = 0;

	while (!err && !found) {
		err = ez_receive(peer->subscribers[0], PATIENCE_NS, &message);
		if (err)
			break;
		found = message.total_bytes == bytes;
		count += !found;
		ez_message_release(&message);
	}
	if (err)
		say(err, "");
	else
		printf("drained %u\n", count);
}

static void do_take(struct peer *peer, unsigned int index)
{
	int err = ez_receive(peer->subscribers[index], PATIENCE_NS, &peer->kept);

	if (err)
		say(err, "");
	else
		printf("took %" PRIu64 "\n", peer->kept.id);
}

static void do_look(const struct ez_message *message)
{
	const uint8_t *content = message->data;
	unsigned long sum = 0;

	for (size_t i = 0; i < message->bytes; i++)
		sum += content[i];
	printf("saw %lu\n", sum);
}

/* What is kept must have been released. */
static void do_rejoin(struct peer *peer, const char *address)
{
	ez_context_destroy(peer->context);
	*peer = (struct peer){0};
	say(ez_context_create(address, &peer->context), "ready");
}

static void do_profile(struct peer *peer)
{
	char *json = NULL;
	int err = ez_profile(peer->context, 2.0, &json);

	say(err, json ? json : "");
	free(json);
}

/* Those with texts. */
static bool obey_names(struct peer *peer, char *line)
{
	char topic[64] = "", other[64] = "";
	unsigned int a = 0, b = 0;

	if (sscanf(line, "sub %63s %63s", topic, other) >= 1)
		do_sub(peer, topic, other);
	else if (sscanf(line, "pub %63s %u %63s %u", topic, &a, other, &b) >= 2)
		do_pub(peer, topic, a, other, b);
	else if (sscanf(line, "connect %63s %63s", topic, other) == 2)
		say(ez_connect(peer->context, topic, other), "ok");
	else if (sscanf(line, "disconnect %63s %63s", topic, other) == 2)
		say(ez_disconnect(peer->context, topic, other), "ok");
	else if (strncmp(line, "raw ", 4) == 0)
		do_raw(peer, line + 4);
	else
		return false;
	return true;
}

/* To the whole graph. */
static bool obey_graph(struct peer *peer, const char *line)
{
	unsigned int ms = 0;

	if (strcmp(line, "pause\n") == 0)
		say(ez_pause(peer->context), "ok");
	else if (strcmp(line, "resume\n") == 0)
		say(ez_resume(peer->context), "ok");
	else if (sscanf(line, "sync %u", &ms) == 1)
		say(ez_sync(peer->context, ms * INT64_C(1000000)), "ok");
	else
		return false;
	return true;
}

static void obey(struct peer *peer, char *line)
{
	unsigned int a = 0, b = 0;

	if (obey_names(peer, line) || obey_graph(peer, line)) {
	} else if (strcmp(line, "channels\n") == 0) {
		printf("%zu\n", ez_publisher_channels(peer->publisher));
	} else if (sscanf(line, "send %u %u", &a, &b) == 2) {
		do_send(peer, a, b);
	} else if (sscanf(line, "poll %u %u", &a, &b) == 2) {
		do_poll(peer, a, b);
	} else if (sscanf(line, "slot %u %u", &a, &b) == 2) {
		do_slot(peer, a, b);
	} else if (sscanf(line, "slotarray %u %u", &a, &b) == 2) {
		do_slot_array(peer, a, b);
	} else if (sscanf(line, "try %u %u", &a, &b) == 2) {
		do_try(peer, a, b);
	} else if (sscanf(line, "array %u %u", &a, &b) == 2) {
		do_array(peer, a, b);
	} else if (sscanf(line, "recv %u %u", &a, &b) >= 1 && b < peer->num_subscribers) {
		do_recv(peer, a, b, false);
	} else if (sscanf(line, "recvfor %u", &a) == 1) {
		do_recv_for(peer, a);
	} else if (sscanf(line, "drain %u", &a) == 1) {
		do_drain(peer, a);
	} else if (sscanf(line, "sum %u %u", &a, &b) >= 1 && b < peer->num_subscribers) {
		do_recv(peer, a, b, true);
	} else if (sscanf(line, "unsub %u", &a) == 1 && a < peer->num_subscribers) {
		do_unsub(peer, a);
	} else if (strncmp(line, "take", 4) == 0) {
		do_take(peer, (unsigned int)strtoul(line + 4, NULL, 10) % SUBSCRIBERS_MAX);
	} else if (strcmp(line, "look\n") == 0) {
		do_look(&peer->kept);
	} else if (strcmp(line, "release\n") == 0) {
		ez_message_release(&peer->kept);
		say(0, "released");
	} else if (strcmp(line, "fail\n") == 0) {
		struct ez_message message;

		printf("%d\n", ez_receive(peer->subscribers[0], PATIENCE_NS, &message));
	} else if (sscanf(line, "leave %u %u", &a, &b) == 2) {
		do_send(peer, a, b);
		exit(EXIT_SUCCESS);
	} else if (strcmp(line, "profile\n") == 0) {
		do_profile(peer);
	} else {
		say(-EINVAL, "");
	}
	fflush(stdout);
}

/* A message that is kept for ever, unacknowledged, leaves no tidy way out. */
static void leave(struct peer *peer)
{
	if (peer->kept.internal[0])
		_exit(EXIT_SUCCESS);
	ez_context_destroy(peer->context);
}

int main(int argc, char **argv)
{
	static char line[LINE_BYTES];
	struct peer peer = {0};
	int err;

	if (argc != 2)
		return 2;
	err = ez_context_create(argv[1], &peer.context);
	say(err, "ready");
	fflush(stdout);
	while (!err && fgets(line, sizeof(line), stdin) && strcmp(line, "quit\n") != 0) {
		if (strcmp(line, "rejoin\n") == 0)
			do_rejoin(&peer, argv[1]);
		else
			obey(&peer, line);
		fflush(stdout);
	}
	leave(&peer);
	return err ? 1 : 0;
}
