/* SPDX-License-Identifier: MIT */
/* Publisher and channel objects are in report_endpoint.c; here is what stands around them. */
#include "report_json.h"
#include "json_value.h"
#include "loader.h"
#include "report_endpoint.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMA "ezprof.profile/1"
#define TOOL "ezprof-bpf"

#define REPORT_TEXT(name, text) text,
static const char *const state_text[] = {EZPROF_TARGET_STATE_LIST(REPORT_TEXT)};
static const char *const reason_text[] = {EZPROF_REASON_LIST(REPORT_TEXT)};
#undef REPORT_TEXT
#define REPORT_LOSS_KEY(name, key, meaning) key,
static const char *const loss_key[] = {EZ_LOSS_LIST(REPORT_LOSS_KEY)};
#undef REPORT_LOSS_KEY

/* Publishers and channels as two lists, or one after the other in one list. */
static void add_endpoints(struct json_object *publishers, struct json_object *channels,
			  const struct ezprof_profile *profile)
{
	const struct ezprof_row *rows;
	size_t i, n;

	rows = ezprof_profile_kind(profile, EZ_KIND_PUBLISHER, &n);
	for (i = 0; i < n; i++)
		json_object_array_add(publishers, ezprof_report_publisher(profile, &rows[i]));
	rows = ezprof_profile_kind(profile, EZ_KIND_CHANNEL, &n);
	for (i = 0; i < n; i++)
		json_object_array_add(channels, ezprof_report_channel(profile, &rows[i]));
}

/* A name that is cut within a character is common: it has 15 bytes at most. */
static void add_comm(struct json_object *o, const char *comm)
{
	char *text = ezprof_text_repair(comm, strlen(comm), 0);

	ezprof_json_text(o, "comm", text ? text : "");
	free(text);
}

static struct json_object *attached_list(const struct ezprof_profile *profile)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < profile->attached_count; i++) {
		const struct ezprof_attached *a = &profile->attached[i];
		struct json_object *o = json_object_new_object();

		ezprof_json_u64(o, "pid", (uint64_t)a->pid);
		add_comm(o, a->comm);
		ezprof_json_u64(o, "start_time", a->start_time);
		ezprof_json_text(o, "state", state_text[a->state]);
		ezprof_json_u64_if(o, "exited_ns", a->exited_ns, a->exited_ns);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *losses_object(const struct ezprof_profile *profile)
{
	struct json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < EZ_LOSS_COUNT; i++)
		ezprof_json_u64(o, loss_key[i], profile->losses[i]);
	return o;
}

#define REPORT_SCHED_LOSS_KEY(name, key, meaning) key,
static const char *const sched_loss_key[] = {EZ_SCHED_LOSS_LIST(REPORT_SCHED_LOSS_KEY)};
#undef REPORT_SCHED_LOSS_KEY

static struct json_object *sched_cost_object(const struct ezprof_sched_cost *cost)
{
	struct json_object *o, *losses;

	if (!cost->known)
		return NULL;
	o = json_object_new_object();
	losses = json_object_new_object();
	ezprof_json_u64(o, "hits", cost->hits);
	ezprof_json_double_if(o, "hits_per_s", cost->hits_per_s >= 0, cost->hits_per_s);
	ezprof_json_double_if(o, "ns_per_hit", cost->ns_per_hit >= 0, cost->ns_per_hit);
	ezprof_json_double_if(o, "cpu_share", cost->cpu_share >= 0, cost->cpu_share);
	for (size_t i = 0; i < EZ_SCHED_LOSS_COUNT; i++)
		ezprof_json_u64(losses, sched_loss_key[i], cost->losses[i]);
	ezprof_json_add(o, "losses", losses);
	return o;
}

static struct json_object *cost_object(const struct ezprof_cost *cost)
{
	struct json_object *o = json_object_new_object();

	ezprof_json_u64(o, "hits", cost->hits);
	ezprof_json_double_if(o, "hits_per_s", cost->hits_per_s >= 0, cost->hits_per_s);
	ezprof_json_double_if(o, "ns_per_hit", cost->ns_per_hit >= 0, cost->ns_per_hit);
	ezprof_json_double_if(o, "agent_cpu_share", cost->agent_cpu_share >= 0,
			      cost->agent_cpu_share);
	ezprof_json_double_if(o, "probes_cpu_share", cost->probes_cpu_share >= 0,
			      cost->probes_cpu_share);
	ezprof_json_u64(o, "map_bytes", cost->map_bytes);
	ezprof_json_add(o, "sched", sched_cost_object(&cost->sched));
	return o;
}

/* How long each task of the attached processes held its event loop, and how long it took. */
static struct json_object *tasks_list(const struct ezprof_profile *profile)
{
	struct json_object *list = json_object_new_array();
	const struct ezprof_row *rows;
	size_t i, n;

