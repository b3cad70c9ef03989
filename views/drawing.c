/* SPDX-License-Identifier: MIT */
#include "drawing.h"
#include "flow.h"
#include "load.h"
#include "phrase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_STEP 1024

void ezprof_drawing_free(struct ezprof_drawing *drawing)
{
	size_t i;

	for (i = 0; i < drawing->n_nodes; i++) {
		free(drawing->nodes[i].name);
		free(drawing->nodes[i].figures);
	}
	for (i = 0; i < drawing->n_arrows; i++)
		free(drawing->arrows[i].figures);
	free(drawing->nodes);
	free(drawing->arrows);
	ezprof_names_free(&drawing->names);
	ezprof_names_free(&drawing->ends);
	*drawing = (struct ezprof_drawing){0};
}

/* The node of that name, n_nodes if there is none. */
static size_t find_node(const struct ezprof_drawing *drawing, const char *name, size_t len)
{
	size_t at = ezprof_names_find(drawing->names, name, len);

	return at == EZPROF_NO_NAME ? drawing->n_nodes : at;
}

/* Takes the figures over in any case. */
static int add_node(struct ezprof_drawing *drawing, const char *name, char *figures, double heat,
		    const struct ezprof_object *object)
{
	struct ezprof_node *grown = drawing->nodes, *node;
	size_t at = drawing->n_nodes, len = strlen(name);

	if (at % ROOM_STEP == 0)
		grown = reallocarray(grown, at + ROOM_STEP, sizeof(*grown));
	if (!grown) {
		free(figures);
		return -ENOMEM;
	}
	drawing->nodes = grown;
	node = &grown[drawing->n_nodes++];
	*node = (struct ezprof_node){strdup(name), figures, heat, object};
	if (!node->name)
		return -ENOMEM;
	return ezprof_names_find(drawing->names, name, len) != EZPROF_NO_NAME
		       ? 0
		       : ezprof_names_add(&drawing->names, name, len, at);
}

static bool has_arrow(const struct ezprof_drawing *drawing, size_t from, size_t to)
{
	const size_t ends[] = {from, to};

	return ezprof_names_find(drawing->ends, ends, sizeof(ends)) != EZPROF_NO_NAME;
}

static int add_arrow(struct ezprof_drawing *drawing, struct ezprof_arrow arrow)
{
	const size_t ends[] = {arrow.from, arrow.to}, at = drawing->n_arrows;
	struct ezprof_arrow *grown = drawing->arrows;

	if (at % ROOM_STEP == 0)
		grown = reallocarray(grown, at + ROOM_STEP, sizeof(*grown));
	if (!grown) {
		free(arrow.figures);
		return -ENOMEM;
	}
	drawing->arrows = grown;
	grown[drawing->n_arrows++] = arrow;
	return has_arrow(drawing, arrow.from, arrow.to)
		       ? 0
		       : ezprof_names_add(&drawing->ends, ends, sizeof(ends), at);
}

int ezprof_drawing_of_dag(const struct ez_dag *dag, struct ezprof_drawing *ret_drawing)
{
	struct ezprof_drawing drawing = {0};
	size_t i, k;
	int err = 0;

	for (i = 0; i < dag->n_topics && !err; i++)
		err = add_node(&drawing, dag->topics[i].name, NULL, -1.0, NULL);
	for (i = 0; i < dag->n_topics && !err; i++) {
		for (k = 0; k < dag->topics[i].n_successors && !err; k++)
			err = add_arrow(&drawing, (struct ezprof_arrow){
							  .from = i,
							  .to = dag->topics[i].successors[k],
						  });
	}
	if (err)
		ezprof_drawing_free(&drawing);
	else
		*ret_drawing = drawing;
	return err;
}

/* A subscriber's own topic where it has one, else its handle: in C both may be the publisher's. */
static const char *name_of(const struct ezprof_model *model, const struct ezprof_object *object)
{
	const char *topic = ezprof_label(object, EZPROF_LABEL_TOPIC);
	const char *handle = ezprof_label(object, EZPROF_LABEL_HANDLE);

	if (object->scope == EZPROF_SUB && *handle && object->from != EZPROF_NO_OBJECT &&
	    strcmp(topic, ezprof_label(&model->objects[object->from], EZPROF_LABEL_TOPIC)) == 0)
		return handle;
	return topic;
}

static char *figures_of(const struct ezprof_object *object, double *ret_heat)
{
	struct ez_buffer out;
	size_t len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	if (object->scope == EZPROF_PUB) {
		*ret_heat = ezprof_blocked_share(object);
		ezprof_say_rate(&out, ezprof_figure(object, EZPROF_PUB_RATE_HZ, 0.0));
		ez_buffer_append_text(&out, ", blocked ");
	} else {
		*ret_heat = ezprof_busy_share(object);
		ezprof_say_ms(&out, ezprof_figure(object, EZPROF_SUB_PROCESS_AVG_MS, 0.0));
		ez_buffer_append_text(&out, " each, busy ");
	}
	ezprof_say_share(&out, *ret_heat);
	return ez_buffer_steal(&out, &len);
}

