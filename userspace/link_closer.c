/* SPDX-License-Identifier: MIT */
#include "link_closer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLOSERS_MAX 4u

struct closing {
	const int *fds;
	size_t count, next;
};

static void *close_some(void *arg)
{
	struct closing *c = arg;
	size_t i;

	while ((i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED)) < c->count)
		close(c->fds[i]);
	return NULL;
}

void ezprof_links_close_all(const int *fds, size_t count)
{
	struct closing closing = {.fds = fds, .count = count};
	pthread_t closers[CLOSERS_MAX - 1];
	size_t n = 0;

	/* Where no thread can be made, fewer do the work. */
	while (n < CLOSERS_MAX - 1 && n + 1 < count &&
	       pthread_create(&closers[n], NULL, close_some, &closing) == 0)
		n++;
	close_some(&closing);
	while (n > 0)
		pthread_join(closers[--n], NULL);
}

struct left {
	size_t count;
	int fds[];
};

static void *close_left(void *arg)
{
	struct left *left = arg;

	ezprof_links_close_all(left->fds, left->count);
	free(left);
	return NULL;
}

void ezprof_links_close_later(const int *fds, size_t count)
{
	struct left *left = count ? malloc(sizeof(*left) + count * sizeof(*fds)) : NULL;
	pthread_t closer;

	if (!left) {
		ezprof_links_close_all(fds, count);
		return;
	}
	left->count = count;
	memcpy(left->fds, fds, count * sizeof(*fds));
	if (pthread_create(&closer, NULL, close_left, left))
		close_left(left);
	else
		pthread_detach(closer);
}
