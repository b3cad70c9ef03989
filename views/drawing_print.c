/* SPDX-License-Identifier: MIT */
#include "drawing_print.h"

#include <stdio.h>
#include <string.h>

#include "json_writer.h"
#include "phrase.h"

static void put_name(struct ez_buffer *out, const char *name)
{
	if (*name)
		ezprof_say_name(out, name);
	else
		ez_buffer_append_text(out, "\"\"");
}

/* The figures behind a name or an edge, in brackets. */
static void put_figures(struct ez_buffer *out, const char *figures)
{
	if (!figures)
		return;
	ez_buffer_append_text(out, " [");
	ez_buffer_append_text(out, figures);
	ez_buffer_append_text(out, "]");
}

/* One edge a line; with figures the nodes go before, since they have some too. */
static void print_text(struct ez_buffer *out, const struct ezprof_drawing *drawing)
{
	size_t i;

	for (i = 0; drawing->live && i < drawing->n_nodes; i++) {
		put_name(out, drawing->nodes[i].name);
		put_figures(out, drawing->nodes[i].figures);
		ez_buffer_append_text(out, "\n");
	}
	for (i = 0; i < drawing->n_arrows; i++) {
		const struct ezprof_arrow *arrow = &drawing->arrows[i];

		put_name(out, drawing->nodes[arrow->from].name);
		ez_buffer_append_text(out, arrow->inferred ? " ~> " : " -> ");
		put_name(out, drawing->nodes[arrow->to].name);
		put_figures(out, arrow->figures);
		ez_buffer_append_text(out, "\n");
	}
}

static void put_number(struct ez_buffer *out, const char *before, size_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%zu", before, number);
	ez_buffer_append_text(out, text);
}

typedef void (*put_char_fn)(struct ez_buffer *out, char c);

/* A name as it is to be read, and then as the format wants it. */
static void put_label(struct ez_buffer *out, const char *name, put_char_fn put_char)
{
	struct ez_buffer shown;

	ez_buffer_init(&shown, SIZE_MAX / 2);
	ezprof_say_name(&shown, name);
	for (size_t i = 0; i < shown.len; i++)
		put_char(out, (char)shown.data[i]);
	if (shown.err && !out->err)
		out->err = shown.err;
	ez_buffer_free(&shown);
}

/* In double quotes of Graphviz, where HTML's names of characters count too. */
static void put_dot_char(struct ez_buffer *out, char c)
{
	if (c == '&')
		ez_buffer_append_text(out, "&amp;");
	else if (c == '"' || c == '\\')
		ezprof_put(out, "\\%c", c);
	else
		ez_buffer_append(out, &c, 1);
}

/* White to red; the figures say the same in words. */
static void put_dot_heat(struct ez_buffer *out, double heat)
{
	if (heat >= 0)
		ezprof_put(out, ", style=filled, fillcolor=\"0.0 %.2f 1.0\"", 0.7 * heat);
}

static void print_dot(struct ez_buffer *out, const struct ezprof_drawing *drawing)
{
	size_t i;

	ez_buffer_append_text(out, "digraph ezmsg {\n\trankdir=LR;\n\tnode [shape=box];\n");
	for (i = 0; i < drawing->n_nodes; i++) {
		put_number(out, "\tn", i);
		ez_buffer_append_text(out, " [label=\"");
		put_label(out, drawing->nodes[i].name, put_dot_char);
		if (drawing->nodes[i].figures) {
			ez_buffer_append_text(out, "\\n");
			put_label(out, drawing->nodes[i].figures, put_dot_char);
		}
		ez_buffer_append_text(out, "\"");
		put_dot_heat(out, drawing->nodes[i].heat);
		ez_buffer_append_text(out, "];\n");
	}
	for (i = 0; i < drawing->n_arrows; i++) {
		const struct ezprof_arrow *arrow = &drawing->arrows[i];

		put_number(out, "\tn", arrow->from);
		put_number(out, " -> n", arrow->to);
		if (arrow->figures) {
			ez_buffer_append_text(out, " [label=\"");
			put_label(out, arrow->figures, put_dot_char);
			ez_buffer_append_text(out, "\"]");
		} else if (drawing->live) {
			ez_buffer_append_text(out, arrow->inferred ? " [style=dotted]"
								   : " [style=dashed]");
		}
		ez_buffer_append_text(out, ";\n");
	}
	ez_buffer_append_text(out, "}\n");
}

/* Mermaid knows characters by their number; what isn't plain goes that way. */
static void put_mermaid_char(struct ez_buffer *out, char c)
{
	if (strchr("\"#&;<>`\\[]{}", c))
		ezprof_put(out, "#%d;", c);
	else
		ez_buffer_append(out, &c, 1);
}

static void put_mermaid_heat(struct ez_buffer *out, size_t node, double heat)
{
	unsigned int rest = (unsigned int)(255.0 * (1.0 - 0.7 * heat));

	ezprof_put(out, "    style n%zu fill:#ff%02x%02x,color:#000\n", node, rest, rest);
}

