/* SPDX-License-Identifier: MIT */
/* The probe sites, one per probe, and their semaphores. */
#include "probes.h"
#include "sdt.h"

/*
 * In a section of its own, writable: the kernel finds a semaphore by its file offset, so it must
 * not lie in .bss.
 */
volatile uint16_t ez_probe_semaphores[EZ_PLACES]
	__attribute__((visibility("hidden"), aligned(32), used, section(".probes"))) = {0};

#if EZ_PROBES
/* Never inlined or cloned: each copy would be one more site. Never left out: a list has no holes.
 */
#if defined(__clang__)
#define EZ_SITE __attribute__((noinline, used))
#else
#define EZ_SITE __attribute__((noinline, noclone, used))
#endif

/* clang-format off */
#define EZ_FIRE3(name, a, b, c) do { \
	EZ_SDT_PIN(0, a); EZ_SDT_PIN(1, b); EZ_SDT_PIN(2, c); \
	EZ_SDT_SITE(name, EZ_PLACE_##name, EZ_SDT_ARGS3, \
		    "r"(ez_arg0), "r"(ez_arg1), "r"(ez_arg2)); \
} while (0)
#define EZ_FIRE4(name, a, b, c, d) do { \
	EZ_SDT_PIN(0, a); EZ_SDT_PIN(1, b); EZ_SDT_PIN(2, c); EZ_SDT_PIN(3, d); \
	EZ_SDT_SITE(name, EZ_PLACE_##name, EZ_SDT_ARGS4, \
		    "r"(ez_arg0), "r"(ez_arg1), "r"(ez_arg2), "r"(ez_arg3)); \
} while (0)
#define EZ_FIRE5(name, a, b, c, d, e) do { \
	EZ_SDT_PIN(0, a); EZ_SDT_PIN(1, b); EZ_SDT_PIN(2, c); EZ_SDT_PIN(3, d); \
	EZ_SDT_PIN(4, e); \
	EZ_SDT_SITE(name, EZ_PLACE_##name, EZ_SDT_ARGS5, \
		    "r"(ez_arg0), "r"(ez_arg1), "r"(ez_arg2), "r"(ez_arg3), "r"(ez_arg4)); \
} while (0)
#define EZ_FIRE6(name, a, b, c, d, e, f) do { \
	EZ_SDT_PIN(0, a); EZ_SDT_PIN(1, b); EZ_SDT_PIN(2, c); EZ_SDT_PIN(3, d); \
	EZ_SDT_PIN(4, e); EZ_SDT_PIN(5, f); \
	EZ_SDT_SITE(name, EZ_PLACE_##name, EZ_SDT_ARGS6, \
		    "r"(ez_arg0), "r"(ez_arg1), "r"(ez_arg2), "r"(ez_arg3), "r"(ez_arg4), \
		    "r"(ez_arg5)); \
} while (0)
/* clang-format on */
#else
#define EZ_SITE
#define EZ_FIRE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#define EZ_FIRE4(name, a, b, c, d) (EZ_FIRE3(, a, b, c), (void)(d))
#define EZ_FIRE5(name, a, b, c, d, e) (EZ_FIRE4(, a, b, c, d), (void)(e))
#define EZ_FIRE6(name, a, b, c, d, e, f) (EZ_FIRE5(, a, b, c, d, e), (void)(f))
#endif

EZ_SITE void ez_probe_publish(uint64_t endpoint, uint64_t message_id, uint64_t bytes,
			      uint64_t messages_total, const char *topic)
{
	EZ_FIRE5(publish, endpoint, message_id, bytes, messages_total, (uintptr_t)topic);
}

EZ_SITE void ez_probe_lease(uint64_t endpoint, uint64_t message_id, uint64_t num_buffers,
			    uint64_t leases_total, const char *topic, const char *handle)
{
	EZ_FIRE6(lease, endpoint, message_id, num_buffers, leases_total, (uintptr_t)topic,
		 (uintptr_t)handle);
}

EZ_SITE void ez_probe_free(uint64_t endpoint, uint64_t message_id, uint64_t num_buffers,
			   uint64_t frees_total, uint64_t bytes, const char *handle)
{
	EZ_FIRE6(free, endpoint, message_id, num_buffers, frees_total, bytes, (uintptr_t)handle);
}

EZ_SITE void ez_probe_callback_begin(uint64_t endpoint, uint64_t message_id, uint64_t num_buffers,
				     const char *topic, const char *handle)
{
	EZ_FIRE5(callback_begin, endpoint, message_id, num_buffers, (uintptr_t)topic,
		 (uintptr_t)handle);
}

EZ_SITE void ez_probe_callback_end(uint64_t endpoint, uint64_t message_id, uint64_t num_buffers,
				   const char *topic, const char *handle, uint64_t excluded_ns)
{
	EZ_FIRE6(callback_end, endpoint, message_id, num_buffers, (uintptr_t)topic,
		 (uintptr_t)handle, excluded_ns);
}

EZ_SITE void ez_probe_backpressure_begin(uint64_t endpoint, uint64_t message_id, const char *topic)
{
	EZ_FIRE3(backpressure_begin, endpoint, message_id, (uintptr_t)topic);
}

EZ_SITE void ez_probe_backpressure_end(uint64_t endpoint, uint64_t message_id, const char *topic)
{
	EZ_FIRE3(backpressure_end, endpoint, message_id, (uintptr_t)topic);
}

EZ_SITE void ez_probe_endpoint_open(uint64_t endpoint, uint64_t kind, const char *topic,
				    const char *handle)
{
	EZ_FIRE4(endpoint_open, endpoint, kind, (uintptr_t)topic, (uintptr_t)handle);
}

EZ_SITE void ez_probe_endpoint_close(uint64_t endpoint, uint64_t kind, const char *topic,
				     const char *handle)
{
	EZ_FIRE4(endpoint_close, endpoint, kind, (uintptr_t)topic, (uintptr_t)handle);
}

EZ_SITE void ez_probe_window(uint64_t endpoint, const void *page, uint64_t bytes,
			     uint64_t bucket_id, uint64_t total_before)
{
	EZ_FIRE5(window, endpoint, (uintptr_t)page, bytes, bucket_id, total_before);
}

EZ_SITE void ez_probe_spans(uint64_t endpoint, const void *page, uint64_t spans)
{
	EZ_FIRE3(spans, endpoint, (uintptr_t)page, spans);
}
