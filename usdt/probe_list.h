/* SPDX-License-Identifier: MIT */
/*
 * The probes of provider `ezmsg`: the one list that feeds the probe macros, the semaphores, the
 * attach table of the BPF side, the check of the ELF notes and the manual.
 *
 * EZ_PROBE_LIST(X) calls X(name, argument count, "arguments in order", "meaning"). Arguments are
 * 64-bit and sit in the first integer argument registers of the platform's calling convention.
 * `endpoint` is EZ_ENDPOINT_REF: generation << 32 | index in the process's registry.
 *
 * This order is ABI: it is that of the EZ_PROBE_* numbers. Append only. (A semaphore is found by
 * its site's note; where it lies in the table is probes.h's business.)
 */
#ifndef EZ_PROBE_LIST_H
#define EZ_PROBE_LIST_H

#define EZ_PROVIDER "ezmsg"

/* clang-format off */
#define EZ_PROBE_LIST(X) \
	X(publish, 5, "endpoint, message_id, bytes, messages_total, topic", \
	  "a publisher has handed a message to every channel") \
	X(lease, 6, "endpoint, message_id, num_buffers, leases_total, topic, handle", \
	  "a buffer is leased: to a channel (link) or queued for a subscriber (client)") \
	X(free, 6, "endpoint, message_id, num_buffers, frees_total, bytes, handle", \
	  "the lease of that message ends") \
	X(callback_begin, 5, "endpoint, message_id, num_buffers, topic, handle", \
	  "a subscriber has taken the message from its queue; user code runs next") \
	X(callback_end, 6, "endpoint, message_id, num_buffers, topic, handle, excluded_ns", \
	  "user code is done with the message; excluded_ns of the time was no processing") \
	X(backpressure_begin, 3, "endpoint, message_id, topic", \
	  "a publisher starts to wait for a buffer or for a socket") \
	X(backpressure_end, 3, "endpoint, message_id, topic", \
	  "the publisher goes on") \
	X(endpoint_open, 4, "endpoint, kind, topic, handle", \
	  "an endpoint entered the registry") \
	X(endpoint_close, 4, "endpoint, kind, topic, handle", \
	  "an endpoint is about to leave the registry") \
	X(window, 5, "endpoint, page, bytes, bucket_id, total_before", \
	  "a closed bucket is handed over, struct ez_bucket") \
	X(spans, 3, "endpoint, page, spans", \
	  "a batch of spans is handed over, struct ez_span_page")

/* What the arguments are: X(name, "meaning"). */
#define EZ_PROBE_ARGUMENT_LIST(X) \
	X(endpoint, "generation << 32 | index in the process's registry") \
	X(message_id, "number of the message at its publisher, from 0") \
	X(bytes, "size of the marshalled message; of window: of the page") \
	X(messages_total, "how many the endpoint has published, this one included") \
	X(leases_total, "how many leases the endpoint has begun, this one included") \
	X(frees_total, "how many leases the endpoint has ended, this one included") \
	X(topic, "address of a NUL-terminated string, valid during the hit") \
	X(handle, "address of a NUL-terminated string, valid during the hit") \
	X(num_buffers, "buffers of the publisher; message_id % num_buffers is the one in use") \
	X(excluded_ns, "nanoseconds since callback_begin that were no processing") \
	X(kind, "1 publisher, 2 link, 3 channel, 4 client (a subscriber), 5 task") \
	X(page, "address of the page that is handed over") \
	X(bucket_id, "number of the bucket: CLOCK_MONOTONIC >> 27") \
	X(total_before, "messages that were counted before this bucket") \
	X(spans, "how many spans the page holds")
/* clang-format on */

enum ez_probe {
#define EZ_PROBE_ENUM(name, nargs, args, meaning) EZ_PROBE_##name,
	EZ_PROBE_LIST(EZ_PROBE_ENUM)
#undef EZ_PROBE_ENUM
		EZ_PROBE_COUNT,
	EZ_PROBE_BOUNDARY_COUNT = EZ_PROBE_window, /* those before: one hit per event */
};

#endif
