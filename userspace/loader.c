/* SPDX-License-Identifier: MIT */
/* Sizes, opens and loads the skeleton; see loader.h. */
#include "loader.h"
#include "loader_skeleton.h"
#include "ezprof.skel.h"
#include "bpf_link_attr.h"
#include "bucket_shared.h"
#include "spans_shared.h"
#include "nested_pids.h"
#include "registry_layout.h"
#include "sched_loader.h"
#include "window_shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_MIN 4u /* 64 endpoints */
#define GROUPS_MAX 4096u
#define TARGETS_MAX 16384u
#define LEASE_STRIDE_MIN 64u
/* A hostile process may claim 65,536 buffers: what doesn't fit isn't timed, and counted. */
#define LEASE_BYTES_MAX (64ull << 20)
/* What is made without being asked for: what processes say of themselves may be anything. */
#define UNASKED_BYTES_MAX (1ull << 30)
#define SPAN_RING_BYTES_MAX (1u << 30)
/* A reader that is woken at a quarter has three quarters of the time to come. */
#define SPAN_RING_WAKE_PART 4u

_Static_assert(EZ_ENDPOINTS_MAX == EZ_REGISTRY_ENTRIES_MAX, "BPF accepts every possible index");

struct ezprof_bpf {
	struct ezprof *skeleton;
	struct ezprof_bpf_fds fds;
	uint32_t group_count, lease_stride, span_ring_bytes;
	uint32_t paths;
	int cpu_count;
	int stats_fd;
	struct ezprof_sched_fds sched;
	bool sched_wanted;
	bool uprobe_multi, pid_filter;
};

/* The newest warning of libbpf: what a load failed at. Libraries don't print. */
static __thread char last_warning[200];

static int keep_warning(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_WARN)
		vsnprintf(last_warning, sizeof(last_warning), format, args);
	last_warning[strcspn(last_warning, "\n")] = '\0';
	return 0;
}

static uint32_t groups_wanted(const struct ezprof_bpf_options *o)
{
	uint64_t groups;

	if (o->endpoints_max) {
		groups = (o->endpoints_max + (uint64_t)EZ_GROUP_SLOTS - 1) / EZ_GROUP_SLOTS;
	} else {
		uint64_t by_endpoints =
			(2ull * o->endpoints_found + EZ_GROUP_SLOTS - 1) / EZ_GROUP_SLOTS;
		uint64_t by_groups = o->groups_found + (o->groups_found + 1ull) / 2;

		groups = by_endpoints > by_groups ? by_endpoints : by_groups;
		if (groups < GROUPS_MIN)
			groups = GROUPS_MIN;
	}
	return groups > GROUPS_MAX ? GROUPS_MAX : (uint32_t)groups;
}

static uint64_t bytes_per_slot(const struct ezprof_bpf *bpf, uint32_t lease_stride)
{
	uint64_t cpus = (uint64_t)bpf->cpu_count, bytes = sizeof(struct ez_slot);

	if (bpf->paths & EZPROF_PATH_BOUNDARY)
		bytes += sizeof(struct ez_ring) * cpus + sizeof(struct ez_lease) * lease_stride;
	if (bpf->paths & EZPROF_PATH_WINDOW)
		bytes += EZ_RING_BUCKETS * (sizeof(struct ez_bucket_sums) * cpus +
					    sizeof(struct ez_bucket_shape)) +
			 sizeof(struct ez_bucket_totals);
	return bytes;
}

static uint32_t groups_made(const struct ezprof_bpf *bpf, const struct ezprof_bpf_options *o)
{
	uint64_t per_group = EZ_GROUP_SLOTS * bytes_per_slot(bpf, LEASE_STRIDE_MIN);
	uint32_t groups = groups_wanted(o);

	if (!o->endpoints_max && groups > GROUPS_MIN && groups * per_group > UNASKED_BYTES_MAX)
		groups = (uint32_t)(UNASKED_BYTES_MAX / per_group);
	return groups > GROUPS_MIN || o->endpoints_max ? groups : GROUPS_MIN;
}

