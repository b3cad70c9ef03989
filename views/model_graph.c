/* SPDX-License-Identifier: MIT */
/* Which publisher is behind a channel or subscriber: by ids, or by the graph of topics. */
#include "model_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EDGES_STEP 256

static int add_edge(struct ezprof_model *model, const char *from, const char *to)
{
	struct ezprof_edge *grown = model->edges;

	if (model->n_edges % EDGES_STEP == 0)
		grown = reallocarray(grown, model->n_edges + EDGES_STEP, sizeof(*grown));
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

/* Publishers are looked up by a label, edges by where they lead to. */
#define EDGE_TO EZPROF_LABEL_COUNT

struct search {
	const struct ezprof_model *model;
	struct ezprof_lookup lookup;
	const char **todo; /* room for an entry per edge */
	size_t *seen;	   /* per edge: by which search, the first is 1 */
	size_t number;
};

static uint64_t key_of(unsigned int kind, const char *text)
{
	return ezprof_key_text(ezprof_key(kind), text);
}

static int fill_lookup(struct search *search)
{
	const struct ezprof_model *model = search->model;
	int err = 0;
	size_t i;

	for (i = model->first[EZPROF_PUB]; i < model->first[EZPROF_PUB + 1] && !err; i++) {
		const struct ezprof_object *p = &model->objects[i];

		err = ezprof_lookup_add(&search->lookup,
					key_of(EZPROF_LABEL_ID, ezprof_label(p, EZPROF_LABEL_ID)),
					0.0, i);
		if (!err)
			err = ezprof_lookup_add(
				&search->lookup,
				key_of(EZPROF_LABEL_TOPIC, ezprof_label(p, EZPROF_LABEL_TOPIC)),
				0.0, i);
	}
	for (i = 0; i < model->n_edges && !err; i++)
		err = ezprof_lookup_add(&search->lookup, key_of(EDGE_TO, model->edges[i].to), 0.0,
					i);
	ezprof_lookup_sort(&search->lookup);
	return err;
}

static size_t publisher_of(const struct search *search, enum ezprof_label label, const char *text)
{
	const struct ezprof_model *model = search->model;

	if (!*text)
		return EZPROF_NO_OBJECT;
	EZPROF_EACH_FOUND (&search->lookup, key_of(label, text), found) {
		size_t p = found->object;

		if (p >= model->first[EZPROF_PUB] && p < model->first[EZPROF_PUB + 1] &&
		    strcmp(ezprof_label(&model->objects[p], label), text) == 0)
			return p;
	}
	return EZPROF_NO_OBJECT;
}

/*
 * Where no channel says so, the graph tells which publisher leads to a topic, or the first of
 * several.
 */
static size_t publisher_by_graph(struct search *search, const char *topic, bool *ret_several)
{
	size_t n = 0, publisher, first = EZPROF_NO_OBJECT;

	search->number++;
	do {
		EZPROF_EACH_FOUND (&search->lookup, key_of(EDGE_TO, topic), found) {
			const struct ezprof_edge *edge = &search->model->edges[found->object];

			if (search->seen[found->object] == search->number ||
			    strcmp(edge->to, topic) != 0)
				continue;
			search->seen[found->object] = search->number;
			publisher = publisher_of(search, EZPROF_LABEL_TOPIC, edge->from);
			if (publisher == EZPROF_NO_OBJECT)
				search->todo[n++] = edge->from;
			else if (first == EZPROF_NO_OBJECT)
				first = publisher;
			else
				*ret_several |= publisher != first;
		}
		topic = n ? search->todo[--n] : NULL;
	} while (topic);
	return first;
}

static void find_by_graph(struct ezprof_model *model, struct search *search)
{
	const struct ezprof_object *last = NULL;
	size_t i;

	for (i = model->first[EZPROF_SUB]; i < model->first[EZPROF_SUB + 1]; i++) {
		struct ezprof_object *s = &model->objects[i];
		const char *topic = ezprof_label(s, EZPROF_LABEL_TOPIC);

		if (s->from != EZPROF_NO_OBJECT || *ezprof_label(s, EZPROF_LABEL_PUB_ID))
			continue;
		/* A topic's subscribers mostly stand together. */
		if (last && strcmp(ezprof_label(last, EZPROF_LABEL_TOPIC), topic) == 0) {
			s->from = last->from;
			s->from_several = last->from_several;
		} else {
			s->from = publisher_by_graph(search, topic, &s->from_several);
		}
		last = s;
	}
}

/* Channels name their publisher by its id. */
static void find_by_id(struct ezprof_model *model, const struct search *search)
{
	size_t i;

	for (i = model->first[EZPROF_CHAN]; i < model->first[EZPROF_TASK]; i++) {
		struct ezprof_object *object = &model->objects[i];

		object->from = object->scope == EZPROF_SUB
				       ? model->objects[object->parent].from
				       : publisher_of(search, EZPROF_LABEL_ID,
						      ezprof_label(object, EZPROF_LABEL_PUB_ID));
	}
}

int ezprof_model_find_publishers(struct ezprof_model *model)
{
	struct search search = {
		.model = model,
		.todo = calloc(model->n_edges + 1, sizeof(*search.todo)),
		.seen = calloc(model->n_edges + 1, sizeof(*search.seen)),
	};
	int err = search.todo && search.seen ? fill_lookup(&search) : -ENOMEM;

	if (!err) {
		find_by_id(model, &search);
		find_by_graph(model, &search);
	}
	ezprof_lookup_free(&search.lookup);
	free(search.todo);
	free(search.seen);
	return err;
}
