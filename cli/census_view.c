/* SPDX-License-Identifier: MIT */
#include "census_view.h"
#include "json_writer.h"
#include "number.h"
#include "text_width.h"
#include "user_name.h"

#include <stdio.h>
#include <string.h>

/* Longer names are shortened in their middle. */
#define PROGRAM_COLUMNS 16u
#define NAME_COLUMNS 60u
/* Of processes with the same reason. */
#define NAMED_MAX 8u

static const char *const kinds[] = {
#define KIND_NAME(name, value, text) [value] = text,
	EZ_ENDPOINT_KIND_LIST(KIND_NAME)
#undef KIND_NAME
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *const transports[] = {
#define TRANSPORT_NAME(name, value, text) [value] = text,
	EZ_TRANSPORT_LIST(TRANSPORT_NAME)
#undef TRANSPORT_NAME
};

/* A client is what users know as a subscriber. */
static const char *kind_word(uint32_t kind)
{
	return kind == EZ_KIND_CLIENT ? "subscriber" : kinds[kind];
}

bool ezprof_census_is_orphan(const struct ezprof_census_graph *graph)
{
	return graph && graph->here && !graph->listens;
}

static void put_padded(struct ez_buffer *out, const char *text, unsigned int columns)
{
	size_t before = out->len;
	unsigned int used;

	ezprof_put_shortened(out, text, columns);
	if (out->err)
		return;
	used = ezprof_text_columns((const char *)out->data + before, out->len - before);
	ezprof_put(out, "%*s", used < columns ? (int)(columns - used) + 1 : 1, "");
}

static void put_server(struct ez_buffer *out, const struct ezprof_census_graph *graph)
{
	char text[32];

	if (!graph)
		strcpy(text, "-");
	else if (!graph->here)
		strcpy(text, "elsewhere");
	else if (!graph->listens)
		strcpy(text, "GONE");
	else if (graph->server_pid)
		snprintf(text, sizeof(text), "pid %d", (int)graph->server_pid);
	else
		strcpy(text, "there");
	ezprof_put(out, "%-12s ", text);
}

static void put_row(struct ez_buffer *out, const struct ezprof_census_process *p, const char *role,
		    const struct ezprof_census_graph *graph)
{
	ezprof_put(out, "%-8d ", (int)p->pid);
	put_padded(out, p->comm, PROGRAM_COLUMNS);
	ezprof_put(out, "%-8s ", role);
	put_padded(out, graph ? graph->address : "-", 22);
	put_server(out, graph);
}

static void put_counts(struct ez_buffer *out, const struct ezprof_endpoints *found)
{
	static const uint32_t shown[] = {EZ_KIND_PUBLISHER, EZ_KIND_CLIENT, EZ_KIND_TASK};
	size_t counts[KINDS] = {0};
	const char *between = "";

	for (size_t i = 0; found && i < found->count; i++)
		counts[found->list[i].kind]++;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		size_t n = counts[shown[i]];

		if (!n)
			continue;
		ezprof_put(out, "%s%zu %s%s", between, n, kind_word(shown[i]), n == 1 ? "" : "s");
		between = ", ";
	}
	if (!*between)
		ezprof_put(out, "no endpoints");
}

static void put_endpoint(struct ez_buffer *out, const struct ezprof_endpoint *e)
{
	ezprof_put(out, "         %-10s ", kind_word(e->kind));
	ezprof_put_shortened(out, *e->topic ? e->topic : e->task, NAME_COLUMNS);
	if (*e->handle) {
		ezprof_put(out, "  ");
		ezprof_put_shortened(out, e->handle, NAME_COLUMNS);
	}
	ezprof_put(out, "\n");
}

static void put_target(struct ez_buffer *out, const struct ezprof_census *census,
		       const struct ezprof_census_process *p, bool endpoints)
{
	for (size_t i = 0; i < p->target->object_count; i++) {
		const struct ezprof_endpoints *found = p->target->objects[i].endpoints;

		put_row(out, p, "probes", ezprof_census_graph(census, p->target, i));
		put_counts(out, found);
		ezprof_put(out, "\n");
		for (size_t k = 0; endpoints && found && k < found->count; k++) {
			/* Links and channels are how these two are connected. */
			if (found->list[k].kind != EZ_KIND_LINK &&
			    found->list[k].kind != EZ_KIND_CHANNEL)
				put_endpoint(out, &found->list[k]);
		}
	}
}