static uint32_t stride_wanted(uint32_t buffers_max, uint32_t group_count)
{
	uint64_t per_step = (uint64_t)group_count * EZ_GROUP_SLOTS * sizeof(struct ez_lease);
	uint32_t stride = LEASE_STRIDE_MIN;

	while (stride < buffers_max && stride < EZ_REGISTRY_BUFFERS_MAX &&
	       2 * stride * per_step <= LEASE_BYTES_MAX)
		stride *= 2;
	return stride;
}

/* The kernel wants a power of two, and whole pages. */
static uint32_t ring_wanted(const struct ezprof_bpf_options *o, uint32_t paths)
{
	uint32_t wanted = o->span_ring_bytes ? o->span_ring_bytes : EZPROF_SPAN_RING_BYTES;
	uint32_t bytes = (uint32_t)sysconf(_SC_PAGESIZE);

	while (paths & EZPROF_PATH_SPANS && bytes < wanted && bytes < SPAN_RING_BYTES_MAX)
		bytes *= 2;
	return bytes;
}

/* Maps of a path that isn't used are made as small as can be. */
static int set_sizes(struct ezprof_bpf *bpf)
{
	uint32_t slots = bpf->group_count * EZ_GROUP_SLOTS;
	uint32_t boundary = bpf->paths & EZPROF_PATH_BOUNDARY ? slots : 1;
	uint32_t window = bpf->paths & EZPROF_PATH_WINDOW ? slots : 1;
	const struct {
		struct bpf_map *map;
		uint32_t entries;
	} sizes[] = {
		{bpf->skeleton->maps.groups, bpf->group_count},
		{bpf->skeleton->maps.free_groups, bpf->group_count},
		{bpf->skeleton->maps.targets, TARGETS_MAX},
		{bpf->skeleton->maps.nested_pids, TARGETS_MAX / 16},
		{bpf->skeleton->maps.rings, boundary},
		{bpf->skeleton->maps.slots, slots},
		{bpf->skeleton->maps.leases, boundary * bpf->lease_stride},
		{bpf->skeleton->maps.bucket_from, TARGETS_MAX},
		{bpf->skeleton->maps.bucket_sums, window * EZ_RING_BUCKETS},
		{bpf->skeleton->maps.bucket_shapes, window * EZ_RING_BUCKETS},
		{bpf->skeleton->maps.bucket_totals, window},
		{bpf->skeleton->maps.span_ring, bpf->span_ring_bytes},
	};
	int err;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		err = bpf_map__set_max_entries(sizes[i].map, sizes[i].entries);
		if (err)
			return err;
	}
	bpf->skeleton->rodata->lease_stride = bpf->lease_stride;
	bpf->skeleton->rodata->bucket_slots = window;
	bpf->skeleton->rodata->span_wake_bytes = bpf->span_ring_bytes / SPAN_RING_WAKE_PART;
	return 0;
}

/* Pids of a namespace of our own are not the numbers that BPF sees by default. */
static void set_pid_namespace(struct ezprof_bpf *bpf)
{
	uint64_t dev, inode;

	if (!ezprof_own_pid_namespace(&dev, &inode))
		return;
	bpf->skeleton->rodata->pid_ns_dev = dev;
	bpf->skeleton->rodata->pid_ns_inode = inode;
}

/* Programs of the paths wanted, to be attached as this kernel wants it. */
static int set_programs(struct ezprof_bpf *bpf)
{
	const struct {
		struct bpf_program *program;
		enum ezprof_path path;
	} programs[] = {
		{bpf->skeleton->progs.ezprof_boundary, EZPROF_PATH_BOUNDARY},
		{bpf->skeleton->progs.ezprof_window, EZPROF_PATH_WINDOW},
		{bpf->skeleton->progs.ezprof_spans, EZPROF_PATH_SPANS},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]) && !err; i++) {
		err = bpf_program__set_autoload(programs[i].program, bpf->paths & programs[i].path);
		if (!err && bpf->uprobe_multi)
			err = bpf_program__set_expected_attach_type(programs[i].program,
								    EZPROF_TRACE_UPROBE_MULTI);
	}
	return err;
}

