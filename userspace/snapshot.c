/* SPDX-License-Identifier: MIT */
#include "snapshot.h"
#include "clock.h"
#include "graph_address.h"
#include "snapshot_row.h"
#include "snapshot_window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_BYTES 256
/* In one document, which has to be made in time. A process has EZPROF_ENDPOINTS_READ_MAX at most.
 */
#define ROWS_MAX (2 * EZPROF_ENDPOINTS_READ_MAX)
/* A number that no registry of a living process has: those count from 0. */
#define KEPT_REGISTRY(pid, i) (0x80000000u | (uint32_t)(pid) << 9 | ((uint32_t)(i)&0x1ff))

struct ezprof_snapshot {
	const struct ezprof_measurement *measurement;
	struct ezprof_profile profile;
	size_t rows_room;
	struct ezprof_window_rows *window_rows; /* NULL until needed */
	struct ezprof_attached *attached;
	struct ezprof_fault *faults;
	size_t room; /* of attached; faults have room for all objects */
	char host[HOST_BYTES];
};

struct ezprof_snapshot *ezprof_snapshot_new(const struct ezprof_measurement *measurement)
{
	struct ezprof_snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->measurement = measurement;
	if (gethostname(s->host, sizeof(s->host) - 1))
		s->host[0] = '\0';
	return s;
}

void ezprof_snapshot_free(struct ezprof_snapshot *s)
{
	if (!s)
		return;
	free(s->profile.rows);
	ezprof_window_rows_free(s->window_rows);
	free(s->attached);
	free(s->faults);
	free(s);
}

