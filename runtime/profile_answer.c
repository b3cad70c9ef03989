/* SPDX-License-Identifier: MIT */
#include "profile_answer.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "command.h"
#include "endpoint.h"
#include "json_writer.h"
#include "request.h"
#include "subscriber.h"

#define WINDOW_MAX_S 16.0
#define MS_PER_NS 1e-6

static void put_id(struct ez_json *json, const char *key, const struct ez_uuid *id)
{
	char text[EZ_UUID_TEXT_BYTES];

	ez_uuid_format(id, text);
	ez_json_kv_str(json, key, text);
}

static void put_host(struct ez_json *json)
{
	struct utsname machine;

	ez_json_kv_str(json, "host", uname(&machine) == 0 ? machine.nodename : NULL);
}

static void put_nulls(struct ez_json *json, const char *const *keys)
{
	for (; *keys; keys++)
		ez_json_kv_null(json, *keys);
}

static void put_null_object(struct ez_json *json, const char *name, const char *const *keys)
{
	ez_json_key(json, name);
	ez_json_object_begin(json);
	put_nulls(json, keys);
	ez_json_object_end(json);
}

static const char *const durations[] = {"avg_ms", "max_ms", "samples", "p50_ms",
					"p90_ms", "p99_ms", "min_ms",  NULL};
static const char *const processings[] = {"avg_ms", "max_ms", "samples", "p50_ms", "p90_ms",
					  "p99_ms", "min_ms", "now_ms",	 "sched",  NULL};
static const char *const gaps[] = {"avg_ms", "max_ms", "samples",    "p50_ms",	      "p99_ms",
				   "min_ms", "now_ms", "longest_ms", "longest_at_ns", NULL};

static void put_counts(struct ez_json *json, const char *name, uint64_t total, bool windowed)
{
	ez_json_key(json, name);
	ez_json_object_begin(json);
	ez_json_kv_u64(json, "total", total);
	if (windowed)
		ez_json_kv_u64(json, "window", 0);
	ez_json_object_end(json);
}

static void put_zero_durations(struct ez_json *json)
{
	ez_json_kv_f64(json, "avg_ms", 0.0);
	ez_json_kv_f64(json, "max_ms", 0.0);
	ez_json_kv_u64(json, "samples", 0);
}

/* What only a consumer of the probes could know. */
static void put_unmeasured(struct ez_json *json, uint64_t window_ms)
{
	static const char *const unknown[] = {"covered_s", "begin_ns", "end_ns", NULL};
	static const char *const measured[] = {"messages", "bytes", NULL};
	static const char *const rest[] = {"warming_up", "lost", "lost_exact", "unmatched", NULL};

	ez_json_kv_str(json, "source", "process");
	ez_json_key(json, "window");
	ez_json_object_begin(json);
	ez_json_kv_f64(json, "requested_s", (double)window_ms / 1000.0);
	put_nulls(json, unknown);
	ez_json_object_end(json);
	put_null_object(json, "measured", measured);
	put_nulls(json, rest);
}

static uint64_t in_flight(const struct ez_entry *entry)
{
	return entry ? entry->leases - entry->frees : 0;
}

/* The start of the oldest open lease, or `oldest` if that is older; 0 = none. */
static uint64_t older(uint64_t oldest_ns, const struct ez_entry *entry)
{
	const uint64_t *starts = entry ? (const uint64_t *)(uintptr_t)entry->lease_starts : NULL;
	uint32_t i;

	for (i = 0; starts && i < entry->num_buffers; i++)
		if (starts[i] && (!oldest_ns || starts[i] < oldest_ns))
			oldest_ns = starts[i];
	return oldest_ns;
}

static void put_age(struct ez_json *json, const char *key, uint64_t since_ns)
{
	uint64_t now_ns = ez_clock_mono_ns();

	if (since_ns)
		ez_json_kv_f64(json, key,
			       now_ns > since_ns ? (double)(now_ns - since_ns) * MS_PER_NS : 0.0);
	else
		ez_json_kv_null(json, key);
}

static const char *transport_name(const struct ez_entry *entry)
{
	static const char *const names[] = {
#define NAME(name, value, text) [value] = text,
		EZ_TRANSPORT_LIST(NAME)
#undef NAME
	};

	return names[entry ? entry->transport : EZ_TRANSPORT_UNKNOWN];
}

