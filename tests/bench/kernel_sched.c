/* SPDX-License-Identifier: MIT */
/*
 * Two threads on one CPU that wake each other in turn: what a context switch takes. On "run N" it
 * answers with the ns of CPU time of one switch, over N of them; on "work" both threads begin a
 * callback that never ends, if somebody listens, so that each of their switches is one that counts.
 */
#include "endpoint.h"
#include "registry.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { HERE, THERE };

static int turns[2];
static struct ez_entry *entries[2];
static volatile int work_wanted;

static void pin(void)
{
	cpu_set_t allowed, one;
	size_t cpu = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void begin_work(int side)
{
	ez_endpoint_lease(entries[side], 0);
	ez_endpoint_callback_begin(entries[side], 0);
}

static void pass_to(int side)
{
	if (eventfd_write(turns[side], 1))
		exit(1);
}

static void await(int side)
{
	eventfd_t value;

	if (eventfd_read(turns[side], &value))
		exit(1);
}

static void *other_side(void *argument)
{
	int at_work = 0;

	(void)argument;
	for (;;) {
		await(THERE);
		if (work_wanted && !at_work) {
			begin_work(THERE);
			at_work = 1;
		}
		pass_to(HERE);
	}
	return NULL;
}

static void run(unsigned long switches)
{
	uint64_t start = ez_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	unsigned long i;

	for (i = 0; i < switches / 2; i++) {
		pass_to(THERE);
		await(HERE);
	}
	printf("%.1f\n",
	       (double)(ez_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)switches);
	fflush(stdout);
}

int main(void)
{
	const struct ez_endpoint_spec spec = {.kind = EZ_KIND_CLIENT, .num_buffers = 8};
	char line[64];
	pthread_t thread;

	pin();
	for (int side = 0; side < 2; side++) {
		turns[side] = eventfd(0, EFD_CLOEXEC);
		if (turns[side] < 0 || ez_registry_open(&spec, &entries[side]))
			return 1;
	}
	if (pthread_create(&thread, NULL, other_side, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "work\n") == 0) {
			begin_work(HERE);
			work_wanted = 1;
			run(2);
		} else if (strncmp(line, "run ", 4) == 0) {
			run(strtoul(line + 4, NULL, 10));
		}
	}
	return 0;
}