static const char *role_of(const struct ezprof_census_process *p)
{
	return strcmp(p->comm, "ezprof-bpf") == 0 ? "agent" : "graph";
}

static void put_maker(struct ez_buffer *out, const struct ezprof_census_graph *graph)
{
	char name[EZPROF_USER_NAME_BYTES];

	if (graph->foreign) {
		ezprof_user_name(graph->foreign_uid, name);
		ezprof_put(out, "user %s's: give --address to the other commands\n", name);
	} else {
		ezprof_put(out, "%s\n", graph->ours ? "ezprof's" : "not known as ezprof's");
	}
}

static void put_process(struct ez_buffer *out, const struct ezprof_census *census,
			const struct ezprof_census_process *p, bool endpoints)
{
	if (p->serves) {
		put_row(out, p, "server", p->serves);
		put_maker(out, p->serves);
	}
	if (p->target) {
		put_target(out, census, p, endpoints);
	} else if (p->connected) {
		put_row(out, p, role_of(p), p->connected);
		ezprof_put(out, "no probes, %u connection%s\n", p->connections,
			   p->connections == 1 ? "" : "s");
	} else if (p->shares_memory) {
		put_row(out, p, "perhaps", NULL);
		ezprof_put(out, "no probes, shares memory as Python's ezmsg does\n");
	}
}

static void put_orphans(struct ez_buffer *out, const struct ezprof_census *census,
			const struct ezprof_census_process *p)
{
	for (size_t i = 0; p->target && i < p->target->object_count; i++) {
		const struct ezprof_census_graph *graph = ezprof_census_graph(census, p->target, i);

		if (ezprof_census_is_orphan(graph))
			ezprof_put(
				out,
				"orphan: process %d is of the graph %s, where nobody listens any "
				"more: end it (kill %d) and start it anew with a server\n",
				(int)p->pid, graph->address, (int)p->pid);
	}
}

void ezprof_census_text(struct ez_buffer *out, const struct ezprof_census *census, bool endpoints)
{
	if (census->count)
		ezprof_put(out, "%-8s %-16s %-8s %-22s %-12s %s\n", "PID", "PROGRAM", "ROLE",
			   "GRAPH", "SERVER", "ENDPOINTS");
	for (size_t i = 0; i < census->count; i++)
		put_process(out, census, &census->list[i], endpoints);
	for (size_t i = 0; i < census->count; i++)
		put_orphans(out, census, &census->list[i]);
}

static void put_names(struct ez_buffer *out, const struct ezprof_refused_processes *refused,
		      size_t reason)
{
	size_t n = 0, all = ezprof_refused_of(refused, reason);

	for (size_t i = 0; i < refused->count && n < NAMED_MAX; i++) {
		const struct ezprof_refused *p = &refused->list[i];

		if (p->reason != reason)
			continue;
		ezprof_put(out, "%s%d (", n++ ? ", " : "", (int)p->pid);
		ezprof_put_shortened(out, p->comm, PROGRAM_COLUMNS);
		ezprof_put(out, ")");
	}
	if (all > n)
		ezprof_put(out, " and %zu more, which --json names", all - n);
}

void ezprof_census_refused_text(struct ez_buffer *out, const char *program,
				const struct ezprof_refused_processes *refused)
{
	for (size_t i = 0; i < refused->reason_count; i++) {
		const struct ezprof_refusal *r = &refused->reasons[i];
		size_t n = ezprof_refused_of(refused, i);

		if (!n)
			continue;
		ezprof_put(out, "%s: %zu process%s may not be looked into: ", program, n,
			   n == 1 ? "" : "es");
		put_names(out, refused, i);
		ezprof_put(out, "\n  why: %s: %s\n", r->what, r->why);
		if (*r->now)
			ezprof_put(out, "  now: %s\n", r->now);
		/* To give rights to a program for good is for the one that measures; to a
		 * container, for whoever looks around in it. */
		if (*r->forever && (!r->missing || r->bounded))
			ezprof_put(out, "  for good: %s\n", r->forever);
	}
	if (refused->total > refused->count)
		ezprof_put(out, "%s: %zu more may not be looked into\n", program,
			   refused->total - refused->count);
}