static double window_s(uint64_t window_ms)
{
	double s = (double)window_ms / 1000.0;

	return s < WINDOW_MAX_S ? s : WINDOW_MAX_S;
}

static void put_pid(struct ez_json *json)
{
	ez_json_kv_i64(json, "pid", getpid());
}

/* ---- publisher ---- */

static void put_link(struct ez_json *json, const struct ez_link *link)
{
	ez_json_object_begin(json);
	put_id(json, "channel_id", &link->channel_id);
	ez_json_kv_u64(json, "pid", link->pid);
	ez_json_kv_str(json, "transport", transport_name(link->entry));
	put_zero_durations(json);
	ez_json_kv_u64(json, "in_flight", in_flight(link->entry));
	put_age(json, "oldest_lease_ms", older(0, link->entry));
	ez_json_kv_u64(json, "disconnects", link->entry ? link->entry->disconnect_frees : 0);
	ez_json_object_end(json);
}

static void put_links_locked(struct ez_json *json, const struct ez_publisher *publisher)
{
	const struct ez_link *link;

	ez_json_key(json, "links");
	ez_json_array_begin(json);
	for (link = publisher->links; link; link = link->next)
		if (link->up)
			put_link(json, link);
	ez_json_array_end(json);
}

static void put_blocked_locked(struct ez_json *json, const struct ez_publisher *publisher)
{
	static const char *const unknown[] = {"time_ms", "share", "samples", "max_ms", NULL};
	const struct ez_entry *entry = publisher->entry;

	ez_json_key(json, "blocked");
	ez_json_object_begin(json);
	put_nulls(json, unknown);
	put_age(json, "now_ms", entry ? entry->blocked_since_ns : 0);
	ez_json_kv_null(json, "sched");
	ez_json_kv_f64(json, "total_ms", entry ? (double)entry->blocked_ns * MS_PER_NS : 0.0);
	ez_json_object_end(json);
}

static void put_backpressure_locked(struct ez_json *json, const struct ez_publisher *publisher)
{
	ez_json_key(json, "backpressure");
	ez_json_object_begin(json);
	put_zero_durations(json);
	ez_json_kv_u64(json, "in_flight", publisher->slots.open);
	ez_json_object_end(json);
}

static uint64_t oldest_lease_locked(const struct ez_publisher *publisher)
{
	const struct ez_link *link;
	uint64_t oldest_ns = 0;

	for (link = publisher->links; link; link = link->next)
		oldest_ns = older(oldest_ns, link->entry);
	return oldest_ns;
}

static void put_publisher_locked(struct ez_json *json, const struct ez_publisher *publisher,
				 uint64_t window_ms)
{
	ez_json_object_begin(json);
	ez_json_kv_str(json, "type", "publisher");
	put_id(json, "id", &publisher->id);
	ez_json_kv_str(json, "topic", publisher->topic);
	put_pid(json);
	ez_json_kv_u64(json, "num_buffers", publisher->num_buffers);
	ez_json_kv_f64(json, "window_s", window_s(window_ms));
	ez_json_kv_f64(json, "message_rate_hz", 0.0);
	ez_json_kv_f64(json, "byte_rate_per_s", 0.0);
	put_counts(json, "messages", publisher->next_id, true);
	put_counts(json, "bytes", publisher->total_bytes, true);
	put_backpressure_locked(json, publisher);
	put_unmeasured(json, window_ms);
	put_host(json);
	ez_json_kv_str(json, "handle", publisher->topic);
	ez_json_kv_null(json, "task");
	put_blocked_locked(json, publisher);
	put_null_object(json, "gap", gaps);
	put_null_object(json, "lease", durations);
	put_age(json, "oldest_lease_ms", oldest_lease_locked(publisher));
	ez_json_kv_u64(json, "unsized_messages", 0);
	ez_json_kv_u64(json, "disconnects", publisher->departed);
	put_links_locked(json, publisher);
	ez_json_object_end(json);
}

static void put_answer(struct ez_buffer *out, struct ez_buffer *text)
{
	if (text->err) {
		ez_buffer_free(text);
		return;
	}
	ez_put_u8(out, EZ_CMD_PROFILE_DATA);
	ez_put_str(out, (const char *)text->data, text->len);
	ez_buffer_free(text);
}