static int make_room(struct ezprof_snapshot *s, size_t more)
{
	size_t need = s->profile.row_count + more;
	struct ezprof_row *grown;

	if (s->profile.rows && need <= s->rows_room)
		return 0;
	need += need / 2 + 1;
	grown = reallocarray(s->profile.rows, need, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->profile.rows = grown;
	s->rows_room = need;
	return 0;
}

static void add_fault(struct ezprof_snapshot *s, const struct ezprof_target *target,
		      enum ezprof_reason reason, const char *detail)
{
	struct ezprof_fault *fault = &s->faults[s->profile.fault_count++];

	fault->pid = target->process->pid;
	fault->reason = reason;
	snprintf(fault->detail, sizeof(fault->detail), "%s", detail);
}

/* -ENODATA and -ESTALE: no endpoint in this process so far; that is nothing to complain of. */
static void judge_object(struct ezprof_snapshot *s, const struct ezprof_row_maker *maker)
{
	const struct ezprof_target_object *object = maker->object;
	char detail[120];

	if (!object->reader) {
		add_fault(s, maker->target, EZPROF_REASON_UNREADABLE,
			  "its probes come without an endpoint registry");
	} else if (object->read_err == -EPROTO) {
		add_fault(s, maker->target, EZPROF_REASON_HOSTILE,
			  "its endpoint registry is damaged or of another version");
	} else if (object->read_err == -ESRCH) {
		add_fault(s, maker->target, EZPROF_REASON_UNREADABLE,
			  "its memory is gone: it has ended or executed another program");
	} else if (object->read_err && object->read_err != -ENODATA &&
		   object->read_err != -ESTALE) {
		add_fault(s, maker->target, EZPROF_REASON_UNREADABLE, strerror(-object->read_err));
	} else if (!object->read_err && object->endpoints &&
		   (object->endpoints->left_out || object->endpoints->dropped)) {
		snprintf(detail, sizeof(detail),
			 "%u endpoints could not be read or are too many, %u had no room",
			 object->endpoints->left_out, object->endpoints->dropped);
		add_fault(s, maker->target, EZPROF_REASON_UNREADABLE, detail);
	}
}

/* A metric that needs them reads as nothing, not as none: that must be said. */
static void judge_probes(struct ezprof_snapshot *s, const struct ezprof_target *target, size_t i)
{
	char names[80], detail[160];

	if (target->process->objects[i].twice)
		add_fault(s, target, EZPROF_REASON_INCOMPLETE,
			  "it has one library twice (dlmopen): endpoints of one copy are listed, "
			  "and may have hits of the other");
	if (!ezprof_measurement_missing(s->measurement, &target->process->objects[i].elf, names,
					sizeof(names)))
		return;
	snprintf(detail, sizeof(detail), "not measured: its build lacks the probes %s", names);
	add_fault(s, target, EZPROF_REASON_INCOMPLETE, detail);
}

/* Of an endpoint that is listed the counters were read; what was then read again was not there. */
static void judge_missing(struct ezprof_snapshot *s, const struct ezprof_row_maker *maker,
			  size_t missing, int err)
{
	const char *why = err == -ESRCH	  ? "it ended while it was read"
			  : err == -E2BIG ? "the document is full"
					  : "could not be read again";
	char detail[120];

	if (!missing)
		return;
	snprintf(detail, sizeof(detail), "%s: %zu %s", why, missing,
		 missing == 1 ? "endpoint is missing" : "endpoints are missing");
	add_fault(s, maker->target, err == -ESRCH ? EZPROF_REASON_DIED : EZPROF_REASON_UNREADABLE,
		  detail);
}

static int add_object(struct ezprof_snapshot *s, const struct ezprof_row_maker *maker)
{
	const struct ezprof_endpoints *found = maker->object->endpoints;
	size_t i, missing = 0;
	int err, last = 0;

	if (maker->object->read_err || !found)
		return 0;
	if (make_room(s, found->count))
		return -ENOMEM;
	for (i = 0; i < found->count; i++) {
		struct ezprof_row *row = &s->profile.rows[s->profile.row_count];

		ezprof_row_start(maker, &found->list[i], row);
		if (s->profile.row_count >= ROWS_MAX)
			err = -E2BIG;
		else if (s->measurement->buckets)
			err = ezprof_window_rows_add(s->window_rows, maker, row,
						     s->profile.row_count);
		else
			err = ezprof_row_measure(maker, row);
		if (err == -ENOMEM)
			return err;
		s->profile.row_count += !err;
		/* One that was closed meanwhile is not missed. */
		if (err && err != -ESTALE) {
			missing++;
			last = err;
		}
	}
	judge_missing(s, maker, missing, last);
	return 0;
}

static int add_living(struct ezprof_snapshot *s, const struct ezprof_snapshot_request *request,
		      struct ezprof_target *target, uint32_t *registry)
{
	size_t i;
	int err = 0;

	ezprof_target_refresh(target, s->profile.now_ns);
	if (s->measurement->buckets)
		err = ezprof_target_note_begun(target, s->profile.now_ns);
	for (i = 0; !err && i < target->object_count; i++) {
		struct ezprof_row_maker maker = {.measurement = s->measurement,
						 .target = target,
						 .object = &target->objects[i],
						 .registry = (*registry)++,
						 .window_ns = request->window_ns};
		const struct ezprof_endpoints *found = maker.object->endpoints;

		if (request->graph && found && !ezprof_target_uses(target, i, request->graph))
			continue;
		judge_object(s, &maker);
		judge_probes(s, target, i);
		err = add_object(s, &maker);
	}
	return err;
}

static bool is_of_graph(const struct ezprof_target *target, const char *graph)
{
	for (size_t i = 0; i < target->object_count; i++) {
		if (ezprof_target_uses(target, i, graph))
			return true;
	}
	return false;
}

static int add_exited(struct ezprof_snapshot *s, const struct ezprof_snapshot_request *request,
		      const struct ezprof_target *target)
{
	if (s->profile.now_ns - target->exited_ns < request->window_ns && !request->with_exited)
		add_fault(s, target, EZPROF_REASON_DIED, "it ended during the window");
	if (!request->with_exited || !target->last_row_count)
		return 0;
	if (make_room(s, target->last_row_count))
		return -ENOMEM;
	memcpy(&s->profile.rows[s->profile.row_count], target->last_rows,
	       target->last_row_count * sizeof(target->last_rows[0]));
	s->profile.row_count += target->last_row_count;
	return 0;
}

void ezprof_snapshot_keep(const struct ezprof_measurement *m, struct ezprof_target *target)
{
	size_t i, n = 0;

	for (i = 0; i < target->object_count; i++)
		n += target->objects[i].endpoints ? target->objects[i].endpoints->count : 0;
	target->last_rows = calloc(n + 1, sizeof(target->last_rows[0]));
	for (i = 0; target->last_rows && i < target->object_count; i++) {
		struct ezprof_row_maker maker = {.measurement = m,
						 .target = target,
						 .object = &target->objects[i],
						 .registry = KEPT_REGISTRY(target->process->pid, i),
						 .window_ns = m->kept_ns};
		const struct ezprof_endpoints *found = maker.object->endpoints;
		size_t j;

		for (j = 0; found && j < found->count; j++)
			ezprof_row_finish(&maker, &found->list[j],
					  &target->last_rows[target->last_row_count++]);
	}
}

static int make_tables(struct ezprof_snapshot *s)
{
	const struct ezprof_measurement *m = s->measurement;
	size_t i, faults = 1;

	for (i = 0; i < m->target_count; i++)
		faults += 4 * m->targets[i]->object_count + 1;
	free(s->attached);
	free(s->faults);
	s->attached = calloc(m->target_count + 1, sizeof(s->attached[0]));
	s->faults = calloc(faults, sizeof(s->faults[0]));
	return s->attached && s->faults ? 0 : -ENOMEM;
}

static int add_target(struct ezprof_snapshot *s, const struct ezprof_snapshot_request *request,
		      struct ezprof_target *target, uint32_t *registry)
{
	bool exited = target->state == EZPROF_TARGET_EXITED;
	struct ezprof_attached *attached;

	/* Who has left another graph is no news in this one. */
	if (exited && request->graph && !is_of_graph(target, request->graph))
		return 0;
	attached = &s->attached[s->profile.attached_count++];
	attached->pid = target->process->pid;
	attached->comm = target->process->comm;
	attached->start_time = target->process->start_time;
	attached->state = target->state;
	attached->exited_ns = exited ? target->exited_ns : 0;
	if (exited)
		return add_exited(s, request, target);
	return add_living(s, request, target, registry);
}

static void finish(struct ezprof_snapshot *s)
{
	struct ezprof_profile *p = &s->profile;
	const struct ezprof_measurement *m = s->measurement;
	struct ezprof_counters counters = {0};
	size_t i;

	p->now_ns = ez_clock_mono_ns();
	p->unix_s = (double)ez_clock_read_ns(CLOCK_REALTIME) / 1e9;
	p->host = s->host;
	p->attached = s->attached;
	p->faults = s->faults;
	p->agent_pid = getpid();
	p->opener_pid = ezprof_opener_pid(m->opener);
	p->attached_ns = m->attached_ns;
	p->paths = ezprof_bpf_paths(m->bpf) & ~(uint32_t)EZPROF_PATH_SPANS;
	p->perf_event = !ezprof_bpf_uprobe_multi(m->bpf);
	ezprof_maps_counters(m->maps, &counters);
	memcpy(p->losses, counters.losses, sizeof(p->losses));
	p->cost = (struct ezprof_cost){
		.hits_per_s = -1, .ns_per_hit = -1, .agent_cpu_share = -1, .probes_cpu_share = -1};
	for (i = 0; i < EZ_PROBE_COUNT; i++)
		p->cost.hits += counters.hits[i];
	p->cost.map_bytes = ezprof_bpf_map_bytes(m->bpf);
	ezprof_profile_sort(p);
}

static int window_start(struct ezprof_snapshot *s)
{
	if (!s->window_rows)
		s->window_rows = ezprof_window_rows_new(s->measurement);
	if (!s->window_rows)
		return -ENOMEM;
	ezprof_window_rows_clear(s->window_rows);
	return 0;
}

int ezprof_snapshot_take(struct ezprof_snapshot *s, const struct ezprof_snapshot_request *request,
			 struct ezprof_profile **ret_profile)
{
	const struct ezprof_measurement *m = s->measurement;
	uint32_t registry = 0;
	size_t i;
	int err = make_tables(s);

	s->profile.window_ns = request->window_ns;
	s->profile.now_ns = ez_clock_mono_ns();
	s->profile.row_count = 0;
	s->profile.attached_count = 0;
	s->profile.fault_count = 0;
	if (!err)
		err = make_room(s, 1);
	if (!err && m->buckets)
		err = window_start(s);
	for (i = 0; !err && i < m->target_count; i++) {
		struct ezprof_target *target = m->targets[i];

		if (request->viewer == EZPROF_VIEWER_ALL || request->viewer == target->process->uid)
			err = add_target(s, request, target, &registry);
	}
	if (!err && m->buckets)
		err = ezprof_window_rows_fold(s->window_rows, s->profile.rows);
	if (err)
		return err;
	finish(s);
	*ret_profile = &s->profile;
	return 0;
}
