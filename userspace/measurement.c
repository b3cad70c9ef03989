/* SPDX-License-Identifier: MIT */
#include "measurement.h"
#include "clock.h"
#include "measurement_links.h"
#include "recycling.h"
#include "snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Processes that have ended are told of for a while; so many at most. */
#define EXITED_MAX 256u

/* Over how much time the figures of a process that has ended go, if nobody says otherwise. */
#define KEPT_NS 2000000000ull

int ezprof_measurement_new(struct ezprof_measurement **ret_measurement)
{
	struct ezprof_measurement *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	err = ezprof_opener_start(&m->opener);
	if (err) {
		free(m);
		return err;
	}
	*ret_measurement = m;
	return 0;
}

void ezprof_measurement_free(struct ezprof_measurement *m)
{
	size_t i;

	if (!m)
		return;
	ezprof_measurement_detach(m);
	for (i = 0; i < m->target_count; i++)
		ezprof_target_free(m->targets[i]);
	free(m->targets);
	free(m->files);
	ezprof_buckets_close(m->buckets);
	ezprof_scheds_close(m->scheds);
	if (m->maps)
		ezprof_maps_close(m->maps);
	ezprof_usdt_fallback_free(m->fallback);
	ezprof_bpf_free(m->bpf);
	ezprof_opener_stop(m->opener);
	free(m);
}

/* The number of a file; added if it is new. */
static int file_number(struct ezprof_measurement *m, const struct ezprof_object *object,
		       uint32_t *ret_number)
{
	size_t i;
	void *grown;

	for (i = 0; i < m->file_count; i++) {
		if (m->files[i].device == object->device && m->files[i].inode == object->inode)
			break;
	}
	if (i == m->file_count) {
		grown = reallocarray(m->files, i + 1, sizeof(m->files[0]));
		if (!grown)
			return -ENOMEM;
		m->files = grown;
		m->files[i] = (struct ezprof_measured_file){.device = object->device,
							    .inode = object->inode};
		m->file_count++;
	}
	*ret_number = (uint32_t)i;
	return 0;
}

static int number_files(struct ezprof_measurement *m, struct ezprof_target *target)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < target->object_count; i++)
		err = file_number(m, &target->process->objects[i], &target->objects[i].file);
	return err;
}

struct ezprof_target *ezprof_measurement_find(const struct ezprof_measurement *m, pid_t pid)
{
	size_t i;

	for (i = 0; i < m->target_count; i++) {
		if (m->targets[i]->process->pid == pid &&
		    m->targets[i]->state == EZPROF_TARGET_ATTACHED)
			return m->targets[i];
	}
	return NULL;
}

int ezprof_measurement_add(struct ezprof_measurement *m, pid_t pid,
			   struct ezprof_refusal *ret_refusal,
			   char ret_sentence[EZPROF_SENTENCE_BYTES])
{
	struct ezprof_target *target, **grown;
	int err;

	if (ezprof_measurement_find(m, pid))
		return -EEXIST;
	err = ezprof_target_open(m->opener, pid, &target, ret_refusal, ret_sentence);
	if (err)
		return err;
	grown = reallocarray(m->targets, m->target_count + 1, sizeof(target));
	if (grown)
		m->targets = grown;
	if (!grown || number_files(m, target)) {
		ezprof_target_free(target);
		return -ENOMEM;
	}
	m->targets[m->target_count++] = target;
	return 0;
}

static int load(struct ezprof_measurement *m, const struct ezprof_measurement_options *options,
		struct ezprof_refusal *ret_refusal)
{
	struct ezprof_bpf_options bpf = {.endpoints_max = options->endpoints_max,
					 .span_ring_bytes = options->span_ring_bytes,
					 .paths = options->paths ? options->paths
								 : EZPROF_PATHS_DEFAULT,
					 .perf_event = options->perf_event,
					 .run_stats = options->run_stats,
					 .sched = options->sched};
	uint64_t now_ns = ez_clock_mono_ns();
	uint32_t buffers, endpoints;
	size_t i;
	int err;

