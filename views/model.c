/* SPDX-License-Identifier: MIT */
#include "model.h"
#include "model_read.h"
#include "relation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const label_keys[] = {
#define LABEL_KEY(name, key) key,
	EZPROF_LABELS(LABEL_KEY)
#undef LABEL_KEY
};

const char *ezprof_label_key(enum ezprof_label label)
{
	return label_keys[label];
}

/* Where a scope's labels stand in the document, if not under their own name. */
static const struct {
	enum ezprof_scope scope;
	enum ezprof_label label;
	const char *path;
} elsewhere[] = {
	{EZPROF_CHAN, EZPROF_LABEL_ID, "channel_id"},
	{EZPROF_CHAN, EZPROF_LABEL_TRANSPORT, "mode"},
	{EZPROF_SUB, EZPROF_LABEL_ID, "subscriber_id"},
};

static const char *label_path(enum ezprof_scope scope, size_t label)
{
	size_t i;

	for (i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		if (elsewhere[i].scope == scope && elsewhere[i].label == label)
			return elsewhere[i].path;
	}
	return label_keys[label];
}

static const struct {
	enum ezprof_scope scope;
	unsigned int number;
	const char *path;
} distributions[] = {
#define DISTRIBUTION_ROW(scope, number, name, path) {EZPROF_##scope, number, path},
	EZPROF_DISTRIBUTIONS(DISTRIBUTION_ROW)
#undef DISTRIBUTION_ROW
};

static void read_distributions(struct ezprof_object *object, struct json_object *json)
{
	size_t i;

	for (i = 0; i < sizeof(distributions) / sizeof(distributions[0]); i++) {
		if (distributions[i].scope == object->scope)
			object->bins[distributions[i].number] =
				ezprof_json_copy(json, distributions[i].path);
	}
}

static bool is_true(struct json_object *json, const char *path)
{
	struct json_object *value = ezprof_json_at(json, path);

	return json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value);
}

static int64_t pid_of(struct json_object *json)
{
	struct ezprof_number pid = ezprof_json_number(json, "pid");

	return pid.kind == EZPROF_WHOLE && pid.whole <= INT64_MAX ? (int64_t)pid.whole : 0;
}

static uint64_t whole_at(struct json_object *json, const char *path)
{
	struct ezprof_number number = ezprof_json_number(json, path);

	return number.kind == EZPROF_WHOLE ? number.whole : 0;
}

/* -ENOMEM, with the object in a state that model_free() bears. */
static int read_object(struct ezprof_model *model, enum ezprof_scope scope,
		       struct json_object *json, size_t parent)
{
	struct ezprof_object *object = &model->objects[model->n];
	size_t first = ezprof_metric_first(scope), count = ezprof_metric_count(scope), i;

	memset(object, 0, sizeof(*object));
	object->scope = scope;
	object->parent = parent;
	object->from = scope == EZPROF_LINK ? parent : EZPROF_NO_OBJECT;
	object->values = calloc(count, sizeof(object->values[0]));
	model->n++;
	if (!object->values)
		return -ENOMEM;
	for (i = 0; i < EZPROF_LABEL_COUNT; i++)
		object->labels[i] = ezprof_json_copy(json, label_path(scope, i));
	read_distributions(object, json);
	object->pid = pid_of(json);
	object->warming_up = is_true(json, "warming_up");
	for (i = 0; i < count; i++)
		object->values[i] = ezprof_json_number(
			json, ezprof_metric((enum ezprof_metric_id)(first + i))->path);
	return 0;
}

/*
 * A process that nobody measures tells its totals, and 0 for what it doesn't know: that nothing
 * happened in the window is not what it means.
 */
static void forget_window(struct ezprof_object *object)
{
	static const enum ezprof_metric_id of_pub[] = {EZPROF_PUB_RATE_HZ, EZPROF_PUB_BYTES_PER_S,
						       EZPROF_PUB_MESSAGES_WINDOW,
						       EZPROF_PUB_BYTES_WINDOW};
	static const enum ezprof_metric_id of_sub[] = {
		EZPROF_SUB_RATE_HZ, EZPROF_SUB_MESSAGES_WINDOW, EZPROF_SUB_BYTES_WINDOW};
	bool is_pub = object->scope == EZPROF_PUB;
	const enum ezprof_metric_id *list = is_pub ? of_pub : of_sub;
	size_t n = is_pub ? sizeof(of_pub) / sizeof(of_pub[0]) : sizeof(of_sub) / sizeof(of_sub[0]);
	size_t i;

	if ((!is_pub && object->scope != EZPROF_SUB) ||
	    strcmp(ezprof_label(object, EZPROF_LABEL_SOURCE), "process") != 0)
		return;
	for (i = 0; i < n; i++)
		object->values[list[i] - ezprof_metric_first(object->scope)] =
			(struct ezprof_number){0};
}

