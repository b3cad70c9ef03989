/* SPDX-License-Identifier: MIT */
#include "reply_merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "json_text.h"
#include "json_writer.h"
#include "verbatim.h"

/* One endpoint, and the best object for it so far. */
struct entry {
	const char *id; /* inside object */
	bool is_channel;
	bool from_agent;
	double covered_s;
	struct json_object *object; /* owned */
	struct entry *prev, *next;  /* in order of first sight */
	UT_hash_handle hh;
};

struct merge {
	struct entry *entries;
	struct entry *by_id;
	struct json_object *agents, *errors; /* arrays, owned until they are in the document */
	int64_t lost;
	bool lost_unknown; /* of some agent; then the sum is too */
	bool failed;
};

/* Adds value, taken over in any case, to object. */
static void put(struct merge *merge, struct json_object *object, const char *key,
		struct json_object *value)
{
	if (json_object_object_add(object, key, value) < 0) {
		json_object_put(value);
		merge->failed = true;
	}
}

static void put_text(struct merge *merge, struct json_object *object, const char *key,
		     const char *text)
{
	struct json_object *value = text ? json_object_new_string(text) : NULL;

	if (text && !value)
		merge->failed = true;
	put(merge, object, key, value);
}

/* As short as it reads back the same: 0.3 and not 0.29999999999999999. */
static void put_double(struct merge *merge, struct json_object *object, const char *key,
		       double value)
{
	struct json_object *number = NULL;
	struct ez_buffer text;
	struct ez_json json;
	char *digits;
	size_t len;

	ez_buffer_init(&text, 64);
	ez_json_init(&json, &text);
	ez_json_f64(&json, value);
	digits = ez_buffer_steal(&text, &len);
	if (digits)
		number = json_object_new_double_s(value, digits);
	free(digits);
	if (!number)
		merge->failed = true;
	put(merge, object, key, number);
}

static void append(struct merge *merge, struct json_object *array, struct json_object *value)
{
	if (json_object_array_add(array, value) < 0) {
		json_object_put(value);
		merge->failed = true;
	}
}

static void add_error(struct merge *merge, const struct ezprof_asked *asked, const char *reason,
		      const char *detail)
{
	struct json_object *error = json_object_new_object();

	if (!error) {
		merge->failed = true;
		return;
	}
	put_text(merge, error, "who", asked->who);
	put_text(merge, error, "id", asked->id);
	put_text(merge, error, "topic", asked->topic);
	put(merge, error, "pid", asked->pid ? json_object_new_int64(asked->pid) : NULL);
	put_text(merge, error, "host", asked->host);
	put_text(merge, error, "reason", reason);
	put_text(merge, error, "detail", detail);
	append(merge, merge->errors, error);
}

static double covered_s(struct json_object *object)
{
	struct json_object *window = ezprof_json_member(object, "window", json_type_object);
	struct json_object *covered = NULL;

	if (!window || !json_object_object_get_ex(window, "covered_s", &covered) || !covered)
		return 0;
	return json_object_get_double(covered);
}

/* What endpoint the object is about: its id, or NULL if it isn't one. */
static const char *endpoint_id(struct json_object *object, bool *ret_is_channel)
{
	const char *type = ezprof_json_text(object, "type");

	if (!type)
		return NULL;
	*ret_is_channel = strcmp(type, "channel") == 0;
	if (!*ret_is_channel && strcmp(type, "publisher") != 0)
		return NULL;
	return ezprof_json_text(object, *ret_is_channel ? "channel_id" : "id");
}

static bool is_better(const struct entry *entry, bool from_agent, double covered)
{
	if (from_agent != entry->from_agent)
		return from_agent;
	return from_agent && covered > entry->covered_s;
}

static struct entry *new_entry(struct merge *merge, const char *id)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (entry) {
		/* The key lies in the object, which may be exchanged: the table gets a copy. */
		entry->id = strdup(id);
		if (entry->id)
			HASH_ADD_KEYPTR(hh, merge->by_id, entry->id, strlen(entry->id), entry);
		if (entry->hh.tbl) {
			DL_APPEND(merge->entries, entry);
			return entry;
		}
		free((char *)entry->id);
		free(entry);
	}
	merge->failed = true;
	return NULL;
}

