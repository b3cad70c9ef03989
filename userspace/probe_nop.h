/* SPDX-License-Identifier: MIT */
/*
 * Is there a one-byte nop (aarch64: the nop)? Anything longer is rewritten into a call by some
 * kernels; anything else is no probe site, and a breakpoint there would change the program.
 */
#ifndef EZPROF_PROBE_NOP_H
#define EZPROF_PROBE_NOP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static inline bool ezprof_is_probe_nop(int fd, uint64_t offset)
{
#if defined(__x86_64__)
	static const unsigned char nop[] = {0x90};
#elif defined(__aarch64__)
	static const unsigned char nop[] = {0x1f, 0x20, 0x03, 0xd5};
#else
#error "probe sites are written for x86-64 and aarch64 only"
#endif
	unsigned char found[sizeof(nop)];

	return offset <= INT64_MAX &&
	       pread(fd, found, sizeof(found), (off_t)offset) == (ssize_t)sizeof(found) &&
	       memcmp(found, nop, sizeof(nop)) == 0;
}

#endif
