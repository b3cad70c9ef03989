/* SPDX-License-Identifier: MIT */
/*
 * Threads that come and go at work: each waits, asleep, for one of 16 publishers. Every tenth ends
 * in the midst of it, and the main thread ends its wait. On "run N" it runs N threads, 16 at a
 * time, and answers; at the end of its input it ends.
 */
#include "endpoint.h"
#include "registry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LANES 16u
#define SLEEP_US 2000

struct lane {
	struct ez_entry *entry;
	unsigned long number;
};

static struct lane lanes[LANES];

static int leaves_early(const struct lane *lane)
{
	return lane->number % 10 == 0;
}

static void *wait_asleep(void *argument)
{
	struct lane *lane = argument;

	ez_endpoint_blocked_begin(lane->entry, lane->number);
	usleep(SLEEP_US);
	if (!leaves_early(lane))
		ez_endpoint_blocked_end(lane->entry, lane->number);
	return NULL;
}

static void run(unsigned long count)
{
	pthread_t threads[LANES];
	unsigned long i = 0;

	while (i < count) {
		unsigned int n;

		for (n = 0; n < LANES && i < count; n++, i++) {
			lanes[n].number = i;
			if (pthread_create(&threads[n], NULL, wait_asleep, &lanes[n]))
				exit(1);
		}
		for (unsigned int j = 0; j < n; j++) {
			pthread_join(threads[j], NULL);
			if (leaves_early(&lanes[j]))
				ez_endpoint_blocked_end(lanes[j].entry, lanes[j].number);
		}
	}
}

int main(void)
{
	char line[64];

	for (unsigned int i = 0; i < LANES; i++) {
		char topic[16];
		uint8_t id[16] = {1, (uint8_t)i};
		const struct ez_endpoint_spec spec = {.kind = EZ_KIND_PUBLISHER,
						      .num_buffers = 8,
						      .id = id,
						      .publisher_id = id,
						      .topic = topic};

		snprintf(topic, sizeof(topic), "lane%u", i);
		if (ez_registry_open(&spec, &lanes[i].entry))
			return 1;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "run ", 4) == 0)
			run(strtoul(line + 4, NULL, 10));
		puts("done");
		fflush(stdout);
	}
	return 0;
}
