/* SPDX-License-Identifier: MIT */
/*
 * One USDT probe site: a one-byte nop (x86-64; the only nop there is on aarch64), a stapsdt note,
 * arguments in the registers that the calling convention gives them. The only file with assembler.
 *
 * One byte, because a longer nop is rewritten into a call by some kernels (seen on 6.18): that
 * overwrites the red zone of a leaf function and kills children forked while attached.
 * Fixed registers, because a plain uprobe program then reads its arguments without decoding the
 * note, while bpftrace, perf and libbpf still can.
 */
#ifndef EZ_SDT_H
#define EZ_SDT_H

#include <stdint.h>

/* clang-format off */
#if defined(__x86_64__)
#define EZ_SDT_REG0 "rdi"
#define EZ_SDT_REG1 "rsi"
#define EZ_SDT_REG2 "rdx"
#define EZ_SDT_REG3 "rcx"
#define EZ_SDT_REG4 "r8"
#define EZ_SDT_REG5 "r9"
#define EZ_SDT_REG_NAME(r) "%%" r
#elif defined(__aarch64__)
#define EZ_SDT_REG0 "x0"
#define EZ_SDT_REG1 "x1"
#define EZ_SDT_REG2 "x2"
#define EZ_SDT_REG3 "x3"
#define EZ_SDT_REG4 "x4"
#define EZ_SDT_REG5 "x5"
#define EZ_SDT_REG_NAME(r) r
#else
#error "probe sites are written for x86-64 and aarch64 only"
#endif

#define EZ_SDT_ARG(r) "8@" EZ_SDT_REG_NAME(r)
#define EZ_SDT_ARGS3 EZ_SDT_ARG(EZ_SDT_REG0) " " EZ_SDT_ARG(EZ_SDT_REG1) " " EZ_SDT_ARG(EZ_SDT_REG2)
#define EZ_SDT_ARGS4 EZ_SDT_ARGS3 " " EZ_SDT_ARG(EZ_SDT_REG3)
#define EZ_SDT_ARGS5 EZ_SDT_ARGS4 " " EZ_SDT_ARG(EZ_SDT_REG4)
#define EZ_SDT_ARGS6 EZ_SDT_ARGS5 " " EZ_SDT_ARG(EZ_SDT_REG5)

/*
 * The note is that of <sys/sdt.h>, version 3: location, base, semaphore; provider, name, arguments.
 * `place` picks the 16-bit semaphore out of the table in probes.c.
 */
#define EZ_SDT_SITE(name, place, argstring, ...) \
	__asm__ volatile( \
		"990:	nop\n" \
		"	.pushsection .note.stapsdt,\"\",\"note\"\n" \
		"	.balign 4\n" \
		"	.4byte 992f-991f, 994f-993f, 3\n" \
		"991:	.asciz \"stapsdt\"\n" \
		"992:	.balign 4\n" \
		"993:	.8byte 990b\n" \
		"	.8byte _.stapsdt.base\n" \
		"	.8byte ez_probe_semaphores + 2 * %c[sem]\n" \
		"	.asciz \"ezmsg\"\n" \
		"	.asciz \"" #name "\"\n" \
		"	.asciz \"" argstring "\"\n" \
		"994:	.balign 4\n" \
		"	.popsection\n" \
		"	.ifndef _.stapsdt.base\n" \
		"	.pushsection .stapsdt.base,\"aGR\",\"progbits\",.stapsdt.base,comdat\n" \
		"	.weak _.stapsdt.base\n" \
		"	.hidden _.stapsdt.base\n" \
		"_.stapsdt.base: .space 1\n" \
		"	.size _.stapsdt.base, 1\n" \
		"	.popsection\n" \
		"	.endif\n" \
		: : [sem] "i"(place), __VA_ARGS__ : "memory")
/* clang-format on */

/* Pins one argument: `register uint64_t a __asm__("rdi") = value`. */
#define EZ_SDT_PIN(n, value) register uint64_t ez_arg##n __asm__(EZ_SDT_REG##n) = (uint64_t)(value)

#endif
