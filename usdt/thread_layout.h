/* SPDX-License-Identifier: MIT */
/*
 * What each thread of an instrumented process is at work on: a word per thread and kind of work,
 * read from outside by BPF when the kernel takes the thread off its CPU. ABI, and to its readers
 * hostile input. Compiles alone under both compilers. Writer: thread_work.h.
 *
 * The table lies in memory of its own, EZ_THREAD_SETS sets of EZ_THREAD_WAYS threads; a thread is
 * in set (tid % EZ_THREAD_SETS), by its id in its own pid namespace. A thread that finds no room is
 * not there: what it does is not known.
 */
#ifndef EZ_THREAD_LAYOUT_H
#define EZ_THREAD_LAYOUT_H

#ifdef __bpf__
#include "vmlinux.h"
typedef __u64 ez_t64;
typedef __u32 ez_t32;
#else
#include <stdint.h>
typedef uint64_t ez_t64;
typedef uint32_t ez_t32;
#endif

#define EZ_THREAD_SETS 64u
#define EZ_THREAD_WAYS 4u

/* Kinds of work. A thread may be at both: a subscriber's code publishes, and has to wait. */
enum ez_work_kind {
	EZ_WORK_CALLBACK, /* user code has a message of that client */
	EZ_WORK_WAIT,	  /* that publisher waits for a buffer or a socket */
	EZ_WORK_KINDS
};

/* Written by its thread: endpoint 0, then since_ns, then endpoint. */
struct ez_work {
	ez_t64 endpoint; /* EZ_ENDPOINT_REF; 0: none */
	ez_t64 since_ns; /* the process's CLOCK_MONOTONIC */
};

struct ez_thread {
	struct ez_work work[EZ_WORK_KINDS];
};

struct ez_thread_set {
	ez_t32 tid[EZ_THREAD_WAYS]; /* 0: free. An ended thread's is given to another one. */
	ez_t64 reserved[6];
	struct ez_thread threads[EZ_THREAD_WAYS];
};

struct ez_thread_table {
	struct ez_thread_set sets[EZ_THREAD_SETS];
};

_Static_assert(sizeof(struct ez_thread) == 32, "shared with BPF");
_Static_assert(sizeof(struct ez_thread_set) == 192, "shared with BPF");
_Static_assert(sizeof(struct ez_thread_table) == 12288, "shared with BPF");

#endif
