/* SPDX-License-Identifier: MIT */
#include "export_fetch.h"
#include "exit_status.h"
#include "fd.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PROGRAM "ezprof export"
/* Of a graph that is watched for its window: shorter than a scrape may take. */
#define TRACE_S_MAX 3.0

enum state { IDLE, WANTED, RUNNING, DONE };

struct ezprof_export_fetch {
	const struct ez_address *address;
	struct ez_address address_copy;
	double window_s;
	int fd;
	pthread_mutex_t mutex;
	pthread_cond_t wanted;
	/* Below: under the mutex. */
	enum state state;
	bool abandoned; /* the thread frees all of it */
	struct ezprof_fetched fetched;
};

static const char *failure_of(int status)
{
	switch (status) {
	case EZPROF_EXIT_OK:
		return NULL;
	case EZPROF_EXIT_USAGE:
		return "which_graph";
	default:
		return "unreachable";
	}
}

static void get(const struct ez_address *address, double window_s,
		struct ezprof_source_memory *memory, FILE *messages, struct ezprof_fetched *fetched)
{
	struct ezprof_profile_request request = {
		.program = PROGRAM,
		.address = address,
		.window_s = window_s,
		.trace_s_max = TRACE_S_MAX,
		.messages = messages,
		.memory = memory,
	};
	char *text = NULL;

	fetched->failure = failure_of(ezprof_profile_get(&request, &text));
	if (!fetched->failure && ezprof_model_read(text, strlen(text), &fetched->model)) {
		fprintf(messages, PROGRAM ": the answer is no PROFILE document\n");
		fetched->failure = "bad_answer";
	}
	free(text);
}

void ezprof_export_fetch_now(const struct ez_address *address, double window_s,
			     struct ezprof_source_memory *memory,
			     struct ezprof_fetched *ret_fetched)
{
	struct ezprof_fetched fetched = {.begun_ns = ez_clock_mono_ns()};
	size_t n;
	FILE *messages = open_memstream(&fetched.messages, &n);

	if (messages) {
		get(address, window_s, memory, messages, &fetched);
		fclose(messages);
	} else {
		fetched.failure = "unreachable";
	}
	fetched.ended_ns = ez_clock_mono_ns();
	*ret_fetched = fetched;
}

void ezprof_fetched_free(struct ezprof_fetched *fetched)
{
	ezprof_model_free(fetched->model);
	free(fetched->messages);
	*fetched = (struct ezprof_fetched){0};
}

static void destroy(struct ezprof_export_fetch *fetch)
{
	ezprof_fetched_free(&fetch->fetched);
	pthread_cond_destroy(&fetch->wanted);
	pthread_mutex_destroy(&fetch->mutex);
	ez_fd_close(fetch->fd);
	free(fetch);
}

static void tell(const struct ezprof_export_fetch *fetch)
{
	uint64_t one = 1;

	/* It can't fail: the counter is far from full. */
	if (write(fetch->fd, &one, sizeof(one)) != sizeof(one))
		return;
}

static void *run(void *arg)
{
	struct ezprof_export_fetch *fetch = arg;
	struct ezprof_source_memory memory = {.have_graph = false};
	struct ezprof_fetched fetched;

	pthread_mutex_lock(&fetch->mutex);
	while (!fetch->abandoned) {
		if (fetch->state != WANTED) {
			pthread_cond_wait(&fetch->wanted, &fetch->mutex);
			continue;
		}
		fetch->state = RUNNING;
		pthread_mutex_unlock(&fetch->mutex);
		ezprof_export_fetch_now(fetch->address, fetch->window_s, &memory, &fetched);
		pthread_mutex_lock(&fetch->mutex);
		fetch->fetched = fetched;
		fetch->state = DONE;
		tell(fetch);
	}
	pthread_mutex_unlock(&fetch->mutex);
	destroy(fetch);
	return NULL;
}

int ezprof_export_fetch_new(const struct ez_address *address, double window_s,
			    struct ezprof_export_fetch **ret_fetch)
{
	struct ezprof_export_fetch *fetch = calloc(1, sizeof(*fetch));
	pthread_t thread;
	int err;

	if (!fetch)
		return -ENOMEM;
	pthread_mutex_init(&fetch->mutex, NULL);
	pthread_cond_init(&fetch->wanted, NULL);
	fetch->window_s = window_s;
	if (address) {
		fetch->address_copy = *address;
		fetch->address = &fetch->address_copy;
	}
	fetch->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = fetch->fd < 0 ? -errno : -pthread_create(&thread, NULL, run, fetch);
	if (err) {
		destroy(fetch);
		return err;
	}
	pthread_detach(thread);
	*ret_fetch = fetch;
	return 0;
}

void ezprof_export_fetch_free(struct ezprof_export_fetch *fetch)
{
	if (!fetch)
		return;
	pthread_mutex_lock(&fetch->mutex);
	fetch->abandoned = true;
	pthread_cond_signal(&fetch->wanted);
	pthread_mutex_unlock(&fetch->mutex);
}

int ezprof_export_fetch_fd(const struct ezprof_export_fetch *fetch)
{
	return fetch->fd;
}

void ezprof_export_fetch_begin(struct ezprof_export_fetch *fetch)
{
	pthread_mutex_lock(&fetch->mutex);
	if (fetch->state == IDLE) {
		fetch->state = WANTED;
		pthread_cond_signal(&fetch->wanted);
	}
	pthread_mutex_unlock(&fetch->mutex);
}

bool ezprof_export_fetch_take(struct ezprof_export_fetch *fetch, struct ezprof_fetched *ret_fetched)
{
	uint64_t count;
	bool done;

	pthread_mutex_lock(&fetch->mutex);
	done = fetch->state == DONE;
	if (done) {
		*ret_fetched = fetch->fetched;
		fetch->fetched = (struct ezprof_fetched){0};
		fetch->state = IDLE;
		if (read(fetch->fd, &count, sizeof(count)) < 0)
			count = 0;
	}
	pthread_mutex_unlock(&fetch->mutex);
	return done;
}
