/* SPDX-License-Identifier: MIT */
/* The links of a measurement: how many, closing them, and those of other builds' objects. */
#include "measurement_links.h"
#include "link_closer.h"

#include <errno.h>
#include <stdlib.h>

size_t ezprof_measurement_links(const struct ezprof_measurement *m)
{
	size_t i, j, n = 0;

	for (i = 0; i < m->target_count; i++) {
		for (j = 0; j < m->targets[i]->object_count; j++)
			n += m->targets[i]->objects[j].links.count +
			     ezprof_usdt_links_count(m->targets[i]->objects[j].usdt_links);
	}
	for (i = 0; i < m->file_count; i++)
		n += m->files[i].links.count + ezprof_usdt_links_count(m->files[i].usdt_links);
	return n;
}

/* Into `fds` as many as fit; what doesn't is closed here. */
static void take_links(struct ezprof_links *links, int *fds, size_t room, size_t *count)
{
	while (links->count > 0 && *count < room)
		fds[(*count)++] = links->fds[--links->count];
	ezprof_links_close(links);
}

static void close_usdt_links(struct ezprof_usdt_links **links)
{
	ezprof_usdt_links_close(*links);
	*links = NULL;
}

static void close_all_usdt_links(struct ezprof_measurement *m)
{
	size_t i, j;

	for (i = 0; i < m->target_count; i++) {
		for (j = 0; j < m->targets[i]->object_count; j++)
			close_usdt_links(&m->targets[i]->objects[j].usdt_links);
	}
	for (i = 0; i < m->file_count; i++)
		close_usdt_links(&m->files[i].usdt_links);
}

void ezprof_measurement_detach(struct ezprof_measurement *m)
{
	size_t room = ezprof_measurement_links(m), count = 0, i, j;
	int *fds = room ? malloc(room * sizeof(*fds)) : NULL;

	if (!fds)
		room = 0;
	for (i = 0; i < m->target_count; i++) {
		for (j = 0; j < m->targets[i]->object_count; j++)
			take_links(&m->targets[i]->objects[j].links, fds, room, &count);
	}
	for (i = 0; i < m->file_count; i++)
		take_links(&m->files[i].links, fds, room, &count);
	ezprof_links_close_all(fds, count);
	free(fds);
	close_all_usdt_links(m);
	if (m->scheds)
		ezprof_bpf_sched_detach(m->bpf);
}

int ezprof_measurement_link_foreign(struct ezprof_measurement *m, struct ezprof_target *target,
				    size_t i, struct ezprof_refusal *ret_refusal)
{
	struct ezprof_target_object *object = &target->objects[i];
	struct ezprof_usdt_links **links =
		m->filtered ? &object->usdt_links : &m->files[object->file].usdt_links;
	int err = 0;

	if (*links)
		return 0;
	if (m->started)
		return -EOPNOTSUPP;
	if (!m->fallback)
		err = ezprof_usdt_fallback_load(m->bpf, &m->fallback, ret_refusal);
	if (err)
		return err;
	return ezprof_usdt_fallback_attach(m->fallback, m->filtered ? target->process->pid : 0,
					   &target->process->objects[i], object->file, links,
					   ret_refusal);
}
