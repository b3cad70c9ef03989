/* SPDX-License-Identifier: MIT */
#include "fanout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json_object.h>

struct ezprof_fanout *ezprof_fanout_new(uint64_t window_ms, ez_mono_ns_t deadline_ns)
{
	struct ezprof_fanout *fanout = calloc(1, sizeof(*fanout));

	if (!fanout)
		return NULL;
	fanout->window_ms = window_ms;
	fanout->deadline_ns = deadline_ns;
	return fanout;
}

static void target_clear(struct ezprof_target *target)
{
	free((char *)target->asked.id);
	free((char *)target->asked.topic);
	free((char *)target->asked.host);
	free(target->answer);
	json_object_put(target->read);
}

void ezprof_fanout_free(struct ezprof_fanout *fanout)
{
	if (!fanout)
		return;
	for (size_t i = 0; i < fanout->n_targets; i++)
		target_clear(&fanout->targets[i]);
	free(fanout->targets);
	free(fanout);
}

static int grow(struct ezprof_fanout *fanout)
{
	size_t capacity = fanout->capacity ? 2 * fanout->capacity : 16;
	struct ezprof_target *targets = realloc(fanout->targets, capacity * sizeof(*targets));

	if (!targets)
		return -ENOMEM;
	fanout->targets = targets;
	fanout->capacity = capacity;
	return 0;
}

/* False if the string is there but could not be copied. */
static bool copy(const char *from, const char **ret_to)
{
	*ret_to = from ? strdup(from) : NULL;
	return !from || *ret_to;
}

int ezprof_fanout_add(struct ezprof_fanout *fanout, const struct ezprof_asked *asked,
		      size_t *ret_index)
{
	struct ezprof_target target = {.asked = {.who = asked->who, .pid = asked->pid}};

	if (fanout->n_targets == fanout->capacity && grow(fanout))
		return -ENOMEM;
	if (!copy(asked->id, &target.asked.id) || !copy(asked->topic, &target.asked.topic) ||
	    !copy(asked->host, &target.asked.host)) {
		target_clear(&target);
		return -ENOMEM;
	}
	*ret_index = fanout->n_targets;
	fanout->targets[fanout->n_targets++] = target;
	fanout->n_pending++;
	return 0;
}

static struct ezprof_target *pending(struct ezprof_fanout *fanout, size_t index)
{
	struct ezprof_target *target;

	if (index >= fanout->n_targets)
		return NULL;
	target = &fanout->targets[index];
	return target->state == EZPROF_TARGET_PENDING ? target : NULL;
}

void ezprof_fanout_fail(struct ezprof_fanout *fanout, size_t index, const char *reason,
			const char *detail)
{
	struct ezprof_target *target = pending(fanout, index);

	if (!target)
		return;
	target->state = EZPROF_TARGET_FAILED;
	target->reason = reason;
	target->detail = detail;
	fanout->n_pending--;
}

void ezprof_fanout_answer(struct ezprof_fanout *fanout, size_t index, const char *data, size_t len)
{
	struct ezprof_target *target = pending(fanout, index);

	if (!target)
		return;
	target->answer = malloc(len + 1);
	if (!target->answer) {
		ezprof_fanout_fail(fanout, index, "bad_answer", "no memory left for it");
		return;
	}
	memcpy(target->answer, data, len);
	target->answer[len] = '\0';
	target->answer_bytes = len;
	target->state = EZPROF_TARGET_ANSWERED;
	fanout->n_pending--;
}

void ezprof_fanout_expire(struct ezprof_fanout *fanout, ez_mono_ns_t now_ns)
{
	if (now_ns < fanout->deadline_ns)
		return;
	for (size_t i = 0; i < fanout->n_targets; i++)
		ezprof_fanout_fail(fanout, i, "timeout", "did not answer before the deadline");
}

bool ezprof_fanout_is_done(const struct ezprof_fanout *fanout)
{
	return fanout->n_pending == 0;
}
