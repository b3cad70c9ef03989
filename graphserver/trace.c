/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <errno.h>
#include <stdlib.h>

#include "hash.h"
#include "pickle_write.h"

/* ezmsg's own limit of samples; the other ones bound memory whatever their size. */
#define SAMPLES_MAX 200000
#define BYTES_MAX (64 << 20)
#define SAMPLE_BYTES_MAX 65536

struct ezprof_sample {
	uint64_t seq;
	char *data;
	size_t len;
	struct ezprof_sample *prev, *next;
};

static void drop_oldest(struct ezprof_trace *trace)
{
	struct ezprof_sample *sample = trace->samples;

	DL_DELETE(trace->samples, sample);
	trace->n--;
	trace->bytes -= sample->len;
	free(sample->data);
	free(sample);
}

static int add_sample(struct ezprof_trace *trace, const struct ez_node *node)
{
	struct ezprof_sample *sample = calloc(1, sizeof(*sample));
	struct ez_buffer bytes;

	if (!sample)
		return -ENOMEM;
	ez_buffer_init(&bytes, SAMPLE_BYTES_MAX);
	ez_pickle_put_node(&bytes, node);
	sample->data = ez_buffer_steal(&bytes, &sample->len);
	if (!sample->data) {
		ez_buffer_free(&bytes);
		free(sample);
		return -EBADMSG;
	}
	sample->seq = ++trace->last_seq;
	DL_APPEND(trace->samples, sample);
	trace->n++;
	trace->bytes += sample->len;
	while (trace->n > SAMPLES_MAX || trace->bytes > BYTES_MAX)
		drop_oldest(trace);
	return 0;
}

int ezprof_trace_add(struct ezprof_trace *trace, const struct ez_node *samples)
{
	int err = 0;

	if (!samples || samples->kind != EZ_NODE_LIST)
		return -EBADMSG;
	for (size_t i = 0; i < samples->n_items && !err; i++)
		err = add_sample(trace, samples->items[i]);
	return err;
}

size_t ezprof_trace_put(const struct ezprof_trace *trace, uint64_t *seq, size_t max,
			struct ez_buffer *out)
{
	const struct ezprof_sample *sample;
	size_t n = 0;

	if (*seq >= trace->last_seq)
		return 0;
	DL_FOREACH(trace->samples, sample)
	{
		if (sample->seq <= *seq)
			continue;
		if (n == max)
			break;
		ez_buffer_append(out, sample->data, sample->len);
		ez_put_u8(out, EZ_OP_APPEND);
		*seq = sample->seq;
		n++;
	}
	return n;
}

void ezprof_trace_clear(struct ezprof_trace *trace)
{
	while (trace->samples)
		drop_oldest(trace);
}
