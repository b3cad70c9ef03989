/* SPDX-License-Identifier: MIT */
/*
 * Argument strings of stapsdt notes: ours, somebody else's that libbpf's USDT support can read, and
 * those that nobody here can. Pure; the text is hostile.
 */
#ifndef EZPROF_USDT_ARGUMENTS_H
#define EZPROF_USDT_ARGUMENTS_H

enum ezprof_usdt_arguments {
	EZPROF_ARGUMENTS_CANONICAL, /* in the argument registers, 8 bytes each */
	EZPROF_ARGUMENTS_READABLE,  /* in other registers, in memory behind one, or constant */
	/* Scaled index, relative to the instruction pointer, floating point, another count. What
	   libbpf 1.1 can't read, or would read wrongly. */
	EZPROF_ARGUMENTS_UNREADABLE,
};

/* `count` arguments are expected, at most 6. */
enum ezprof_usdt_arguments ezprof_usdt_arguments_judge(const char *text, unsigned int count);

#endif
