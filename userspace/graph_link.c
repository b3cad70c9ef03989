/* SPDX-License-Identifier: MIT */
#include "graph_link.h"
#include "clock.h"
#include "fd.h"
#include "hello.h"
#include "parse.h"
#include "profile_link.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#define PROGRAM "ezprof-bpf"
#define ATTEMPT_MS 2000
#define PAUSE_FIRST_MS 250u
#define PAUSE_LAST_MS 8000u

/* What a connecting thread works on; it frees it. Its result goes into a pipe: fd or -errno. */
struct attempt {
	struct ez_address address;
	bool known_as_ours;
	size_t uid_count;
	int result_fd;
	uid_t uids[];
};

struct ezprof_graph_link {
	struct event_base *base;
	struct ezprof_graph_link_options options;
	struct ez_address address;
	char text[EZ_ADDRESS_BYTES];
	enum ezprof_graph_state state;
	int result_fd; /* -1: no attempt is under way */
	struct event *result;
	struct event *pause;
	unsigned int pause_ms;
	struct ezprof_profile_link *profile;
	uid_t *uids;
};

static int try_link(const struct attempt *attempt)
{
	uint64_t deadline_ns = ez_clock_deadline_ns(ATTEMPT_MS);
	int ours = attempt->known_as_ours;

	if (!ours)
		ours = ez_hello_is_ours(&attempt->address, PROGRAM, attempt->uids,
					attempt->uid_count, deadline_ns);
	if (ours < 0)
		return ours;
	return ours ? ez_hello_open(&attempt->address, PROGRAM, "agent", deadline_ns) : -ENOTSUP;
}

static void *attempt_thread(void *context)
{
	struct attempt *attempt = context;
	int result = try_link(attempt);

	/* Nobody waits for it any more: then the link is closed again. */
	if (write(attempt->result_fd, &result, sizeof(result)) != sizeof(result) && result >= 0)
		ez_fd_close(result);
	ez_fd_close(attempt->result_fd);
	free(attempt);
	return NULL;
}

static int start_thread(struct attempt *attempt)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int err;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attributes, attempt_thread, attempt);
	pthread_attr_destroy(&attributes);
	return -err;
}

static void set_state(struct ezprof_graph_link *link, enum ezprof_graph_state state, int err)
{
	bool changed = link->state != state;

	link->state = state;
	if (changed)
		link->options.changed(link->options.context, link, state, err);
}

static void pause_then_retry(struct ezprof_graph_link *link)
{
	struct timeval wait = {.tv_sec = link->pause_ms / 1000,
			       .tv_usec = link->pause_ms % 1000 * 1000};

	event_add(link->pause, &wait);
	link->pause_ms *= 2;
	if (link->pause_ms > PAUSE_LAST_MS)
		link->pause_ms = PAUSE_LAST_MS;
}

static char *on_profile(void *context, uint64_t window_ms)
{
	struct ezprof_graph_link *link = context;

	return link->options.profile(link->options.context, link, window_ms);
}

static void on_closed(void *context)
{
	struct ezprof_graph_link *link = context;

	link->profile = NULL;
	pause_then_retry(link);
	set_state(link, EZPROF_GRAPH_LOST, -ECONNRESET);
}

static void use_result(struct ezprof_graph_link *link, int result)
{
	const struct ezprof_profile_link_handler handler = {
		.profile = on_profile, .closed = on_closed, .context = link};

	link->options.known_as_ours = false;
	if (result >= 0)
		result = ezprof_profile_link_new(link->base, result, &handler, 0, &link->profile);
	if (result) {
		pause_then_retry(link);
		set_state(link, result == -ENOTSUP ? EZPROF_GRAPH_FOREIGN : EZPROF_GRAPH_LOST,
			  result);
		return;
	}
	link->pause_ms = PAUSE_FIRST_MS;
	set_state(link, EZPROF_GRAPH_LINKED, 0);
}

static void end_attempt(struct ezprof_graph_link *link)
{
	if (link->result)
		event_free(link->result);
	link->result = NULL;
	link->result_fd = ez_fd_close(link->result_fd);
}

static void on_result(evutil_socket_t fd, short what, void *context)
{
	struct ezprof_graph_link *link = context;
	int result;

	(void)what;
	if (read((int)fd, &result, sizeof(result)) != sizeof(result))
		result = -EIO;
	end_attempt(link);
	use_result(link, result);
}

static struct attempt *new_attempt(const struct ezprof_graph_link *link, int result_fd)
{
	size_t n = link->options.uid_count;
	struct attempt *attempt = malloc(sizeof(*attempt) + n * sizeof(uid_t));

	if (!attempt)
		return NULL;
	attempt->address = link->address;
	attempt->known_as_ours = link->options.known_as_ours;
	attempt->uid_count = n;
	attempt->result_fd = result_fd;
	if (n)
		memcpy(attempt->uids, link->uids, n * sizeof(uid_t));
	return attempt;
}

static int start_attempt(struct ezprof_graph_link *link)
{
	struct attempt *attempt;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	link->result_fd = ends[0];
	link->result = event_new(link->base, ends[0], EV_READ, on_result, link);
	attempt = new_attempt(link, ends[1]);
	if (!link->result || event_add(link->result, NULL) || !attempt || start_thread(attempt)) {
		free(attempt);
		ez_fd_close(ends[1]);
		end_attempt(link);
		return -ENOMEM;
	}
	return 0;
}

static void on_pause_over(evutil_socket_t fd, short what, void *context)
{
	struct ezprof_graph_link *link = context;

	(void)fd;
	(void)what;
	if (start_attempt(link))
		pause_then_retry(link);
}

int ezprof_graph_link_new(struct event_base *base, const struct ezprof_graph_link_options *options,
			  struct ezprof_graph_link **ret_link)
{
	struct ezprof_graph_link *link = calloc(1, sizeof(*link));

	if (!link)
		return -ENOMEM;
	link->result_fd = -1;
	if (ez_parse_address(options->address, &link->address) || link->address.port == 0) {
		free(link);
		return -EINVAL;
	}
	link->base = base;
	link->options = *options;
	link->pause_ms = PAUSE_FIRST_MS;
	ez_address_format(&link->address, link->text);
	link->options.address = link->text;
	link->pause = event_new(base, -1, 0, on_pause_over, link);
	link->uids = calloc(options->uid_count + 1, sizeof(uid_t));
	if (link->uids && options->uid_count)
		memcpy(link->uids, options->uids, options->uid_count * sizeof(uid_t));
	if (!link->pause || !link->uids || start_attempt(link)) {
		ezprof_graph_link_free(link);
		return -ENOMEM;
	}
	*ret_link = link;
	return 0;
}

const char *ezprof_graph_link_address(const struct ezprof_graph_link *link)
{
	return link->text;
}

enum ezprof_graph_state ezprof_graph_link_state(const struct ezprof_graph_link *link)
{
	return link->state;
}

void ezprof_graph_link_free(struct ezprof_graph_link *link)
{
	if (!link)
		return;
	end_attempt(link);
	if (link->pause)
		event_free(link->pause);
	ezprof_profile_link_free(link->profile);
	free(link->uids);
	free(link);
}
