/* SPDX-License-Identifier: MIT */
/*
 * What the runtime is measured against: the same frames over the same kind of socket and the same
 * copies, and nothing else.
 *
 *   runtime_bare shm|tcp BYTES WINDOW          says "PORT SEGMENT" and sends
 *   runtime_bare shm|tcp BYTES WINDOW PORT SEGMENT  receives and acknowledges
 *   runtime_bare queue BYTES WINDOW            two threads, a mutex and two condition variables
 *   runtime_bare memcpy BYTES WINDOW           copies into WINDOW buffers of shared memory in turn
 *
 * Lines in and out are those of runtime_node.c. WINDOW messages may be unacknowledged.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime_stamp.h"

/* A command, two numbers; the 12 characters of a segment's name, or what is marshalled. */
#define FRAME_BYTES 17
#define NAME_BYTES 12
#define MARSHAL_BYTES 34
#define ACK_BYTES 9
#define READ_BYTES 65536

struct bare {
	struct latencies latencies;
	size_t bytes;
	uint64_t window;
	bool shm;
	int fd;
	char *slots; /* window times stride */
	size_t stride;
	uint64_t sent, acked;
	size_t part; /* of an acknowledgement */
};

static int send_all(int fd, struct iovec *parts, int count)
{
	ssize_t n;

	while (count) {
		n = writev(fd, parts, count);
		if (n < 0)
			return -1;
		for (; count && (size_t)n >= parts->iov_len; parts++, count--)
			n -= (ssize_t)parts->iov_len;
		if (count) {
			parts->iov_base = (char *)parts->iov_base + n;
			parts->iov_len -= (size_t)n;
		}
	}
	return 0;
}

/* ---- sender ---- */

static int take_acks(struct bare *bare)
{
	char acks[64 * ACK_BYTES];
	ssize_t n = read(bare->fd, acks, sizeof(acks));

	if (n <= 0)
		return -1;
	bare->part += (size_t)n;
	bare->acked += bare->part / ACK_BYTES;
	bare->part %= ACK_BYTES;
	return 0;
}

static int send_one(struct bare *bare, void *content, size_t bytes)
{
	char head[FRAME_BYTES + MARSHAL_BYTES] = {0};
	char *slot = bare->slots + bare->sent % bare->window * bare->stride;
	uint64_t length = bare->shm ? NAME_BYTES : MARSHAL_BYTES + bytes;
	struct iovec parts[2] = {{head, sizeof(head)}, {content, bytes}};

	while (bare->sent - bare->acked >= bare->window)
		if (take_acks(bare))
			return -1;
	if (bare->shm) {
		memcpy(slot, &bytes, sizeof(bytes));
		memcpy(slot + MARSHAL_BYTES, content, bytes);
		parts[0].iov_len = FRAME_BYTES + NAME_BYTES;
	}
	memcpy(head + 1, &bare->sent, sizeof(bare->sent));
	memcpy(head + 9, &length, sizeof(length));
	bare->sent++;
	return send_all(bare->fd, parts, bare->shm ? 1 : 2);
}

/* ---- receiver ---- */

static void receive_one(struct bare *bare, const char *content, size_t bytes)
{
	if (bytes >= STAMP_BYTES)
		latencies_take(&bare->latencies, content);
}

/* The bytes of the frame at `at`, 0 while it isn't complete. */
static size_t frame_at(struct bare *bare, char *at, size_t have, bool *ret_report)
{
	uint64_t id, length;
	size_t bytes;
	char *slot;

	if (have < FRAME_BYTES)
		return 0;
	memcpy(&id, at + 1, sizeof(id));
	memcpy(&length, at + 9, sizeof(length));
	if (have < FRAME_BYTES + length)
		return 0;
	slot = bare->shm ? bare->slots + id % bare->window * bare->stride : at + FRAME_BYTES;
	bytes = length - MARSHAL_BYTES;
	if (bare->shm)
		memcpy(&bytes, slot, sizeof(bytes));
	receive_one(bare, slot + MARSHAL_BYTES, bytes);
	*ret_report |= bytes == REPORT_BYTES;
	return FRAME_BYTES + length;
}

static int receive_some(struct bare *bare, char *buffer, size_t *have)
{
	static char acks[READ_BYTES];
	struct iovec part = {acks, 0};
	size_t at = 0, frame;
	bool report = false;
	ssize_t n = read(bare->fd, buffer + *have, READ_BYTES + (bare->shm ? 0 : bare->bytes));

	if (n <= 0)
		return -1;
	*have += (size_t)n;
	while ((frame = frame_at(bare, buffer + at, *have - at, &report))) {
		at += frame;
		part.iov_len += ACK_BYTES;
	}
	*have -= at;
	if (at)
		memmove(buffer, buffer + at, *have);
	if (part.iov_len && send_all(bare->fd, &part, 1))
		return -1;
	if (report)
		latencies_report(&bare->latencies);
	return 0;
}

static int receive_all(struct bare *bare)
{
	char *buffer = malloc(2 * (READ_BYTES + bare->bytes + FRAME_BYTES + MARSHAL_BYTES));
	size_t have = 0;

	while (buffer && !receive_some(bare, buffer, &have))
		;
	free(buffer);
	return 0;
}

/* ---- how the two find each other ---- */

static int map_segment(struct bare *bare, const char *name, int flags)
{
	size_t total = bare->stride * bare->window;
	int fd = shm_open(name, flags | O_RDWR, 0600);
	int err = fd < 0 || ftruncate(fd, (off_t)total);

	if (!err)
		bare->slots = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return err || bare->slots == MAP_FAILED ? -1 : 0;
}

