/* SPDX-License-Identifier: MIT */
/*
 * Track events: a process track per process, below it a track per endpoint, below that one per lane
 * of slices; names are interned. Field numbers are those of perfetto's trace_packet.proto and the
 * files that it includes.
 */
#include "trace_perfetto.h"
#include "proto_buffer.h"
#include "registry_layout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SEQUENCE 1u
#define SEQUENCE_CLEARED 1u
#define SEQUENCE_NEEDS_STATE 2u

enum field {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	DEFAULTS_CLOCK_ID = 58,
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_IID = 1,
	INTERNED_NAME = 2,
	DESCRIPTOR_UUID = 1,
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_PROCESS = 3,
	DESCRIPTOR_PARENT = 5,
	DESCRIPTOR_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	COUNTER_UNIT_NAME = 6,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_COUNTER_DOUBLE = 44,
	EVENT_FLOWS = 47,
	EVENT_FLOWS_END = 48,
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_TEXT = 6,
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { CLOCK_REAL = 1, CLOCK_MONO = 3, CLOCK_BOOT = 6 };

/* clang-format off */
#define ANNOTATIONS(X) \
	X(MESSAGE, "message") X(BYTES, "bytes") X(THREAD, "thread") X(LOST, "lost") X(SPANS, "spans") \
	X(OVERWRITTEN, "overwritten") X(NO_ROOM, "lost in the kernel's ring") \
	X(UNREADABLE, "unreadable") X(NOT_SENT, "not sent by the agent") X(HOST, "host") \
	X(PROGRAM, "program") X(FLIGHT, "flight_s")
/* clang-format on */

enum annotation {
	ANNOTATION_NONE,
#define ANNOTATION_ENUM(name, text) ANNOTATION_##name,
	ANNOTATIONS(ANNOTATION_ENUM)
#undef ANNOTATION_ENUM
};

/* Names of slices are interned as kind + 1; this one comes behind them. */
#define NAME_BLOCKED (EZPROF_SLICE_KINDS + 1u)

struct writer {
	const struct ezprof_trace_model *model;
	const struct ezprof_trace_about *about;
	FILE *to;
	struct ezprof_proto proto;
};

/* Identifiers of tracks: a kind each, so that none is another's. */
static uint64_t process_track(uint32_t pid)
{
	return 1ull << 40 | pid;
}

static uint64_t endpoint_track(uint32_t endpoint)
{
	return 2ull << 40 | endpoint;
}

static uint64_t slice_track(size_t track)
{
	return 3ull << 40 | track;
}

static uint64_t count_track(uint32_t endpoint)
{
	return 4ull << 40 | endpoint;
}

static uint64_t rate_track(uint32_t endpoint)
{
	return 5ull << 40 | endpoint;
}

#define RECORDING_TRACK (6ull << 40)

/* ---- packets ---- */

static size_t packet_begin(struct writer *w)
{
	ezprof_proto_clear(&w->proto);
	return ezprof_proto_begin(&w->proto, TRACE_PACKET);
}

static void packet_end(struct writer *w, size_t begun)
{
	ezprof_proto_number(&w->proto, PACKET_SEQUENCE, SEQUENCE);
	ezprof_proto_end(&w->proto, begun);
	if (!w->proto.failed)
		fwrite(w->proto.data, 1, w->proto.bytes, w->to);
}

static void put_clock(struct writer *w, unsigned int id, uint64_t ns)
{
	size_t clock = ezprof_proto_begin(&w->proto, SNAPSHOT_CLOCKS);

	ezprof_proto_number(&w->proto, CLOCK_ID, id);
	ezprof_proto_number(&w->proto, CLOCK_TIMESTAMP, ns);
	ezprof_proto_end(&w->proto, clock);
}

static void write_clocks(struct writer *w)
{
	size_t packet = packet_begin(w), snapshot;

	snapshot = ezprof_proto_begin(&w->proto, PACKET_CLOCK_SNAPSHOT);
	put_clock(w, CLOCK_MONO, w->about->mono_ns);
	put_clock(w, CLOCK_REAL, w->about->real_ns);
	put_clock(w, CLOCK_BOOT, w->about->boot_ns);
	ezprof_proto_number(&w->proto, SNAPSHOT_PRIMARY, CLOCK_MONO);
	ezprof_proto_end(&w->proto, snapshot);
	packet_end(w, packet);
}

static void put_interned(struct writer *w, enum field list, unsigned int iid, const char *name)
{
	size_t entry = ezprof_proto_begin(&w->proto, list);

	ezprof_proto_number(&w->proto, INTERNED_IID, iid);
	ezprof_proto_text(&w->proto, INTERNED_NAME, name);
	ezprof_proto_end(&w->proto, entry);
}

/* The beginning of the sequence: names, and which clock timestamps are of. */
static void write_names(struct writer *w)
{
	size_t packet = packet_begin(w), part;

	ezprof_proto_number(&w->proto, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	part = ezprof_proto_begin(&w->proto, PACKET_DEFAULTS);
	ezprof_proto_number(&w->proto, DEFAULTS_CLOCK_ID, CLOCK_MONO);
	ezprof_proto_end(&w->proto, part);
	part = ezprof_proto_begin(&w->proto, PACKET_INTERNED_DATA);
	for (unsigned int kind = 0; kind < EZPROF_SLICE_KINDS; kind++)
		put_interned(w, INTERNED_EVENT_NAMES, kind + 1, ezprof_slice_text(kind));
	put_interned(w, INTERNED_EVENT_NAMES, NAME_BLOCKED, "blocked");
#define PUT_ANNOTATION(name, text) \
	put_interned(w, INTERNED_ANNOTATION_NAMES, ANNOTATION_##name, text);
	ANNOTATIONS(PUT_ANNOTATION)
#undef PUT_ANNOTATION
	ezprof_proto_end(&w->proto, part);
	packet_end(w, packet);
}

/* ---- tracks ---- */

static size_t descriptor_begin(struct writer *w, uint64_t uuid, uint64_t parent, const char *name,
			       size_t *ret_packet)
{
	size_t descriptor;

	*ret_packet = packet_begin(w);
	descriptor = ezprof_proto_begin(&w->proto, PACKET_TRACK_DESCRIPTOR);
	ezprof_proto_number(&w->proto, DESCRIPTOR_UUID, uuid);
	if (parent)
		ezprof_proto_number(&w->proto, DESCRIPTOR_PARENT, parent);
	if (name)
		ezprof_proto_text(&w->proto, DESCRIPTOR_NAME, name);
	return descriptor;
}

static void write_track(struct writer *w, uint64_t uuid, uint64_t parent, const char *name)
{
	size_t packet, descriptor = descriptor_begin(w, uuid, parent, name, &packet);

	ezprof_proto_end(&w->proto, descriptor);
	packet_end(w, packet);
}

static void write_counter_track(struct writer *w, uint64_t uuid, uint64_t parent, const char *name,
				const char *unit)
{
	size_t packet, descriptor = descriptor_begin(w, uuid, parent, name, &packet), counter;

	counter = ezprof_proto_begin(&w->proto, DESCRIPTOR_COUNTER);
	ezprof_proto_text(&w->proto, COUNTER_UNIT_NAME, unit);
	ezprof_proto_end(&w->proto, counter);
	ezprof_proto_end(&w->proto, descriptor);
	packet_end(w, packet);
}

static void write_process(struct writer *w, const struct ezprof_trace_endpoint *e)
{
	size_t packet, descriptor, process;

	descriptor = descriptor_begin(w, process_track(e->pid), 0, NULL, &packet);
	process = ezprof_proto_begin(&w->proto, DESCRIPTOR_PROCESS);
	ezprof_proto_number(&w->proto, PROCESS_PID, e->pid);
	ezprof_proto_text(&w->proto, PROCESS_NAME, e->comm);
	ezprof_proto_end(&w->proto, process);
	ezprof_proto_end(&w->proto, descriptor);
	packet_end(w, packet);
}

static bool is_first_of_process(const struct ezprof_trace *t, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (t->endpoints[j].pid == t->endpoints[i].pid)
			return false;
	}
	return true;
}

/* "SYS/FLT (subscriber of SYS/SRC/OUT)". */
static void write_endpoint(struct writer *w, uint32_t i)
{
	const struct ezprof_trace_endpoint *e = &w->model->match->trace->endpoints[i];
	bool publisher = e->kind == EZ_KIND_PUBLISHER;
	size_t bytes = strlen(e->topic) + strlen(e->handle) + 64;
	char *name = malloc(bytes);

	if (!name) {
		w->proto.failed = true;
		return;
	}
	snprintf(name, bytes, "%s (%s %s)", ezprof_trace_name(e),
		 publisher ? "publisher of" : "subscriber of", e->topic);
	write_track(w, endpoint_track(i), process_track(e->pid), name);
	if (publisher) {
		write_counter_track(w, count_track(i), endpoint_track(i), "in flight", "messages");
		write_counter_track(w, rate_track(i), endpoint_track(i), "rate", "messages/s");
	}
	free(name);
}

static void write_tracks(struct writer *w)
{
	const struct ezprof_trace *t = w->model->match->trace;

	for (size_t i = 0; i < t->endpoint_count; i++) {
		const struct ezprof_trace_endpoint *e = &t->endpoints[i];

		if (is_first_of_process(t, i))
			write_process(w, e);
		if (!e->twice && (e->kind == EZ_KIND_PUBLISHER || e->kind == EZ_KIND_CLIENT))
			write_endpoint(w, (uint32_t)i);
	}
	/* Lanes of one kind have one name: they are shown as one track then. */
	for (size_t i = 0; i < w->model->track_count; i++)
		write_track(w, slice_track(i), endpoint_track(w->model->tracks[i].endpoint),
			    ezprof_track_text(w->model->tracks[i].kind));
}

/* ---- events ---- */

static size_t event_begin(struct writer *w, uint64_t at_ns, unsigned int type, uint64_t track,
			  size_t *ret_packet)
{
	size_t event;

	*ret_packet = packet_begin(w);
	ezprof_proto_number(&w->proto, PACKET_TIMESTAMP, at_ns);
	ezprof_proto_number(&w->proto, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	event = ezprof_proto_begin(&w->proto, PACKET_TRACK_EVENT);
	ezprof_proto_number(&w->proto, EVENT_TYPE, type);
	ezprof_proto_number(&w->proto, EVENT_TRACK, track);
	return event;
}

static void event_end(struct writer *w, size_t event, size_t packet)
{
	ezprof_proto_end(&w->proto, event);
	packet_end(w, packet);
}

static void annotate(struct writer *w, enum annotation name, uint64_t value)
{
	size_t annotation = ezprof_proto_begin(&w->proto, EVENT_ANNOTATIONS);

	ezprof_proto_number(&w->proto, ANNOTATION_NAME_IID, name);
	ezprof_proto_number(&w->proto, ANNOTATION_UINT, value);
	ezprof_proto_end(&w->proto, annotation);
}

static void annotate_text(struct writer *w, enum annotation name, const char *value)
{
	size_t annotation = ezprof_proto_begin(&w->proto, EVENT_ANNOTATIONS);

	ezprof_proto_number(&w->proto, ANNOTATION_NAME_IID, name);
	ezprof_proto_text(&w->proto, ANNOTATION_TEXT, value);
	ezprof_proto_end(&w->proto, annotation);
}

/* Arrows begin at what led to something and end at what it led to. */
static void put_flows(struct writer *w, const struct ezprof_slice *s)
{
	const struct ezprof_trace_model *m = w->model;
	bool has_origin = m->match->origin[s->span] != EZPROF_MATCH_NONE;
	bool last = s->kind != EZPROF_SLICE_QUEUE;

	if (has_origin && last)
		ezprof_proto_fixed64(&w->proto, EVENT_FLOWS_END, ezprof_arrow_id(s->span));
	else if (has_origin)
		ezprof_proto_fixed64(&w->proto, EVENT_FLOWS, ezprof_arrow_id(s->span));
	if (s->kind != EZPROF_SLICE_PUBLISH && s->kind != EZPROF_SLICE_PROCESS)
		return;
	for (size_t i = m->first_target[s->span]; i < m->first_target[s->span + 1]; i++)
		ezprof_proto_fixed64(&w->proto, EVENT_FLOWS, ezprof_arrow_id(m->targets[i]));
}

static void write_plain(struct writer *w, uint64_t at_ns, unsigned int type, uint64_t track,
			unsigned int name)
{
	size_t packet, event = event_begin(w, at_ns, type, track, &packet);

	if (name)
		ezprof_proto_number(&w->proto, EVENT_NAME_IID, name);
	event_end(w, event, packet);
}

static void write_slice(struct writer *w, const struct ezprof_slice *s)
{
	const struct ezprof_trace_span *span = ezprof_match_span(w->model->match, s->span);
	uint64_t track = slice_track(s->track);
	size_t packet, event = event_begin(w, s->begin_ns, TYPE_BEGIN, track, &packet);

	ezprof_proto_number(&w->proto, EVENT_NAME_IID, s->kind + 1u);
	annotate(w, ANNOTATION_MESSAGE, span->message_id);
	annotate(w, ANNOTATION_BYTES, span->bytes);
	annotate(w, ANNOTATION_THREAD, span->tid);
	put_flows(w, s);
	event_end(w, event, packet);
	/* Within the slice, so that it nests. */
	if (s->kind == EZPROF_SLICE_PUBLISH && span->start_ns >= s->begin_ns &&
	    span->begin_ns > span->start_ns && span->begin_ns <= s->end_ns) {
		write_plain(w, span->start_ns, TYPE_BEGIN, track, NAME_BLOCKED);
		write_plain(w, span->begin_ns, TYPE_END, track, 0);
	}
	write_plain(w, s->end_ns, TYPE_END, track, 0);
}

static void write_counters(struct writer *w)
{
	const struct ezprof_trace_model *m = w->model;
	size_t packet, event;

	for (size_t i = 0; i < m->count_count; i++) {
		const struct ezprof_count *c = &m->counts[i];

		event = event_begin(w, c->at_ns, TYPE_COUNTER, count_track(c->endpoint), &packet);
		ezprof_proto_number(&w->proto, EVENT_COUNTER, (uint64_t)c->value);
		event_end(w, event, packet);
	}
	for (size_t i = 0; i < m->rate_count; i++) {
		const struct ezprof_rate *r = &m->rates[i];

		event = event_begin(w, r->at_ns, TYPE_COUNTER, rate_track(r->endpoint), &packet);
		ezprof_proto_double(&w->proto, EVENT_COUNTER_DOUBLE, r->per_s);
		event_end(w, event, packet);
	}
}

/* ---- what is missing ---- */

static void write_hole(struct writer *w, const struct ezprof_trace_hole *hole)
{
	const struct ezprof_trace_endpoint *e = &w->model->match->trace->endpoints[hole->endpoint];
	uint64_t track = e->kind == EZ_KIND_PUBLISHER || e->kind == EZ_KIND_CLIENT
				 ? endpoint_track(hole->endpoint)
				 : process_track(e->pid);
	size_t packet, event = event_begin(w, hole->at_ns, TYPE_INSTANT, track, &packet);

	ezprof_proto_text(&w->proto, EVENT_NAME, "lost");
	annotate(w, ANNOTATION_LOST, hole->count);
	event_end(w, event, packet);
}

/* One event that says what the recording is, and how much of it is missing: also when nothing is.
 */
static void write_about(struct writer *w)
{
	const struct ezprof_trace *t = w->model->match->trace;
	struct ezprof_stream_losses losses = ezprof_trace_losses(t);
	uint64_t at_ns = w->model->begin_ns ? w->model->begin_ns : w->about->mono_ns;
	size_t packet, event;

	write_track(w, RECORDING_TRACK, 0, "recording");
	event = event_begin(w, at_ns, TYPE_INSTANT, RECORDING_TRACK, &packet);
	ezprof_proto_text(&w->proto, EVENT_NAME, "recorded by ezprof");
	annotate(w, ANNOTATION_SPANS, w->model->match->count);
	annotate(w, ANNOTATION_LOST, ezprof_trace_lost(t));
	annotate(w, ANNOTATION_OVERWRITTEN, t->overwritten);
	annotate(w, ANNOTATION_NO_ROOM, losses.no_room);
	annotate(w, ANNOTATION_UNREADABLE, losses.unreadable + losses.malformed);
	annotate(w, ANNOTATION_NOT_SENT, losses.not_sent);
	annotate(w, ANNOTATION_FLIGHT, (uint64_t)w->about->flight_s);
	annotate_text(w, ANNOTATION_HOST, w->about->host);
	annotate_text(w, ANNOTATION_PROGRAM, w->about->program);
	event_end(w, event, packet);
	for (size_t i = 0; i < t->hole_count; i++) {
		if (t->holes[i].at_ns >= at_ns)
			write_hole(w, &t->holes[i]);
	}
}

int ezprof_perfetto_write(const struct ezprof_trace_model *model,
			  const struct ezprof_trace_about *about, FILE *to)
{
	struct writer w = {.model = model, .about = about, .to = to};
	bool failed;

	write_clocks(&w);
	write_names(&w);
	write_tracks(&w);
	write_about(&w);
	for (size_t i = 0; i < model->slice_count && !w.proto.failed && !ferror(to); i++)
		write_slice(&w, &model->slices[i]);
	write_counters(&w);
	failed = w.proto.failed;
	ezprof_proto_free(&w.proto);
	if (failed)
		return -ENOMEM;
	return ferror(to) ? -EIO : 0;
}