void ez_publisher_answer(struct ez_publisher *publisher, uint64_t window_ms, struct ez_buffer *out)
{
	struct ez_buffer text;
	struct ez_json json;

	ez_buffer_init(&text, EZ_PROFILE_BYTES_MAX);
	ez_json_init(&json, &text);
	pthread_mutex_lock(&publisher->lock);
	put_publisher_locked(&json, publisher, window_ms);
	pthread_mutex_unlock(&publisher->lock);
	put_answer(out, &text);
}

/* ---- channel ---- */

static void put_subscriber(struct ez_json *json, const struct ez_tap *tap, uint64_t window_ms)
{
	const struct ez_subscriber *subscriber = tap->subscriber;
	const struct ez_entry *entry = tap->entry;

	ez_json_object_begin(json);
	put_id(json, "subscriber_id", &subscriber->id);
	ez_json_kv_str(json, "handle", subscriber->handle);
	put_zero_durations(json);
	ez_json_kv_f64(json, "message_rate_hz", 0.0);
	ez_json_kv_u64(json, "in_flight", in_flight(entry));
	ez_json_kv_str(json, "topic", subscriber->topic);
	ez_json_kv_str(json, "task", subscriber->task);
	put_counts(json, "messages", entry ? entry->frees - entry->disconnect_frees : 0, true);
	put_counts(json, "bytes", entry ? entry->bytes : 0, true);
	put_unmeasured(json, window_ms);
	put_age(json, "oldest_lease_ms", older(0, entry));
	ez_json_kv_u64(json, "disconnects", entry ? entry->disconnect_frees : 0);
	put_null_object(json, "queue", durations);
	put_null_object(json, "processing", processings);
	put_null_object(json, "gap", gaps);
	put_counts(json, "drops", entry ? entry->drops : 0, false);
	ez_json_object_end(json);
}

static uint64_t put_subscribers_locked(struct ez_json *json, const struct ez_channel *channel,
				       uint64_t window_ms)
{
	const struct ez_tap *tap;
	uint64_t held = 0;

	ez_json_key(json, "subscribers");
	ez_json_array_begin(json);
	for (tap = channel->taps; tap; tap = tap->next) {
		held += in_flight(tap->entry);
		if (!tap->leaving)
			put_subscriber(json, tap, window_ms);
	}
	ez_json_array_end(json);
	return held;
}

static void put_channel_locked(struct ez_json *json, const struct ez_channel *channel,
			       uint64_t window_ms)
{
	const struct ez_entry *entry = channel->entry;

	ez_json_object_begin(json);
	ez_json_kv_str(json, "type", "channel");
	put_id(json, "channel_id", &channel->id);
	put_id(json, "pub_id", &channel->publisher_id);
	put_pid(json);
	ez_json_kv_u64(json, "num_buffers", channel->num_buffers);
	ez_json_kv_str(json, "topic", channel->topic ? channel->topic : "");
	ez_json_kv_str(json, "mode", transport_name(entry));
	ez_json_kv_f64(json, "window_s", (double)window_ms / 1000.0);
	ez_json_kv_u64(json, "in_flight", put_subscribers_locked(json, channel, window_ms));
	put_unmeasured(json, window_ms);
	put_host(json);
	put_counts(json, "messages", entry ? entry->messages : 0, false);
	put_counts(json, "bytes", entry ? entry->bytes : 0, false);
	ez_json_object_end(json);
}

int ez_channel_answer(struct ez_channel *channel, struct ez_reader *reader)
{
	struct ez_buffer text;
	struct ez_json json;
	uint64_t window_ms;
	uint8_t command;
	int err = ez_read_u8(reader, &command);

	if (err || command != EZ_CMD_PROFILE)
		return err;
	err = ez_read_u64(reader, &window_ms);
	if (err)
		return err;
	ez_buffer_init(&text, EZ_PROFILE_BYTES_MAX);
	ez_json_init(&json, &text);
	pthread_mutex_lock(&channel->lock);
	put_channel_locked(&json, channel, window_ms);
	pthread_mutex_unlock(&channel->lock);
	put_answer(&channel->graph.out, &text);
	ez_stream_flush(&channel->graph);
	return 0;
}
