/* SPDX-License-Identifier: MIT */
#include "hello_json.h"
#include "json_value.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 8

/* The object in the text; NULL if it isn't one. */
static struct json_object *parse(const char *text, size_t n)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *object = NULL;

	if (!tokener)
		return NULL;
	if (n <= INT_MAX)
		object = json_tokener_parse_ex(tokener, text, (int)n);
	json_tokener_free(tokener);
	if (object && !json_object_is_type(object, json_type_object)) {
		json_object_put(object);
		object = NULL;
	}
	return object;
}

static bool copy_text(struct json_object *value, char *to, size_t bytes)
{
	size_t n;

	if (!value || !json_object_is_type(value, json_type_string))
		return false;
	n = (size_t)json_object_get_string_len(value);
	if (n >= bytes || memchr(json_object_get_string(value), '\0', n))
		return false;
	memcpy(to, json_object_get_string(value), n);
	to[n] = '\0';
	return true;
}

static void copy_member(const char *text, size_t n, const char *key, char *to, size_t bytes)
{
	struct json_object *hello = parse(text, n);

	if (!hello || !copy_text(json_object_object_get(hello, key), to, bytes))
		to[0] = '\0';
	json_object_put(hello);
}

void ezprof_hello_graph(const char *text, size_t n, char *ret_graph, size_t graph_bytes)
{
	copy_member(text, n, "graph", ret_graph, graph_bytes);
}

void ezprof_hello_version(const char *text, char *ret_version, size_t version_bytes)
{
	copy_member(text, strlen(text), "version", ret_version, version_bytes);
}

static struct json_object *introduce(const char *program, const char *role)
{
	struct json_object *o = json_object_new_object();

	if (!o)
		return NULL;
	ezprof_json_text(o, "program", program);
	ezprof_json_text(o, "version", EZPROF_VERSION);
	ezprof_json_text(o, "role", role);
	ezprof_json_u64(o, "pid", (uint64_t)getpid());
	return o;
}

char *ezprof_hello_client(const char *program, const char *graph)
{
	struct json_object *o = introduce(program, "client");

	if (!o)
		return NULL;
	if (graph)
		ezprof_json_text(o, "graph", graph);
	return ezprof_json_line(o);
}

char *ezprof_hello_agent(const char *const *graphs, size_t graph_count, const pid_t *pids,
			 size_t pid_count)
{
	struct json_object *o = introduce("ezprof-bpf", "agent");
	struct json_object *list = json_object_new_array(), *attached = json_object_new_array();
	size_t i;

	if (!o || !list || !attached)
		return NULL;
	for (i = 0; i < graph_count; i++)
		json_object_array_add(list, json_object_new_string(graphs[i]));
	for (i = 0; i < pid_count; i++)
		json_object_array_add(attached, json_object_new_int(pids[i]));
	ezprof_json_add(o, "graphs", list);
	ezprof_json_add(o, "attached", attached);
	return ezprof_json_line(o);
}

int ezprof_hello_graphs(const char *text, char *ret_graphs, size_t graph_bytes, size_t graphs_max)
{
	struct json_object *answer = parse(text, strlen(text));
	struct json_object *list = answer ? json_object_object_get(answer, "graphs") : NULL;
	int found = -EPROTO;
	size_t i;

	if (list && json_object_is_type(list, json_type_array)) {
		found = 0;
		for (i = 0; i < json_object_array_length(list) && (size_t)found < graphs_max; i++)
			found += copy_text(json_object_array_get_idx(list, i),
					   ret_graphs + (size_t)found * graph_bytes, graph_bytes);
	}
	json_object_put(answer);
	return found;
}
