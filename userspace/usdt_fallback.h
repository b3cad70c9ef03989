/* SPDX-License-Identifier: MIT */
/*
 * The way in for probes whose arguments aren't in the argument registers (somebody else's build):
 * the same programs, reading arguments by libbpf's USDT support, over the same maps. libbpf makes
 * perf_event links, one per site, and needs the rights for that itself: so such objects are
 * attached to before rights are given up, and later ones can't be. One thread.
 */
#ifndef EZPROF_USDT_FALLBACK_H
#define EZPROF_USDT_FALLBACK_H

#include <stdint.h>
#include <sys/types.h>

#include "loader.h"
#include "opener.h"

struct ezprof_usdt_fallback;
struct ezprof_usdt_links;

/*
 * Loads the programs of bpf's paths but spans; `bpf` must outlive it. For errors see
 * ezprof_bpf_load().
 */
int ezprof_usdt_fallback_load(const struct ezprof_bpf *bpf,
			      struct ezprof_usdt_fallback **ret_fallback,
			      struct ezprof_refusal *ret_refusal);
/* All its links must be closed. NULL is fine. */
void ezprof_usdt_fallback_free(struct ezprof_usdt_fallback *fallback);

/*
 * Attaches to all probes of an object; pid 0: of every process that maps it. Errors: those of
 * libbpf (-EINVAL: it can't read the arguments), with ret_refusal (may be NULL) filled where it was
 * a refusal.
 */
int ezprof_usdt_fallback_attach(struct ezprof_usdt_fallback *fallback, pid_t pid,
				const struct ezprof_object *object, uint32_t file,
				struct ezprof_usdt_links **ret_links,
				struct ezprof_refusal *ret_refusal);

/* Detaches: 0.1 s for each. NULL is fine. */
void ezprof_usdt_links_close(struct ezprof_usdt_links *links);
size_t ezprof_usdt_links_count(const struct ezprof_usdt_links *links); /* 0 for NULL */

#endif
