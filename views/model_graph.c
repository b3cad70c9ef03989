/* SPDX-License-Identifier: MIT */
/* Which publisher is behind a channel or subscriber: by ids, or by the graph of topics. */
#include "model_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_edge(struct ezprof_model *model, const char *from, const char *to)
{
	struct ezprof_edge *grown =
		reallocarray(model->edges, model->n_edges + 1, sizeof(*model->edges));

	if (!grown)
		return -ENOMEM;
	model->edges = grown;
	grown[model->n_edges] = (struct ezprof_edge){strdup(from), strdup(to)};
	if (grown[model->n_edges].from && grown[model->n_edges].to) {
		model->n_edges++;
		return 0;
	}
	free(grown[model->n_edges].from);
	free(grown[model->n_edges].to);
	return -ENOMEM;
}

/* {topic: [topics that it feeds]}; names as the document has them. */
int ezprof_model_read_edges(struct ezprof_model *model, struct json_object *document)
{
	struct json_object *graph = ezprof_json_at(document, "graph");
	int err = 0;

	if (!json_object_is_type(graph, json_type_object))
		return 0;
	json_object_object_foreach(graph, topic, fed)
	{
		size_t i, n = ezprof_json_length(fed);

		for (i = 0; i < n && !err; i++) {
			struct json_object *to = json_object_array_get_idx(fed, i);

			if (json_object_is_type(to, json_type_string))
				err = add_edge(model, topic, json_object_get_string(to));
		}
	}
	return err;
}

static size_t publisher_of(const struct ezprof_model *model, enum ezprof_label label,
			   const char *text)
{
	size_t p;

	for (p = model->first[EZPROF_PUB]; *text && p < model->first[EZPROF_PUB + 1]; p++) {
		if (strcmp(ezprof_label(&model->objects[p], label), text) == 0)
			return p;
	}
	return EZPROF_NO_OBJECT;
}

/*
 * Where no channel says so, the graph tells which publisher leads to a topic, or the first of
 * several. todo: room for an entry per edge; seen: likewise, all false.
 */
static size_t publisher_by_graph(const struct ezprof_model *model, const char *topic,
				 const char **todo, bool *seen, bool *ret_several)
{
	size_t n = 0, i, found, first = EZPROF_NO_OBJECT;

	do {
		for (i = 0; i < model->n_edges; i++) {
			const struct ezprof_edge *edge = &model->edges[i];

			if (seen[i] || strcmp(edge->to, topic) != 0)
				continue;
			seen[i] = true;
			found = publisher_of(model, EZPROF_LABEL_TOPIC, edge->from);
			if (found == EZPROF_NO_OBJECT)
				todo[n++] = edge->from;
			else if (first == EZPROF_NO_OBJECT)
				first = found;
			else
				*ret_several |= found != first;
		}
		topic = n ? todo[--n] : NULL;
	} while (topic);
	return first;
}

static int find_by_graph(struct ezprof_model *model)
{
	const char **todo = calloc(model->n_edges + 1, sizeof(*todo));
	bool *seen = calloc(model->n_edges + 1, sizeof(*seen));
	int err = todo && seen ? 0 : -ENOMEM;
	size_t i;

	for (i = model->first[EZPROF_SUB]; !err && i < model->first[EZPROF_SUB + 1]; i++) {
		struct ezprof_object *s = &model->objects[i];

		if (s->from != EZPROF_NO_OBJECT || *ezprof_label(s, EZPROF_LABEL_PUB_ID))
			continue;
		memset(seen, 0, model->n_edges * sizeof(*seen));
		s->from = publisher_by_graph(model, ezprof_label(s, EZPROF_LABEL_TOPIC), todo, seen,
					     &s->from_several);
	}
	free(todo);
	free(seen);
	return err;
}

/* Channels name their publisher by its id. */
int ezprof_model_find_publishers(struct ezprof_model *model)
{
	size_t i;

	for (i = model->first[EZPROF_CHAN]; i < model->first[EZPROF_TASK]; i++) {
		struct ezprof_object *object = &model->objects[i];

		object->from = object->scope == EZPROF_SUB
				       ? model->objects[object->parent].from
				       : publisher_of(model, EZPROF_LABEL_ID,
						      ezprof_label(object, EZPROF_LABEL_PUB_ID));
	}
	return find_by_graph(model);
}
