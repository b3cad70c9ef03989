/* SPDX-License-Identifier: MIT */
#include "document_graph.h"
#include "json_value.h"
#include "pickle_dag.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

static struct json_object *successors(const struct ez_dag *dag, const struct ez_dag_topic *topic)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; list && i < topic->n_successors; i++) {
		const char *name = dag->topics[topic->successors[i]].name;

		json_object_array_add(list, json_object_new_string(name));
	}
	return list;
}

/* The document as text, and its end. */
static int replace(char **text, struct json_object *document)
{
	char *line = strdup(json_object_to_json_string_ext(document, JSON_C_TO_STRING_PLAIN));

	json_object_put(document);
	if (!line)
		return -ENOMEM;
	free(*text);
	*text = line;
	return 0;
}

int ezprof_document_add_graph(char **text, const struct ez_dag *dag)
{
	struct json_object *document = json_tokener_parse(*text);
	struct json_object *graph = json_object_new_object();
	size_t i;

	if (!json_object_is_type(document, json_type_object) || !graph) {
		json_object_put(document);
		json_object_put(graph);
		return graph ? -EPROTO : -ENOMEM;
	}
	for (i = 0; i < dag->n_topics; i++)
		json_object_object_add(graph, dag->topics[i].name,
				       successors(dag, &dag->topics[i]));
	json_object_object_add(document, "graph", graph);
	json_object_object_add(document, "graph_source", json_object_new_string("dag"));
	return replace(text, document);
}

int ezprof_document_add_error(char **text, const char *who, const char *reason, const char *detail)
{
	struct json_object *document = json_tokener_parse(*text);
	struct json_object *error = json_object_new_object();
	struct json_object *errors;

	if (!json_object_object_get_ex(document, "errors", &errors) ||
	    !json_object_is_type(errors, json_type_array) || !error) {
		json_object_put(document);
		json_object_put(error);
		return error ? -EPROTO : -ENOMEM;
	}
	json_object_object_add(error, "who", json_object_new_string(who));
	json_object_object_add(error, "id", NULL);
	json_object_object_add(error, "topic", NULL);
	json_object_object_add(error, "pid", NULL);
	json_object_object_add(error, "host", NULL);
	json_object_object_add(error, "reason", json_object_new_string(reason));
	json_object_object_add(error, "detail", json_object_new_string(detail));
	json_object_array_add(errors, error);
	return replace(text, document);
}

int ezprof_document_add_silent(char **text, uint64_t agents, const char *hint)
{
	struct json_object *document = json_tokener_parse(*text);

	if (!json_object_is_type(document, json_type_object)) {
		json_object_put(document);
		return -EPROTO;
	}
	json_object_object_add(document, "silent_agents", json_object_new_uint64(agents));
	json_object_object_add(document, "hint", json_object_new_string(hint));
	return replace(text, document);
}
