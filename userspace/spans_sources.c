/* SPDX-License-Identifier: MIT */
#include "spans_sources.h"
#include "clock.h"
#include "link_closer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void free_source(struct ezprof_span_source *source)
{
	free(source->names);
	free(source);
}

struct ezprof_span_source *ezprof_span_source_find(const struct ezprof_span_sources *s, pid_t pid,
						   uint32_t file)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i]->pid == pid && s->list[i]->file == file)
			return s->list[i];
	}
	return NULL;
}

struct ezprof_target *ezprof_span_source_target(const struct ezprof_span_sources *s,
						const struct ezprof_span_source *source)
{
	const struct ezprof_measurement *m = s->measurement;

	for (size_t i = 0; i < m->target_count; i++) {
		if (m->targets[i]->process->pid == source->pid &&
		    m->targets[i]->process->start_time == source->start_time &&
		    source->object < m->targets[i]->object_count)
			return m->targets[i];
	}
	return NULL;
}

static bool is_linked(const struct ezprof_span_sources *s, const struct ezprof_span_link *wanted)
{
	for (size_t i = 0; i < s->link_count; i++) {
		if (s->links[i].file == wanted->file && s->links[i].pid == wanted->pid &&
		    s->links[i].start_time == wanted->start_time)
			return true;
	}
	return false;
}

