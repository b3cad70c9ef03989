/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Included before everything else in a build of the BPF programs that can be stopped on demand: at
 * a step of the one that counts steps down to 0, by reading a page of the process that isn't there
 * until a userfaultfd provides it. So two programs overlap on one CPU, exactly where a test wants
 * them to. With EZ_TEST_UNPROTECTED what protects them is taken out.
 */
#ifndef EZ_STOPS_BPF_H
#define EZ_STOPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#define EZ_SECTION "uprobe.s"
#define EZ_SCRATCH_BYTES 4096

/* Steps until the stop, 0: none; and the page. Set by the test. */
extern __u64 stop_countdown, stop_page;

static __attribute__((noinline, unused)) int ez_stop(void)
{
	__u8 byte;

	if (!stop_countdown || __sync_fetch_and_add(&stop_countdown, -1) != 1)
		return 0;
	return bpf_copy_from_user(&byte, sizeof(byte), (const void *)stop_page);
}

#define EZ_RING_STEP() ((void)ez_stop())

#ifndef EZ_TEST_UNPROTECTED
/* A page that isn't there is waited for instead of refused, which makes the read itself a step. */
#define bpf_probe_read_user(to, bytes, from) \
	({ \
		long err_ = bpf_copy_from_user(to, bytes, from); \
		ez_stop(); \
		err_; \
	})
#else
/* Sums by load and store; and room to copy to that is shared. */
#define EZ_ADD(p, value) \
	({ \
		__u64 was_ = *(volatile __u64 *)(p); \
		ez_stop(); \
		*(volatile __u64 *)(p) = was_ + (value); \
	})

extern __u8 scratch[EZ_SCRATCH_BYTES];

static __attribute__((always_inline)) inline long ez_read_by_scratch(void *to, __u32 bytes,
								     const void *from)
{
	long err = bpf_copy_from_user(scratch, bytes, from);

	ez_stop();
	return err ? err : bpf_probe_read_kernel(to, bytes, scratch);
}

#define bpf_probe_read_user(to, bytes, from) ez_read_by_scratch(to, bytes, from)
#endif

#endif
