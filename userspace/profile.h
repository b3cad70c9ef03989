/* SPDX-License-Identifier: MIT */
/*
 * A profile as plain values: what a snapshot collects and what a report renders. No pointers to
 * anything that changes; strings are borrowed from the snapshot that filled it.
 * docs/profile-json.md says what each figure means.
 */
#ifndef EZPROF_PROFILE_H
#define EZPROF_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fold.h"
#include "loss.h"
#include "probe_list.h"
#include "registry_reader.h"
#include "sched_shared.h"
#include "window_shared.h"

/* One endpoint: a row per registry entry. */
struct ezprof_row {
	struct ezprof_endpoint endpoint;
	struct ezprof_window window; /* of the kernel's counts; all 0 if there are none */
	struct ezprof_loss loss;
	pid_t pid;	   /* of the process, as the profiler sees it */
	uint32_t registry; /* rows of one registry carry one number */
	/* set by ezprof_profile_sort() */
	size_t first_part, part_count; /* publisher, channel: its links or clients */
	bool is_given;		       /* link, client: has an owner */
};

/* clang-format off */
#define EZPROF_TARGET_STATE_LIST(X) \
	X(ATTACHED, "attached") \
	X(EXITED, "exited")

/* Who didn't answer or not properly: the document's `reason`. */
#define EZPROF_REASON_LIST(X) \
	X(TIMEOUT, "timeout") \
	X(DIED, "died") \
	X(BAD_JSON, "bad_json") \
	X(BAD_ANSWER, "bad_answer") \
	X(LATE, "late") \
	X(UNREADABLE, "unreadable") \
	X(HOSTILE, "hostile") \
	X(INCOMPLETE, "incomplete")
/* clang-format on */

#define EZPROF_PROFILE_ENUM_STATE(name, text) EZPROF_TARGET_##name,
enum ezprof_target_state { EZPROF_TARGET_STATE_LIST(EZPROF_PROFILE_ENUM_STATE) };
#undef EZPROF_PROFILE_ENUM_STATE
#define EZPROF_PROFILE_ENUM_REASON(name, text) EZPROF_REASON_##name,
enum ezprof_reason { EZPROF_REASON_LIST(EZPROF_PROFILE_ENUM_REASON) };
#undef EZPROF_PROFILE_ENUM_REASON

struct ezprof_attached {
	pid_t pid;
	const char *comm;
	uint64_t start_time;
	enum ezprof_target_state state;
	uint64_t exited_ns; /* 0: it lives */
};

struct ezprof_fault {
	pid_t pid; /* of the process that is meant */
	enum ezprof_reason reason;
	char detail[160];
};

/* The same of --sched alone. */
struct ezprof_sched_cost {
	bool known;
	uint64_t hits;
	double hits_per_s, ns_per_hit, cpu_share; /* negative = not known */
	uint64_t losses[EZ_SCHED_LOSS_COUNT];
};

/* What measuring costs; negative = not known. */
struct ezprof_cost {
	struct ezprof_sched_cost sched;
	uint64_t hits;
	double hits_per_s;
	double ns_per_hit;
	double agent_cpu_share;
	double probes_cpu_share; /* BPF programs alone, of one CPU */
	uint64_t map_bytes;
};

struct ezprof_profile {
	uint64_t window_ns; /* requested */
	uint64_t now_ns;
	double unix_s;
	const char *host;
	struct ezprof_row *rows; /* sorted: ezprof_profile_sort() */
	size_t row_count;
	const struct ezprof_attached *attached;
	size_t attached_count;
	const struct ezprof_fault *faults;
	size_t fault_count;
	pid_t agent_pid, opener_pid;
	uint64_t attached_ns;
	uint32_t paths;	 /* of enum ezprof_path, or-ed: what the figures come from */
	bool perf_event; /* links are perf_event's, not uprobe_multi's */
	uint64_t losses[EZ_LOSS_COUNT];
	struct ezprof_cost cost;
};

/*
 * Brings the rows into the order that the functions below need: publishers, links by publisher,
 * channels, clients by channel; in each the older ones first.
 */
void ezprof_profile_sort(struct ezprof_profile *profile);

/* Rows of one kind; they lie side by side. */
const struct ezprof_row *ezprof_profile_kind(const struct ezprof_profile *profile,
					     enum ez_endpoint_kind kind, size_t *ret_count);

/*
 * The links of a publisher, or the clients of a channel; side by side. Where several owners in one
 * registry claim one id, the oldest has them all.
 */
const struct ezprof_row *ezprof_profile_parts(const struct ezprof_profile *profile,
					      const struct ezprof_row *owner, size_t *ret_count);

/* Publishers' and clients' loss added up. known: all of them are; exact: likewise. */
void ezprof_profile_lost(const struct ezprof_profile *profile, struct ezprof_loss *ret_loss);

/* Messages of a row that were to be counted: publishes, or frees without the departed. */
uint64_t ezprof_row_messages(const struct ezprof_row *row);

/* Open leases now. */
uint64_t ezprof_row_in_flight(const struct ezprof_row *row);

#endif