/* Without an agent's figures there is nothing to show but the name. */
static bool has_figures(const struct ezprof_object *object)
{
	return ezprof_known(ezprof_value(object, object->scope == EZPROF_PUB
							 ? EZPROF_PUB_BLOCKED_SHARE
							 : EZPROF_SUB_PROCESS_AVG_MS));
}

/*
 * An earlier object of the same subscriber, which has one for each channel; else its own index.
 * ids: of those before, to which it is added.
 */
static int same_subscriber(const struct ezprof_model *model, struct ezprof_name **ids, size_t at,
			   size_t *ret_same)
{
	const char *id = ezprof_label(&model->objects[at], EZPROF_LABEL_ID);
	size_t same;

	*ret_same = at;
	if (model->objects[at].scope != EZPROF_SUB || !*id)
		return 0;
	same = ezprof_names_find(*ids, id, strlen(id));
	if (same == EZPROF_NO_NAME)
		return ezprof_names_add(ids, id, strlen(id), at);
	*ret_same = same;
	return 0;
}

/* Takes the figures over in any case. */
static void heat_node(struct ezprof_node *node, char *figures, double heat,
		      const struct ezprof_object *object)
{
	if (heat <= node->heat) {
		free(figures);
		return;
	}
	free(node->figures);
	node->figures = figures;
	node->heat = heat;
	node->object = object;
}

/* The model's object as a node of its own; two of one name get their pids. */
static int add_object(struct ezprof_drawing *drawing, const struct ezprof_model *model,
		      const struct ezprof_object *object, char *figures, double heat)
{
	const char *plain = name_of(model, object);
	struct ez_buffer name;
	int err;

	ez_buffer_init(&name, SIZE_MAX / 2);
	ez_buffer_append_text(&name, plain);
	if (find_node(drawing, plain, strlen(plain)) < drawing->n_nodes)
		ezprof_put(&name, " (pid %lld)", (long long)object->pid);
	ez_buffer_append(&name, "", 1);
	err = name.err;
	if (err)
		free(figures);
	else
		err = add_node(drawing, (const char *)name.data, figures, heat, object);
	ez_buffer_free(&name);
	return err;
}

/* Nodes in the model's order. */
static int add_objects(struct ezprof_drawing *drawing, const struct ezprof_model *model,
		       enum ezprof_scope scope, size_t *places)
{
	struct ezprof_name *ids = NULL;
	int err = 0;

	for (size_t i = model->first[scope]; i < model->first[scope + 1] && !err; i++) {
		const struct ezprof_object *object = &model->objects[i];
		double heat = -1.0;
		char *figures = has_figures(object) ? figures_of(object, &heat) : NULL;
		size_t same;

		err = same_subscriber(model, &ids, i, &same);
		if (err) {
			free(figures);
		} else if (same != i) {
			places[i] = places[same];
			heat_node(&drawing->nodes[places[i]], figures, heat, object);
		} else {
			places[i] = drawing->n_nodes;
			err = add_object(drawing, model, object, figures, heat);
		}
	}
	ezprof_names_free(&ids);
	return err;
}

static char *figures_of_arrow(const struct ezprof_object *s)
{
	const char *transport = ezprof_label(s, EZPROF_LABEL_TRANSPORT);
	struct ez_buffer out;
	size_t len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	if (ezprof_known(ezprof_value(s, EZPROF_SUB_RATE_HZ)) && !s->from_several)
		ezprof_say_rate(&out, ezprof_figure(s, EZPROF_SUB_RATE_HZ, 0.0));
	else
		ez_buffer_append_text(&out, "messages");
	if (*transport) {
		ez_buffer_append_text(&out, " by ");
		ezprof_say_name(&out, transport);
	}
	if (ezprof_known(ezprof_value(s, EZPROF_SUB_QUEUE_AVG_MS))) {
		ez_buffer_append_text(&out, ", queue ");
		ezprof_say_ms(&out, ezprof_figure(s, EZPROF_SUB_QUEUE_AVG_MS, 0.0));
	}
	return ez_buffer_steal(&out, &len);
}

static int add_channels(struct ezprof_drawing *drawing, const struct ezprof_model *model,
			const size_t *places)
{
	int err = 0;

	for (size_t i = model->first[EZPROF_SUB]; i < model->first[EZPROF_SUB + 1] && !err; i++) {
		const struct ezprof_object *s = &model->objects[i];

		if (s->from != EZPROF_NO_OBJECT)
			err = add_arrow(drawing,
					(struct ezprof_arrow){places[s->from], places[i],
							      figures_of_arrow(s), false, s});
	}
	return err;
}

static int add_flows_of(struct ezprof_drawing *drawing, const struct ezprof_fed *fed, size_t s,
			const size_t *places)
{
	size_t i, n = ezprof_fed_by(fed, s);
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		size_t p = fed->list[i];

		if (!has_arrow(drawing, places[s], places[p]))
			err = add_arrow(
				drawing,
				(struct ezprof_arrow){.from = places[s],
						      .to = places[p],
						      .inferred = ezprof_flow(fed->model, s, p) ==
								  EZPROF_FLOW_PROCESS});
	}
	return err;
}