	rows = ezprof_profile_kind(profile, EZ_KIND_TASK, &n);
	for (i = 0; i < n; i++) {
		const struct ezprof_totals *t = &rows[i].endpoint.totals;
		struct json_object *o = json_object_new_object();

		ezprof_json_text(o, "task", rows[i].endpoint.task);
		ezprof_json_u64(o, "pid", (uint64_t)rows[i].pid);
		ezprof_json_u64(o, "calls", t->messages);
		ezprof_json_double(o, "busy_ms", (double)t->span_ns / 1e6);
		ezprof_json_double(o, "blocked_ms", (double)t->blocked_ns / 1e6);
		ezprof_json_double(o, "hold_ms", (double)t->hold_ns / 1e6);
		ezprof_json_double(o, "hold_max_ms", (double)t->hold_max_ns / 1e6);
		ezprof_json_u64_if(o, "hold_max_at_ns", t->hold_max_at_ns, t->hold_max_at_ns);
		ezprof_json_double_if(o, "hold_now_ms",
				      t->hold_since_ns && t->hold_since_ns < profile->now_ns,
				      (double)(profile->now_ns - t->hold_since_ns) / 1e6);
		json_object_array_add(list, o);
	}
	return list;
}

static const char *probes_text(uint32_t paths)
{
	if (paths == (EZPROF_PATH_WINDOW | EZPROF_PATH_BOUNDARY))
		return "both";
	return paths & EZPROF_PATH_WINDOW ? "window" : "boundary";
}

static struct json_object *agent_object(const struct ezprof_profile *profile,
					const struct ezprof_loss *lost)
{
	struct json_object *o = json_object_new_object();

	ezprof_json_u64(o, "pid", (uint64_t)profile->agent_pid);
	ezprof_json_u64_if(o, "opener_pid", profile->opener_pid > 0, (uint64_t)profile->opener_pid);
	ezprof_json_text(o, "host", profile->host);
	ezprof_json_text(o, "tool_version", EZPROF_VERSION);
	ezprof_json_add(o, "attached", attached_list(profile));
	ezprof_json_u64(o, "attached_ns", profile->attached_ns);
	ezprof_json_text(o, "probes", probes_text(profile->paths));
	ezprof_json_text(o, "link", profile->perf_event ? "perf_event" : "uprobe_multi");
	ezprof_json_u64(o, "endpoints", profile->row_count);
	ezprof_json_add(o, "losses", losses_object(profile));
	ezprof_json_u64_if(o, "lost", lost->known, lost->lost);
	ezprof_json_add(o, "cost", cost_object(&profile->cost));
	ezprof_json_add(o, "tasks", tasks_list(profile));
	return o;
}

static struct json_object *errors_list(const struct ezprof_profile *profile)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < profile->fault_count; i++) {
		const struct ezprof_fault *f = &profile->faults[i];
		struct json_object *o = json_object_new_object();

		ezprof_json_text(o, "who", "process");
		ezprof_json_null(o, "id");
		ezprof_json_null(o, "topic");
		ezprof_json_u64(o, "pid", (uint64_t)f->pid);
		ezprof_json_text(o, "host", profile->host);
		ezprof_json_text(o, "reason", reason_text[f->reason]);
		ezprof_json_text(o, "detail", f->detail);
		json_object_array_add(list, o);
	}
	return list;
}

char *ezprof_report_document(const struct ezprof_profile *profile)
{
	struct json_object *o = json_object_new_object();
	struct json_object *publishers = json_object_new_array();
	struct json_object *channels = json_object_new_array();
	struct json_object *agents = json_object_new_array();
	struct ezprof_loss lost;

	if (!o || !publishers || !channels || !agents)
		return NULL;
	ezprof_profile_lost(profile, &lost);
	add_endpoints(publishers, channels, profile);
	json_object_array_add(agents, agent_object(profile, &lost));
	ezprof_json_double(o, "window_s", (double)profile->window_ns / 1e9);
	ezprof_json_add(o, "publishers", publishers);
	ezprof_json_add(o, "channels", channels);
	ezprof_json_text(o, "schema", SCHEMA);
	ezprof_json_text(o, "tool", TOOL);
	ezprof_json_text(o, "tool_version", EZPROF_VERSION);
	ezprof_json_text(o, "clock", "CLOCK_MONOTONIC");
	ezprof_json_text(o, "host", profile->host);
	ezprof_json_u64(o, "time_ns", profile->now_ns);
	ezprof_json_double(o, "time_unix_s", profile->unix_s);
	ezprof_json_add(o, "agents", agents);
	ezprof_json_u64_if(o, "lost", lost.known, lost.lost);
	ezprof_json_add(o, "errors", errors_list(profile));
	return ezprof_json_line(o);
}

char *ezprof_report_agent(const struct ezprof_profile *profile)
{
	struct json_object *o = json_object_new_object();
	struct json_object *endpoints = json_object_new_array();
	struct ezprof_loss lost;

	if (!o || !endpoints)
		return NULL;
	ezprof_profile_lost(profile, &lost);
	add_endpoints(endpoints, endpoints, profile);
	ezprof_json_text(o, "type", "agent");
	ezprof_json_add(o, "endpoints", endpoints);
	ezprof_json_add(o, "agent", agent_object(profile, &lost));
	ezprof_json_add(o, "errors", errors_list(profile));
	return ezprof_json_line(o);
}
