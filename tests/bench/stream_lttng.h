/* SPDX-License-Identifier: MIT */
/* Four events with the arguments that ours have in common. Read several times by LTTng's headers.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ezbench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "stream_lttng.h"

#if !defined(STREAM_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define STREAM_LTTNG_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT_CLASS(ezbench, message,
	LTTNG_UST_TP_ARGS(uint64_t, endpoint, uint64_t, message_id, uint64_t, bytes),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, endpoint, endpoint)
		lttng_ust_field_integer(uint64_t, message_id, message_id)
		lttng_ust_field_integer(uint64_t, bytes, bytes)))

#define STREAM_LTTNG_EVENT(name) \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(ezbench, message, ezbench, name, \
		LTTNG_UST_TP_ARGS(uint64_t, endpoint, uint64_t, message_id, uint64_t, bytes))
STREAM_LTTNG_EVENT(publish)
STREAM_LTTNG_EVENT(lease)
STREAM_LTTNG_EVENT(free)
STREAM_LTTNG_EVENT(callback_end)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