static int add_flows(struct ezprof_drawing *drawing, const struct ezprof_model *model,
		     const size_t *places)
{
	struct ezprof_fed fed;
	int err = ezprof_fed_init(&fed, model);

	for (size_t s = model->first[EZPROF_SUB]; s < model->first[EZPROF_SUB + 1] && !err; s++)
		err = add_flows_of(drawing, &fed, s, places);
	ezprof_fed_free(&fed);
	return err;
}

/* The node of a topic; a new one where nobody is. */
static int topic_node(struct ezprof_drawing *drawing, const char *topic, size_t *ret_node)
{
	*ret_node = find_node(drawing, topic, strlen(topic));
	return *ret_node < drawing->n_nodes ? 0 : add_node(drawing, topic, NULL, -1.0, NULL);
}

static int add_topics(struct ezprof_drawing *drawing, const struct ez_dag *dag)
{
	size_t i, k, from, to;
	int err = 0;

	for (i = 0; i < dag->n_topics && !err; i++) {
		for (k = 0; k < dag->topics[i].n_successors && !err; k++) {
			err = topic_node(drawing, dag->topics[i].name, &from);
			if (!err)
				err = topic_node(drawing,
						 dag->topics[dag->topics[i].successors[k]].name,
						 &to);
			if (!err && !has_arrow(drawing, from, to))
				err = add_arrow(drawing,
						(struct ezprof_arrow){.from = from, .to = to});
		}
	}
	return err;
}

/* The same of the topics that the document itself names. */
static int add_edges(struct ezprof_drawing *drawing, const struct ezprof_model *model)
{
	size_t i, from, to;
	int err = 0;

	for (i = 0; i < model->n_edges && !err; i++) {
		err = topic_node(drawing, model->edges[i].from, &from);
		if (!err)
			err = topic_node(drawing, model->edges[i].to, &to);
		if (!err && !has_arrow(drawing, from, to))
			err = add_arrow(drawing, (struct ezprof_arrow){.from = from, .to = to});
	}
	return err;
}

int ezprof_drawing_of_model(const struct ezprof_model *model, const struct ez_dag *dag,
			    struct ezprof_drawing *ret_drawing)
{
	struct ezprof_drawing drawing = {.live = true};
	size_t *places = calloc(model->n, sizeof(*places));
	int err = places ? 0 : -ENOMEM;

	if (!err)
		err = add_objects(&drawing, model, EZPROF_PUB, places);
	if (!err)
		err = add_objects(&drawing, model, EZPROF_SUB, places);
	if (!err)
		err = add_channels(&drawing, model, places);
	if (!err)
		err = add_flows(&drawing, model, places);
	if (!err)
		err = dag ? add_topics(&drawing, dag) : add_edges(&drawing, model);
	free(places);
	if (err)
		ezprof_drawing_free(&drawing);
	else
		*ret_drawing = drawing;
	return err;
}

static size_t unit_length(const char *name)
{
	const char *end = strrchr(name, '/');

	return end && end != name ? (size_t)(end - name) : strlen(name);
}

/* The unit's node; its figures are those of its hottest part. */
static int unit_node(struct ezprof_drawing *drawing, const struct ezprof_node *part,
		     size_t *ret_node)
{
	size_t len = unit_length(part->name);
	size_t at = find_node(drawing, part->name, len);
	char *figures = part->figures ? strdup(part->figures) : NULL, *name;
	int err;

	*ret_node = at;
	if (at == drawing->n_nodes) {
		name = strndup(part->name, len);
		err = name ? add_node(drawing, name, figures, part->heat, part->object) : -ENOMEM;
		free(name);
		return err;
	}
	heat_node(&drawing->nodes[at], figures, part->heat, part->object);
	return 0;
}

int ezprof_drawing_compact(const struct ezprof_drawing *drawing, struct ezprof_drawing *ret_drawing)
{
	struct ezprof_drawing compact = {.live = drawing->live};
	size_t *units = calloc(drawing->n_nodes ? drawing->n_nodes : 1, sizeof(*units));
	int err = units ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < drawing->n_nodes && !err; i++)
		err = unit_node(&compact, &drawing->nodes[i], &units[i]);
	for (i = 0; i < drawing->n_arrows && !err; i++) {
		struct ezprof_arrow arrow = drawing->arrows[i];

		arrow.from = units[arrow.from];
		arrow.to = units[arrow.to];
		arrow.figures = arrow.figures ? strdup(arrow.figures) : NULL;
		if (arrow.from == arrow.to || has_arrow(&compact, arrow.from, arrow.to))
			free(arrow.figures);
		else
			err = add_arrow(&compact, arrow);
	}
	free(units);
	if (err)
		ezprof_drawing_free(&compact);
	else
		*ret_drawing = compact;
	return err;
}
