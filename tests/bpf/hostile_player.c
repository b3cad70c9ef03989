/* SPDX-License-Identifier: MIT */
/*
 * A process whose registry lies: hostile_player SEED. It opens endpoints properly, prints "ok", and
 * from then on overwrites words of header and entries with what hurts a reader most, while it fires
 * probes with arguments that nobody promised. hostile_player SEED COUNT: so many endpoints, none of
 * which is ever at rest. Runs until it is killed.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "endpoint.h"
#include "registry.h"

#define ENDPOINTS 40
#define ENDLESS_BYTES (64u << 20)

extern struct ez_registry ez_registry_table;

static struct ez_entry *entries[ENDPOINTS];
static struct ez_registry intact;
static struct ez_entry intact_entries[ENDPOINTS];
static char *endless; /* a string without an end, up to an unmapped page */
static uint64_t state;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* A number that is wrong in one of many ways. */
static uint64_t evil(void)
{
	switch (next() % 12) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return (uint64_t)(uintptr_t)&ez_registry_table; /* a cycle */
	case 3:
		return (uint64_t)(uintptr_t)endless;
	case 4:
		return (uint64_t)(uintptr_t)(endless + ENDLESS_BYTES - 3);
	case 5:
		return (uint64_t)(uintptr_t)(endless + ENDLESS_BYTES); /* unmapped */
	case 6:
		return 0xffffffff81000000u; /* the kernel's */
	case 7:
		return EZ_REGISTRY_ENTRIES_MAX;
	case 8:
		return (uint64_t)(uintptr_t)entries[next() % ENDPOINTS];
	case 9:
		return next() % 8;
	case 10:
		return INT64_MAX - 100;
	default:
		return next();
	}
}

static void spoil(void *memory, size_t bytes)
{
	size_t at = next() % (bytes / 4) * 4;

	if (next() % 2 && at + 8 <= bytes) {
		uint64_t word = evil();

		memcpy((char *)memory + at, &word, sizeof(word));
	} else {
		uint32_t word = (uint32_t)evil();

		memcpy((char *)memory + at, &word, sizeof(word));
	}
}

/* The size of the address space changes as well: a reason to look at the mapped files again. */
static void churn_memory(void)
{
	void *p =
		mmap(NULL, 4096 * (1 + next() % 64), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED && next() % 2)
		munmap(p, 4096);
}

static void *fire(void *context)
{
	uint64_t seed = (uint64_t)(uintptr_t)context;
	struct timespec pause = {.tv_nsec = 20000};

	for (uint64_t i = 0;; i++) {
		uint64_t a = (seed + i) * 0x9e3779b97f4a7c15u;

		if (ez_probe_semaphores[EZ_PROBE_publish]) {
			ez_probe_publish(a & 0x1ffffffffu, a >> 7, a >> 13, a >> 3, endless);
			ez_probe_lease(a & 0x10000003fu, a >> 9, a >> 40, a, endless, endless);
			ez_probe_free(a & 0x10000003fu, a >> 9, a & 0xff, a, a, endless);
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static int set_up(void)
{
	const struct ez_endpoint_spec spec = {.kind = EZ_KIND_PUBLISHER,
					      .num_buffers = 8,
					      .topic = "hostile",
					      .handle = "h",
					      .task = ""};

	endless = mmap(NULL, ENDLESS_BYTES + 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (endless == MAP_FAILED || mprotect(endless + ENDLESS_BYTES, 4096, PROT_NONE))
		return -errno;
	memset(endless, 0xff, ENDLESS_BYTES);
	for (int i = 0; i < ENDPOINTS; i++) {
		if (ez_registry_open(&spec, &entries[i]))
			return -ENOSPC;
		intact_entries[i] = *entries[i];
	}
	intact = ez_registry_table;
	return 0;
}

/* As many as there is room for, with the longest names; their sequences never stand still. */
static int crowd(size_t count)
{
	static struct ez_entry *all[EZ_REGISTRY_ENTRIES_MAX];
	static char name[EZ_REGISTRY_STRING_MAX / 8];
	const struct ez_endpoint_spec spec = {.kind = EZ_KIND_PUBLISHER,
					      .num_buffers = 8,
					      .topic = name,
					      .handle = name,
					      .task = name};
	size_t i;

	memset(name, '\1', sizeof(name) - 1);
	for (i = 0; i < count && i < EZ_REGISTRY_ENTRIES_MAX; i++) {
		if (ez_registry_open(&spec, &all[i]))
			return 1;
	}
	printf("ok\n");
	fflush(stdout);
	for (;;) {
		for (size_t e = 0; e < i; e++) {
			all[e]->seq += 1;
			all[e]->leases += 1;
		}
	}
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 100000};
	pthread_t thread;

	state = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 0x9e3779b97f4a7c15u + 1;
	if (argc > 2)
		return crowd(strtoull(argv[2], NULL, 10));
	if (set_up() || pthread_create(&thread, NULL, fire, (void *)(uintptr_t)state))
		return 1;
	printf("ok\n");
	fflush(stdout);
	for (uint64_t i = 0;; i++) {
		/* Now and then whole again, so that a reader gets further than the header. */
		if (i % 64 == 0)
			ez_registry_table = intact;
		if (i % 16 == 0) {
			int e = (int)(next() % ENDPOINTS);

			*entries[e] = intact_entries[e];
		}
		if (next() % 8 == 0)
			spoil(&ez_registry_table, sizeof(ez_registry_table));
		spoil(entries[next() % ENDPOINTS], sizeof(struct ez_entry));
		if (i % 512 == 0)
			churn_memory();
		nanosleep(&pause, NULL);
	}
}