/*
 * Takes a reference to object if it is the best for its endpoint. False if it isn't an endpoint's.
 */
static bool add_endpoint(struct merge *merge, struct json_object *object, bool from_agent)
{
	struct entry *entry;
	bool is_channel;
	const char *id = endpoint_id(object, &is_channel);
	double covered = covered_s(object);

	if (!id)
		return false;
	HASH_FIND_STR(merge->by_id, id, entry);
	if (entry && !is_better(entry, from_agent, covered))
		return true;
	if (!entry)
		entry = new_entry(merge, id);
	if (!entry)
		return true;
	json_object_put(entry->object);
	entry->object = json_object_get(object);
	entry->is_channel = is_channel;
	entry->from_agent = from_agent;
	entry->covered_s = covered;
	return true;
}

static void add_lost(struct merge *merge, struct json_object *agent)
{
	struct json_object *lost = ezprof_json_member(agent, "lost", json_type_int);
	int64_t more = lost ? json_object_get_int64(lost) : -1;

	if (more < 0 || __builtin_add_overflow(merge->lost, more, &merge->lost))
		merge->lost_unknown = true;
}

static void add_agents_errors(struct merge *merge, struct json_object *errors)
{
	for (size_t i = 0; i < json_object_array_length(errors); i++) {
		struct json_object *error = json_object_array_get_idx(errors, i);

		if (json_object_is_type(error, json_type_object))
			append(merge, merge->errors, json_object_get(error));
	}
}

static void add_agent(struct merge *merge, const struct ezprof_asked *asked,
		      struct json_object *answer)
{
	struct json_object *endpoints = ezprof_json_member(answer, "endpoints", json_type_array);
	struct json_object *agent = ezprof_json_member(answer, "agent", json_type_object);
	struct json_object *errors = ezprof_json_member(answer, "errors", json_type_array);
	bool complete = endpoints && agent;

	for (size_t i = 0; endpoints && i < json_object_array_length(endpoints); i++) {
		struct json_object *object = json_object_array_get_idx(endpoints, i);

		if (!json_object_is_type(object, json_type_object) ||
		    !add_endpoint(merge, object, true))
			complete = false;
	}
	if (errors)
		add_agents_errors(merge, errors);
	if (agent) {
		add_lost(merge, agent);
		append(merge, merge->agents, json_object_get(agent));
	}
	if (!complete)
		add_error(merge, asked, "bad_answer", "its answer isn't an agent's");
}

/* A publisher or channel may only speak for itself. */
static void add_own(struct merge *merge, const struct ezprof_asked *asked,
		    struct json_object *answer)
{
	bool is_channel;
	const char *id = endpoint_id(answer, &is_channel);

	if (!id || strcmp(id, asked->id) != 0 || is_channel != (strcmp(asked->who, "channel") == 0))
		add_error(merge, asked, "bad_answer", "its answer isn't about itself");
	else
		add_endpoint(merge, answer, false);
}

static void add_target(struct merge *merge, const struct ezprof_target *target)
{
	struct json_object *answer;

	if (target->state != EZPROF_TARGET_ANSWERED) {
		add_error(merge, &target->asked, target->reason, target->detail);
		return;
	}
	answer = target->read ? json_object_get(target->read)
			      : ezprof_json_object(target->answer, target->answer_bytes);
	if (!answer)
		add_error(merge, &target->asked, "bad_json", "its answer is no JSON object");
	else if (strcmp(target->asked.who, "agent") == 0)
		add_agent(merge, &target->asked, answer);
	else
		add_own(merge, &target->asked, answer);
	json_object_put(answer);
}

/* A channel knows its publisher's id, but only the publisher, or the server, its topic. */
static const char *topic_of(const struct merge *merge, const struct ezprof_fanout *fanout,
			    struct json_object *channel)
{
	const char *id = ezprof_json_text(channel, "channel_id");
	const char *publisher_id = ezprof_json_text(channel, "pub_id");
	struct entry *publisher = NULL;