static int fill_free_groups(struct ezprof_bpf *bpf)
{
	int err = 0;

	for (uint32_t i = 0; i < bpf->group_count && !err; i++)
		err = bpf_map_update_elem(bpf->fds.free_groups, NULL, &i, BPF_ANY);
	return err;
}

static void note_fds(struct ezprof_bpf *bpf)
{
	bpf->fds = (struct ezprof_bpf_fds){
		.groups = bpf_map__fd(bpf->skeleton->maps.groups),
		.free_groups = bpf_map__fd(bpf->skeleton->maps.free_groups),
		.targets = bpf_map__fd(bpf->skeleton->maps.targets),
		.nested_namespaces = bpf_map__fd(bpf->skeleton->maps.nested_namespaces),
		.nested_pids = bpf_map__fd(bpf->skeleton->maps.nested_pids),
		.rings = bpf_map__fd(bpf->skeleton->maps.rings),
		.slots = bpf_map__fd(bpf->skeleton->maps.slots),
		.leases = bpf_map__fd(bpf->skeleton->maps.leases),
		.counters = bpf_map__fd(bpf->skeleton->maps.counters),
		.bucket_from = bpf_map__fd(bpf->skeleton->maps.bucket_from),
		.bucket_sums = bpf_map__fd(bpf->skeleton->maps.bucket_sums),
		.bucket_shapes = bpf_map__fd(bpf->skeleton->maps.bucket_shapes),
		.bucket_totals = bpf_map__fd(bpf->skeleton->maps.bucket_totals),
		.span_ring = bpf_map__fd(bpf->skeleton->maps.span_ring),
		.span_counters = bpf_map__fd(bpf->skeleton->maps.span_counters),
	};
}

static int open_and_load(struct ezprof_bpf *bpf)
{
	int err;

	bpf->skeleton = ezprof__open();
	if (!bpf->skeleton)
		return -errno;
	err = set_sizes(bpf);
	set_pid_namespace(bpf);
	if (!err)
		err = set_programs(bpf);
	if (!err)
		err = ezprof_sched_prepare(bpf->skeleton, bpf->sched_wanted,
					   ezprof_bpf_endpoints_max(bpf));
	if (!err)
		err = ezprof__load(bpf->skeleton);
	if (err)
		return err;
	note_fds(bpf);
	err = fill_free_groups(bpf);
	if (!err && bpf->sched_wanted)
		err = ezprof_sched_attach(bpf->skeleton, &bpf->sched, last_warning,
					  sizeof(last_warning));
	return err;
}

static int load(const struct ezprof_bpf_options *options, struct ezprof_bpf *bpf)
{
	struct ezprof_features features;
	int err;

	bpf->stats_fd = -1;
	bpf->cpu_count = libbpf_num_possible_cpus();
	if (bpf->cpu_count < 0) {
		snprintf(last_warning, sizeof(last_warning),
			 "cannot read /sys/devices/system/cpu/possible: mount /sys");
		return bpf->cpu_count;
	}
	err = ezprof_features_probe(&features);
	if (err)
		return err;
	bpf->uprobe_multi = features.uprobe_multi && !options->perf_event;
	/* perf_event's filter says where breakpoints are set, whatever thread hits them. */
	bpf->pid_filter = !bpf->uprobe_multi || features.uprobe_multi_pid;
	bpf->paths = options->paths ? options->paths : EZPROF_PATH_BOUNDARY;
	bpf->sched_wanted = options->sched && bpf->paths & EZPROF_PATH_WINDOW;
	bpf->group_count = groups_made(bpf, options);
	bpf->lease_stride = stride_wanted(options->buffers_max, bpf->group_count);
	bpf->span_ring_bytes = ring_wanted(options, bpf->paths);
	err = open_and_load(bpf);
	if (err)
		return err;
	/* Wants CAP_SYS_ADMIN; without it the cost is unknown, and nothing else. */
	if (options->run_stats)
		bpf->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return 0;
}

