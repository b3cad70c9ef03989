/* SPDX-License-Identifier: MIT */
#include "phrase.h"
#include "task_cost.h"
#include "text_width.h"
#include "visible_name.h"

#include <math.h>
#include <string.h>

/* Longer names are shortened in sentences. */
#define NAME_COLUMNS 120u
#define TRANSPORT_COLUMNS_MAX 7u

/* Three digits that count, without an exponent. */
static void say_three(struct ez_buffer *out, double value)
{
	int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;

	if (value >= 9.995 && value < 99.95 && fabs(value - round(value)) < 0.05)
		decimals = 0;
	ezprof_put(out, "%.*f", decimals, value);
}

void ezprof_say_ms(struct ez_buffer *out, double ms)
{
	double s = ms / 1000.0;

	if (ms < 0.01 && ms > 0) {
		say_three(out, ms * 1000.0);
		ez_buffer_append_text(out, " µs");
	} else if (ms < 999.5) {
		say_three(out, ms);
		ez_buffer_append_text(out, " ms");
	} else if (s < 120.0) {
		say_three(out, s);
		ez_buffer_append_text(out, " s");
	} else {
		ezprof_put(out, "%.0f min %.0f s", floor(s / 60.0), floor(fmod(s, 60.0)));
	}
}

void ezprof_say_rate(struct ez_buffer *out, double per_s)
{
	say_three(out, per_s);
	ez_buffer_append_text(out, " messages/s");
}

void ezprof_say_share(struct ez_buffer *out, double share)
{
	ezprof_put(out, share < 0.0995 ? "%.1f %%" : "%.0f %%", share * 100.0);
}

void ezprof_say_bytes(struct ez_buffer *out, double bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	size_t i = 0;

	while (bytes >= 999.5 && i < 4) {
		bytes /= 1000.0;
		i++;
	}
	if (i)
		say_three(out, bytes);
	else
		ezprof_put(out, "%.0f", bytes);
	ezprof_put(out, " %s", units[i]);
}

void ezprof_say_name(struct ez_buffer *out, const char *name)
{
	ez_visible_name(out, name);
}

/* In a sentence; names that differ do so still. */
static void say_short(struct ez_buffer *out, const char *name)
{
	ezprof_put_shortened(out, name, NAME_COLUMNS);
}

const char *ezprof_transport_word(const struct ezprof_object *object)
{
	const char *text = ezprof_label(object, EZPROF_LABEL_TRANSPORT);
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	return text[n] || n > TRANSPORT_COLUMNS_MAX ? "?" : text;
}

void ezprof_say_publisher(struct ez_buffer *out, const struct ezprof_object *publisher)
{
	const char *topic = ezprof_label(publisher, EZPROF_LABEL_TOPIC);

	say_short(out, *topic ? topic : ezprof_label(publisher, EZPROF_LABEL_ID));
}

void ezprof_say_subscriber_name(struct ez_buffer *out, const struct ezprof_model *model,
				const struct ezprof_object *subscriber)
{
	const char *task = ezprof_label(subscriber, EZPROF_LABEL_TASK);
	const char *handle = ezprof_label(subscriber, EZPROF_LABEL_HANDLE);
	const char *topic = ezprof_label(subscriber, EZPROF_LABEL_TOPIC);
	size_t costliest = ezprof_costliest_task(model, subscriber);

	if (costliest != EZPROF_NO_OBJECT)
		say_short(out, ezprof_label(&model->objects[costliest], EZPROF_LABEL_TASK));
	else if (*task && (strchr(task, ':') || !*topic))
		say_short(out, task);
	else if (*task) {
		/* A coroutine's name alone doesn't say of which unit. */
		say_short(out, task);
		ez_buffer_append_text(out, " on ");
		say_short(out, topic);
	} else if (*handle && strcmp(handle, topic) != 0) {
		say_short(out, handle);
		if (*topic) {
			ez_buffer_append_text(out, " on ");
			say_short(out, topic);
		}
	} else {
		ez_buffer_append_text(out, "the subscriber of ");
		say_short(out, *topic ? topic : "an unknown topic");
	}
}

/* NULL where it is the document's own, or not known. */
static const char *other_host(const struct ezprof_model *model, const struct ezprof_object *object)
{
	const char *host = ezprof_label(object, EZPROF_LABEL_HOST);

	return *host && model->host && strcmp(host, model->host) != 0 ? host : NULL;
}

void ezprof_say_subscriber(struct ez_buffer *out, const struct ezprof_model *model,
			   const struct ezprof_object *subscriber)
{
	const char *host = other_host(model, subscriber);

	ezprof_say_subscriber_name(out, model, subscriber);
	if (subscriber->pid)
		ezprof_put(out, " (pid %lld", (long long)subscriber->pid);
	if (host) {
		ez_buffer_append_text(out, subscriber->pid ? ", host " : " (host ");
		ezprof_say_name(out, host);
		ez_buffer_append_text(out, ")");
	} else if (subscriber->pid) {
		ez_buffer_append_text(out, ")");
	}
}

void ezprof_say_attach(struct ez_buffer *out, const struct ezprof_model *model,
		       const struct ezprof_object *object)
{
	const char *host = other_host(model, object);

	if (host) {
		ez_buffer_append_text(out, ", on host ");
		ezprof_say_name(out, host);
	}
	ez_buffer_append_text(out, ": sudo ezprof-bpf attach");
}
