/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The spans path: a process hands a page of spans over, and it is copied into the ring.
 *
 * Safety: a record is this program's alone from reserve to submit, and the page stays as it is,
 * since its process waits in the hit. Counters are raised by atomic adds, as another program may
 * interrupt this one on its CPU. No scratch space but the stack.
 */
#include "spans_maps.bpf.h"
#include "hit.bpf.h"
#include "registers.bpf.h"
#include "probe_list.h"

/* What stands in a page before its spans. */
struct page_head {
	__u64 seq;
	__u32 count, reserved;
	__u64 first_total, since_ns, bucket_id, reserved2[3];
	unsigned char publisher_id[16];
};
_Static_assert(sizeof(struct page_head) == __builtin_offsetof(struct ez_span_page, spans),
	       "the head of struct ez_span_page");

struct hand_over {
	__u64 endpoint;
	__u64 page;
	__u32 file;
	struct ez_span_counters *counted;
	struct page_head head;
};

EZ_INLINE __u64 wake_flag(void)
{
	return bpf_ringbuf_query(&span_ring, BPF_RB_AVAIL_DATA) >= span_wake_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* `room` is a constant at each call: the verifier wants to know the size. */
EZ_INLINE void put(const struct hand_over *h, __u32 room)
{
	__u32 bytes = room * sizeof(struct ez_span);
	struct ez_span_record *to = bpf_ringbuf_reserve(&span_ring, sizeof(*to) + bytes, 0);

	if (!to) {
		EZ_ADD(&h->counted->no_room, h->head.count);
		return;
	}
	if (bpf_probe_read_user(to->spans, bytes, (const void *)(h->page + sizeof(h->head)))) {
		EZ_ADD(&h->counted->unreadable, h->head.count);
		bpf_ringbuf_discard(to, BPF_RB_NO_WAKEUP);
		return;
	}
	to->tgid = ez_current_tgid();
	to->file = h->file;
	to->endpoint = h->endpoint;
	to->first_total = h->head.first_total;
	to->since_ns = h->head.since_ns;
	to->count = h->head.count;
	to->room = room;
	to->reserved = 0;
	__builtin_memcpy(to->publisher_id, h->head.publisher_id, sizeof(to->publisher_id));
	bpf_ringbuf_submit(to, wake_flag());
	EZ_ADD(&h->counted->records, 1);
	EZ_ADD(&h->counted->spans, h->head.count);
}

EZ_INLINE void take(struct hand_over *h, __u64 count)
{
	if (!count || count > EZ_SPANS_PER_PAGE)
		count = 1;
	else if (!bpf_probe_read_user(&h->head, sizeof(h->head), (const void *)h->page) &&
		 h->head.count == count)
		goto whole;
	EZ_ADD(&h->counted->unreadable, count);
	return;
whole:
	if (count <= EZ_SPAN_RECORD_FEW)
		put(h, EZ_SPAN_RECORD_FEW);
	else if (count <= EZ_SPAN_RECORD_SOME)
		put(h, EZ_SPAN_RECORD_SOME);
	else
		put(h, EZ_SPANS_PER_PAGE);
}

EZ_PROGRAM(ezprof_spans)
{
	__u32 zero = 0, tgid = ez_current_tgid();
	struct hand_over h = {
		.endpoint = EZ_ARG0(r),
		.page = EZ_ARG1(r),
		.file = EZ_COOKIE_FILE(cookie),
		.counted = bpf_map_lookup_elem(&span_counters, &zero),
	};
	struct ez_hit hit = {.counters = bpf_map_lookup_elem(&counters, &zero)};

	if (!h.counted || !hit.counters)
		return 0;
	EZ_ADD(&hit.counters->hits[EZ_PROBE_spans], 1);
	if (!bpf_map_lookup_elem(&targets, &tgid))
		ez_hit_lose(&hit, EZ_LOSS_NOT_A_TARGET);
	else
		take(&h, EZ_ARG2(r));
	return 0;
}