static void json_endpoints(struct ez_json *j, const struct ezprof_endpoints *found)
{
	ez_json_key(j, "endpoints");
	ez_json_array_begin(j);
	for (size_t i = 0; found && i < found->count; i++) {
		const struct ezprof_endpoint *e = &found->list[i];

		ez_json_object_begin(j);
		ez_json_kv_str(j, "kind", kind_word(e->kind));
		ez_json_kv_str(j, "topic", e->topic);
		ez_json_kv_str(j, "handle", e->handle);
		ez_json_kv_str(j, "task", e->task);
		ez_json_kv_str(j, "transport", transports[e->totals.transport]);
		ez_json_object_end(j);
	}
	ez_json_array_end(j);
	ez_json_kv_u64(j, "endpoints_left_out", found ? found->left_out : 0);
}

static void json_row(struct ez_json *j, const struct ezprof_census_process *p, const char *role,
		     const struct ezprof_census_graph *graph)
{
	ez_json_object_begin(j);
	ez_json_kv_i64(j, "pid", p->pid);
	ez_json_kv_str(j, "program", p->comm);
	ez_json_kv_str(j, "role", role);
	ez_json_kv_str(j, "graph", graph ? graph->address : NULL);
	ez_json_kv_bool(j, "orphan", ezprof_census_is_orphan(graph));
	if (graph && graph->server_pid)
		ez_json_kv_i64(j, "server_pid", graph->server_pid);
	else
		ez_json_kv_null(j, "server_pid");
}

static void json_target(struct ez_json *j, const struct ezprof_census *census,
			const struct ezprof_census_process *p)
{
	for (size_t i = 0; i < p->target->object_count; i++) {
		json_row(j, p, "probes", ezprof_census_graph(census, p->target, i));
		ez_json_kv_str(j, "file", p->target->process->objects[i].path);
		json_endpoints(j, p->target->objects[i].endpoints);
		ez_json_object_end(j);
	}
}

static void json_process(struct ez_json *j, const struct ezprof_census *census,
			 const struct ezprof_census_process *p)
{
	if (p->serves) {
		json_row(j, p, "server", p->serves);
		ez_json_kv_bool(j, "ours", p->serves->ours);
		ez_json_object_end(j);
	}
	if (p->target) {
		json_target(j, census, p);
	} else if (p->connected) {
		json_row(j, p, role_of(p), p->connected);
		ez_json_kv_u64(j, "connections", p->connections);
		ez_json_object_end(j);
	} else if (p->shares_memory) {
		json_row(j, p, "perhaps", NULL);
		ez_json_kv_bool(j, "shares_memory", true);
		ez_json_object_end(j);
	}
}

static void json_refused(struct ez_json *j, const struct ezprof_refused_processes *refused)
{
	ez_json_key(j, "refused");
	ez_json_array_begin(j);
	for (size_t i = 0; i < refused->count; i++) {
		const struct ezprof_refused *p = &refused->list[i];

		ez_json_object_begin(j);
		ez_json_kv_i64(j, "pid", p->pid);
		ez_json_kv_str(j, "program", p->comm);
		ez_json_kv_str(j, "what", refused->reasons[p->reason].what);
		ez_json_kv_str(j, "why", refused->reasons[p->reason].why);
		ez_json_object_end(j);
	}
	ez_json_array_end(j);
}

void ezprof_census_json(struct ez_buffer *out, const struct ezprof_census *census)
{
	struct ez_json j;

	ez_json_init(&j, out);
	ez_json_object_begin(&j);
	ez_json_key(&j, "processes");
	ez_json_array_begin(&j);
	for (size_t i = 0; i < census->count; i++)
		json_process(&j, census, &census->list[i]);
	ez_json_array_end(&j);
	ez_json_kv_u64(&j, "not_permitted", census->refused.total);
	json_refused(&j, &census->refused);
	ez_json_kv_bool(&j, "others_hidden", census->hidden);
	ez_json_kv_u64(&j, "left_out", census->left_out);
	ez_json_object_end(&j);
	ez_buffer_append_text(out, "\n");
}
