/* SPDX-License-Identifier: MIT */
/* The probes of an object file in words: what they tell, and how bpftrace listens to them. */
#ifndef EZPROF_PROBE_VIEW_H
#define EZPROF_PROBE_VIEW_H

#include <stdint.h>
#include <sys/types.h>

#include "buffer.h"
#include "elf_notes.h"
#include "json_writer.h"
#include "probe_list.h"

struct ezprof_probe_file {
	const char *path; /* hostile text */
	const struct ezprof_elf *elf;
	pid_t pid; /* 0: the file alone, no process */
	/* By probe: the value of its semaphore in the process, -1 = not known. */
	int32_t listeners[EZ_PROBE_COUNT];
};

/* Pure. The buffer's sticky error tells of a failure. */
void ezprof_probe_view(struct ez_buffer *out, const struct ezprof_probe_file *file);

/* The same as one object. */
void ezprof_probe_view_json(struct ez_json *json, const struct ezprof_probe_file *file);

#endif