	if (bpf.span_ring_bytes)
		bpf.paths |= EZPROF_PATH_SPANS;
	for (i = 0; i < m->target_count; i++) {
		ezprof_target_refresh(m->targets[i], now_ns);
		endpoints = (uint32_t)ezprof_target_endpoints(m->targets[i], &buffers);
		bpf.endpoints_found += endpoints;
		bpf.groups_found +=
			endpoints / EZ_GROUP_SLOTS + (uint32_t)m->targets[i]->object_count;
		if (buffers > bpf.buffers_max)
			bpf.buffers_max = buffers;
	}
	err = ezprof_bpf_load(&bpf, &m->bpf, ret_refusal);
	if (!err)
		err = ezprof_maps_open(m->bpf, &m->maps);
	if (!err && bpf.paths & EZPROF_PATH_WINDOW)
		err = ezprof_buckets_open(m->bpf, &m->buckets);
	if (!err && ezprof_bpf_sched_fds(m->bpf))
		err = ezprof_scheds_open(m->bpf, &m->scheds);
	if (!err)
		err = ezprof_opener_set_program(m->opener, m->bpf);
	return err;
}

unsigned int ezprof_measurement_missing(const struct ezprof_measurement *m,
					const struct ezprof_elf *elf, char *ret_names, size_t bytes)
{
	uint32_t paths = ezprof_bpf_paths(m->bpf);
	unsigned int first = paths & EZPROF_PATH_BOUNDARY ? EZ_PROBE_publish : EZ_PROBE_window;
	unsigned int end = paths & EZPROF_PATH_WINDOW ? EZ_PROBE_window + 1 : EZ_PROBE_window;

	return ezprof_elf_missing(elf, first, end, ret_names, bytes);
}

static int link_object(struct ezprof_measurement *m, struct ezprof_target *target, size_t i,
		       struct ezprof_refusal *ret_refusal)
{
	struct ezprof_target_object *object = &target->objects[i];
	struct ezprof_links *links = m->filtered ? &object->links : &m->files[object->file].links;
	int err = 0;

	if (object->linked)
		return 0;
	if (target->process->objects[i].elf.foreign)
		err = ezprof_measurement_link_foreign(m, target, i, ret_refusal);
	else if (!links->count)
		err = ezprof_opener_link(m->opener, m->filtered ? target->process : NULL,
					 &target->process->objects[i], object->file, links,
					 ret_refusal);
	if (!err && m->buckets)
		err = ezprof_buckets_accept(m->buckets, target->process->pid, object->file,
					    target->clock_offset_ns, &object->from_id);
	object->attached_ns = ez_clock_mono_ns();
	object->linked = !err;
	return err;
}

/* An object without a probe of the chosen path is left alone; its totals are there all the same. */
static int link_objects(struct ezprof_measurement *m, struct ezprof_target *target, size_t first,
			struct ezprof_refusal *ret_refusal)
{
	size_t i;
	int err = 0;

	for (i = first; i < target->object_count && (!err || err == -ENOENT); i++)
		err = link_object(m, target, i, ret_refusal);
	if (err != -ENOENT)
		return err;
	for (i = 0; i < target->object_count; i++) {
		if (target->objects[i].linked)
			return 0;
	}
	return err;
}

/* Its threads are looked at as soon as its registry says where their table is. */
static void follow_threads(struct ezprof_measurement *m, struct ezprof_target *target)
{
	if (m->scheds)
		ezprof_scheds_follow(m->scheds, target);
}

static void refuse_buckets(struct ezprof_measurement *m, const struct ezprof_target *target)
{
	size_t i;

	for (i = 0; m->buckets && i < target->object_count; i++)
		ezprof_buckets_refuse(m->buckets, target->process->pid, target->objects[i].file);
	if (m->scheds)
		ezprof_scheds_drop(m->scheds, target->process->pid);
}

