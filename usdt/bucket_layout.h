/* SPDX-License-Identifier: MIT */
/*
 * The page in which an instrumented process gathers what happens to one endpoint, bucket by bucket
 * of 2^27 ns, and the page of spans behind it. Read from outside: by BPF when the `window` or
 * `spans` probe hands a page over, by a profiler through the process's memory at any time. ABI, and
 * to its readers hostile input. Compiles alone under both compilers. Writers: bucket.c, spans.c.
 */
#ifndef EZ_BUCKET_LAYOUT_H
#define EZ_BUCKET_LAYOUT_H

#ifdef __bpf__
#include "vmlinux.h"
typedef __u64 ez_b64;
typedef __u32 ez_b32;
#else
#include <stdint.h>
typedef uint64_t ez_b64;
typedef uint32_t ez_b32;
#endif

/* Window geometry; window_shared.h says the same, and a file that includes both checks it. */
#define EZ_BUCKET_SHIFT 27u /* ns: 134.2 ms a bucket; a bucket's id is its time >> 27 */
#define EZ_INTERVALS 4u

#define EZ_PAGE_BYTES 4096u
/* Pages of one endpoint, one after the other: its bucket, its spans. */
#define EZ_PAGES_PER_ENTRY 2u

#define EZ_HIST_BINS 192u
#define EZ_HISTS 3u /* of intervals 0 to 2 */

/* What only extremes and distributions need. min_ns is all ones where n is 0. */
struct ez_shape {
	ez_b64 gap_max_at_ns; /* end of the longest gap (interval 2) */
	ez_b64 min_ns[EZ_INTERVALS];
	ez_b64 max_ns[EZ_INTERVALS];
	ez_b32 hist[EZ_HISTS][EZ_HIST_BINS];
};

/*
 * The current bucket. Intervals (enum ez_interval) are in the bucket in which they ended, each with
 * its whole length. `seq` is odd while an update is in progress, from before the clock is read
 * until the hand-over that it caused has returned. Clearing leaves seq and open_since_ns alone.
 * Times are on the process's CLOCK_MONOTONIC.
 */
struct ez_bucket {
	ez_b64 seq;
	ez_b64 id;	     /* 0: nothing was ever counted */
	ez_b64 total_before; /* the endpoint's total when the bucket began: publisher: messages;
				link, client: frees - disconnect_frees */
	ez_b64 bytes;
	ez_b32 messages; /* as the total counts them */
	ez_b32 drops;
	ez_b32 n[EZ_INTERVALS];
	ez_b64 sum_ns[EZ_INTERVALS];
	ez_b64 carry_ns;		    /* interval 1: the part that lies before this bucket */
	ez_b64 open_since_ns[EZ_INTERVALS]; /* start of what is open, 0: nothing. 1: the wait, or
					       the callback; 2: the last message */
	struct ez_shape shape;
};

/* What a reader takes apart from the shape. */
#define EZ_BUCKET_HEAD_BYTES 128u

/*
 * Right behind the bucket, of the same bucket: how long a thread said that it works for the
 * endpoint (thread_layout.h), so that what it did in that time is known. Like an interval it
 * counts, whole, where it ended. Clearing leaves the last two alone.
 */
struct ez_covered {
	ez_b64 covered_ns;
	ez_b64 carry_ns; /* the part that lies before this bucket */
	ez_b64 since_ns; /* in progress since then; 0: not, or put aside */
	ez_b64 kept_ns;	 /* earlier parts of the one in progress */
};
#define EZ_COVERED_OFFSET 2504u

#define EZ_BUCKET_ID(ns) ((ns) >> EZ_BUCKET_SHIFT)

/* One message at one endpoint; a time that isn't known is 0. */
struct ez_span {
	ez_b64 message_id;
	ez_b64 bytes;
	ez_b32 tid; /* of the thread that ended it, in the process's pid namespace */
	ez_b32 reserved;
	ez_b64 start_ns;  /* link, client: lease; publisher: it began to wait, if it did */
	ez_b64 begin_ns;  /* client: callback_begin; publisher: it stopped waiting */
	ez_b64 finish_ns; /* client: callback_end */
	ez_b64 end_ns;	  /* link, client: free; publisher: publish */
};

#define EZ_SPANS_PER_PAGE 64u

struct ez_span_page {
	ez_b64 seq; /* as in the bucket */
	ez_b32 count;
	ez_b32 reserved;
	ez_b64 first_total; /* the endpoint's total (as in the bucket) before the first span */
	ez_b64 since_ns;    /* when the first span came */
	ez_b64 bucket_id;   /* of the page's first span */
	ez_b64 reserved2[3];
	unsigned char publisher_id[16];
	struct ez_span spans[EZ_SPANS_PER_PAGE];
};

_Static_assert(sizeof(struct ez_shape) == 2376, "shared with BPF");
_Static_assert(sizeof(struct ez_bucket) == 2504, "shared with BPF");
_Static_assert(__builtin_offsetof(struct ez_bucket, shape) == EZ_BUCKET_HEAD_BYTES, "one read");
_Static_assert(sizeof(struct ez_bucket) == EZ_COVERED_OFFSET, "side by side");
_Static_assert(sizeof(struct ez_covered) == 32, "shared with BPF");
_Static_assert(sizeof(struct ez_span) == 56, "shared with BPF");
_Static_assert(sizeof(struct ez_span_page) <= EZ_PAGE_BYTES, "BPF reads one page");

#endif
