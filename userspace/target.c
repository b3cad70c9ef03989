/* SPDX-License-Identifier: MIT */
#include "target.h"
#include "bucket_layout.h"
#include "graph_address.h"
#include "hello.h"
#include "parse.h"
#include "process_status.h"
#include "text.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_open_error(pid_t pid, int err, char *sentence)
{
	pid_t owner;

	switch (err) {
	case -ESRCH:
		snprintf(sentence, EZPROF_SENTENCE_BYTES, "no such process");
		return;
	case -ECHILD:
		snprintf(sentence, EZPROF_SENTENCE_BYTES,
			 "is a zombie: it has ended, its parent has not yet taken note");
		return;
	case -EINVAL:
		if (ezprof_process_of_thread(pid, &owner) == 0)
			snprintf(sentence, EZPROF_SENTENCE_BYTES, "is a thread of process %d",
				 (int)owner);
		else
			snprintf(sentence, EZPROF_SENTENCE_BYTES, "is the id of a thread");
		return;
	case -EPERM:
	case -EACCES:
		snprintf(sentence, EZPROF_SENTENCE_BYTES, "not permitted");
		return;
	default:
		snprintf(sentence, EZPROF_SENTENCE_BYTES, "cannot be opened: %s", strerror(-err));
	}
}

static void say_no_probes(const struct ezprof_process *process, char *sentence)
{
	const char *arguments = process->refused_arguments;
	char *path, *text;

	if (process->under_valgrind) {
		snprintf(sentence, EZPROF_SENTENCE_BYTES,
			 "runs under valgrind, where the first probe would end it (SIGTRAP): to "
			 "measure it, start it without");
		return;
	}
	if (!process->refused_path) {
		/* Not how many: of many processes it is one cause (complaints.h). */
		snprintf(sentence, EZPROF_SENTENCE_BYTES,
			 "has no ezprof probes: searched its mapped files. " EZPROF_PROBES_HINT);
		return;
	}
	path = ezprof_text_repair(process->refused_path, strlen(process->refused_path), 0);
	text = ezprof_text_repair(arguments, strlen(arguments), 0);
	snprintf(sentence, EZPROF_SENTENCE_BYTES, "has no usable ezprof probes: %.120s %s%s%.120s",
		 path ? path : "a file", ezprof_elf_verdict_text(process->refused),
		 *arguments ? ": " : "", text ? text : "");
	free(text);
	free(path);
}

static int open_registry(struct ezprof_target *target, size_t i)
{
	const struct ezprof_object *object = &target->process->objects[i];
	struct ezprof_registry_place place = {
		.memory = {ezprof_memory_read_fd, &target->process->mem_fd},
		.address = object->bias + object->elf.registry_vaddr,
		.owner_pid = target->ns_pid,
		.clock_offset_ns = target->clock_offset_ns,
	};

	if (!object->elf.has_registry)
		return 0;
	target->objects[i].reader = ezprof_registry_reader_new(&place);
	return target->objects[i].reader ? 0 : -ENOMEM;
}

/* Of the objects that the process has and the target doesn't. */
static int open_registries(struct ezprof_target *target)
{
	size_t before = target->object_count, n = target->process->object_count;
	struct ezprof_target_object *objects;
	size_t i;
	int err = 0;

	if (before == n)
		return 0;

	objects = calloc(n, sizeof(*objects));
	if (!objects)
		return -ENOMEM;
	if (before)
		memcpy(objects, target->objects, before * sizeof(*objects));
	free(target->objects);
	target->objects = objects;
	target->object_count = n;
	for (i = before; !err && i < n; i++)
		err = open_registry(target, i);
	return err;
}

int ezprof_target_rescan(struct ezprof_opener *opener, struct ezprof_target *target)
{
	int err = ezprof_opener_rescan(opener, target->process);

	return err ? err : open_registries(target);
}

int ezprof_target_open(struct ezprof_opener *opener, pid_t pid, struct ezprof_target **ret_target,
		       struct ezprof_refusal *ret_refusal, char ret_sentence[EZPROF_SENTENCE_BYTES])
{
	struct ezprof_target *target = calloc(1, sizeof(*target));
	int err;

	if (!target)
		return -ENOMEM;
	err = ezprof_opener_target(opener, pid, &target->process, ret_refusal);
	if (err) {
		say_open_error(pid, err, ret_sentence);
		goto fail;
	}
	if (target->process->object_count == 0) {
		say_no_probes(target->process, ret_sentence);
		err = -ENOENT;
		goto fail;
	}
	target->ns_pid = target->process->namespaces.ns_pid;
	target->clock_offset_ns = target->process->namespaces.clock_offset_ns;
	err = open_registries(target);
	if (err) {
		say_open_error(pid, err, ret_sentence);
		goto fail;
	}
	*ret_target = target;
	return 0;
fail:
	ezprof_target_free(target);
	return err;
}

