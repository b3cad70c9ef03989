/* SPDX-License-Identifier: MIT */
/* What could be had cheaper: shared memory instead of TCP, smaller messages. */
#include "load.h"
#include "phrase.h"
#include "why_part.h"

#include <string.h>

#define LARGE_BYTES 262144.0
#define OWN_MS_MIN 1.0
#define BLOCKED_SHARE_MAX 0.2
#define OWN_SHARE 0.5

static bool same_host(const struct ezprof_object *a, const struct ezprof_object *b)
{
	const char *host = ezprof_label(a, EZPROF_LABEL_HOST);

	return *host && strcmp(host, ezprof_label(b, EZPROF_LABEL_HOST)) == 0;
}

static const struct ezprof_object *channel_of(const struct ezprof_model *model,
					      const struct ezprof_object *link)
{
	EZPROF_EACH (model, EZPROF_CHAN, i) {
		if (strcmp(ezprof_label(&model->objects[i], EZPROF_LABEL_ID),
			   ezprof_label(link, EZPROF_LABEL_CHANNEL_ID)) == 0)
			return &model->objects[i];
	}
	return NULL;
}

static bool could_be_shm(const struct ezprof_model *model, const struct ezprof_object *link)
{
	const struct ezprof_object *channel;

	if (link->pid == model->objects[link->parent].pid ||
	    strcmp(ezprof_label(link, EZPROF_LABEL_TRANSPORT), "tcp") != 0)
		return false;
	channel = channel_of(model, link);
	return channel && same_host(channel, &model->objects[link->parent]);
}

static void tcp_within_host(struct ezprof_why_context *c, size_t publisher)
{
	const struct ezprof_object *p = &c->model->objects[publisher];
	struct ezprof_finding *finding = NULL;
	struct ez_buffer text;

	if (ezprof_figure(p, EZPROF_PUB_RATE_HZ, 0.0) <= 0)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	EZPROF_EACH (c->model, EZPROF_LINK, i) {
		const struct ezprof_object *link = &c->model->objects[i];

		if (link->parent != publisher || !could_be_shm(c->model, link))
			continue;
		if (finding) {
			ezprof_put(&text, ", pid %lld", (long long)link->pid);
			continue;
		}
		finding = ezprof_finding_add(c->findings, EZPROF_FINDING_TCP_LOCAL, publisher,
					     ezprof_figure(p, EZPROF_PUB_BYTES_PER_S, 0.0));
		if (!finding)
			break;
		ezprof_say_publisher(&text, p);
		ez_buffer_append_text(&text, " sends ");
		ezprof_say_bytes(&text, ezprof_figure(p, EZPROF_PUB_BYTES_PER_S, 0.0));
		ezprof_put(&text, "/s by TCP to a process of the same host (pid %lld",
			   (long long)link->pid);
		ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_BYTES_PER_S);
		ezprof_finding_rests_on(finding, i, EZPROF_LINK_LEASE_AVG_MS);
	}
	if (finding) {
		ez_buffer_append_text(&text, "), where shared memory is possible: is force_tcp "
					     "set, or /dev/shm too small or not shared?");
		ezprof_finding_say(c->findings, finding, &text);
	}
	ez_buffer_free(&text);
}

static bool leaves_the_process(const struct ezprof_model *model, size_t publisher)
{
	EZPROF_EACH (model, EZPROF_LINK, i) {
		const char *transport = ezprof_label(&model->objects[i], EZPROF_LABEL_TRANSPORT);

		if (model->objects[i].parent == publisher &&
		    (strcmp(transport, "shm") == 0 || strcmp(transport, "tcp") == 0))
			return true;
	}
	return false;
}

/* Large messages of a publisher that spends most of the time on its own: what the figures allow to
 * say. */
static void serialising(struct ezprof_why_context *c, size_t publisher)
{
	const struct ezprof_object *p = &c->model->objects[publisher];
	double messages = ezprof_figure(p, EZPROF_PUB_MESSAGES_WINDOW, 0.0);
	double bytes = messages > 0 ? ezprof_figure(p, EZPROF_PUB_BYTES_WINDOW, 0.0) / messages : 0;
	double p50 = ezprof_figure(p, EZPROF_PUB_GAP_P50_MS, 0.0);
	double p99 = ezprof_figure(p, EZPROF_PUB_GAP_P99_MS, 0.0);
	struct ezprof_finding *finding;
	struct ez_buffer text;

	/* A steady gap is a pace that somebody chose; one that varies is work. */
	if (ezprof_why_is_waiting(c->findings, publisher) || bytes < LARGE_BYTES ||
	    ezprof_own_ms(p) < OWN_MS_MIN || p99 < p50 * (1 + OWN_SHARE) ||
	    ezprof_blocked_share(p) > BLOCKED_SHARE_MAX || !leaves_the_process(c->model, publisher))
		return;
	finding = ezprof_finding_add(c->findings, EZPROF_FINDING_SERIALISING, publisher, bytes);
	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_say_publisher(&text, p);
	ez_buffer_append_text(&text, " takes ");
	ezprof_say_ms(&text, ezprof_own_ms(p));
	ez_buffer_append_text(&text, " of its own for a message of ");
	ezprof_say_bytes(&text, bytes);
	ez_buffer_append_text(&text, ", of which serialising and copying are a part that is not "
				     "measured apart; it is blocked only ");
	ezprof_say_share(&text, ezprof_blocked_share(p));
	ez_buffer_append_text(&text, " of the time.");
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_BYTES_WINDOW);
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_MESSAGES_WINDOW);
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_BLOCKED_SHARE);
	ezprof_finding_say(c->findings, finding, &text);
}

void ezprof_why_advice(struct ezprof_why_context *c)
{
	EZPROF_EACH (c->model, EZPROF_PUB, i) {
		tcp_within_host(c, i);
		serialising(c, i);
	}
}
