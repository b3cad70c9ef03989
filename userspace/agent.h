/* SPDX-License-Identifier: MIT */
/*
 * The agent at work: an event loop over the measured processes, the unix socket and the links to
 * graph servers. Runs without rights; what it has to say it hands to a function, printing is the
 * program's. One thread.
 */
#ifndef EZPROF_AGENT_H
#define EZPROF_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "discovery.h"
#include "graph_set.h"
#include "measurement.h"
#include "profile.h"

struct ezprof_agent;

/* Why the loop ended. */
enum ezprof_agent_end {
	EZPROF_END_SIGNAL,   /* SIGINT or SIGTERM */
	EZPROF_END_DURATION, /* the time is over */
	EZPROF_END_EXITED    /* no process is left */
};

struct ezprof_agent_options {
	uint64_t duration_ns; /* 0: without end */
	int socket_fd;	      /* of ezprof_agent_socket_open(); -1: none */
	char *socket_path;
	struct ezprof_discovery *discovery; /* borrowed */
	uid_t owner;			    /* sees all processes over the socket, as root does */
	/* A line for people, without a line break. */
	void (*say)(void *context, const char *line);
	void *context;
};

/*
 * Ready to run: `measurement` must be started; it and `graphs` must outlive it. Takes socket and
 * path over in any case. SIGINT and SIGTERM must be blocked since before there was any thread.
 * -ENOMEM.
 */
int ezprof_agent_new(struct ezprof_measurement *measurement, struct ezprof_graph_set *graphs,
		     const struct ezprof_agent_options *options, struct ezprof_agent **ret_agent);

/* Runs until something ends it. */
int ezprof_agent_run(struct ezprof_agent *agent, enum ezprof_agent_end *ret_end);

/*
 * A PROFILE document as of now, owned by the caller, NULL without memory; and what it comes to
 * (may be NULL). with_exited: also how processes ended that are gone.
 */
char *ezprof_agent_document(struct ezprof_agent *agent, uint64_t window_ns, bool with_exited,
			    struct ezprof_profile *ret_summary);

void ezprof_agent_free(struct ezprof_agent *agent); /* NULL is fine */

#endif
