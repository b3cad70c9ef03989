/* SPDX-License-Identifier: MIT */
/* See sched_loader.h. */
#include "sched_loader.h"
#include "ezprof.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TARGETS_MAX 16384u

#define SCHED_TRACEPOINT(name, key, tracepoint) tracepoint,
static const char *const tracepoints[] = {EZ_SCHED_EVENT_LIST(SCHED_TRACEPOINT)};

static struct bpf_program *program_of(const struct ezprof *skeleton, unsigned int event)
{
	struct bpf_program *const programs[EZ_SCHED_EVENTS] = {
		[EZ_SCHED_SWITCH] = skeleton->progs.ezprof_sched_switch,
		[EZ_SCHED_WAKEUP] = skeleton->progs.ezprof_sched_wakeup,
		[EZ_SCHED_EXIT] = skeleton->progs.ezprof_sched_exit,
	};

	return programs[event];
}

int ezprof_sched_prepare(struct ezprof *skeleton, bool wanted, uint32_t slots)
{
	const struct {
		struct bpf_map *map;
		uint32_t entries;
	} sizes[] = {
		{skeleton->maps.sched_targets, TARGETS_MAX},
		{skeleton->maps.sched_tasks, EZ_SCHED_THREADS},
		{skeleton->maps.sched_free, EZ_SCHED_THREADS},
		{skeleton->maps.sched_threads, EZ_SCHED_THREADS},
		{skeleton->maps.sched_sums, slots * EZ_RING_BUCKETS},
		{skeleton->maps.sched_covered, slots * EZ_RING_BUCKETS},
	};
	int err = 0;

	skeleton->rodata->sched_wanted = wanted;
	for (unsigned int i = 0; i < EZ_SCHED_EVENTS && !err; i++)
		err = bpf_program__set_autoload(program_of(skeleton, i), wanted);
	for (size_t i = 0; wanted && i < sizeof(sizes) / sizeof(sizes[0]) && !err; i++)
		err = bpf_map__set_max_entries(sizes[i].map, sizes[i].entries);
	return err;
}

static int fill_free(int fd)
{
	int err = 0;

	for (uint32_t i = 0; i < EZ_SCHED_THREADS && !err; i++)
		err = bpf_map_update_elem(fd, NULL, &i, BPF_ANY);
	return err;
}

int ezprof_sched_attach(struct ezprof *skeleton, struct ezprof_sched_fds *ret_fds, char *ret_why,
			size_t size)
{
	struct ezprof_sched_fds fds = {
		.wanted = true,
		.targets = bpf_map__fd(skeleton->maps.sched_targets),
		.tasks = bpf_map__fd(skeleton->maps.sched_tasks),
		.free = bpf_map__fd(skeleton->maps.sched_free),
		.threads = bpf_map__fd(skeleton->maps.sched_threads),
		.sums = bpf_map__fd(skeleton->maps.sched_sums),
		.covered = bpf_map__fd(skeleton->maps.sched_covered),
		.counters = bpf_map__fd(skeleton->maps.sched_counters),
	};
	int err = fill_free(fds.free);

	for (unsigned int i = 0; i < EZ_SCHED_EVENTS; i++) {
		fds.programs[i] = bpf_program__fd(program_of(skeleton, i));
		fds.links[i] = -1;
	}
	for (unsigned int i = 0; i < EZ_SCHED_EVENTS && !err; i++) {
		fds.links[i] = bpf_raw_tracepoint_open(tracepoints[i], fds.programs[i]);
		if (fds.links[i] >= 0)
			continue;
		err = fds.links[i];
		snprintf(ret_why, size, "raw tracepoint %s: %s", tracepoints[i],
			 err == -ENOENT ? "this kernel has none" : strerror(-err));
	}
	if (err) {
		ezprof_sched_detach(&fds);
		return err;
	}
	*ret_fds = fds;
	return 0;
}

void ezprof_sched_detach(struct ezprof_sched_fds *fds)
{
	for (unsigned int i = 0; fds->wanted && i < EZ_SCHED_EVENTS; i++) {
		if (fds->links[i] >= 0)
			close(fds->links[i]);
		fds->links[i] = -1;
	}
}

uint64_t ezprof_sched_map_bytes(uint32_t slots)
{
	return (uint64_t)slots * EZ_RING_BUCKETS *
		       (sizeof(struct ez_sched_sums) + sizeof(struct ez_sched_covered)) +
	       (uint64_t)EZ_SCHED_THREADS * sizeof(struct ez_sched_thread);
}