/* By windows the totals to start from are those when the first whole bucket has begun. */
static int note_now(const struct ezprof_measurement *m, struct ezprof_target *target)
{
	return m->buckets ? 0 : ezprof_target_note_attach(target);
}

static int link_target(struct ezprof_measurement *m, struct ezprof_target *target,
		       struct ezprof_refusal *ret_refusal)
{
	int err =
		ezprof_maps_add_target(m->maps, target->process->pid, target->process->start_time);

	if (!err)
		err = ezprof_maps_add_nested(m->maps, target->process->pid,
					     target->process->namespaces.pid_ns_dev,
					     target->process->namespaces.pid_ns_inode,
					     target->process->namespaces.ns_pid);
	if (!err)
		err = link_objects(m, target, 0, ret_refusal);
	if (!err) {
		ezprof_target_refresh(target, ez_clock_mono_ns());
		follow_threads(m, target);
		err = note_now(m, target);
	}
	target->linked = !err;
	return err;
}

static const char *link_sentence(int err)
{
	switch (err) {
	case -ESRCH:
		return "is gone: it exited during the attach";
	case -ENOENT:
		return "cannot be attached to: its build lacks the probes of the chosen way: bring "
		       "its "
		       "libezmsg or ezmsg-usdt up to date, or see --probes";
	case -ENOSPC:
		return "cannot be measured from here: there are processes of too many pid "
		       "namespaces below this one";
	case -EPERM:
	case -EACCES:
		return "cannot be attached to: not permitted";
	case -EINVAL:
		return "cannot be attached to: the kernel refuses its probe sites";
	case -EOPNOTSUPP:
		return "cannot be attached to any more: its probes have their arguments in places "
		       "of their own, and such processes must be there when measuring starts";
	default:
		return strerror(-err);
	}
}

/* Drops the targets that failed, keeping the order of the others. */
static void drop_unlinked(struct ezprof_measurement *m)
{
	size_t i, kept = 0;

	for (i = 0; i < m->target_count; i++) {
		if (m->targets[i]->linked) {
			m->targets[kept++] = m->targets[i];
			continue;
		}
		refuse_buckets(m, m->targets[i]);
		ezprof_maps_release(m->maps, m->targets[i]->process->pid);
		ezprof_target_free(m->targets[i]);
	}
	m->target_count = kept;
}

