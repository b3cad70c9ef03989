/* SPDX-License-Identifier: MIT */
/* What an agent sends to a recorder, up to the files; records of the ring and pages of processes.
 */
#include "spans_decode.h"
#include "trace_chrome.h"
#include "trace_perfetto.h"
#include "trace_store.h"
#include "trace_summary.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_files(const struct ezprof_trace *trace, const struct ezprof_match *match)
{
	const struct ezprof_trace_about about = {.host = "here", .program = "fuzz", .mono_ns = 1};
	struct ezprof_trace_summary *summary;
	struct ezprof_trace_model *model;
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	if (!to)
		abort();
	if (ezprof_trace_model_new(match, &model) == 0) {
		ezprof_chrome_write(model, &about, to);
		ezprof_perfetto_write(model, &about, to);
		ezprof_trace_model_free(model);
	}
	if (ezprof_trace_summary_new(match, &summary) == 0) {
		ezprof_trace_summary_print(summary, trace, to);
		ezprof_trace_summary_free(summary);
	}
	fclose(to);
	free(text);
}

/* The first byte: the ring's size. */
static void record(const uint8_t *data, size_t size)
{
	struct ezprof_stream_frame frame;
	struct ezprof_trace *trace;
	struct ezprof_match *match;
	unsigned int agent = 0;
	uint32_t endpoint;
	size_t at = 1;

	if (!size || ezprof_trace_new(1u + data[0], &trace))
		return;
	while (ezprof_stream_next(data + at, size - at, &frame) == 0) {
		if (ezprof_trace_take(trace, agent, &frame))
			break;
		if (frame.kind == EZPROF_STREAM_SYNCED)
			agent = (agent + 1) % EZPROF_TRACE_AGENTS_MAX;
		at += frame.frame_bytes;
	}
	ezprof_trace_waiting_since(trace, &endpoint);
	ezprof_trace_lost(trace);
	if (ezprof_match_new(trace, 0, &match) == 0) {
		write_files(trace, match);
		ezprof_match_free(match);
	}
	ezprof_trace_free(trace);
}

static void decode(const uint8_t *data, size_t size)
{
	struct ezprof_span_account account = {0};
	struct ezprof_span_batch batch;
	struct ez_span_page page = {0};
	uint64_t *aligned = malloc(size + 8);

	if (!aligned)
		abort();
	memcpy(aligned, data, size);
	if (ezprof_span_record_decode(aligned, size, &batch) == 0) {
		ezprof_span_account_begin(&account, batch.first_total);
		ezprof_span_account_take(&account, &batch);
	}
	memcpy(&page, data, size < sizeof(page) ? size : sizeof(page));
	if (ezprof_span_page_decode(&page, &batch) == 0 && batch.count) {
		ezprof_span_account_take(&account, &batch);
		/* It is in the page. */
		if (batch.count &&
		    (const char *)(batch.spans + batch.count) > (const char *)(&page + 1))
			abort();
	}
	free(aligned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	record(data, size);
	decode(data, size);
	return 0;
}
