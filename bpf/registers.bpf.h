/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probe arguments: they sit in the registers of the calling convention (see usdt/sdt.h), so that
 * reading one is one load. No user memory is read.
 */
#ifndef EZ_REGISTERS_BPF_H
#define EZ_REGISTERS_BPF_H

#include "vmlinux.h"

#if defined(__TARGET_ARCH_x86)
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

#endif