/* A subscriber or link knows what its channel or publisher knows. */
static int inherit(struct ezprof_object *object, const struct ezprof_object *parent)
{
	static const enum ezprof_label shared[] = {EZPROF_LABEL_HOST, EZPROF_LABEL_TRANSPORT,
						   EZPROF_LABEL_PUB_ID, EZPROF_LABEL_CHANNEL_ID,
						   EZPROF_LABEL_SOURCE};
	size_t i;

	for (i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		enum ezprof_label label = shared[i];

		if (object->labels[label] || !parent->labels[label])
			continue;
		object->labels[label] = strdup(parent->labels[label]);
		if (!object->labels[label])
			return -ENOMEM;
	}
	if (!object->pid)
		object->pid = parent->pid;
	return 0;
}

static int read_list(struct ezprof_model *model, enum ezprof_scope scope, struct json_object *list,
		     size_t parent)
{
	size_t i, n = ezprof_json_length(list);
	struct ezprof_object *grown;
	int err = 0;

	if (!n)
		return 0;
	grown = reallocarray(model->objects, model->n + n, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	model->objects = grown;
	for (i = 0; i < n && !err; i++) {
		err = read_object(model, scope, json_object_array_get_idx(list, i), parent);
		if (!err && parent != EZPROF_NO_OBJECT)
			err = inherit(&grown[model->n - 1], &grown[parent]);
		if (!err)
			forget_window(&grown[model->n - 1]);
	}
	return err;
}

/* Lists within lists: the links of all publishers, the subscribers of all channels. */
static int read_inner(struct ezprof_model *model, enum ezprof_scope scope, struct json_object *list,
		      const char *key, size_t first_parent)
{
	size_t i, n = ezprof_json_length(list);
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = read_list(model, scope,
				ezprof_json_at(json_object_array_get_idx(list, i), key),
				first_parent + i);
	return err;
}

/* A task is of its agent's host; the document says so once. */
static int read_tasks(struct ezprof_model *model, struct json_object *agents)
{
	size_t i, n = ezprof_json_length(agents);
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		struct json_object *agent = json_object_array_get_idx(agents, i);
		size_t at = model->n;

		err = read_list(model, EZPROF_TASK, ezprof_json_at(agent, "tasks"),
				EZPROF_NO_OBJECT);
		for (; at < model->n && !err; at++) {
			char **host = &model->objects[at].labels[EZPROF_LABEL_HOST];

			if (!*host)
				*host = ezprof_json_copy(agent, "host");
		}
	}
	return err;
}

static int read_objects(struct ezprof_model *model, struct json_object *document)
{
	struct json_object *publishers = ezprof_json_at(document, "publishers");
	struct json_object *channels = ezprof_json_at(document, "channels");
	struct json_object *agents = ezprof_json_at(document, "agents");
	int err = 0;

	for (enum ezprof_scope s = EZPROF_GRAPH; s < EZPROF_SCOPE_COUNT && !err; s++) {
		model->first[s] = model->n;
		switch (s) {
		case EZPROF_GRAPH:
			model->objects = calloc(1, sizeof(model->objects[0]));
			err = model->objects ? read_object(model, s, document, EZPROF_NO_OBJECT)
					     : -ENOMEM;
			break;
		case EZPROF_PUB:
			err = read_list(model, s, publishers, EZPROF_NO_OBJECT);
			break;
		case EZPROF_LINK:
			err = read_inner(model, s, publishers, "links", model->first[EZPROF_PUB]);
			break;
		case EZPROF_CHAN:
			err = read_list(model, s, channels, EZPROF_NO_OBJECT);
			break;
		case EZPROF_SUB:
			err = read_inner(model, s, channels, "subscribers",
					 model->first[EZPROF_CHAN]);
			break;
		case EZPROF_TASK:
			err = read_tasks(model, agents);
			break;
		default:
			err = read_list(model, s, agents, EZPROF_NO_OBJECT);
		}
	}
	model->first[EZPROF_SCOPE_COUNT] = model->n;
	return err;
}

