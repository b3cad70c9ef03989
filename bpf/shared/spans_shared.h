/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans on their way from BPF to user space: what one record of the ring holds, and what is
 * counted of those that don't get there. Compiles alone under both compilers.
 */
#ifndef EZ_SPANS_SHARED_H
#define EZ_SPANS_SHARED_H

#include "bucket_layout.h"
#include "window_shared.h"

/*
 * A record: one page of spans as the process handed it over. The verifier wants sizes that it
 * knows, and most pages of slow endpoints hold a few spans: so there are three sizes.
 */
struct ez_span_record {
	ez_u32 tgid;
	ez_u32 file;
	ez_u64 endpoint;    /* EZ_ENDPOINT_REF */
	ez_u64 first_total; /* as in the page */
	ez_u64 since_ns;    /* likewise, on the process's clock */
	ez_u32 count;	    /* of spans; */
	ez_u32 room;	    /* what lies behind them up to here is of no meaning */
	ez_u64 reserved;
	unsigned char publisher_id[16];
	struct ez_span spans[];
};
_Static_assert(sizeof(struct ez_span_record) == 64, "shared with BPF");

#define EZ_SPAN_RECORD_FEW 4u
#define EZ_SPAN_RECORD_SOME 16u

/* Per-CPU array `span_counters`, one value. All but `records` count spans. */
struct ez_span_counters {
	ez_u64 records, spans; /* in the ring */
	ez_u64 no_room;	       /* the ring was full */
	ez_u64 unreadable;     /* the page could not be read, or made no sense */
};
_Static_assert(sizeof(struct ez_span_counters) == 32, "shared with BPF");

#endif
