/* SPDX-License-Identifier: MIT */
/* A target: what the opener opens of a process, and which of its files have probes. */
#include "opener.h"
#include "opener_message.h"
#include "proc_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More files than any honest process executes. */
#define FILES_MAX 4096u

/* A look through the mapped files under way. */
struct search {
	struct ezprof_opener *opener;
	struct ezprof_process *process;
	struct ezprof_refusal *refusal; /* may be NULL */
	int refused;			/* a file that may not be opened: the errno */
};

/*
 * Valgrind reads the program's code and executes a translation: where the kernel has put a
 * breakpoint it finds one of the program's own, and the program dies of SIGTRAP. It has each
 * program that it runs load a file of that name.
 */
static bool is_of_valgrind(const struct ezprof_proc_map *map)
{
	const char *slash = strrchr(map->path, '/');

	return slash && strncmp(slash + 1, "vgpreload_", strlen("vgpreload_")) == 0;
}

/* Mappings of one copy of an object all have the same bias. */
static void note_copy(struct ezprof_process *p, const struct ezprof_proc_map *map)
{
	for (uint32_t i = 0; i < p->object_count; i++) {
		struct ezprof_object *object = &p->objects[i];
		uint64_t bias;

		if (object->in_maps.device == map->device && object->in_maps.inode == map->inode &&
		    !ezprof_elf_bias(&object->elf, map->start, map->offset, &bias))
			object->twice = object->twice || bias != object->bias;
	}
}

static bool was_seen(const struct ezprof_process *p, const struct ezprof_proc_map *map)
{
	for (uint32_t i = 0; i < p->searched; i++) {
		if (p->seen[i].device == map->device && p->seen[i].inode == map->inode)
			return true;
	}
	return false;
}

