/* SPDX-License-Identifier: MIT */
#include "agent_status.h"
#include "json_value.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STATUS_BYTES 8192
#define DEPTH_MAX 32

static bool parse_rights(const char *text, struct ezprof_rights *ret_rights)
{
	struct ezprof_rights r = {.known = true};
	unsigned int no_new_privs;
	const struct {
		const char *key, *format;
		void *to;
	} lines[] = {
		{"\nUid:", "\nUid: %*u %u", &r.uid},
		{"\nCapEff:", "\nCapEff: %" SCNx64, &r.effective},
		{"\nCapPrm:", "\nCapPrm: %" SCNx64, &r.permitted},
		{"\nCapBnd:", "\nCapBnd: %" SCNx64, &r.bounding},
		{"\nNoNewPrivs:", "\nNoNewPrivs: %u", &no_new_privs},
		{"\nSeccomp:", "\nSeccomp: %u", &r.seccomp},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *line = strstr(text, lines[i].key);

		if (!line || sscanf(line, lines[i].format, lines[i].to) != 1)
			return false;
	}
	r.no_new_privs = no_new_privs;
	*ret_rights = r;
	return true;
}

static void read_rights(pid_t pid, struct ezprof_rights *rights)
{
	char path[32], text[STATUS_BYTES];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	parse_rights(text, rights);
}

static struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return value;
}

static double get_double(struct json_object *object, const char *key)
{
	struct json_object *value = get(object, key);

	return value ? json_object_get_double(value) : -1;
}

static void get_text(struct json_object *object, const char *key, char *text, size_t size)
{
	struct json_object *value = get(object, key);

	snprintf(text, size, "%s",
		 json_object_is_type(value, json_type_string) ? json_object_get_string(value)
							      : "?");
}

static size_t attached_count(struct json_object *agent)
{
	struct json_object *list = get(agent, "attached");
	size_t i, n = 0;

	for (i = 0;
	     json_object_is_type(list, json_type_array) && i < json_object_array_length(list);
	     i++) {
		struct json_object *state = get(json_object_array_get_idx(list, i), "state");

		n += state && strcmp(json_object_get_string(state), "attached") == 0;
	}
	return n;
}

static void fill(struct json_object *agent, struct ezprof_agent_status *s)
{
	struct json_object *cost = get(agent, "cost"), *lost = get(agent, "lost");
	struct json_object *sched = get(cost, "sched");

	s->pid = json_object_get_int(get(agent, "pid"));
	s->opener_pid = json_object_get_int(get(agent, "opener_pid"));
	get_text(agent, "link", s->link, sizeof(s->link));
	get_text(agent, "probes", s->probes, sizeof(s->probes));
	s->process_count = attached_count(agent);
	s->shown = s->process_count || geteuid() == 0;
	s->endpoint_count = (size_t)json_object_get_uint64(get(agent, "endpoints"));
	s->hits = json_object_get_uint64(get(cost, "hits"));
	s->map_bytes = json_object_get_uint64(get(cost, "map_bytes"));
	s->hits_per_s = get_double(cost, "hits_per_s");
	s->ns_per_hit = get_double(cost, "ns_per_hit");
	s->agent_cpu_share = get_double(cost, "agent_cpu_share");
	s->probes_cpu_share = get_double(cost, "probes_cpu_share");
	s->sched = sched != NULL;
	s->sched_hits = json_object_get_uint64(get(sched, "hits"));
	s->sched_hits_per_s = get_double(sched, "hits_per_s");
	s->sched_ns_per_hit = get_double(sched, "ns_per_hit");
	s->sched_cpu_share = get_double(sched, "cpu_share");
	s->lost = lost ? json_object_get_int64(lost) : -1;
}

