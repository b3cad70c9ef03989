/* SPDX-License-Identifier: MIT */
#include "fork_guard.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD_BITS 64

uint32_t ez_fork_count = 1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t *owned; /* one bit per descriptor */
static size_t words;

static void fork_prepare(void)
{
	pthread_mutex_lock(&lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void fork_child(void)
{
	size_t i;
	int bit;

	for (i = 0; i < words; i++)
		for (bit = 0; owned[i] && bit < WORD_BITS; bit++)
			if (owned[i] >> bit & 1)
				close((int)(i * WORD_BITS) + bit);
	if (words)
		memset(owned, 0, words * sizeof(*owned));
	ez_fork_count++;
	pthread_mutex_init(&lock, NULL);
}

static void install(void)
{
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

void ez_fork_guard_init(void)
{
	pthread_once(&once, install);
}

static int reserve_locked(size_t needed)
{
	size_t n = words ? words : 4;
	uint64_t *p;

	if (needed <= words)
		return 0;
	while (n < needed)
		n *= 2;
	p = realloc(owned, n * sizeof(*p));
	if (!p)
		return -ENOMEM;
	memset(p + words, 0, (n - words) * sizeof(*p));
	owned = p;
	words = n;
	return 0;
}

int ez_own_fd(int fd)
{
	size_t word = (size_t)fd / WORD_BITS;
	int err;

	if (fd < 0)
		return fd;
	pthread_mutex_lock(&lock);
	err = reserve_locked(word + 1);
	if (!err)
		owned[word] |= UINT64_C(1) << (fd % WORD_BITS);
	pthread_mutex_unlock(&lock);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

bool ez_owns_fd(int fd)
{
	size_t word = (size_t)fd / WORD_BITS;
	bool owns;

	pthread_mutex_lock(&lock);
	owns = fd >= 0 && word < words && owned[word] >> (fd % WORD_BITS) & 1;
	pthread_mutex_unlock(&lock);
	return owns;
}

int ez_disown_fd(int fd)
{
	size_t word = (size_t)fd / WORD_BITS;

	if (fd < 0)
		return -1;
	pthread_mutex_lock(&lock);
	if (word < words)
		owned[word] &= ~(UINT64_C(1) << (fd % WORD_BITS));
	/* Under the lock: a number that is free for others must not be marked as ours any more. */
	close(fd);
	pthread_mutex_unlock(&lock);
	return -1;
}