/* "errors" of the document, or "attached" of an agent, whose host it is. */
static int read_mentions(struct json_object *from, bool is_error, struct ezprof_mention **mentions,
			 size_t *n)
{
	static const char *const of_process[] = {"comm", "state", "", ""};
	static const char *const of_error[] = {"who", "reason", "detail", "topic"};
	const char *const *keys = is_error ? of_error : of_process;
	struct json_object *list = ezprof_json_at(from, is_error ? "errors" : "attached");
	size_t i, more = ezprof_json_length(list);
	struct ezprof_mention *grown;

	if (!more)
		return 0;
	grown = reallocarray(*mentions, *n + more, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*mentions = grown;
	for (i = 0; i < more; i++) {
		struct json_object *json = json_object_array_get_idx(list, i);

		grown[(*n)++] = (struct ezprof_mention){
			.pid = pid_of(json),
			.what = ezprof_json_copy(json, keys[0]),
			.reason = ezprof_json_copy(json, keys[1]),
			.detail = ezprof_json_copy(json, keys[2]),
			.topic = ezprof_json_copy(json, keys[3]),
			.host = ezprof_json_copy(is_error ? json : from, "host"),
			.at_ns = whole_at(json, "exited_ns"),
		};
	}
	return 0;
}

static int read_processes(struct ezprof_model *model, struct json_object *document)
{
	struct json_object *agents = ezprof_json_at(document, "agents");
	size_t i, n = ezprof_json_length(agents);
	int err = read_mentions(document, true, &model->errors, &model->n_errors);

	for (i = 0; i < n && !err; i++)
		err = read_mentions(json_object_array_get_idx(agents, i), false, &model->processes,
				    &model->n_processes);
	return err;
}

static int model_of(struct json_object *document, struct ezprof_model **ret_model)
{
	struct ezprof_model *model = calloc(1, sizeof(*model));
	int err;

	if (!model)
		return -ENOMEM;
	err = read_objects(model, document);
	if (!err)
		err = ezprof_model_read_edges(model, document);
	if (!err)
		err = ezprof_model_find_publishers(model);
	if (!err)
		err = ezprof_model_relate(model);
	if (!err)
		err = read_processes(model, document);
	if (!err)
		err = ezprof_model_read_agents(model, document);
	model->host = ezprof_json_copy(document, "host");
	model->tool = ezprof_json_copy(document, "tool");
	model->tool_version = ezprof_json_copy(document, "tool_version");
	model->time_ns = whole_at(document, "time_ns");
	model->silent_agents = whole_at(document, "silent_agents");
	model->time_unix_s = ezprof_as_double(ezprof_json_number(document, "time_unix_s"), 0);
	if (err)
		ezprof_model_free(model);
	else
		*ret_model = model;
	return err;
}

int ezprof_model_read(const char *text, size_t n, struct ezprof_model **ret_model)
{
	struct json_object *document = ezprof_json_document(text, n);
	int err = document ? model_of(document, ret_model) : -EPROTO;

	json_object_put(document);
	return err;
}

int ezprof_model_next(const char *text, size_t n, size_t *at, struct ezprof_model **ret_model)
{
	struct json_object *document;
	int err;

	while (*at < n && strchr(" \t\r\n", text[*at]))
		(*at)++;
	if (*at == n)
		return -ENODATA;
	document = ezprof_json_next_document(text, n, at);
	err = document ? model_of(document, ret_model) : -EPROTO;
	json_object_put(document);
	return err;
}

static void free_mentions(struct ezprof_mention *mentions, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(mentions[i].what);
		free(mentions[i].reason);
		free(mentions[i].detail);
		free(mentions[i].topic);
		free(mentions[i].host);
	}
	free(mentions);
}

void ezprof_model_free(struct ezprof_model *model)
{
	size_t i, k;

	if (!model)
		return;
	for (i = 0; i < model->n; i++) {
		for (k = 0; k < EZPROF_LABEL_COUNT; k++)
			free(model->objects[i].labels[k]);
		for (k = 0; k < EZPROF_DISTRIBUTIONS_MAX; k++)
			free(model->objects[i].bins[k]);
		free(model->objects[i].values);
	}
	for (i = 0; i < model->n_edges; i++) {
		free(model->edges[i].from);
		free(model->edges[i].to);
	}
	ezprof_model_free_agents(model);
	ezprof_lookup_free(&model->lookup);
	free_mentions(model->processes, model->n_processes);
	free_mentions(model->errors, model->n_errors);
	free(model->edges);
	free(model->objects);
	free(model->host);
	free(model->tool);
	free(model->tool_version);
	free(model);
}
