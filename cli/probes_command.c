/* SPDX-License-Identifier: MIT */
/* `ezprof probes`: the USDT probes of a process or of a file. */
#include "probes_command.h"
#include "exit_status.h"
#include "json_writer.h"
#include "output.h"
#include "parse.h"
#include "probe_view.h"
#include "target.h"
#include "usual_options.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "ezprof probes"

struct options {
	struct ezprof_usual_options usual;
	const char *what;
};

/* What is printed: text, or one JSON object. */
struct page {
	bool is_json;
	struct ez_buffer out;
	struct ez_json json;
};

static const struct argp_option option_table[] = {
	EZPROF_OPTION_JSON,
	{0},
};

static const char doc[] =
	"\nLists the probes of a process (by its pid) or of a program or library (by its file; "
	"./4242 "
	"for a file with such a name): what each tells, its arguments, and how bpftrace listens to "
	"it.\n"
	"\nExamples:\n"
	"  ezprof probes 4242\n"
	"  ezprof probes /usr/lib/x86_64-linux-gnu/libezmsg.so\n"
	"\v"
	"Exit status: 0; 1 failure; 2 usage; 4 no such process, or no probes; 77 not permitted.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (o->what) {
			fprintf(stderr, "%s: '%.60s': one process or file is wanted\n", PROGRAM,
				argument);
			exit(EZPROF_EXIT_USAGE);
		}
		o->what = argument;
		return 0;
	case ARGP_KEY_END:
		if (o->what)
			return 0;
		fprintf(stderr, "%s: which process, or which file? (ezprof ps lists processes)\n",
			PROGRAM);
		exit(EZPROF_EXIT_USAGE);
	default:
		return ezprof_usual_option(key, argument, state, &o->usual);
	}
}

static void begin(struct page *page, pid_t pid)
{
	ez_buffer_init(&page->out, SIZE_MAX / 2);
	ez_json_init(&page->json, &page->out);
	if (!page->is_json)
		return;
	ez_json_object_begin(&page->json);
	ez_json_key(&page->json, "pid");
	if (pid)
		ez_json_u64(&page->json, (uint64_t)pid);
	else
		ez_json_null(&page->json);
	ez_json_key(&page->json, "files");
	ez_json_array_begin(&page->json);
}

static void put_file(struct page *page, const struct ezprof_probe_file *file)
{
	if (page->is_json)
		ezprof_probe_view_json(&page->json, file);
	else
		ezprof_probe_view(&page->out, file);
}

static int finish(struct page *page)
{
	if (page->is_json) {
		ez_json_array_end(&page->json);
		ez_json_object_end(&page->json);
		ez_buffer_append_text(&page->out, "\n");
	}
	return ezprof_output_buffer(PROGRAM, &page->out);
}

static int32_t listeners_of(struct ezprof_target *target, const struct ezprof_object *object,
			    uint64_t semaphore_vaddr)
{
	uint16_t value;

	if (!semaphore_vaddr ||
	    ezprof_memory_read_fd(&target->process->mem_fd, object->bias + semaphore_vaddr, &value,
				  sizeof(value)))
		return -1;
	return value;
}

static void put_object(struct page *page, struct ezprof_target *target, uint32_t i)
{
	const struct ezprof_object *object = &target->process->objects[i];
	struct ezprof_probe_file file = {
		.path = object->path, .elf = &object->elf, .pid = target->process->pid};

	for (uint32_t p = 0; p < EZ_PROBE_COUNT; p++)
		file.listeners[p] = -1;
	for (uint32_t s = 0; s < object->elf.site_count; s++)
		file.listeners[object->elf.sites[s].probe] =
			listeners_of(target, object, object->elf.sites[s].semaphore_vaddr);
	put_file(page, &file);
}

static int refuse(pid_t pid, int err, const char *sentence, const struct ezprof_refusal *refusal)
{
	fprintf(stderr, "%s: process %d: %s\n", PROGRAM, (int)pid, sentence);
	if (err == -EPERM || err == -EACCES) {
		fprintf(stderr, "  why: %s\n  now: %s\n", refusal->why, refusal->now);
		return EZPROF_EXIT_NOPERM;
	}
	return err == -ESRCH || err == -ECHILD || err == -EINVAL || err == -ENOENT
		       ? EZPROF_EXIT_NOTHING
		       : EZPROF_EXIT_FAILURE;
}

static int show_process(struct page *page, pid_t pid)
{
	char sentence[EZPROF_SENTENCE_BYTES] = "";
	struct ezprof_refusal refusal = {0};
	struct ezprof_target *target;
	struct ezprof_opener *opener;
	int status, err = ezprof_opener_start(&opener);

	if (err) {
		fprintf(stderr, "%s: %s\n", PROGRAM, strerror(-err));
		return EZPROF_EXIT_FAILURE;
	}
	err = ezprof_target_open(opener, pid, &target, &refusal, sentence);
	ezprof_opener_stop(opener);
	if (err)
		return refuse(pid, err, sentence, &refusal);
	begin(page, pid);
	for (uint32_t i = 0; i < target->process->object_count; i++)
		put_object(page, target, i);
	status = finish(page);
	ezprof_target_free(target);
	return status;
}

static int show_elf(struct page *page, const char *name, const struct ezprof_elf *elf)
{
	char *path = realpath(name, NULL);
	struct ezprof_probe_file file = {.path = path ? path : name, .elf = elf};
	int status;

	for (uint32_t p = 0; p < EZ_PROBE_COUNT; p++)
		file.listeners[p] = -1;
	begin(page, 0);
	put_file(page, &file);
	status = finish(page);
	free(path);
	return status;
}

static int complain(const char *name, const char *why, int status)
{
	fprintf(stderr, "%s: %.200s: %s\n", PROGRAM, name, why);
	return status;
}

static int show_file(struct page *page, const char *name)
{
	struct ezprof_elf *elf = calloc(1, sizeof(*elf));
	/* O_NONBLOCK: a FIFO must not keep us. */
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int status, err = fd < 0 ? -errno : 0;
	struct stat st;

	if (!elf)
		status = complain(name, "no memory", EZPROF_EXIT_FAILURE);
	else if (err)
		status = complain(name, strerror(-err),
				  err == -EACCES ? EZPROF_EXIT_NOPERM : EZPROF_EXIT_NOTHING);
	else if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		status = complain(name, "is no file", EZPROF_EXIT_NOTHING);
	else if ((err = ezprof_elf_read(fd, elf)))
		status = complain(name, strerror(-err), EZPROF_EXIT_FAILURE);
	else if (elf->verdict != EZPROF_ELF_PROBES)
		status = complain(name, ezprof_elf_verdict_text(elf->verdict), EZPROF_EXIT_NOTHING);
	else
		status = show_elf(page, name, elf);
	if (fd >= 0)
		close(fd);
	free(elf);
	return status;
}

int ezprof_probes_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "PID|FILE", doc,
					 NULL,	       NULL,	     NULL};
	struct options o = {0};
	struct page page;
	pid_t pid;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	page.is_json = o.usual.json;
	return ez_parse_pid(o.what, &pid) == 0 ? show_process(&page, pid)
					       : show_file(&page, o.what);
}
