/* SPDX-License-Identifier: MIT */
/*
 * Which processes of this machine belong to ezmsg graphs: those with probes (their registries say
 * what they have and of which graph they are), graph servers (by their marks, and by who listens
 * where a graph is said to be), and those that are connected to one though they have no probes.
 * Processes that share memory as ezmsg's Python ones do are named too, without knowing their graph.
 * Servers that only users name whose word doesn't count are shown, and marked as such.
 * Nothing is sent to anybody. What may not be looked into is named, with the reason.
 * Threads: any may take one; a census is one thread's at a time.
 */
#ifndef EZPROF_CENSUS_H
#define EZPROF_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "parse.h"
#include "refused_processes.h"
#include "target.h"

#define EZPROF_CENSUS_GRAPHS_MAX 64u
#define EZPROF_CENSUS_PROCESSES_MAX 4096u

struct ezprof_census_graph {
	char address[EZ_ADDRESS_BYTES];
	uint16_t port;
	bool here;    /* an address of this machine: what is not listened to is gone */
	bool ours;    /* a mark says that its server is one of ezprof's */
	bool used;    /* a process with probes, in our network, names it */
	bool named;   /* EZMSG_GRAPHSERVER_ADDR is it */
	bool foreign; /* only a mark or a process of a user says so whose word doesn't count, */
	uid_t foreign_uid; /* namely of this one (trusted_users.h) */
	bool listens;	   /* here: somebody listens there; */
	pid_t server_pid;  /* namely this one; 0: not known */
};

struct ezprof_census_process {
	pid_t pid;
	char comm[96];				     /* valid UTF-8, of 15 bytes */
	struct ezprof_target *target;		     /* it has probes; NULL: it has none */
	const struct ezprof_census_graph *serves;    /* it listens there; NULL: nowhere */
	const struct ezprof_census_graph *connected; /* without probes of that graph */
	unsigned int connections;
	/* Neither probes nor a known server, but segments open that may be ezmsg's. */
	bool shares_memory;
};

struct ezprof_census {
	struct ezprof_census_graph graphs[EZPROF_CENSUS_GRAPHS_MAX];
	size_t n_graphs;
	struct ezprof_census_process *list; /* by ascending pid */
	size_t count, room;
	struct ezprof_refused_processes refused; /* those that may not be looked into */
	bool hidden;	 /* /proc doesn't show processes of other users (hidepid) */
	size_t left_out; /* graphs or processes beyond the limits */
};

/*
 * False: there is no process that we could look into, a service's for one, and the opener, which
 * wants system calls that services forbid themselves, would be started for nothing. Any thread.
 */
bool ezprof_census_sees_any(void);

/* Errors: those of starting the opener and of /proc; -ENOMEM. */
int ezprof_census_take(struct ezprof_census **ret_census);
void ezprof_census_free(struct ezprof_census *census); /* NULL is fine */

/* The graph of one of a target's objects; NULL: it names none. */
const struct ezprof_census_graph *ezprof_census_graph(const struct ezprof_census *census,
						      const struct ezprof_target *target,
						      size_t object);

#endif