static void print_mermaid(struct ez_buffer *out, const struct ezprof_drawing *drawing)
{
	size_t i;

	ez_buffer_append_text(out, "flowchart LR\n");
	for (i = 0; i < drawing->n_nodes; i++) {
		put_number(out, "    n", i);
		ez_buffer_append_text(out, "[\"");
		put_label(out, drawing->nodes[i].name, put_mermaid_char);
		if (drawing->nodes[i].figures) {
			ez_buffer_append_text(out, "<br/>");
			put_label(out, drawing->nodes[i].figures, put_mermaid_char);
		}
		ez_buffer_append_text(out, "\"]\n");
	}
	for (i = 0; i < drawing->n_arrows; i++) {
		const struct ezprof_arrow *arrow = &drawing->arrows[i];

		put_number(out, "    n", arrow->from);
		ez_buffer_append_text(out, arrow->figures || !drawing->live ? " -->" : " -.->");
		if (arrow->figures) {
			ez_buffer_append_text(out, "|\"");
			put_label(out, arrow->figures, put_mermaid_char);
			ez_buffer_append_text(out, "\"|");
		}
		put_number(out, " n", arrow->to);
		ez_buffer_append_text(out, "\n");
	}
	for (i = 0; i < drawing->n_nodes; i++) {
		if (drawing->nodes[i].heat >= 0)
			put_mermaid_heat(out, i, drawing->nodes[i].heat);
	}
}

static void put_metric(struct ez_json *json, const struct ezprof_object *object,
		       enum ezprof_metric_id metric)
{
	struct ezprof_number number = ezprof_value(object, metric);

	ez_json_key(json, ezprof_metric(metric)->id);
	if (number.kind == EZPROF_WHOLE)
		ez_json_u64(json, number.whole);
	else if (number.kind == EZPROF_REAL)
		ez_json_f64(json, number.real);
	else
		ez_json_null(json);
}

static void put_json_node(struct ez_json *json, const struct ezprof_node *node)
{
	static const enum ezprof_metric_id of_publisher[] = {
		EZPROF_PUB_RATE_HZ, EZPROF_PUB_BYTES_PER_S, EZPROF_PUB_BLOCKED_SHARE,
		EZPROF_PUB_IN_FLIGHT, EZPROF_PUB_NUM_BUFFERS};
	static const enum ezprof_metric_id of_subscriber[] = {
		EZPROF_SUB_RATE_HZ, EZPROF_SUB_PROCESS_AVG_MS, EZPROF_SUB_PROCESS_P99_MS,
		EZPROF_SUB_QUEUE_AVG_MS, EZPROF_SUB_IN_FLIGHT};
	size_t i;

	ez_json_object_begin(json);
	ez_json_kv_str(json, "name", node->name);
	if (node->object) {
		ez_json_kv_str(json, "scope", ezprof_scope_word(node->object->scope));
		ez_json_kv_i64(json, "pid", node->object->pid);
		for (i = 0; i < sizeof(of_publisher) / sizeof(of_publisher[0]); i++)
			put_metric(json, node->object,
				   node->object->scope == EZPROF_PUB ? of_publisher[i]
								     : of_subscriber[i]);
	}
	ez_json_object_end(json);
}

static void put_json_edge(struct ez_json *json, const struct ezprof_drawing *drawing,
			  const struct ezprof_arrow *arrow)
{
	ez_json_object_begin(json);
	ez_json_kv_str(json, "from", drawing->nodes[arrow->from].name);
	ez_json_kv_str(json, "to", drawing->nodes[arrow->to].name);
	if (arrow->object) {
		ez_json_kv_str(json, "transport",
			       ezprof_label(arrow->object, EZPROF_LABEL_TRANSPORT));
		put_metric(json, arrow->object, EZPROF_SUB_RATE_HZ);
		put_metric(json, arrow->object, EZPROF_SUB_QUEUE_AVG_MS);
		put_metric(json, arrow->object, EZPROF_SUB_LEASE_AVG_MS);
	} else if (drawing->live) {
		ez_json_kv_bool(json, "inferred", arrow->inferred);
	}
	ez_json_object_end(json);
}

static void print_json(struct ez_buffer *out, const struct ezprof_drawing *drawing)
{
	struct ez_json json;
	size_t i;

	ez_json_init(&json, out);
	ez_json_object_begin(&json);
	ez_json_key(&json, drawing->live ? "nodes" : "topics");
	ez_json_array_begin(&json);
	for (i = 0; i < drawing->n_nodes; i++) {
		if (drawing->live)
			put_json_node(&json, &drawing->nodes[i]);
		else
			ez_json_str(&json, drawing->nodes[i].name);
	}
	ez_json_array_end(&json);
	ez_json_key(&json, "edges");
	ez_json_array_begin(&json);
	for (i = 0; i < drawing->n_arrows; i++)
		put_json_edge(&json, drawing, &drawing->arrows[i]);
	ez_json_array_end(&json);
	ez_json_object_end(&json);
	ez_buffer_append_text(out, "\n");
}

ezprof_drawing_print_fn ezprof_drawing_format(const char *name)
{
	static const struct {
		const char *name;
		ezprof_drawing_print_fn print;
	} formats[] = {
		{"text", print_text},
		{"dot", print_dot},
		{"mermaid", print_mermaid},
		{"json", print_json},
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(name, formats[i].name) == 0)
			return formats[i].print;
	return NULL;
}
