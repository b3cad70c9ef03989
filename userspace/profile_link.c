/* SPDX-License-Identifier: MIT */
#include "profile_link.h"
#include "command.h"
#include "fd.h"
#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#define HELLO_BYTES_MAX 65536u
#define INPUT_BYTES_MAX (HELLO_BYTES_MAX + 64u)

struct ezprof_profile_link {
	struct bufferevent *events;
	struct ezprof_profile_link_handler handler;
};

void ezprof_profile_link_free(struct ezprof_profile_link *link)
{
	if (!link)
		return;
	if (link->events)
		bufferevent_free(link->events);
	free(link);
}

static void end_link(struct ezprof_profile_link *link)
{
	link->handler.closed(link->handler.context);
	ezprof_profile_link_free(link);
}

static int send_text(struct ezprof_profile_link *link, uint8_t command, const char *text,
		     bool complete)
{
	struct evbuffer *out = bufferevent_get_output(link->events);
	uint8_t head[9] = {command}, end = EZ_CMD_COMPLETE;
	size_t n = strlen(text);

	ez_store_u64(head + 1, n);
	if (evbuffer_add(out, head, sizeof(head)) || evbuffer_add(out, text, n) ||
	    (complete && evbuffer_add(out, &end, 1)))
		return -ENOMEM;
	return 0;
}

static int answer_profile(struct ezprof_profile_link *link, struct ez_reader *reader)
{
	uint64_t window_ms;
	char *text;
	int err = ez_read_u64(reader, &window_ms);

	if (err)
		return err;
	text = link->handler.profile(link->handler.context, window_ms);
	if (!text)
		return -ENOMEM;
	err = send_text(link, EZ_CMD_PROFILE_DATA, text, link->handler.complete);
	free(text);
	return err;
}

static int answer_hello(struct ezprof_profile_link *link, struct ez_reader *reader)
{
	struct ez_str hello;
	char *text;
	int err = ez_read_str(reader, HELLO_BYTES_MAX, &hello);

	if (err)
		return err;
	if (!link->handler.hello)
		return -EPROTO;
	text = link->handler.hello(link->handler.context, hello.data, hello.len);
	if (!text)
		return -ENOMEM;
	err = send_text(link, EZ_CMD_HELLO, text, false);
	free(text);
	return err;
}

/* 1: the connection is somebody else's now, and the link is gone. */
static int hand_over(struct ezprof_profile_link *link, struct ez_reader *reader)
{
	struct bufferevent *events = link->events;
	uint64_t flags;
	int err = ez_read_u64(reader, &flags);

	if (err)
		return err;
	if (!link->handler.record)
		return -EPROTO;
	evbuffer_drain(bufferevent_get_input(events), reader->pos);
	link->handler.record(link->handler.context, events, (uint32_t)flags);
	free(link);
	return 1;
}

/* One request. 1: as above. -EAGAIN: it isn't all there. */
static int answer_next(struct ezprof_profile_link *link)
{
	struct evbuffer *in = bufferevent_get_input(link->events);
	size_t n = evbuffer_get_length(in);
	struct ez_reader reader;
	uint8_t command;
	int err;

	if (n == 0)
		return -EAGAIN;
	ez_reader_init(&reader, evbuffer_pullup(in, -1), n);
	err = ez_read_u8(&reader, &command);
	if (!err) {
		if (command == EZ_CMD_PROFILE)
			err = answer_profile(link, &reader);
		else if (command == EZ_CMD_HELLO)
			err = answer_hello(link, &reader);
		else if (command == EZ_CMD_RECORD)
			return hand_over(link, &reader);
		else
			err = -EPROTO;
	}
	if (!err)
		evbuffer_drain(in, reader.pos);
	return err;
}

/* An answer is made only when the one before has left: there is no queue that could grow. */
static void on_data(struct bufferevent *events, void *context)
{
	struct ezprof_profile_link *link = context;
	int err = 0;

	while (err == 0 && evbuffer_get_length(bufferevent_get_output(events)) == 0)
		err = answer_next(link);
	if (err < 0 && err != -EAGAIN)
		end_link(link);
}

static void on_event(struct bufferevent *events, short what, void *context)
{
	(void)events;
	(void)what;
	end_link(context);
}

int ezprof_profile_link_new(struct event_base *base, int fd,
			    const struct ezprof_profile_link_handler *handler, unsigned int idle_s,
			    struct ezprof_profile_link **ret_link)
{
	struct timeval idle = {.tv_sec = idle_s}, stuck = {.tv_sec = 30};
	struct ezprof_profile_link *link = calloc(1, sizeof(*link));

	if (!link || ez_fd_nonblock(fd, true)) {
		ez_fd_close(fd);
		free(link);
		return -ENOMEM;
	}
	link->handler = *handler;
	link->events = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!link->events) {
		ez_fd_close(fd);
		free(link);
		return -ENOMEM;
	}
	bufferevent_setcb(link->events, on_data, on_data, on_event, link);
	bufferevent_setwatermark(link->events, EV_READ, 0, INPUT_BYTES_MAX);
	bufferevent_set_timeouts(link->events, idle_s ? &idle : NULL, &stuck);
	bufferevent_enable(link->events, EV_READ | EV_WRITE);
	*ret_link = link;
	return 0;
}
