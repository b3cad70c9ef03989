/* SPDX-License-Identifier: MIT */
/*
 * What is being measured: the targets, the BPF side, and the links between them. Made in the order
 * new, add for each process, start, then ezprof_privileges_drop(); from then on it needs no rights.
 * One thread.
 */
#ifndef EZPROF_MEASUREMENT_H
#define EZPROF_MEASUREMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loader.h"
#include "map_reader.h"
#include "opener.h"
#include "sched_reader.h"
#include "target.h"
#include "usdt_fallback.h"
#include "window_reader.h"

/* Up to so many processes get links of their own; more share one link per file. */
#define EZPROF_OWN_LINKS_MAX 8u

struct ezprof_measurement {
	struct ezprof_opener *opener; /* NULL once it is gone */
	struct ezprof_bpf *bpf;
	struct ezprof_maps *maps;
	struct ezprof_usdt_fallback *fallback; /* NULL: nobody needed it so far */
	struct ezprof_buckets *buckets; /* NULL: not measured by windows, but by boundaries only */
	struct ezprof_scheds *scheds;	/* NULL: without --sched */
	struct ezprof_target **targets;
	size_t target_count;
	struct ezprof_measured_file {
		uint64_t device, inode;
		struct ezprof_links links; /* shared ones, where links aren't filtered by process */
		struct ezprof_usdt_links *usdt_links;
	} * files; /* number of a file = its place here */
	size_t file_count;
	uint64_t attached_ns;
	uint64_t kept_ns; /* window of what is kept of a process that ends */
	bool started;
	bool filtered; /* nobody else's semaphore was raised */
};

/* Starts the opener: call it before there is any thread. Errors: -ENOMEM, those of fork(). */
int ezprof_measurement_new(struct ezprof_measurement **ret_measurement);

/* Detaches and closes everything; NULL is fine. */
void ezprof_measurement_free(struct ezprof_measurement *measurement);

/* Adds a process; for errors and the sentence see ezprof_target_open(). -EEXIST: it is there. */
int ezprof_measurement_add(struct ezprof_measurement *measurement, pid_t pid,
			   struct ezprof_refusal *ret_refusal,
			   char ret_sentence[EZPROF_SENTENCE_BYTES]);

/* A target that could not be attached to. */
typedef void ezprof_measurement_failed(void *context, const struct ezprof_target *target, int err,
				       const char *sentence);

#define EZPROF_PATHS_DEFAULT EZPROF_PATH_WINDOW

/* With both paths windows are shown; boundaries count beside them. */
struct ezprof_measurement_options {
	uint32_t endpoints_max;	  /* 0: from what is found */
	uint32_t paths;		  /* of enum ezprof_path, or-ed; 0: EZPROF_PATHS_DEFAULT */
	uint32_t span_ring_bytes; /* room for recordings; 0: there will be none */
	bool perf_event;	  /* don't use uprobe_multi */
	bool shared;		  /* more processes may come: one link per file for all of them */
	bool run_stats;		  /* see loader.h */
	bool sched;		  /* what threads do while they work; window path only */
	uint64_t kept_ns;	  /* window of what is kept of a process that ends; 0: 2 s */
	ezprof_measurement_failed *failed;
	void *context;
};

/*
 * Loads BPF, attaches to every target, notes what they had counted then. A target that fails is
 * told to `failed` and dropped; the others go on.
 * Errors: -ESRCH none was left (with `shared` that is no error); those of ezprof_bpf_load() and of
 * the last link, with ret_refusal filled where it was a refusal.
 */
int ezprof_measurement_start(struct ezprof_measurement *measurement,
			     const struct ezprof_measurement_options *options,
			     struct ezprof_refusal *ret_refusal);

/*
 * Attaches to a target that was added after the start. Errors: those of its links, with the
 * sentence that says so; then it is no target, and freed.
 */
int ezprof_measurement_attach(struct ezprof_measurement *measurement, struct ezprof_target *target,
			      struct ezprof_refusal *ret_refusal,
			      char ret_sentence[EZPROF_SENTENCE_BYTES]);

/* Takes back the adding of a target that wasn't attached to, and frees it. */
void ezprof_measurement_remove(struct ezprof_measurement *measurement,
			       struct ezprof_target *target);

/*
 * Looks for objects that a living target has mapped since, and attaches to them. ret_found: how
 * many. Errors: those of the opener.
 */
int ezprof_measurement_rescan(struct ezprof_measurement *measurement, struct ezprof_target *target,
			      size_t *ret_found);

/* Glances at the registries of all living targets; slots of closed endpoints go to others. */
void ezprof_measurement_refresh(struct ezprof_measurement *measurement);

/*
 * The process has ended, or executed another program: keeps how its endpoints ended, and gives its
 * slots to others.
 */
void ezprof_measurement_exited(struct ezprof_measurement *measurement,
			       struct ezprof_target *target);

/* Forgets those that ended first, where many have. Pointers to them are void. */
void ezprof_measurement_forget(struct ezprof_measurement *measurement);

/* The living target with that pid; NULL: there is none. */
struct ezprof_target *ezprof_measurement_find(const struct ezprof_measurement *measurement,
					      pid_t pid);

/* Targets that are alive. */
size_t ezprof_measurement_alive(const struct ezprof_measurement *measurement);

/* Links that are open: one per file, or one per site where the kernel has perf_event only. */
size_t ezprof_measurement_links(const struct ezprof_measurement *measurement);

/*
 * The names of those probes of an object that the chosen paths want and that it hasn't: an older or
 * altered build. Returns how many.
 */
unsigned int ezprof_measurement_missing(const struct ezprof_measurement *measurement,
					const struct ezprof_elf *elf, char *ret_names,
					size_t bytes);

/* Detaches from everything but keeps what was counted. About 0.1 s per link. */
void ezprof_measurement_detach(struct ezprof_measurement *measurement);

#endif
