/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probe arguments, and the entry of a program that gets them. Ours sit in the registers of the
 * calling convention (see usdt/sdt.h), so that reading one is one load; no user memory is read.
 *
 * Compiled with EZ_USDT the same programs read them from wherever the note of the probe says, by
 * libbpf's USDT support: for probes that somebody else's build has put elsewhere.
 *
 * EZ_PROGRAM(name) { ... } is a program whose body sees `cookie` and `r`.
 */
#ifndef EZ_REGISTERS_BPF_H
#define EZ_REGISTERS_BPF_H

#include "vmlinux.h"

#if defined(EZ_USDT)
#include "usdt_arguments.bpf.h"
#elif defined(__TARGET_ARCH_x86)
typedef struct pt_regs ez_registers;
#define EZ_ARG0(r) ((r)->di)
#define EZ_ARG1(r) ((r)->si)
#define EZ_ARG2(r) ((r)->dx)
#define EZ_ARG3(r) ((r)->cx)
#define EZ_ARG4(r) ((r)->r8)
#define EZ_ARG5(r) ((r)->r9)
#elif defined(__TARGET_ARCH_arm64)
typedef struct user_pt_regs ez_registers;
#define EZ_ARG0(r) ((r)->regs[0])
#define EZ_ARG1(r) ((r)->regs[1])
#define EZ_ARG2(r) ((r)->regs[2])
#define EZ_ARG3(r) ((r)->regs[3])
#define EZ_ARG4(r) ((r)->regs[4])
#define EZ_ARG5(r) ((r)->regs[5])
#else
#error "the registers of probe arguments are known for x86-64 and aarch64 only"
#endif

/* Tests build variants that may sleep. */
#ifndef EZ_SECTION
#define EZ_SECTION "kprobe"
#endif

/* The loader sets the attach type: uprobe_multi where the kernel has it. */
#if !defined(EZ_USDT)
#define EZ_PROGRAM(name) \
	EZ_INLINE int name##_hit(__u64 cookie, const ez_registers *r); \
	SEC(EZ_SECTION) \
	int name(ez_registers *ctx) \
	{ \
		ez_keep_own_stack(ctx); \
		return name##_hit(bpf_get_attach_cookie(ctx), ctx); \
	} \
	EZ_INLINE int name##_hit(__u64 cookie, const ez_registers *r)
#endif

#endif