static int note_seen(struct ezprof_process *p, const struct ezprof_proc_map *map)
{
	struct ezprof_file_id *seen;

	if (p->searched == FILES_MAX)
		return -E2BIG;
	seen = reallocarray(p->seen, p->searched + 1, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	p->seen = seen;
	seen[p->searched++] = (struct ezprof_file_id){.device = map->device, .inode = map->inode};
	return 0;
}

static int add_object(struct ezprof_process *p, const struct ezprof_object *object)
{
	struct ezprof_object *objects;

	objects = reallocarray(p->objects, p->object_count + 1, sizeof(*objects));
	if (!objects)
		return -ENOMEM;
	p->objects = objects;
	objects[p->object_count++] = *object;
	return 0;
}

static int keep_object(struct ezprof_process *p, const struct ezprof_proc_map *map,
		       struct ezprof_object *object)
{
	struct stat st;
	int err;

	if (fstat(object->fd, &st))
		return -errno;
	object->device = st.st_dev;
	object->inode = st.st_ino;
	object->in_maps = (struct ezprof_file_id){.device = map->device, .inode = map->inode};
	err = ezprof_elf_bias(&object->elf, map->start, map->offset, &object->bias);
	if (err)
		return err;
	object->path = strdup(map->path);
	if (!object->path)
		return -ENOMEM;
	err = add_object(p, object);
	if (err)
		free(object->path);
	return err;
}

static void note_refused(struct ezprof_process *p, const struct ezprof_proc_map *map,
			 const struct ezprof_elf *elf)
{
	enum ezprof_elf_verdict verdict = elf->verdict;

	if (verdict == EZPROF_ELF_NONE || verdict == EZPROF_ELF_NOT_ELF || p->refused_path)
		return;
	p->refused_path = strdup(map->path);
	p->refused = verdict;
	if (verdict == EZPROF_ELF_ARGUMENTS)
		memcpy(p->refused_arguments, elf->arguments, sizeof(p->refused_arguments));
}

static int open_object(struct search *s, const struct ezprof_proc_map *map, int *ret_fd)
{
	struct ezprof_opener_request request = {
		.op = EZPROF_OPENER_OBJECT,
		.pid = s->process->pid,
		.start_time = s->process->start_time,
		.map_start = map->start,
		.map_end = map->end,
	};
	struct ezprof_opener_answer answer;
	struct ezprof_opener_fds fds;
	int err = ezprof_opener_ask(s->opener, &request, -1, &answer, &fds);

	if (err == -EPERM || err == -EACCES) {
		s->refused = err;
		if (s->refusal)
			*s->refusal = answer.refusal;
	}
	if (!err)
		*ret_fd = fds.fds[0];
	return err;
}

/* 0 too where the file is none of ours, may not be opened, or was unmapped in the meantime. */
static int look_at(struct search *s, const struct ezprof_proc_map *map)
{
	struct ezprof_object object = {.fd = -1};
	int err = open_object(s, map, &object.fd);

	if (err)
		return err == -ENOENT || err == s->refused ? 0 : err;
	err = ezprof_elf_read(object.fd, &object.elf);
	if (!err && object.elf.verdict == EZPROF_ELF_PROBES) {
		err = keep_object(s->process, map, &object);
		if (!err)
			return 0;
	} else if (!err) {
		note_refused(s->process, map, &object.elf);
	}
	close(object.fd);
	/* A file that can't be read is none that we can attach to; others may be. */
	return err == -ENOMEM ? err : 0;
}

static int search(struct search *s)
{
	struct ezprof_proc_maps maps;
	struct ezprof_proc_map map;
	int err = ezprof_proc_maps_read(s->process->maps_fd, &maps);

	if (err)
		return err;
	while (!err && ezprof_proc_maps_next(&maps, &map)) {
		if (!map.executable || !map.inode)
			continue;
		if (is_of_valgrind(&map))
			s->process->under_valgrind = true;
		if (was_seen(s->process, &map)) {
			note_copy(s->process, &map);
			continue;
		}
		err = note_seen(s->process, &map);
		if (!err)
			err = look_at(s, &map);
	}
	ezprof_proc_maps_free(&maps);
	return err;
}

static int open_process(struct ezprof_opener *opener, pid_t pid, struct ezprof_process *p,
			struct ezprof_refusal *ret_refusal)
{
	struct ezprof_opener_request request = {.op = EZPROF_OPENER_PROCESS, .pid = pid};
	struct ezprof_opener_answer answer;
	struct ezprof_opener_fds fds;
	int err = ezprof_opener_ask(opener, &request, -1, &answer, &fds);

	if ((err == -EPERM || err == -EACCES) && ret_refusal)
		*ret_refusal = answer.refusal;
	if (err)
		return err;
	p->pid = pid;
	p->start_time = answer.info.start_time;
	p->uid = answer.info.uid;
	memcpy(p->comm, answer.info.comm, sizeof(p->comm));
	p->namespaces = answer.namespaces;
	p->pid_fd = fds.fds[0];
	p->mem_fd = fds.fds[1];
	p->maps_fd = fds.fds[2];
	return 0;
}

static void forget_objects(struct ezprof_process *p)
{
	for (uint32_t i = 0; i < p->object_count; i++) {
		close(p->objects[i].fd);
		free(p->objects[i].path);
	}
	p->object_count = 0;
}

int ezprof_opener_target(struct ezprof_opener *opener, pid_t pid,
			 struct ezprof_process **ret_process, struct ezprof_refusal *ret_refusal)
{
	struct ezprof_process *p = calloc(1, sizeof(*p));
	struct search s = {.opener = opener, .process = p, .refusal = ret_refusal};
	int err;

	if (!p)
		return -ENOMEM;
	p->pid_fd = p->mem_fd = p->maps_fd = -1;
	err = open_process(opener, pid, p, ret_refusal);
	if (!err)
		err = search(&s);
	if (!err && p->under_valgrind)
		forget_objects(p);
	/* Without any object, the one that could not be opened may be the one. */
	if (!err && s.refused && !p->object_count)
		err = s.refused;
	if (err)
		ezprof_process_free(p);
	else
		*ret_process = p;
	return err;
}

int ezprof_opener_rescan(struct ezprof_opener *opener, struct ezprof_process *process)
{
	struct search s = {.opener = opener, .process = process};

	return search(&s);
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void ezprof_process_free(struct ezprof_process *process)
{
	if (!process)
		return;
	close_if_open(process->pid_fd);
	close_if_open(process->mem_fd);
	close_if_open(process->maps_fd);
	forget_objects(process);
	free(process->objects);
	free(process->seen);
	free(process->refused_path);
	free(process);
}
