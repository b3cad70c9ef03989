/* SPDX-License-Identifier: MIT */
/*
 * A session's request to a unit, handed to the process that runs it, and its answer on the way
 * back: the process's own pickle, or ours if there is no process, it is too slow or it left. Loop
 * thread only.
 */
#ifndef EZPROF_PROCESS_REQUEST_H
#define EZPROF_PROCESS_REQUEST_H

#include "frame.h"
#include "server.h"

struct ezprof_process;
struct ezprof_process_request;

/* pickle is a ProcessControlResponse, empty without memory. Not called after a cancellation. */
typedef void (*ezprof_process_answer_fn)(void *arg, struct ez_str pickle);

struct ezprof_process_question {
	struct ez_str unit, operation, payload;
	double timeout_s;
};

/*
 * Answers at once where there is nobody to ask. ret_request is set before that, and cleared by the
 * caller in answer.
 */
int ezprof_process_request_start(struct ezprof_server *server,
				 const struct ezprof_process_question *question,
				 ezprof_process_answer_fn answer, void *arg,
				 struct ezprof_process_request **ret_request);

void ezprof_process_request_cancel(struct ezprof_process_request *request);

/* A process answered one of its requests: matched by the id in the pickle. */
void ezprof_process_request_answered(struct ezprof_process *process, struct ez_str pickle);

/* The process is gone. */
void ezprof_process_requests_drop(struct ezprof_process *process);

#endif
