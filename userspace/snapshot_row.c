/* SPDX-License-Identifier: MIT */
#include "snapshot_row.h"
#include "clock.h"
#include "snapshot_window.h"

#include <errno.h>
#include <string.h>

/* How often a busy endpoint is read in the hope that it moves between no two readings. */
#define TRIES 3

void ezprof_row_start(const struct ezprof_row_maker *maker, const struct ezprof_endpoint *endpoint,
		      struct ezprof_row *row)
{
	memset(row, 0, sizeof(*row));
	row->endpoint = *endpoint;
	row->pid = maker->target->process->pid;
	row->registry = maker->registry;
}

static void fill_running(const struct ezprof_row *row, const struct ezprof_totals *totals,
			 struct ezprof_running *running)
{
	bool publisher = row->endpoint.kind == EZ_KIND_PUBLISHER;

	running->total = publisher ? totals->messages : totals->frees;
	running->departed = publisher ? 0 : totals->disconnect_frees;
	running->stable = totals->stable;
}

static void fill_attach(const struct ezprof_row_maker *maker, const struct ezprof_row *row,
			struct ezprof_loss_input *loss)
{
	const struct ezprof_target_object *object = maker->object;
	uint32_t index = row->endpoint.index;

	if (index < object->at_attach_count &&
	    object->at_attach[index].generation == row->endpoint.generation) {
		loss->have_attach = true;
		loss->at_attach = object->at_attach[index].running;
	}
	loss->opened_after = row->endpoint.opened_ns >= maker->object->attached_ns;
}

/* What the maps hold of the row's endpoint, folded; nothing of it in them: all 0. */
static void fold_row(const struct ezprof_row_maker *maker, struct ezprof_row *row, bool *ret_stable)
{
	const struct ezprof_endpoint *e = &row->endpoint;
	struct ezprof_fold_input input = {
		.window_ns = maker->window_ns,
		.attached_ns = maker->object->attached_ns,
		.opened_ns = e->opened_ns,
		.blocked_since_ns = e->totals.blocked_since_ns,
	};
	struct ezprof_raw raw;
	int err = -ENOENT;

	if (e->kind != EZ_KIND_CHANNEL && e->kind != EZ_KIND_TASK)
		err = ezprof_maps_read(maker->measurement->maps, maker->target->process->pid,
				       maker->object->file, e->index, e->generation, &raw);
	if (!err) {
		input.rings = raw.rings;
		input.cpu_count = raw.cpu_count;
		input.slot = &raw.slot;
		input.owner = raw.owner;
	}
	*ret_stable = err ? err == -ENOENT : raw.stable;
	input.now_ns = ez_clock_mono_ns();
	ezprof_fold(&input, &row->window);
}

int ezprof_row_measure(const struct ezprof_row_maker *maker, struct ezprof_row *row)
{
	struct ezprof_loss_input loss = {0};
	struct ezprof_totals after;
	int i, err;

	fill_attach(maker, row, &loss);
	for (i = 0; i < TRIES; i++) {
		err = ezprof_registry_reread(maker->object->reader, &row->endpoint,
					     &row->endpoint.totals, &row->endpoint.oldest_lease_ns);
		if (err)
			return err;
		fold_row(maker, row, &loss.maps_stable);
		err = ezprof_registry_reread(maker->object->reader, &row->endpoint, &after, NULL);
		if (err)
			return err;
		fill_running(row, &row->endpoint.totals, &loss.before);
		fill_running(row, &after, &loss.after);
		loss.measured = row->window.measured_messages;
		loss.first_total = row->window.first_total;
		ezprof_loss_compute(&loss, &row->loss);
		if (row->loss.exact)
			break;
	}
	return 0;
}

void ezprof_row_finish(const struct ezprof_row_maker *maker, const struct ezprof_endpoint *endpoint,
		       struct ezprof_row *row)
{
	bool stable;

	/* What it counted after its last reading nobody can tell: the loss stays unknown. */
	ezprof_row_start(maker, endpoint, row);
	row->endpoint.totals.stable = false;
	if (maker->measurement->buckets)
		ezprof_window_row_finish(maker, row);
	else
		fold_row(maker, row, &stable);
}