int ezprof_bpf_load(const struct ezprof_bpf_options *options, struct ezprof_bpf **ret_bpf,
		    struct ezprof_refusal *ret_refusal)
{
	struct ezprof_bpf *bpf = calloc(1, sizeof(*bpf));
	libbpf_print_fn_t print;
	int err;

	if (!bpf)
		return -ENOMEM;
	last_warning[0] = '\0';
	print = libbpf_set_print(keep_warning);
	err = load(options, bpf);
	libbpf_set_print(print);
	if (!err) {
		*ret_bpf = bpf;
		return 0;
	}
	ezprof_bpf_free(bpf);
	if (ret_refusal) {
		ezprof_privileges_explain(EZPROF_ATTEMPT_LOAD, err, ret_refusal);
		if (err != -EPERM && err != -EACCES && last_warning[0])
			snprintf(ret_refusal->why, sizeof(ret_refusal->why), "%s", last_warning);
	}
	return err;
}

void ezprof_bpf_free(struct ezprof_bpf *bpf)
{
	if (!bpf)
		return;
	if (bpf->stats_fd >= 0)
		close(bpf->stats_fd);
	ezprof_sched_detach(&bpf->sched);
	ezprof__destroy(bpf->skeleton);
	free(bpf);
}

int ezprof_bpf_path_fd(const struct ezprof_bpf *bpf, enum ezprof_path path)
{
	const struct bpf_program *program = bpf->skeleton->progs.ezprof_boundary;

	if (!(bpf->paths & path))
		return -1;
	if (path == EZPROF_PATH_WINDOW)
		program = bpf->skeleton->progs.ezprof_window;
	else if (path == EZPROF_PATH_SPANS)
		program = bpf->skeleton->progs.ezprof_spans;
	return bpf_program__fd(program);
}

int ezprof_bpf_program_fd(const struct ezprof_bpf *bpf)
{
	return ezprof_bpf_path_fd(bpf, bpf->paths & EZPROF_PATH_BOUNDARY ? EZPROF_PATH_BOUNDARY
									 : EZPROF_PATH_WINDOW);
}

uint32_t ezprof_bpf_paths(const struct ezprof_bpf *bpf)
{
	return bpf->paths;
}

bool ezprof_bpf_uprobe_multi(const struct ezprof_bpf *bpf)
{
	return bpf->uprobe_multi;
}

bool ezprof_bpf_pid_filter(const struct ezprof_bpf *bpf)
{
	return bpf->pid_filter;
}

uint32_t ezprof_bpf_endpoints_max(const struct ezprof_bpf *bpf)
{
	return bpf->group_count * EZ_GROUP_SLOTS;
}

uint64_t ezprof_bpf_map_bytes(const struct ezprof_bpf *bpf)
{
	uint32_t slots = ezprof_bpf_endpoints_max(bpf);

	return (bpf->sched_wanted ? ezprof_sched_map_bytes(slots) : 0) +
	       slots * bytes_per_slot(bpf, bpf->lease_stride) +
	       (bpf->paths & EZPROF_PATH_SPANS ? bpf->span_ring_bytes : 0);
}

uint32_t ezprof_bpf_span_ring_bytes(const struct ezprof_bpf *bpf)
{
	return bpf->span_ring_bytes;
}

const struct ezprof *ezprof_bpf_skeleton(const struct ezprof_bpf *bpf)
{
	return bpf->skeleton;
}

const struct ezprof_bpf_fds *ezprof_bpf_map_fds(const struct ezprof_bpf *bpf)
{
	return &bpf->fds;
}

const struct ezprof_sched_fds *ezprof_bpf_sched_fds(const struct ezprof_bpf *bpf)
{
	return bpf->sched.wanted ? &bpf->sched : NULL;
}

void ezprof_bpf_sched_detach(struct ezprof_bpf *bpf)
{
	ezprof_sched_detach(&bpf->sched);
}

int ezprof_bpf_cpu_count(const struct ezprof_bpf *bpf)
{
	return bpf->cpu_count;
}
