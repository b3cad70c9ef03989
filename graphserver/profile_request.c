/* SPDX-License-Identifier: MIT */
#include "profile_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <event2/event.h>

#include "channel_link.h"
#include "command.h"
#include "control_link.h"
#include "fanout.h"
#include "publisher_link.h"
#include "reply_merge.h"

struct ezprof_profile_request {
	struct ezprof_fanout *fanout;
	struct ezprof_question *questions; /* still open */
	struct event *timer;
	ezprof_profile_done_fn done;
	void *arg;
};

static void request_free(struct ezprof_profile_request *request)
{
	struct ezprof_question *question, *next;

	/* Their answers may still come, and have to be taken off the links in order. */
	DL_FOREACH_SAFE2(request->questions, question, next, request_next)
	question->request = NULL;
	if (request->timer)
		event_free(request->timer);
	ezprof_fanout_free(request->fanout);
	free(request);
}

void ezprof_profile_cancel(struct ezprof_profile_request *request)
{
	request_free(request);
}

void ezprof_profile_add_question(struct ezprof_profile_request *request,
				 struct ezprof_question *question)
{
	DL_APPEND2(request->questions, question, request_prev, request_next);
}

void ezprof_profile_remove_question(struct ezprof_profile_request *request,
				    struct ezprof_question *question)
{
	DL_DELETE2(request->questions, question, request_prev, request_next);
}

static void finish(struct ezprof_profile_request *request)
{
	struct utsname machine;
	struct ezprof_document_origin origin = {
		.host = uname(&machine) == 0 ? machine.nodename : NULL,
		.time_ns = ez_clock_mono_ns(),
		.time_unix_s = (double)(ez_clock_read_ns(CLOCK_REALTIME) / 1000) / 1e6,
	};
	ezprof_profile_done_fn done = request->done;
	void *arg = request->arg;
	char *json = NULL;
	size_t len = 0;

	if (ezprof_reply_merge(request->fanout, &origin, &json, &len))
		ez_log(EZ_LOG_ERROR, "no memory for a profile document");
	request_free(request);
	done(arg, json, len);
	free(json);
}

/* From the loop, not from the answer's callback: there a respondent is still at work. */
static void finish_soon(struct ezprof_profile_request *request)
{
	event_active(request->timer, EV_TIMEOUT, 0);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval a_moment = {.tv_usec = 1000};
	struct ezprof_profile_request *request = arg;

	(void)fd;
	(void)what;
	ezprof_fanout_expire(request->fanout, ez_clock_mono_ns());
	if (ezprof_fanout_is_done(request->fanout))
		finish(request);
	else
		event_add(request->timer, &a_moment); /* the loop's clock ran ahead of ours */
}

void ezprof_profile_answered(struct ezprof_profile_request *request, size_t target,
			     struct ez_str text)
{
	ezprof_fanout_answer(request->fanout, target, text.data, text.len);
	ezprof_reply_read(request->fanout, target);
	if (ezprof_fanout_is_done(request->fanout))
		finish_soon(request);
}

void ezprof_profile_died(struct ezprof_profile_request *request, size_t target)
{
	ezprof_fanout_fail(request->fanout, target, "died",
			   "its connection ended before it answered");
	if (ezprof_fanout_is_done(request->fanout))
		finish_soon(request);
}

static int ask(struct ezprof_profile_request *request, struct ezprof_respondent *respondent,
	       struct ezprof_asked *asked)
{
	const struct ezprof_identity *identity = &respondent->identity;
	size_t target;
	int err;

	if (!respondent->may_be_asked)
		return 0;
	asked->pid = identity->pid;
	asked->host = *identity->host ? identity->host : NULL;
	err = ezprof_fanout_add(request->fanout, asked, &target);
	if (err)
		return err;
	err = ezprof_respondent_ask(respondent, request, target, request->fanout->window_ms);
	if (err == -EBUSY)
		ezprof_fanout_fail(request->fanout, target, "timeout",
				   "owes the answers to earlier requests");
	else if (err)
		ezprof_fanout_fail(request->fanout, target, "timeout", "no memory left to ask it");
	return 0;
}

static int ask_all(struct ezprof_server *server, struct ezprof_profile_request *request)
{
	struct ezprof_publisher *publisher;
	struct ezprof_channel *channel;
	struct ezprof_control *agent;
	int err = 0;

	DL_FOREACH(server->publishers, publisher)
	{
		struct ezprof_asked asked = {
			.who = "publisher", .id = publisher->id, .topic = publisher->topic->name};

		err = err ? err : ask(request, &publisher->respondent, &asked);
	}
	DL_FOREACH(server->channels, channel)
	{
		struct ezprof_asked asked = {
			.who = "channel", .id = channel->id, .topic = channel->topic->name};

		err = err ? err : ask(request, &channel->respondent, &asked);
	}
	DL_FOREACH(server->agents, agent)
	{
		struct ezprof_asked asked = {.who = "agent"};

		err = err ? err : ask(request, &agent->respondent, &asked);
	}
	return err;
}

struct ezprof_profile_request *ezprof_profile_start(struct ezprof_server *server,
						    uint64_t window_ms, ezprof_profile_done_fn done,
						    void *arg)
{
	uint64_t deadline_ms = server->config.profile_deadline_ms;
	struct timeval after = {.tv_sec = (time_t)(deadline_ms / 1000),
				.tv_usec = (suseconds_t)(deadline_ms % 1000 * 1000)};
	struct ezprof_profile_request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->done = done;
	request->arg = arg;
	request->timer = event_new(server->base, -1, 0, on_timer, request);
	request->fanout = ezprof_fanout_new(window_ms, ez_clock_deadline_ns((int64_t)deadline_ms));
	if (!request->timer || !request->fanout || ask_all(server, request)) {
		request_free(request);
		return NULL;
	}
	event_add(request->timer, &after);
	if (ezprof_fanout_is_done(request->fanout))
		finish_soon(request);
	return request;
}

void ezprof_profile_put(struct ezprof_conn *conn, const char *json, size_t len)
{
	ez_put_u8(&conn->out, EZ_CMD_PROFILE_DATA);
	ez_put_str(&conn->out, json, len);
	ez_put_u8(&conn->out, EZ_CMD_COMPLETE);
}

static void answer_and_close(void *arg, const char *json, size_t len)
{
	struct ezprof_conn *conn = arg;

	conn->data = NULL; /* the request is over */
	if (json)
		ezprof_profile_put(conn, json, len);
	ezprof_conn_finish(conn);
}

static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	(void)conn;
	in->pos = in->len;
	return 0;
}

static void gone(struct ezprof_conn *conn)
{
	if (conn->data)
		ezprof_profile_cancel(conn->data);
}

static const struct ezprof_role profile_role = {
	.name = "PROFILE",
	.receive = receive,
	.gone = gone,
	.answers_after_eof = true,
};

int ezprof_profile_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_profile_request *request;
	uint64_t window_ms;
	int err = ez_read_u64(in, &window_ms);

	if (err)
		return err;
	request = ezprof_profile_start(conn->server, window_ms, answer_and_close, conn);
	if (!request)
		return -ENOMEM;
	ezprof_conn_become(conn, &profile_role, request);
	ezprof_conn_establish(conn);
	return 0;
}