	if (publisher_id)
		HASH_FIND_STR(merge->by_id, publisher_id, publisher);
	if (publisher && ezprof_json_text(publisher->object, "topic"))
		return ezprof_json_text(publisher->object, "topic");
	for (size_t i = 0; i < fanout->n_targets; i++) {
		const struct ezprof_asked *asked = &fanout->targets[i].asked;

		if (asked->id && id && strcmp(asked->id, id) == 0)
			return asked->topic;
	}
	return NULL;
}

static struct json_object *list(struct merge *merge, const struct ezprof_fanout *fanout,
				bool channels)
{
	struct json_object *array = json_object_new_array();
	struct entry *entry;

	if (!array) {
		merge->failed = true;
		return NULL;
	}
	DL_FOREACH(merge->entries, entry)
	{
		if (entry->is_channel != channels)
			continue;
		if (channels && !ezprof_json_text(entry->object, "topic")) {
			const char *topic = topic_of(merge, fanout, entry->object);

			if (topic)
				put_text(merge, entry->object, "topic", topic);
		}
		append(merge, array, json_object_get(entry->object));
	}
	return array;
}

static struct json_object *document(struct merge *merge, const struct ezprof_fanout *fanout,
				    const struct ezprof_document_origin *origin)
{
	struct json_object *top = json_object_new_object();

	if (!top)
		return NULL;
	put_double(merge, top, "window_s", (double)fanout->window_ms / 1000.0);
	put(merge, top, "publishers", list(merge, fanout, false));
	put(merge, top, "channels", list(merge, fanout, true));
	put_text(merge, top, "schema", "ezprof.profile/1");
	put_text(merge, top, "tool", "ezprof-graphserver");
	put_text(merge, top, "tool_version", EZPROF_VERSION);
	put_text(merge, top, "clock", "CLOCK_MONOTONIC");
	put_text(merge, top, "host", origin->host);
	put(merge, top, "time_ns", json_object_new_uint64(origin->time_ns));
	put_double(merge, top, "time_unix_s", origin->time_unix_s);
	put(merge, top, "agents", json_object_get(merge->agents));
	if (json_object_array_length(merge->agents) == 0)
		merge->lost_unknown = true;
	put(merge, top, "lost", merge->lost_unknown ? NULL : json_object_new_int64(merge->lost));
	put(merge, top, "errors", json_object_get(merge->errors));
	return top;
}

static void merge_clear(struct merge *merge)
{
	struct entry *entry, *next;

	DL_FOREACH_SAFE(merge->entries, entry, next)
	{
		HASH_DEL(merge->by_id, entry);
		json_object_put(entry->object);
		free((char *)entry->id);
		free(entry);
	}
	json_object_put(merge->agents);
	json_object_put(merge->errors);
}

void ezprof_reply_read(struct ezprof_fanout *fanout, size_t index)
{
	struct ezprof_target *target = &fanout->targets[index];
	struct json_object *object, *light = NULL;

	if (target->state != EZPROF_TARGET_ANSWERED || target->read)
		return;
	/* One that can't be read stays as it is, for the merge to say so. */
	object = ezprof_json_object(target->answer, target->answer_bytes);
	if (!object)
		return;
	if (strcmp(target->asked.who, "agent") != 0)
		light = ezprof_verbatim_object(object, target->answer, target->answer_bytes);
	if (light) {
		json_object_put(object);
		target->read = light;
	} else {
		free(target->answer);
		target->read = object;
	}
	target->answer = NULL;
}

int ezprof_reply_merge(const struct ezprof_fanout *fanout,
		       const struct ezprof_document_origin *origin, char **ret_json,
		       size_t *ret_len)
{
	struct merge merge = {.agents = json_object_new_array(), .errors = json_object_new_array()};
	struct json_object *top = NULL;
	const char *text = NULL;
	char *json = NULL;
	size_t len = 0;

	if (merge.agents && merge.errors) {
		for (size_t i = 0; i < fanout->n_targets; i++)
			add_target(&merge, &fanout->targets[i]);
		top = document(&merge, fanout, origin);
	}
	if (top && !merge.failed)
		text = json_object_to_json_string_length(
			top, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	if (text)
		json = strdup(text);
	json_object_put(top);
	merge_clear(&merge);
	if (!json)
		return -ENOMEM;
	*ret_json = json;
	*ret_len = len;
	return 0;
}