/* As the measurement itself does it: one link for each process, or one per file for everybody. */
static int link_object(struct ezprof_span_sources *s, const struct ezprof_target *target, size_t i)
{
	struct ezprof_measurement *m = s->measurement;
	struct ezprof_span_link link = {.file = target->objects[i].file};
	struct ezprof_span_link *grown;
	int err;

	if (m->filtered) {
		link.pid = target->process->pid;
		link.start_time = target->process->start_time;
	}
	if (is_linked(s, &link))
		return 0;
	grown = reallocarray(s->links, s->link_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->links = grown;
	err = ezprof_opener_link_paths(m->opener, m->filtered ? target->process : NULL,
				       &target->process->objects[i], link.file, EZPROF_PATH_SPANS,
				       &link.links, NULL);
	if (!err)
		s->links[s->link_count++] = link;
	return err;
}

static int add_source(struct ezprof_span_sources *s, const struct ezprof_target *target, size_t i)
{
	struct ezprof_span_source *source = calloc(1, sizeof(*source));
	struct ezprof_span_source **grown;

	if (!source)
		return -ENOMEM;
	source->pid = target->process->pid;
	source->start_time = target->process->start_time;
	source->uid = target->process->uid;
	source->file = target->objects[i].file;
	source->object = i;
	source->clock_offset_ns = target->clock_offset_ns;
	source->linked_ns = ez_clock_mono_ns();
	grown = reallocarray(s->list, s->count + 1, sizeof(*grown));
	if (!grown) {
		free_source(source);
		return -ENOMEM;
	}
	s->list = grown;
	s->list[s->count++] = source;
	return 0;
}

static bool has_spans(const struct ezprof_elf *elf)
{
	for (uint32_t i = 0; i < elf->site_count; i++) {
		if (elf->sites[i].probe == EZ_PROBE_spans)
			return true;
	}
	return false;
}

static const char *refusal_of(const struct ezprof_span_sources *s, const struct ezprof_elf *elf)
{
	if (elf->foreign)
		return "its probes have their arguments in places of their own";
	if (!has_spans(elf))
		return "it has no probe `spans`: an older build";
	return s->measurement->opener ? NULL : "the privileged helper is gone";
}

static int look_at(struct ezprof_span_sources *s, const struct ezprof_target *target, size_t i,
		   ezprof_span_refused *refused, void *context)
{
	const char *why;
	int err;

	if (!target->objects[i].linked ||
	    ezprof_span_source_find(s, target->process->pid, target->objects[i].file))
		return 0;
	why = refusal_of(s, &target->process->objects[i].elf);
	err = why ? -EOPNOTSUPP : link_object(s, target, i);
	if (!err || why)
		err = add_source(s, target, i);
	else if (err != -ENOMEM && err != -ESRCH)
		why = strerror(-err);
	if (why)
		refused(context, target, why);
	return err == -ENOMEM ? err : 0;
}

int ezprof_span_sources_look(struct ezprof_span_sources *s, ezprof_span_refused *refused,
			     void *context)
{
	const struct ezprof_measurement *m = s->measurement;
	int err = 0;

	for (size_t i = 0; i < m->target_count && !err; i++) {
		const struct ezprof_target *target = m->targets[i];

		if (target->state != EZPROF_TARGET_ATTACHED)
			continue;
		for (size_t j = 0; j < target->object_count && !err; j++)
			err = look_at(s, target, j, refused, context);
	}
	return err;
}

static bool is_measured(const struct ezprof_span_sources *s, pid_t pid, uint64_t start_time)
{
	const struct ezprof_target *target = ezprof_measurement_find(s->measurement, pid);

	return target && target->process->start_time == start_time;
}

/* The loop has other things to do than to wait for that. */
static void close_link(struct ezprof_span_link *link)
{
	ezprof_links_close_later(link->links.fds, link->links.count);
	link->links.count = 0;
}

void ezprof_span_sources_sweep(struct ezprof_span_sources *s)
{
	size_t i, kept = 0;

	for (i = 0; i < s->count; i++) {
		if (is_measured(s, s->list[i]->pid, s->list[i]->start_time))
			s->list[kept++] = s->list[i];
		else
			free_source(s->list[i]);
	}
	s->count = kept;
	for (i = kept = 0; i < s->link_count; i++) {
		struct ezprof_span_link *link = &s->links[i];

		if (!link->pid || is_measured(s, link->pid, link->start_time))
			s->links[kept++] = *link;
		else
			close_link(link);
	}
	s->link_count = kept;
}

void ezprof_span_sources_clear(struct ezprof_span_sources *s)
{
	for (size_t i = 0; i < s->link_count; i++)
		close_link(&s->links[i]);
	for (size_t i = 0; i < s->count; i++)
		free_source(s->list[i]);
	free(s->links);
	free(s->list);
	s->links = NULL;
	s->list = NULL;
	s->link_count = s->count = 0;
	s->next_number = 0;
}

static int make_room(struct ezprof_span_source *source, uint32_t index)
{
	size_t room = source->name_count ? source->name_count : 16;
	struct ezprof_span_name *grown;

	while (room <= index)
		room *= 2;
	if (room == source->name_count)
		return 0;
	grown = reallocarray(source->names, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + source->name_count, 0, (room - source->name_count) * sizeof(*grown));
	source->names = grown;
	source->name_count = room;
	return 0;
}

int ezprof_span_source_number(struct ezprof_span_sources *s, struct ezprof_span_source *source,
			      uint32_t index, uint32_t generation, uint32_t *ret_number)
{
	struct ezprof_span_name *name;

	if (index >= EZ_REGISTRY_ENTRIES_MAX || !generation)
		return -EINVAL;
	if (make_room(source, index))
		return -ENOMEM;
	name = &source->names[index];
	if (name->generation != generation) {
		if (s->next_number == EZPROF_SPAN_NUMBERS_MAX)
			return -ENOSPC;
		name->generation = generation;
		name->number = s->next_number++;
	}
	*ret_number = name->number;
	return 0;
}

const struct ezprof_endpoint *ezprof_span_source_endpoint(const struct ezprof_target *target,
							  const struct ezprof_span_source *source,
							  uint32_t index, uint32_t generation)
{
	const struct ezprof_endpoints *all = target->objects[source->object].endpoints;

	for (size_t i = 0; all && i < all->count; i++) {
		if (all->list[i].index == index && all->list[i].generation == generation)
			return &all->list[i];
	}
	return NULL;
}
