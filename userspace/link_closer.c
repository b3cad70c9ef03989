/* SPDX-License-Identifier: MIT */
#include "link_closer.h"

#include <pthread.h>
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
