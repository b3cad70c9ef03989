/* SPDX-License-Identifier: MIT */
/*
 * One end of a cell of the interop matrix, with libezmsg; matrix_peer.py is the real ezmsg's. Lines
 * in: pub TOPIC shm|tcp|local   ok sub TOPIC                 ok send KIND SIZE COUNT FIRST    sent
 * COUNT CRC        (KIND: bytes, array of SIZE float32) recv COUNT                got COUNT CRC
 * WHAT VIA    (when they have come; meanwhile it obeys on) end                       ok (nothing
 * more was there; both are destroyed) Message i's j-th byte or element is (31 i + 7 j), modulo 256
 * or 65536: both sides make it for themselves, and what arrives is added up by CRC-32.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ezmsg/ezmsg.h>

#define PATIENCE_NS INT64_C(30000000000)
#define NUM_BUFFERS 4

struct peer {
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	pthread_t receiver;
	unsigned int wanted; /* by the receiver; 0: none runs */
	uint64_t next_id;
};

static uint32_t crc32_table[256];

static void crc32_init(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		crc32_table[i] = c;
	}
}

static uint32_t crc32_add(uint32_t crc, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	crc = ~crc;
	while (bytes--)
		crc = crc32_table[(crc ^ *p++) & 0xff] ^ crc >> 8;
	return ~crc;
}

static void say(int err)
{
	if (err)
		printf("error %d %s\n", err, strerror(-err));
	else
		printf("ok\n");
}

/* ---- publisher ---- */

static void fill(void *content, bool array, size_t size, size_t message)
{
	float *elements = content;
	uint8_t *bytes = content;

	for (size_t j = 0; j < size; j++)
		if (array)
			elements[j] = (float)((31 * message + 7 * j) & 0xffff);
		else
			bytes[j] = (uint8_t)(31 * message + 7 * j);
}

static void do_send(struct peer *peer, bool array, size_t size, unsigned int count,
		    unsigned int first)
{
	const uint64_t shape[] = {size};
	size_t bytes = array ? size * sizeof(float) : size;
	void *content = malloc(bytes + 1);
	uint32_t crc = 0;
	int err = content ? 0 : -ENOMEM;

	for (unsigned int i = first; i < first + count && !err; i++) {
		fill(content, array, size, i);
		crc = crc32_add(crc, content, bytes);
		err = array ? ez_publish_array(peer->publisher, "f4", shape, 1, content,
					       PATIENCE_NS)
			    : ez_publish_bytes(peer->publisher, content, bytes, PATIENCE_NS);
	}
	free(content);
	if (err)
		say(err);
	else
		printf("sent %u %08" PRIx32 "\n", count, crc);
}

/* ---- subscriber ---- */

static void describe(const struct ez_message *message, char *text, size_t room)
{
	static const char *const via[] = {"unknown", "local", "shm", "tcp"};

	if (message->type == EZ_TYPE_ARRAY)
		snprintf(text, room, "%s(%" PRIu64 ",)/%u %s", message->dtype, message->shape[0],
			 message->dimensions, via[message->via]);
	else
		snprintf(text, room, "%s %s",
			 message->type == EZ_TYPE_BYTES ? "bytes" : "something else",
			 via[message->via]);
}

static void *receive(void *argument)
{
	struct peer *peer = argument;
	struct ez_message message;
	char text[64] = "";
	uint32_t crc = 0;
	int err = 0;

	for (unsigned int i = 0; i < peer->wanted && !err; i++) {
		err = ez_receive(peer->subscriber, PATIENCE_NS, &message);
		if (err)
			break;
		if (message.id != peer->next_id++)
			err = -EILSEQ;
		crc = crc32_add(crc, message.data, message.bytes);
		describe(&message, text, sizeof(text));
		ez_message_release(&message);
	}
	if (err)
		say(err);
	else
		printf("got %u %08" PRIx32 " %s\n", peer->wanted, crc, text);
	return NULL;
}

static void join(struct peer *peer)
{
	if (peer->wanted)
		pthread_join(peer->receiver, NULL);
	peer->wanted = 0;
}

static void do_recv(struct peer *peer, unsigned int count)
{
	int err;

	join(peer);
	peer->wanted = count;
	err = pthread_create(&peer->receiver, NULL, receive, peer);
	if (err) {
		peer->wanted = 0;
		say(-err);
	}
}

static void do_end(struct peer *peer)
{
	struct ez_message message;
	int err = -ETIMEDOUT;

	join(peer);
	if (peer->subscriber)
		err = ez_receive(peer->subscriber, 0, &message);
	ez_subscriber_destroy(peer->subscriber);
	ez_publisher_destroy(peer->publisher);
	peer->subscriber = NULL;
	peer->publisher = NULL;
	say(err == -ETIMEDOUT ? 0 : -EEXIST);
}

/* ---- commands ---- */

static void do_pub(struct peer *peer, const char *topic, const char *transport)
{
	const struct ez_publisher_options options = {.num_buffers = NUM_BUFFERS,
						     .force_tcp = strcmp(transport, "tcp") == 0};

	say(ez_publisher_create(peer->context, topic, &options, &peer->publisher));
}

static void do_sub(struct peer *peer, const char *topic)
{
	peer->next_id = 0;
	say(ez_subscriber_create(peer->context, topic, NULL, &peer->subscriber));
}

static void obey(struct peer *peer, const char *line)
{
	char word[64], kind[16];
	unsigned int count, first;
	size_t size;

	if (sscanf(line, "pub %63s %15s", word, kind) == 2)
		do_pub(peer, word, kind);
	else if (sscanf(line, "sub %63s", word) == 1)
		do_sub(peer, word);
	else if (sscanf(line, "send %15s %zu %u %u", kind, &size, &count, &first) == 4)
		do_send(peer, strcmp(kind, "array") == 0, size, count, first);
	else if (sscanf(line, "recv %u", &count) == 1)
		do_recv(peer, count);
	else if (strcmp(line, "end\n") == 0)
		do_end(peer);
	else
		say(-EINVAL);
}

int main(int argc, char **argv)
{
	struct peer peer = {0};
	char line[256];
	int err;

	if (argc != 2)
		return 2;
	crc32_init();
	setvbuf(stdout, NULL, _IOLBF, 0);
	err = ez_context_create(argv[1], &peer.context);
	say(err);
	while (!err && fgets(line, sizeof(line), stdin))
		obey(&peer, line);
	join(&peer);
	ez_context_destroy(peer.context);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
