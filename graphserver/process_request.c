/* SPDX-License-Identifier: MIT */
#include "process_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "command.h"
#include "meta_pickle.h"
#include "meta_reader.h"
#include "process_link.h"

#define FAILURE_BYTES_MAX (1 << 20)

struct ezprof_process_request {
	struct ezprof_server *server;
	struct ezprof_process *process; /* who has to answer */
	char id[EZ_UUID_TEXT_BYTES];
	struct event *timer;
	ezprof_process_answer_fn answer;
	void *arg;
	struct ezprof_process_request *prev, *next; /* of the process */
};

static void request_free(struct ezprof_process_request *request)
{
	if (request->process)
		DL_DELETE(request->process->requests, request);
	if (request->timer)
		event_free(request->timer);
	free(request);
}

void ezprof_process_request_cancel(struct ezprof_process_request *request)
{
	request_free(request);
}

static void finish(struct ezprof_process_request *request, struct ez_str pickle)
{
	ezprof_process_answer_fn answer = request->answer;
	void *arg = request->arg;

	request_free(request);
	answer(arg, pickle);
}

/* The request ends with a refusal of our own. text may be followed by a name in quotes. */
static void fail(struct ezprof_process_request *request, const char *code, const char *text,
		 struct ez_str name)
{
	struct ez_buffer error, pickle;

	ez_buffer_init(&error, FAILURE_BYTES_MAX);
	ez_buffer_init(&pickle, 2 * FAILURE_BYTES_MAX);
	ez_buffer_append_text(&error, text);
	if (name.data) {
		ez_buffer_append_text(&error, " '");
		ez_buffer_append(&error, name.data, name.len);
		ez_buffer_append_text(&error, "'");
	}
	if (!error.err)
		ezprof_pickle_failure(&pickle, request->id, code,
				      request->process ? request->process->id : NULL, &error);
	if (error.err || pickle.err)
		finish(request, (struct ez_str){"", 0});
	else
		finish(request, (struct ez_str){(const char *)pickle.data, pickle.len});
	ez_buffer_free(&error);
	ez_buffer_free(&pickle);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	fail(arg, "TIMEOUT", "Timed out waiting for process response", (struct ez_str){0});
}

static void send_request(struct ezprof_process_request *request,
			 const struct ezprof_process_question *question)
{
	struct ezprof_conn *conn = request->process->conn;
	struct ez_buffer pickle;

	ez_buffer_init(&pickle, question->payload.len + FAILURE_BYTES_MAX);
	ezprof_pickle_request(&pickle, request->id, question->unit, question->operation,
			      question->payload);
	if (pickle.err) {
		ez_buffer_free(&pickle);
		fail(request, "ROUTE_WRITE_FAILED", "Failed to route request to owning process",
		     (struct ez_str){0});
		return;
	}
	ez_put_u8(&conn->out, EZ_CMD_PROCESS_ROUTE_REQUEST);
	ez_put_str(&conn->out, (const char *)pickle.data, pickle.len);
	ezprof_conn_flush(conn);
	ez_buffer_free(&pickle);
}

int ezprof_process_request_start(struct ezprof_server *server,
				 const struct ezprof_process_question *question,
				 ezprof_process_answer_fn answer, void *arg,
				 struct ezprof_process_request **ret_request)
{
	double seconds = question->timeout_s < 1e6 ? question->timeout_s : 1e6;
	struct timeval timeout = {.tv_sec = (time_t)seconds,
				  .tv_usec =
					  (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)};
	struct ezprof_process_request *request = calloc(1, sizeof(*request));

	if (!request)
		return -ENOMEM;
	request->server = server;
	request->answer = answer;
	request->arg = arg;
	ezprof_server_new_id(request->id);
	request->timer = event_new(server->base, -1, 0, on_timeout, request);
	if (!request->timer) {
		request_free(request);
		return -ENOMEM;
	}
	*ret_request = request;
	request->process = ezprof_process_of(server, question->unit);
	if (!request->process) {
		fail(request, "UNROUTABLE_UNIT", "No process owns unit", question->unit);
		return 0;
	}
	DL_APPEND(request->process->requests, request);
	event_add(request->timer, &timeout);
	send_request(request, question);
	return 0;
}

static struct ezprof_process_request *find(struct ezprof_process *process, struct ez_str id)
{
	struct ezprof_process_request *request;

	DL_FOREACH(process->requests, request)
	if (id.len == strlen(request->id) && memcmp(id.data, request->id, id.len) == 0)
		return request;
	return NULL;
}

void ezprof_process_request_answered(struct ezprof_process *process, struct ez_str pickle)
{
	struct ezprof_process_request *request = NULL;
	struct ez_pickle_tree *tree = NULL;
	const struct ez_node *state;
	struct ez_str id;
	int err = ezprof_meta_read(pickle, "ProcessControlResponse", &tree, &state);

	if (!err)
		err = ezprof_meta_str(state, "request_id", &id);
	if (!err)
		request = find(process, id);
	ez_pickle_tree_free(tree);
	if (request)
		finish(request, pickle);
	else
		ezprof_conn_complain(process->conn, "dropped its answer: %s",
				     err ? strerror(-err) : "nobody waits for it");
}

void ezprof_process_requests_drop(struct ezprof_process *process)
{
	while (process->requests)
		fail(process->requests, "PROCESS_DISCONNECTED",
		     "Owning process disconnected before response", (struct ez_str){0});
}
