/* SPDX-License-Identifier: MIT */
#include "respondent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "profile_request.h"

/* More would only pile up behind a link that doesn't answer. */
#define QUESTIONS_MAX 256

int ezprof_respondent_ask(struct ezprof_respondent *respondent,
			  struct ezprof_profile_request *request, size_t target, uint64_t window_ms)
{
	struct ezprof_question *question;

	if (respondent->n_questions >= QUESTIONS_MAX)
		return -EBUSY;
	question = calloc(1, sizeof(*question));
	if (!question)
		return -ENOMEM;
	question->request = request;
	question->target = target;
	DL_APPEND(respondent->questions, question);
	respondent->n_questions++;
	ezprof_profile_add_question(request, question);
	ez_put_u8(&respondent->conn->out, EZ_CMD_PROFILE);
	ez_put_u64(&respondent->conn->out, window_ms);
	ezprof_conn_flush(respondent->conn);
	return 0;
}

/* Takes the oldest question off and frees it. The request, if one still waits, goes to ret. */
static struct ezprof_profile_request *take_question(struct ezprof_respondent *respondent,
						    size_t *ret_target)
{
	struct ezprof_question *question = respondent->questions;
	struct ezprof_profile_request *request = question->request;

	DL_DELETE(respondent->questions, question);
	respondent->n_questions--;
	if (request)
		ezprof_profile_remove_question(request, question);
	*ret_target = question->target;
	free(question);
	return request;
}

void ezprof_respondent_receive(struct ezprof_respondent *respondent, struct ez_str text)
{
	struct ezprof_profile_request *request;
	struct ezprof_identity identity;
	size_t target;

	if (!respondent->has_identity &&
	    ezprof_identity_parse(text.data, text.len, &identity) == 0 &&
	    strcmp(identity.type, "hello") == 0) {
		respondent->identity = identity;
		respondent->has_identity = true;
		respondent->may_be_asked = true;
		ez_log(EZ_LOG_DEBUG, "%s is %s, pid %lld", ezprof_conn_peer(respondent->conn),
		       identity.program, (long long)identity.pid);
		return;
	}
	if (!respondent->questions) {
		ez_log(EZ_LOG_DEBUG, "%s: dropped an answer that nobody asked for",
		       ezprof_conn_peer(respondent->conn));
		return;
	}
	request = take_question(respondent, &target);
	if (request)
		ezprof_profile_answered(request, target, text);
}

void ezprof_respondent_gone(struct ezprof_respondent *respondent)
{
	while (respondent->questions) {
		size_t target;
		struct ezprof_profile_request *request = take_question(respondent, &target);

		if (request)
			ezprof_profile_died(request, target);
	}
}
