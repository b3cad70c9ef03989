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

/*
 * Where a probe's semaphore lies: one counter per probe, side by side. In this order one 8-byte
 * load answers for each call of endpoint.h whether anybody listens to anything it does: window
 * listens to all of them. (Who listens to spans must listen to window as well.)
 */
enum ez_semaphore_place {
	EZ_PLACE_publish,
	EZ_PLACE_lease,
	EZ_PLACE_free,
	EZ_PLACE_window,
	EZ_PLACE_callback_end,
	EZ_PLACE_callback_begin,
	EZ_PLACE_spans,
	EZ_PLACE_backpressure_begin,
	EZ_PLACE_backpressure_end,
	EZ_PLACE_endpoint_open,
	EZ_PLACE_endpoint_close,
	EZ_PLACE_SPARE,
	EZ_PLACES
};

extern volatile uint16_t ez_probe_semaphores[EZ_PLACES]
	__attribute__((visibility("hidden"), aligned(32)));

static inline enum ez_semaphore_place ez_probe_place(enum ez_probe probe)
{
	switch (probe) {
#define EZ_PROBE_PLACE(name, nargs, args, meaning) \
	case EZ_PROBE_##name: \
		return EZ_PLACE_##name;
		EZ_PROBE_LIST(EZ_PROBE_PLACE)
#undef EZ_PROBE_PLACE
	case EZ_PROBE_COUNT:
		break;
	}
	return EZ_PLACE_SPARE;
}

static inline bool ez_probe_enabled(enum ez_probe probe)
{
#if EZ_PROBES
	return __builtin_expect(ez_probe_semaphores[ez_probe_place(probe)] != 0, 0);
#else
	(void)probe;
	return false;
#endif
}

/* Whether anybody listens to one of the four probes from this place on. */
static inline bool ez_probe_any_of_four(enum ez_semaphore_place first)
{
#if EZ_PROBES
	typedef uint64_t four __attribute__((may_alias, aligned(2)));
	/* Not through a volatile type: this way it is one compare with memory. */
	const four *word = (const four *)(uintptr_t)&ez_probe_semaphores[first];

	return __builtin_expect(*word != 0, 0);
#else
	(void)first;
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
/* `bytes` and `spans` say how much of the page is meant; bucket_layout.h says what lies there. */
void ez_probe_window(uint64_t endpoint, const void *page, uint64_t bytes, uint64_t bucket_id,
		     uint64_t total_before);
void ez_probe_spans(uint64_t endpoint, const void *page, uint64_t spans);

#endif