/* Windows count from the first whole bucket on: at most 136 ms, and whoever is told waits. */
static void await_first_buckets(const struct ezprof_measurement *m)
{
	uint64_t last = 0;
	size_t i, j;

	for (i = 0; m->buckets && i < m->target_count; i++) {
		const struct ezprof_target *target = m->targets[i];

		for (j = 0; target->linked && j < target->object_count; j++) {
			const struct ezprof_target_object *object = &target->objects[j];
			uint64_t ns = object->linked ? ezprof_target_from_ns(target, object) : 0;

			last = ns > last ? ns : last;
		}
	}
	while (ez_clock_mono_ns() < last) {
		struct timespec until = {.tv_sec = (time_t)(last / EZ_NS_PER_S),
					 .tv_nsec = (long)(last % EZ_NS_PER_S)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

static int note_attached(struct ezprof_measurement *m)
{
	size_t i;
	int err = 0;

	await_first_buckets(m);
	for (i = 0; i < m->target_count && !err; i++) {
		uint64_t now_ns = ez_clock_mono_ns();

		ezprof_target_refresh(m->targets[i], now_ns);
		err = ezprof_target_note_begun(m->targets[i], now_ns);
	}
	return err;
}

int ezprof_measurement_start(struct ezprof_measurement *m,
			     const struct ezprof_measurement_options *options,
			     struct ezprof_refusal *ret_refusal)
{
	int err = load(m, options, ret_refusal), last = -ESRCH;
	size_t i;

	if (err)
		return err;
	m->kept_ns = options->kept_ns ? options->kept_ns : KEPT_NS;
	m->filtered = !options->shared && m->target_count <= EZPROF_OWN_LINKS_MAX &&
		      ezprof_bpf_pid_filter(m->bpf);
	for (i = 0; i < m->target_count; i++) {
		err = link_target(m, m->targets[i], ret_refusal);
		if (!err)
			continue;
		last = err;
		options->failed(options->context, m->targets[i], err, link_sentence(err));
	}
	drop_unlinked(m);
	m->attached_ns = ez_clock_mono_ns();
	m->started = true;
	if (!m->target_count && !options->shared)
		return last;
	return m->buckets ? note_attached(m) : 0;
}

void ezprof_measurement_remove(struct ezprof_measurement *m, struct ezprof_target *target)
{
	size_t i, kept = 0;

	for (i = 0; i < m->target_count; i++) {
		if (m->targets[i] != target)
			m->targets[kept++] = m->targets[i];
	}
	m->target_count = kept;
	refuse_buckets(m, target);
	if (m->maps)
		ezprof_maps_release(m->maps, target->process->pid);
	ezprof_target_free(target);
}

int ezprof_measurement_attach(struct ezprof_measurement *m, struct ezprof_target *target,
			      struct ezprof_refusal *ret_refusal,
			      char ret_sentence[EZPROF_SENTENCE_BYTES])
{
	int err = link_target(m, target, ret_refusal);

	if (!err)
		return 0;
	snprintf(ret_sentence, EZPROF_SENTENCE_BYTES, "%s", link_sentence(err));
	ezprof_measurement_remove(m, target);
	return err;
}

int ezprof_measurement_rescan(struct ezprof_measurement *m, struct ezprof_target *target,
			      size_t *ret_found)
{
	size_t before = target->object_count;
	int err = ezprof_target_rescan(m->opener, target);

	if (err)
		return err;
	err = number_files(m, target);
	if (!err)
		err = link_objects(m, target, before, NULL);
	if (!err && target->object_count > before) {
		ezprof_target_refresh(target, ez_clock_mono_ns());
		err = note_now(m, target);
	}
	*ret_found = target->object_count - before;
	return err;
}

void ezprof_measurement_forget(struct ezprof_measurement *m)
{
	size_t i, kept = 0, exited = m->target_count - ezprof_measurement_alive(m);

	for (i = 0; i < m->target_count; i++) {
		if (exited > EXITED_MAX && m->targets[i]->state == EZPROF_TARGET_EXITED) {
			ezprof_target_free(m->targets[i]);
			exited--;
			continue;
		}
		m->targets[kept++] = m->targets[i];
	}
	m->target_count = kept;
}

void ezprof_measurement_refresh(struct ezprof_measurement *m)
{
	uint64_t now_ns = ez_clock_mono_ns();
	size_t i;

	for (i = 0; i < m->target_count; i++) {
		if (m->targets[i]->state != EZPROF_TARGET_ATTACHED)
			continue;
		ezprof_target_glance(m->targets[i], now_ns);
		follow_threads(m, m->targets[i]);
		ezprof_recycle(m, m->targets[i], now_ns);
	}
}

void ezprof_measurement_exited(struct ezprof_measurement *m, struct ezprof_target *target)
{
	size_t i;

	if (target->state == EZPROF_TARGET_EXITED)
		return;
	target->exited_ns = ez_clock_mono_ns();
	ezprof_snapshot_keep(m, target);
	target->state = EZPROF_TARGET_EXITED;
	/* What it executes now may be the same file: two links would count twice. */
	for (i = 0; i < target->object_count; i++) {
		ezprof_links_close(&target->objects[i].links);
		ezprof_usdt_links_close(target->objects[i].usdt_links);
		target->objects[i].usdt_links = NULL;
	}
	refuse_buckets(m, target);
	ezprof_maps_release(m->maps, target->process->pid);
}

size_t ezprof_measurement_alive(const struct ezprof_measurement *m)
{
	size_t i, n = 0;

	for (i = 0; i < m->target_count; i++)
		n += m->targets[i]->state == EZPROF_TARGET_ATTACHED;
	return n;
}