int ezprof_agent_status_read(const char *document, size_t n, struct ezprof_agent_status *ret_status)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct ezprof_agent_status status = {0};
	struct json_object *root, *agents, *agent;
	int err = -EPROTO;

	if (!tokener)
		return -ENOMEM;
	root = n <= INT32_MAX ? json_tokener_parse_ex(tokener, document, (int)n) : NULL;
	agents = get(root, "agents");
	agent = json_object_is_type(agents, json_type_array) ? json_object_array_get_idx(agents, 0)
							     : NULL;
	if (json_object_is_type(agent, json_type_object)) {
		fill(agent, &status);
		read_rights(status.pid, &status.agent);
		read_rights(status.opener_pid, &status.opener);
		*ret_status = status;
		err = 0;
	}
	json_object_put(root);
	json_tokener_free(tokener);
	return err;
}

static struct json_object *names_of(uint64_t caps)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < 64; i++) {
		const char *name = caps >> i & 1 ? capng_capability_to_name(i) : NULL;

		if (name)
			json_object_array_add(list, json_object_new_string(name));
	}
	return list;
}

static struct json_object *rights_object(pid_t pid, const struct ezprof_rights *r)
{
	struct json_object *o = json_object_new_object();

	if (!r->known) {
		json_object_put(o);
		return NULL;
	}
	ezprof_json_u64(o, "pid", (uint64_t)pid);
	ezprof_json_u64(o, "uid", r->uid);
	ezprof_json_add(o, "effective", names_of(r->effective));
	ezprof_json_add(o, "permitted", names_of(r->permitted));
	ezprof_json_add(o, "bounding", names_of(r->bounding));
	ezprof_json_bool_if(o, "no_new_privs", true, r->no_new_privs);
	ezprof_json_bool_if(o, "seccomp", true, r->seccomp == 2);
	return o;
}

static struct json_object *sched_object(const struct ezprof_agent_status *s)
{
	struct json_object *o;

	if (!s->sched)
		return NULL;
	o = json_object_new_object();
	ezprof_json_u64(o, "hits", s->sched_hits);
	ezprof_json_double_if(o, "hits_per_s", s->sched_hits_per_s >= 0, s->sched_hits_per_s);
	ezprof_json_double_if(o, "ns_per_hit", s->sched_ns_per_hit >= 0, s->sched_ns_per_hit);
	ezprof_json_double_if(o, "cpu_share", s->sched_cpu_share >= 0, s->sched_cpu_share);
	return o;
}

char *ezprof_agent_status_json(const struct ezprof_agent_status *list, size_t n)
{
	struct json_object *o = json_object_new_object(), *agents = json_object_new_array();

	for (size_t i = 0; i < n; i++) {
		const struct ezprof_agent_status *s = &list[i];
		struct json_object *a = json_object_new_object();

		ezprof_json_text(a, "link", s->link);
		ezprof_json_text(a, "probes", s->probes);
		ezprof_json_u64_if(a, "processes", s->shown, s->process_count);
		ezprof_json_u64_if(a, "endpoints", s->shown, s->endpoint_count);
		ezprof_json_u64(a, "hits", s->hits);
		ezprof_json_double_if(a, "hits_per_s", s->hits_per_s >= 0, s->hits_per_s);
		ezprof_json_double_if(a, "ns_per_hit", s->ns_per_hit >= 0, s->ns_per_hit);
		ezprof_json_double_if(a, "agent_cpu_share", s->agent_cpu_share >= 0,
				      s->agent_cpu_share);
		ezprof_json_double_if(a, "probes_cpu_share", s->probes_cpu_share >= 0,
				      s->probes_cpu_share);
		ezprof_json_u64(a, "map_bytes", s->map_bytes);
		ezprof_json_add(a, "sched", sched_object(s));
		ezprof_json_u64_if(a, "lost", s->lost >= 0, (uint64_t)s->lost);
		ezprof_json_add(a, "agent", rights_object(s->pid, &s->agent));
		ezprof_json_add(a, "opener", rights_object(s->opener_pid, &s->opener));
		json_object_array_add(agents, a);
	}
	ezprof_json_text(o, "schema", "ezprof.status/1");
	ezprof_json_add(o, "agents", agents);
	return ezprof_json_line(o);
}

int ezprof_run_stats_enable(void)
{
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	fd = syscall(SYS_bpf, BPF_ENABLE_STATS, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}
