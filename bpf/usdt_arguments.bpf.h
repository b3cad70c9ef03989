/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probe arguments by libbpf's USDT support; included by registers.bpf.h only. The copy is on the
 * stack: an argument that can't be read is 0, which no endpoint is.
 */
#ifndef EZ_USDT_ARGUMENTS_BPF_H
#define EZ_USDT_ARGUMENTS_BPF_H

/* So that bpf_tracing.h takes the registers' names from our header. */
#define __VMLINUX_H__
#include "vmlinux.h"
#include <stdbool.h>
#define BPF_USDT_MAX_SPEC_CNT 1024
#include <bpf/usdt.bpf.h>

typedef struct ez_arguments {
	__u64 a[6];
} ez_registers;

#define EZ_ARG0(r) ((r)->a[0])
#define EZ_ARG1(r) ((r)->a[1])
#define EZ_ARG2(r) ((r)->a[2])
#define EZ_ARG3(r) ((r)->a[3])
#define EZ_ARG4(r) ((r)->a[4])
#define EZ_ARG5(r) ((r)->a[5])

static inline __attribute__((always_inline)) void ez_arguments_read(struct pt_regs *ctx,
								    struct ez_arguments *to)
{
	long value;

#pragma unroll
	for (int i = 0; i < 6; i++) {
		bpf_usdt_arg(ctx, i, &value);
		to->a[i] = value;
	}
}

#define EZ_PROGRAM(name) \
	EZ_INLINE int name##_hit(__u64 cookie, const ez_registers *r); \
	SEC("usdt") \
	int name(struct pt_regs *ctx) \
	{ \
		struct ez_arguments arguments; \
\
		ez_keep_own_stack(ctx); \
		ez_arguments_read(ctx, &arguments); \
		return name##_hit(bpf_usdt_cookie(ctx), &arguments); \
	} \
	EZ_INLINE int name##_hit(__u64 cookie, const ez_registers *r)

#endif
