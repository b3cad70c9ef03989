/* SPDX-License-Identifier: MIT */
#include "graph_print.h"

#include <stdio.h>
#include <string.h>

#include "json_writer.h"

/*
 * Names come from clients: what could break a line or a terminal is written as \xNN,
 * so a backslash is doubled.
 */
static void put_escaped(struct ez_buffer *out, const char *name)
{
	char code[8];

	for (const char *p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c >= 0x20 && c != 0x7f) {
			ez_buffer_append(out, c == '\\' ? "\\\\" : p, c == '\\' ? 2 : 1);
			continue;
		}
		snprintf(code, sizeof(code), "\\x%02x", c);
		ez_buffer_append_text(out, code);
	}
	if (!*name)
		ez_buffer_append_text(out, "\"\"");
}

static void print_text(struct ez_buffer *out, const struct ez_dag *dag)
{
	for (size_t i = 0; i < dag->n_topics; i++) {
		const struct ez_dag_topic *topic = &dag->topics[i];

		for (size_t k = 0; k < topic->n_successors; k++) {
			put_escaped(out, topic->name);
			ez_buffer_append_text(out, " -> ");
			put_escaped(out, dag->topics[topic->successors[k]].name);
			ez_buffer_append_text(out, "\n");
		}
	}
}

static void put_number(struct ez_buffer *out, const char *before, size_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%zu", before, number);
	ez_buffer_append_text(out, text);
}

/* In double quotes of Graphviz: a backslash would begin one of its own codes. */
static void put_dot_label(struct ez_buffer *out, const char *name)
{
	for (const char *p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;
		char code[12];

		if (c == '"' || c == '\\') {
			ez_buffer_append_text(out, "\\");
			ez_buffer_append(out, p, 1);
		} else if (c < 0x20 || c == 0x7f) {
			snprintf(code, sizeof(code), "\\\\x%02x", c);
			ez_buffer_append_text(out, code);
		} else {
			ez_buffer_append(out, p, 1);
		}
	}
}

static void print_dot(struct ez_buffer *out, const struct ez_dag *dag)
{
	ez_buffer_append_text(out, "digraph ezmsg {\n\trankdir=LR;\n\tnode [shape=box];\n");
	for (size_t i = 0; i < dag->n_topics; i++) {
		put_number(out, "\tn", i);
		ez_buffer_append_text(out, " [label=\"");
		put_dot_label(out, dag->topics[i].name);
		ez_buffer_append_text(out, "\"];\n");
	}
	for (size_t i = 0; i < dag->n_topics; i++) {
		for (size_t k = 0; k < dag->topics[i].n_successors; k++) {
			put_number(out, "\tn", i);
			put_number(out, " -> n", dag->topics[i].successors[k]);
			ez_buffer_append_text(out, ";\n");
		}
	}
	ez_buffer_append_text(out, "}\n");
}

/* Mermaid knows characters by their number; what isn't plain goes that way. */
static void put_mermaid_label(struct ez_buffer *out, const char *name)
{
	for (const char *p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;
		char code[12];

		if (c < 0x20 || c == 0x7f || strchr("\"#&;<>`\\[]{}", c)) {
			snprintf(code, sizeof(code), "#%u;", c);
			ez_buffer_append_text(out, code);
		} else {
			ez_buffer_append(out, p, 1);
		}
	}
}

static void print_mermaid(struct ez_buffer *out, const struct ez_dag *dag)
{
	ez_buffer_append_text(out, "flowchart LR\n");
	for (size_t i = 0; i < dag->n_topics; i++) {
		put_number(out, "    n", i);
		ez_buffer_append_text(out, "[\"");
		put_mermaid_label(out, dag->topics[i].name);
		ez_buffer_append_text(out, "\"]\n");
	}
	for (size_t i = 0; i < dag->n_topics; i++) {
		for (size_t k = 0; k < dag->topics[i].n_successors; k++) {
			put_number(out, "    n", i);
			put_number(out, " --> n", dag->topics[i].successors[k]);
			ez_buffer_append_text(out, "\n");
		}
	}
}

static void print_json(struct ez_buffer *out, const struct ez_dag *dag)
{
	struct ez_json json;

	ez_json_init(&json, out);
	ez_json_object_begin(&json);
	ez_json_key(&json, "topics");
	ez_json_array_begin(&json);
	for (size_t i = 0; i < dag->n_topics; i++)
		ez_json_str(&json, dag->topics[i].name);
	ez_json_array_end(&json);
	ez_json_key(&json, "edges");
	ez_json_array_begin(&json);
	for (size_t i = 0; i < dag->n_topics; i++) {
		for (size_t k = 0; k < dag->topics[i].n_successors; k++) {
			ez_json_object_begin(&json);
			ez_json_kv_str(&json, "from", dag->topics[i].name);
			ez_json_kv_str(&json, "to", dag->topics[dag->topics[i].successors[k]].name);
			ez_json_object_end(&json);
		}
	}
	ez_json_array_end(&json);
	ez_json_object_end(&json);
	ez_buffer_append_text(out, "\n");
}

ezprof_graph_print_fn ezprof_graph_format(const char *name)
{
	static const struct {
		const char *name;
		ezprof_graph_print_fn print;
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