const char *ezprof_target_graph(const struct ezprof_target *target, size_t object)
{
	const struct ezprof_endpoints *found = target->objects[object].endpoints;
	struct ez_address address;

	if (!found || !*found->graph_address)
		return NULL;
	if (target->process->namespaces.other_network &&
	    ez_parse_address(found->graph_address, &address) == 0 &&
	    ez_address_is_loopback(&address))
		return NULL;
	return found->graph_address;
}

bool ezprof_target_uses(const struct ezprof_target *target, size_t object, const char *graph)
{
	const char *own = ezprof_target_graph(target, object);

	return own && ezprof_same_graph(own, graph);
}

void ezprof_target_free(struct ezprof_target *target)
{
	size_t i;

	if (!target)
		return;
	for (i = 0; i < target->object_count; i++) {
		ezprof_links_close(&target->objects[i].links);
		ezprof_usdt_links_close(target->objects[i].usdt_links);
		ezprof_registry_reader_free(target->objects[i].reader);
		free(target->objects[i].at_attach);
	}
	free(target->objects);
	free(target->last_rows);
	if (target->process)
		ezprof_process_free(target->process);
	free(target);
}

typedef int read_registry(struct ezprof_registry_reader *reader, uint64_t now_ns,
			  const struct ezprof_endpoints **ret_endpoints);

static void read_registries(struct ezprof_target *target, uint64_t now_ns, read_registry *read)
{
	size_t i;

	for (i = 0; i < target->object_count; i++) {
		struct ezprof_target_object *object = &target->objects[i];

		if (object->reader)
			object->read_err = read(object->reader, now_ns, &object->endpoints);
	}
}

void ezprof_target_refresh(struct ezprof_target *target, uint64_t now_ns)
{
	read_registries(target, now_ns, ezprof_registry_read);
}

void ezprof_target_glance(struct ezprof_target *target, uint64_t now_ns)
{
	read_registries(target, now_ns, ezprof_registry_glance);
}

static struct ezprof_running running_of(const struct ezprof_endpoint *e)
{
	struct ezprof_running running = {.stable = e->totals.stable};

	if (e->kind == EZ_KIND_PUBLISHER) {
		running.total = e->totals.messages;
	} else {
		running.total = e->totals.frees;
		running.departed = e->totals.disconnect_frees;
	}
	return running;
}

static int note_object(struct ezprof_target_object *object)
{
	const struct ezprof_endpoints *found = object->endpoints;
	size_t i, n = 0;

	if (object->read_err || !found || object->at_attach)
		return 0;
	/* By ascending index. */
	if (found->count)
		n = found->list[found->count - 1].index + 1u;
	object->at_attach = calloc(n + 1, sizeof(object->at_attach[0]));
	if (!object->at_attach)
		return -ENOMEM;
	object->at_attach_count = n;
	for (i = 0; i < found->count; i++) {
		struct ezprof_attach_total *at = &object->at_attach[found->list[i].index];

		at->generation = found->list[i].generation;
		at->running = running_of(&found->list[i]);
	}
	return 0;
}

int ezprof_target_note_attach(struct ezprof_target *target)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < target->object_count; i++)
		err = note_object(&target->objects[i]);
	return err;
}

int ezprof_target_note_begun(struct ezprof_target *target, uint64_t read_ns)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < target->object_count; i++) {
		struct ezprof_target_object *object = &target->objects[i];

		if (object->from_id && read_ns >= ezprof_target_from_ns(target, object))
			err = note_object(object);
	}
	return err;
}

uint64_t ezprof_target_from_ns(const struct ezprof_target *target,
			       const struct ezprof_target_object *object)
{
	return (object->from_id << EZ_BUCKET_SHIFT) - (uint64_t)target->clock_offset_ns;
}

bool ezprof_target_executed(const struct ezprof_target *target)
{
	struct pollfd end = {.fd = target->process->pid_fd, .events = POLLIN};
	size_t i;

	for (i = 0; i < target->object_count; i++) {
		if (target->objects[i].reader && target->objects[i].read_err == -ESRCH)
			return poll(&end, 1, 0) == 0;
	}
	return false;
}

size_t ezprof_target_endpoints(const struct ezprof_target *target, uint32_t *ret_buffers_max)
{
	size_t i, j, count = 0;
	uint32_t buffers = 0;

	for (i = 0; i < target->object_count; i++) {
		const struct ezprof_endpoints *found = target->objects[i].endpoints;

		for (j = 0; found && j < found->count; j++) {
			count++;
			if (found->list[j].num_buffers > buffers)
				buffers = found->list[j].num_buffers;
		}
	}
	*ret_buffers_max = buffers;
	return count;
}
