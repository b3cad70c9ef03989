/* SPDX-License-Identifier: MIT */
/*
 * Typed wrappers: ez_probe_<name>() fires the probe, ez_probe_enabled() says whether anybody
 * listens. Built with EZ_PROBES=0 nothing is ever fired and nothing is left in the object; that
 * build is what the benchmarks compare with.
 *
 * Each probe has exactly one site per object, in an out-of-line function: a disabled probe costs
 * its caller one load and one predicted branch, and its arguments are computed only when somebody
 * listens. The kernel manages the semaphores; nobody else may write them, and they are only ever
 * tested for non-zero.
 *
 * All functions: any thread, async-signal-safe, no errors.
 */
#ifndef EZ_PROBES_H
#define EZ_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "probe_list.h"

#ifndef EZ_PROBES
#define EZ_PROBES 1
#endif

/* One counter per probe, side by side, so that an 8-byte load can test four. */
extern volatile uint16_t ez_probe_semaphores[(EZ_PROBE_COUNT + 3) & ~3]
	__attribute__((visibility("hidden"), aligned(8)));

static inline bool ez_probe_enabled(enum ez_probe probe)
{
#if EZ_PROBES && defined(__x86_64__)
	bool raised;

	/* Compared in memory; a volatile load would take an instruction and a register more. */
	__asm__ volatile("cmpw $0, %1" : "=@ccne"(raised) : "m"(ez_probe_semaphores[probe]));
	return __builtin_expect(raised, 0);
#elif EZ_PROBES
	return __builtin_expect(ez_probe_semaphores[probe] != 0, 0);
#else
	(void)probe;
	return false;
#endif
}

/* For argument meanings see probe_list.h; strings are NUL-terminated and never NULL. */
void ez_probe_publish(uint64_t endpoint, uint64_t message_id, uint64_t bytes,
		      uint64_t messages_total, const char *topic);
void ez_probe_lease(uint64_t endpoint, uint64_t message_id, uint64_t num_buffers,
		    uint64_t leases_total, const char *topic, const char *handle);
void ez_probe_free(uint64_t endpoint, uint64_t message_id, uint64_t num_buffers,
		   uint64_t frees_total, uint64_t bytes, const char *handle);
void ez_probe_callback_begin(uint64_t endpoint, uint64_t message_id, uint64_t num_buffers,
			     const char *topic, const char *handle);
void ez_probe_callback_end(uint64_t endpoint, uint64_t message_id, uint64_t num_buffers,
			   const char *topic, const char *handle, uint64_t excluded_ns);
void ez_probe_backpressure_begin(uint64_t endpoint, uint64_t message_id, const char *topic);
void ez_probe_backpressure_end(uint64_t endpoint, uint64_t message_id, const char *topic);
void ez_probe_endpoint_open(uint64_t endpoint, uint64_t kind, const char *topic,
			    const char *handle);
void ez_probe_endpoint_close(uint64_t endpoint, uint64_t kind, const char *topic,
			     const char *handle);

#endif
