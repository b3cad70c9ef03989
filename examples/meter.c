/* SPDX-License-Identifier: MIT */
/*
 * A program with an event loop of its own: meter TOPIC BLOCKS. Watches a subscriber beside a timer
 * and stdin, in one poll(); says the mean of each block of float32 as it comes, and ends after
 * BLOCKS of them or with stdin.
 */
#include <ezmsg/ezmsg.h>

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct meter {
	struct ez_subscriber *subscriber;
	unsigned long left;
	unsigned long silent_s;
};

static void show(struct meter *meter, const struct ez_message *message)
{
	const float *data = message->data;
	size_t n = message->bytes / sizeof(*data);
	double sum = 0;

	if (message->type != EZ_TYPE_ARRAY || strcmp(message->dtype, "<f4") != 0)
		return;
	for (size_t i = 0; i < n; i++)
		sum += (double)data[i];
	printf("block %ju: mean %.4f\n", (uintmax_t)message->id, n ? sum / (double)n : 0);
	meter->left--;
}

/* All that is there: the descriptor stays readable until then. */
static int take(struct meter *meter)
{
	struct ez_message message;
	int err = 0;

	while (meter->left && !(err = ez_receive(meter->subscriber, 0, &message))) {
		show(meter, &message);
		ez_message_release(&message);
		meter->silent_s = 0;
	}
	return err == -ETIMEDOUT ? 0 : err;
}

static int run(struct meter *meter)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	const struct itimerspec second = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct pollfd fds[] = {
		{.fd = ez_subscriber_fd(meter->subscriber), .events = POLLIN},
		{.fd = timer, .events = POLLIN},
		{.fd = STDIN_FILENO, .events = POLLIN},
	};
	uint64_t ticks;
	int err = fds[0].fd < 0 ? fds[0].fd : 0;

	timerfd_settime(timer, 0, &second, NULL);
	puts("waiting");
	while (!err && meter->left && !fds[2].revents) {
		if (poll(fds, 3, -1) < 0)
			err = -errno;
		else if (fds[0].revents)
			err = take(meter);
		if (fds[1].revents && read(timer, &ticks, sizeof(ticks)) == sizeof(ticks))
			fprintf(stderr, "meter: nothing for %lu s\n", ++meter->silent_s);
	}
	close(timer);
	return err;
}

int main(int argc, char **argv)
{
	struct meter meter = {0};
	struct ez_context *context;
	int err;

	if (argc != 3) {
		fprintf(stderr, "usage: meter TOPIC BLOCKS\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	meter.left = strtoul(argv[2], NULL, 10);
	err = ez_context_create(NULL, &context);
	if (err) {
		fprintf(stderr, "meter: no graph server (`ezprof serve` starts one): %s\n",
			strerror(-err));
		return 1;
	}
	err = ez_subscriber_create(context, argv[1], NULL, &meter.subscriber);
	if (!err)
		err = run(&meter);
	if (err)
		fprintf(stderr, "meter: %s\n", strerror(-err));
	ez_context_destroy(context);
	return err ? 1 : 0;
}
