/* SPDX-License-Identifier: MIT */
/*
 * The other end of an agent's unix socket: who is there, and what they have measured. Only
 * sockets that root or this user listens on count: the kernel says who does. Blocking, with
 * deadlines; any thread.
 */
#ifndef EZPROF_AGENT_CLIENT_H
#define EZPROF_AGENT_CLIENT_H

#include <stddef.h>
#include <sys/types.h>

#include "clock.h"
#include "spans_stream.h"

#define EZPROF_AGENT_GRAPHS_MAX 16u
#define EZPROF_AGENT_GRAPH_BYTES 128u

struct ezprof_agent_found {
	char path[108];
	pid_t pid;
	size_t graph_count;
	char graphs[EZPROF_AGENT_GRAPHS_MAX][EZPROF_AGENT_GRAPH_BYTES]; /* host:port */
};

/* The agents on this machine that answer; up to max. Returns how many were written to ret_agents.
 */
size_t ezprof_agent_find(struct ezprof_agent_found *ret_agents, size_t max,
			 ez_mono_ns_t deadline_ns);

/*
 * The PROFILE document of one agent, restricted to a graph unless that is NULL; terminated, owned
 * by the caller. Errors: those of connect() and ez_link_read_u8(); -EPROTO.
 */
int ezprof_agent_ask(const struct ezprof_agent_found *agent, const char *graph, uint64_t window_ms,
		     ez_mono_ns_t deadline_ns, char **ret_json, size_t *ret_len);

/*
 * Begins a recording, restricted to a graph unless that is NULL; flags of EZPROF_STREAM_. Returns
 * the descriptor on which frames follow (spans_stream.h), owned by the caller. Errors: as above;
 * -ENODATA, -ECONNRESET: an agent of an older build.
 */
int ezprof_agent_record(const struct ezprof_agent_found *agent, const char *graph, uint32_t flags,
			ez_mono_ns_t deadline_ns);

#endif
