/* SPDX-License-Identifier: MIT */
/*
 * The PROFILE document (docs/profile-json.md) out of the answers of one fan-out. Per endpoint an
 * agent's object goes before the process's own, and of two agents' the one that covers more of the
 * window. No I/O; the clocks come as arguments.
 */
#ifndef EZPROF_REPLY_MERGE_H
#define EZPROF_REPLY_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "fanout.h"

struct ezprof_document_origin {
	const char *host;
	ez_mono_ns_t time_ns;
	double time_unix_s;
};

/*
 * Reads the answer of a target that has answered, so that this is done while others are still
 * waited for. Not needed for the merge.
 */
void ezprof_reply_read(struct ezprof_fanout *fanout, size_t index);

/* ret_json: terminated, the caller's to free(). 0 or -ENOMEM. */
int ezprof_reply_merge(const struct ezprof_fanout *fanout,
		       const struct ezprof_document_origin *origin, char **ret_json,
		       size_t *ret_len);

#endif