static int listen_for_one(struct bare *bare)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char name[NAME_BYTES + 1], hello;
	int err;

	snprintf(name, sizeof(name), "/bare%07u", (unsigned int)getpid() % 10000000);
	if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &length) ||
	    map_segment(bare, name, O_CREAT | O_EXCL)) {
		close(listener);
		return -1;
	}
	printf("%d %s\n", ntohs(address.sin_port), name);
	bare->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	err = bare->fd < 0 || read(bare->fd, &hello, 1) != 1;
	close(listener);
	shm_unlink(name);
	return err ? -1 : 0;
}

static int connect_to(struct bare *bare, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)strtoul(argv[4], NULL, 10)),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	bare->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (map_segment(bare, argv[5], 0) ||
	    connect(bare->fd, (struct sockaddr *)&address, sizeof(address)))
		return -1;
	return write(bare->fd, "", 1) == 1 ? 0 : -1;
}

/* ---- queue and memcpy ---- */

struct queue {
	struct bare *bare;
	pthread_mutex_t lock;
	pthread_cond_t not_full, not_empty;
	uint64_t put, taken;
};

static void queue_put(struct queue *queue, const void *content, size_t bytes)
{
	struct bare *bare = queue->bare;
	char *slot = bare->slots + queue->put % bare->window * bare->stride;

	pthread_mutex_lock(&queue->lock);
	while (queue->put - queue->taken >= bare->window)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	memcpy(slot, &bytes, sizeof(bytes));
	memcpy(slot + MARSHAL_BYTES, content, bytes);
	queue->put++;
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

/* The slot is the reader's until it is given back, as a message is until its release. */
static void *queue_take_all(void *argument)
{
	struct queue *queue = argument;
	struct bare *bare = queue->bare;
	size_t bytes;
	char *slot;

	for (;;) {
		slot = bare->slots + queue->taken % bare->window * bare->stride;
		pthread_mutex_lock(&queue->lock);
		while (queue->put == queue->taken)
			pthread_cond_wait(&queue->not_empty, &queue->lock);
		pthread_mutex_unlock(&queue->lock);
		memcpy(&bytes, slot, sizeof(bytes));
		receive_one(bare, slot + MARSHAL_BYTES, bytes);
		pthread_mutex_lock(&queue->lock);
		queue->taken++;
		pthread_cond_signal(&queue->not_full);
		pthread_mutex_unlock(&queue->lock);
		if (bytes == REPORT_BYTES)
			latencies_report(&bare->latencies);
	}
	return NULL;
}

/* ---- commands ---- */

static int pass_on(struct bare *bare, struct queue *queue, void *content, size_t bytes)
{
	if (bare->fd >= 0)
		return send_one(bare, content, bytes);
	if (queue)
		queue_put(queue, content, bytes);
	else
		memcpy(bare->slots + bare->sent++ % bare->window * bare->stride + MARSHAL_BYTES,
		       content, bytes);
	return 0;
}

static int obey(struct bare *bare, struct queue *queue)
{
	void *content = calloc(1, bare->bytes + STAMP_BYTES);
	char line[64];
	int err = content ? 0 : -1;

	puts("ready");
	while (!err && fgets(line, sizeof(line), stdin)) {
		uint64_t messages = strtoull(line, NULL, 10), i, begin = stamp_now_ns();

		for (i = 0; i < messages && !err; i++) {
			stamp_put(content);
			err = pass_on(bare, queue, content, bare->bytes);
		}
		printf("%" PRIu64 "\n", stamp_now_ns() - begin);
		if (!err)
			err = pass_on(bare, queue, content, REPORT_BYTES);
	}
	free(content);
	return err;
}

static int within_process(struct bare *bare, bool with_queue)
{
	struct queue queue = {
		.bare = bare,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.not_full = PTHREAD_COND_INITIALIZER,
		.not_empty = PTHREAD_COND_INITIALIZER,
	};
	pthread_t reader;

	bare->slots = mmap(NULL, bare->window * bare->stride, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bare->slots == MAP_FAILED ||
	    (with_queue && pthread_create(&reader, NULL, queue_take_all, &queue)))
		return -1;
	exit(obey(bare, with_queue ? &queue : NULL) ? EXIT_FAILURE : EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
	struct bare bare = {.fd = -1};
	int err, on = 1;

	if (argc != 4 && argc != 6) {
		fprintf(stderr,
			"usage: runtime_bare shm|tcp|queue|memcpy BYTES WINDOW [PORT SEGMENT]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	bare.shm = strcmp(argv[1], "shm") == 0;
	bare.bytes = strtoul(argv[2], NULL, 10);
	bare.window = strtoull(argv[3], NULL, 10);
	bare.stride = (bare.bytes + MARSHAL_BYTES + 4096) & ~(size_t)4095;
	if (latencies_init(&bare.latencies) || !bare.window)
		return EXIT_FAILURE;
	if (!bare.shm && strcmp(argv[1], "tcp") != 0)
		return within_process(&bare, strcmp(argv[1], "queue") == 0);
	err = argc == 6 ? connect_to(&bare, argv) : listen_for_one(&bare);
	if (!err)
		err = setsockopt(bare.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (err)
		perror("runtime_bare");
	else
		err = argc == 6 ? receive_all(&bare) : obey(&bare, NULL);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
