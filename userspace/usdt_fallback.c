/* SPDX-License-Identifier: MIT */
#include "usdt_fallback.h"
#include "ezprof.skel.h"
#include "ezprof_usdt.skel.h"
#include "loader_skeleton.h"
#include "probe_list.h"
#include "window_shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_MAX EZ_PROBE_COUNT

struct ezprof_usdt_fallback {
	struct ezprof_usdt *skeleton;
	uint32_t paths;
};

struct ezprof_usdt_links {
	size_t count;
	struct bpf_link *links[LINKS_MAX];
};

#define PROBE_NAME(name, nargs, args, meaning) #name,
static const char *const probe_names[] = {EZ_PROBE_LIST(PROBE_NAME)};

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* Of the maps those that the first object has too become the same; libbpf's own stay. */
static int share_maps(struct ezprof_usdt *usdt, const struct ezprof *first)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, usdt->obj)
	{
		const char *name = bpf_map__name(map), *dot = strchr(name, '.');
		struct bpf_map *same;

		if (map == usdt->maps.rodata)
			continue;
		/* Global variables are a map too, which bears the object's name in front. */
		same = bpf_object__find_map_by_name(first->obj, dot ? dot : name);
		if (same && (!dot || strcmp(dot, ".bss") == 0))
			err = bpf_map__reuse_fd(map, bpf_map__fd(same));
		if (err)
			return err;
	}
	usdt->rodata->lease_stride = first->rodata->lease_stride;
	usdt->rodata->bucket_slots = first->rodata->bucket_slots;
	usdt->rodata->pid_ns_dev = first->rodata->pid_ns_dev;
	usdt->rodata->pid_ns_inode = first->rodata->pid_ns_inode;
	return 0;
}

static int load(const struct ezprof_bpf *bpf, struct ezprof_usdt_fallback *f)
{
	int err;

	f->paths = ezprof_bpf_paths(bpf);
	f->skeleton = ezprof_usdt__open();
	if (!f->skeleton)
		return -errno;
	err = share_maps(f->skeleton, ezprof_bpf_skeleton(bpf));
	if (!err)
		err = bpf_program__set_autoload(f->skeleton->progs.ezprof_boundary,
						f->paths & EZPROF_PATH_BOUNDARY);
	if (!err)
		err = bpf_program__set_autoload(f->skeleton->progs.ezprof_window,
						f->paths & EZPROF_PATH_WINDOW);
	return err ? err : ezprof_usdt__load(f->skeleton);
}

int ezprof_usdt_fallback_load(const struct ezprof_bpf *bpf,
			      struct ezprof_usdt_fallback **ret_fallback,
			      struct ezprof_refusal *ret_refusal)
{
	struct ezprof_usdt_fallback *f = calloc(1, sizeof(*f));
	libbpf_print_fn_t print;
	int err;

	if (!f)
		return -ENOMEM;
	print = libbpf_set_print(print_nothing);
	err = load(bpf, f);
	libbpf_set_print(print);
	if (!err) {
		*ret_fallback = f;
		return 0;
	}
	ezprof_usdt_fallback_free(f);
	if (ret_refusal)
		ezprof_privileges_explain(EZPROF_ATTEMPT_LOAD, err, ret_refusal);
	return err;
}

void ezprof_usdt_fallback_free(struct ezprof_usdt_fallback *fallback)
{
	if (!fallback)
		return;
	ezprof_usdt__destroy(fallback->skeleton);
	free(fallback);
}

/* The program that takes this probe's hits; NULL: nobody listens to it. */
static const struct bpf_program *program_of(const struct ezprof_usdt_fallback *f, uint32_t probe)
{
	if (probe == EZ_PROBE_window)
		return f->paths & EZPROF_PATH_WINDOW ? f->skeleton->progs.ezprof_window : NULL;
	if (probe < EZ_PROBE_BOUNDARY_COUNT && f->paths & EZPROF_PATH_BOUNDARY)
		return f->skeleton->progs.ezprof_boundary;
	return NULL;
}

/* All sites of one probe. */
static int attach_probe(const struct ezprof_usdt_fallback *f, pid_t pid, int object_fd,
			uint32_t file, uint32_t probe, struct ezprof_usdt_links *links)
{
	LIBBPF_OPTS(bpf_usdt_opts, options, .usdt_cookie = EZ_COOKIE(file, probe));
	const struct bpf_program *program = program_of(f, probe);
	struct bpf_link *link;
	char path[32];

	if (!program)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", object_fd);
	link = bpf_program__attach_usdt(program, pid ? pid : -1, path, EZ_PROVIDER,
					probe_names[probe], &options);
	if (!link)
		return -errno;
	links->links[links->count++] = link;
	return 0;
}

int ezprof_usdt_fallback_attach(struct ezprof_usdt_fallback *f, pid_t pid,
				const struct ezprof_object *object, uint32_t file,
				struct ezprof_usdt_links **ret_links,
				struct ezprof_refusal *ret_refusal)
{
	struct ezprof_usdt_links *links = calloc(1, sizeof(*links));
	libbpf_print_fn_t print = libbpf_set_print(print_nothing);
	const struct ezprof_elf *elf = &object->elf;
	int err = links ? 0 : -ENOMEM;

	/* Sites are in the order of probes: libbpf takes all of a probe at once. */
	for (uint32_t i = 0; i < elf->site_count && !err; i++) {
		if (i == 0 || elf->sites[i].probe != elf->sites[i - 1].probe)
			err = attach_probe(f, pid, object->fd, file, elf->sites[i].probe, links);
	}
	libbpf_set_print(print);
	if (!err) {
		*ret_links = links;
		return 0;
	}
	ezprof_usdt_links_close(links);
	if (ret_refusal && (err == -EPERM || err == -EACCES))
		ezprof_privileges_explain(EZPROF_ATTEMPT_PERF_EVENT, err, ret_refusal);
	return err;
}

void ezprof_usdt_links_close(struct ezprof_usdt_links *links)
{
	if (!links)
		return;
	for (size_t i = 0; i < links->count; i++)
		bpf_link__destroy(links->links[i]);
	free(links);
}

size_t ezprof_usdt_links_count(const struct ezprof_usdt_links *links)
{
	return links ? links->count : 0;
}
