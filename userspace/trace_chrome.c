/* SPDX-License-Identifier: MIT */
/*
 * A track is a thread of its process here, by a number of its own: that is how the format wants it.
 * Times are microseconds since the recording's first event, with three decimals, so that nothing is
 * rounded away; otherData says when that was.
 */
#include "trace_chrome.h"
#include "registry_layout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

struct writer {
	const struct ezprof_trace_model *model;
	const struct ezprof_trace_about *about;
	FILE *to;
	bool comma;
};

/* Valid UTF-8 in; quotes, backslashes and control characters are all that JSON minds. */
static void put_text(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else if (c < 0x20)
			fprintf(to, "\\u%04x", c);
		else
			fputc(c, to);
	}
	fputc('"', to);
}

static void put_us(FILE *to, const char *key, uint64_t ns)
{
	fprintf(to, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

static void put_time(struct writer *w, uint64_t at_ns)
{
	put_us(w->to, "ts", at_ns > w->model->begin_ns ? at_ns - w->model->begin_ns : 0);
}

/* What every event begins with; tid 0: the process. */
static void begin(struct writer *w, char phase, const char *name, uint32_t pid, size_t tid)
{
	fputs(w->comma ? ",\n" : "\n", w->to);
	w->comma = true;
	fprintf(w->to, "{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%zu,\"name\":", phase, pid, tid);
	put_text(w->to, name);
}

static const struct ezprof_trace_endpoint *endpoint_at(const struct writer *w, uint32_t i)
{
	return &w->model->match->trace->endpoints[i];
}

static uint32_t pid_of(const struct writer *w, const struct ezprof_track *t)
{
	return endpoint_at(w, t->endpoint)->pid;
}

static bool is_first_of_process(const struct ezprof_trace_model *m, size_t i)
{
	const struct ezprof_trace *t = m->match->trace;

	for (size_t j = 0; j < i; j++) {
		if (t->endpoints[m->tracks[j].endpoint].pid ==
		    t->endpoints[m->tracks[i].endpoint].pid)
			return false;
	}
	return true;
}

static void write_names(struct writer *w)
{
	for (size_t i = 0; i < w->model->track_count; i++) {
		const struct ezprof_track *t = &w->model->tracks[i];
		const struct ezprof_trace_endpoint *e = endpoint_at(w, t->endpoint);

		if (is_first_of_process(w->model, i)) {
			begin(w, 'M', "process_name", e->pid, 0);
			fputs(",\"args\":{\"name\":", w->to);
			put_text(w->to, e->comm);
			fputs("}}", w->to);
		}
		begin(w, 'M', "thread_name", e->pid, i + 1);
		fputs(",\"args\":{\"name\":", w->to);
		put_text(w->to, ezprof_trace_name(e));
		fprintf(w->to, ",\"track\":\"%s\",\"topic\":", ezprof_track_text(t->kind));
		put_text(w->to, e->topic);
		fputs("}}", w->to);
		/* Tracks of an endpoint stand together. */
		begin(w, 'M', "thread_sort_index", e->pid, i + 1);
		fprintf(w->to, ",\"args\":{\"sort_index\":%zu}}", i);
	}
}

/* The end that an arrow has in this slice: s where it begins, t where it goes on, f where it ends.
 */
static void write_arrow(struct writer *w, const struct ezprof_slice *s, char phase, uint64_t id)
{
	begin(w, phase, "message", pid_of(w, &w->model->tracks[s->track]), s->track + 1);
	put_time(w, s->begin_ns);
	fprintf(w->to, ",\"cat\":\"flow\",\"id\":%" PRIu64 "%s}", id,
		phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void write_arrows(struct writer *w, const struct ezprof_slice *s)
{
	const struct ezprof_trace_model *m = w->model;

	if (m->match->origin[s->span] != EZPROF_MATCH_NONE)
		write_arrow(w, s, s->kind == EZPROF_SLICE_QUEUE ? 't' : 'f',
			    ezprof_arrow_id(s->span));
	if (s->kind != EZPROF_SLICE_PUBLISH && s->kind != EZPROF_SLICE_PROCESS)
		return;
	for (size_t i = m->first_target[s->span]; i < m->first_target[s->span + 1]; i++)
		write_arrow(w, s, 's', ezprof_arrow_id(m->targets[i]));
}

static void write_slice(struct writer *w, const struct ezprof_slice *s)
{
	const struct ezprof_trace_span *span = ezprof_match_span(w->model->match, s->span);
	uint32_t pid = pid_of(w, &w->model->tracks[s->track]);

	begin(w, 'X', ezprof_slice_text(s->kind), pid, s->track + 1);
	put_time(w, s->begin_ns);
	put_us(w->to, "dur", s->end_ns - s->begin_ns);
	fprintf(w->to,
		",\"args\":{\"message\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"thread\":%" PRIu32 "}}",
		span->message_id, span->bytes, span->tid);
	if (s->kind == EZPROF_SLICE_PUBLISH && span->start_ns >= s->begin_ns &&
	    span->begin_ns > span->start_ns && span->begin_ns <= s->end_ns) {
		begin(w, 'X', "blocked", pid, s->track + 1);
		put_time(w, span->start_ns);
		put_us(w->to, "dur", span->begin_ns - span->start_ns);
		fputc('}', w->to);
	}
	write_arrows(w, s);
}

static void begin_counter(struct writer *w, const char *what, uint32_t endpoint, uint64_t at_ns)
{
	const struct ezprof_trace_endpoint *e = endpoint_at(w, endpoint);

	begin(w, 'C', ezprof_trace_name(e), e->pid, 0);
	put_time(w, at_ns);
	/* Several publishers of a topic in a process are told apart by it. */
	fprintf(w->to, ",\"id\":\"%s %" PRIu32 "\",\"args\":{\"%s\":", what, endpoint, what);
}

static void write_counters(struct writer *w)
{
	const struct ezprof_trace_model *m = w->model;

	for (size_t i = 0; i < m->count_count; i++) {
		begin_counter(w, "in flight", m->counts[i].endpoint, m->counts[i].at_ns);
		fprintf(w->to, "%" PRId32 "}}", m->counts[i].value);
	}
	for (size_t i = 0; i < m->rate_count; i++) {
		begin_counter(w, "messages/s", m->rates[i].endpoint, m->rates[i].at_ns);
		fprintf(w->to, "%" PRIu64 "}}", (uint64_t)m->rates[i].per_s);
	}
}

static void write_holes(struct writer *w)
{
	const struct ezprof_trace *t = w->model->match->trace;

	for (size_t i = 0; i < t->hole_count; i++) {
		const struct ezprof_trace_hole *hole = &t->holes[i];
		const struct ezprof_trace_endpoint *e = endpoint_at(w, hole->endpoint);

		if (hole->at_ns < w->model->begin_ns)
			continue;
		begin(w, 'i', "lost", e->pid, 0);
		put_time(w, hole->at_ns);
		fprintf(w->to,
			",\"s\":\"p\",\"args\":{\"lost\":%" PRIu64 ",\"endpoint\":", hole->count);
		put_text(w->to, ezprof_trace_name(e));
		fputs("}}", w->to);
	}
}

static void write_about(struct writer *w)
{
	const struct ezprof_trace *t = w->model->match->trace;
	struct ezprof_stream_losses sum = ezprof_trace_losses(t);

	fputs("\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":", w->to);
	put_text(w->to, w->about->program);
	fputs(",\"host\":", w->to);
	put_text(w->to, w->about->host);
	fprintf(w->to,
		",\"clock\":\"CLOCK_MONOTONIC\",\"begin_ns\":%" PRIu64
		",\"realtime_minus_monotonic_ns\":%" PRIu64
		",\"flight_s\":%g,\"spans\":%zu,\"lost\":%" PRIu64 ",\"overwritten\":%" PRIu64
		",\"lost_no_room\":%" PRIu64 ",\"lost_unreadable\":%" PRIu64
		",\"lost_not_sent\":%" PRIu64 "}}\n",
		w->model->begin_ns, w->about->real_ns - w->about->mono_ns, w->about->flight_s,
		w->model->match->count, ezprof_trace_lost(t), t->overwritten, sum.no_room,
		sum.unreadable + sum.malformed, sum.not_sent);
}

int ezprof_chrome_write(const struct ezprof_trace_model *model,
			const struct ezprof_trace_about *about, FILE *to)
{
	struct writer w = {.model = model, .about = about, .to = to};

	fputs("{\"traceEvents\":[", to);
	write_names(&w);
	for (size_t i = 0; i < model->slice_count && !ferror(to); i++)
		write_slice(&w, &model->slices[i]);
	write_counters(&w);
	write_holes(&w);
	write_about(&w);
	return ferror(to) ? -EIO : 0;
}
