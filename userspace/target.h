/* SPDX-License-Identifier: MIT */
/*
 * One measured process: who it is, what was opened of it, its registries, and what they said at
 * the attach. What goes wrong with it is told in a sentence; who prints it is the program.
 */
#ifndef EZPROF_TARGET_H
#define EZPROF_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loss.h"
#include "opener.h"
#include "profile.h"
#include "registry_reader.h"
#include "usdt_fallback.h"

#define EZPROF_SENTENCE_BYTES 320
/* How a process comes to have probes. */
#define EZPROF_PROBES_HINT \
	"It has to link libezmsg; a Python program is to be started by: ezprof run -- python ..."

/* What an endpoint had counted when the attach was complete. */
struct ezprof_attach_total {
	uint32_t generation; /* 0: no endpoint had this index */
	struct ezprof_running running;
};

/* An instrumented object file in the process, with a registry of its own. */
struct ezprof_target_object {
	uint32_t file; /* its number in map keys; the same file has the same number everywhere */
	struct ezprof_registry_reader *reader;	  /* NULL: the file has no registry */
	const struct ezprof_endpoints *endpoints; /* of the newest reading; NULL: none so far */
	int read_err;				  /* of the newest reading */
	struct ezprof_attach_total *at_attach;	  /* by index */
	size_t at_attach_count;
	bool linked;		   /* it is attached to; */
	uint64_t attached_ns;	   /* its hits count from then on */
	uint64_t from_id;	   /* window path: its first whole bucket, on its own clock */
	uint64_t sched_from_id;	   /* --sched: as from_id; 0: its threads aren't looked at so far */
	uint64_t sched_table;	   /* address of its threads' words; 0: as above */
	uint32_t sched_place;	   /* its number among those that are looked at */
	struct ezprof_links links; /* count 0: links that aren't filtered by process do it */
	struct ezprof_usdt_links *usdt_links; /* likewise NULL */
};

struct ezprof_target {
	struct ezprof_process *process;
	pid_t ns_pid;		 /* its pid in its own pid namespace */
	int64_t clock_offset_ns; /* its CLOCK_MONOTONIC minus the host's */
	enum ezprof_target_state state;
	bool linked; /* everything is attached */
	uint64_t exited_ns;
	struct ezprof_row *last_rows; /* after its end: how its endpoints ended */
	size_t last_row_count;
	size_t object_count;
	struct ezprof_target_object *objects;
};

/*
 * Opens a process. On failure ret_sentence says why, without the pid.
 * Errors: -ESRCH no such process; -ECHILD a zombie; -EINVAL the id of a thread; -ENOENT it has no
 * probes, or none that can be attached to; -EPERM, -EACCES with ret_refusal (may be NULL) filled;
 * -ENOMEM; -EPIPE the opener is gone.
 */
int ezprof_target_open(struct ezprof_opener *opener, pid_t pid, struct ezprof_target **ret_target,
		       struct ezprof_refusal *ret_refusal,
		       char ret_sentence[EZPROF_SENTENCE_BYTES]);

/* Looks for objects that weren't there (libraries loaded later), and adds them at the end. */
int ezprof_target_rescan(struct ezprof_opener *opener, struct ezprof_target *target);

/* As of the newest reading: it runs another program than the one that was opened. */
bool ezprof_target_executed(const struct ezprof_target *target);

/*
 * Whether one of its objects is of that graph, host:port; as of the newest reading. A loopback
 * address of another network namespace names another graph than ours with the same address.
 */
bool ezprof_target_uses(const struct ezprof_target *target, size_t object, const char *graph);

/* Likewise: the graph that the object names, NULL: none that can be reached from here. */
const char *ezprof_target_graph(const struct ezprof_target *target, size_t object);

/* Closes what was opened, its own links too. NULL is fine. */
void ezprof_target_free(struct ezprof_target *target);

/* Reads all its registries. now_ns: CLOCK_MONOTONIC. Errors are kept per object. */
void ezprof_target_refresh(struct ezprof_target *target, uint64_t now_ns);

/* The same while nobody asks: see ezprof_registry_glance(). */
void ezprof_target_glance(struct ezprof_target *target, uint64_t now_ns);

/* Notes the newest reading as what was there when the attach was complete; once per object. */
int ezprof_target_note_attach(struct ezprof_target *target);

/*
 * The same by windows, for objects whose first whole bucket had begun at read_ns, when the newest
 * reading was made.
 */
int ezprof_target_note_begun(struct ezprof_target *target, uint64_t read_ns);

/* When an object's first whole bucket begins, on our clock. */
uint64_t ezprof_target_from_ns(const struct ezprof_target *target,
			       const struct ezprof_target_object *object);

/* Open endpoints, and the largest number of buffers of one, as of the newest reading. */
size_t ezprof_target_endpoints(const struct ezprof_target *target, uint32_t *ret_buffers_max);

#endif
