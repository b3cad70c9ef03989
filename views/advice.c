/* SPDX-License-Identifier: MIT */
/* What could be had cheaper: shared memory instead of TCP, smaller messages. */
#include "phrase.h"
#include "relation.h"
#include "task_cost.h"
#include "why_part.h"

#include <string.h>

#define SERIALISE_SHARE_MIN 0.3

static bool same_host(const struct ezprof_object *a, const struct ezprof_object *b)
{
	const char *host = ezprof_label(a, EZPROF_LABEL_HOST);

	return *host && strcmp(host, ezprof_label(b, EZPROF_LABEL_HOST)) == 0;
}

static bool could_be_shm(const struct ezprof_model *model, const struct ezprof_object *link)
{
	size_t channel;

	if (link->pid == model->objects[link->parent].pid ||
	    strcmp(ezprof_label(link, EZPROF_LABEL_TRANSPORT), "tcp") != 0)
		return false;
	channel = ezprof_channel_of(model, link);
	return channel != EZPROF_NO_OBJECT &&
	       same_host(&model->objects[channel], &model->objects[link->parent]);
}

static void tcp_within_host(struct ezprof_why_context *c, size_t publisher)
{
	const struct ezprof_object *p = &c->model->objects[publisher];
	struct ezprof_finding *finding = NULL;
	struct ez_buffer text;

	if (ezprof_figure(p, EZPROF_PUB_RATE_HZ, 0.0) <= 0)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	EZPROF_EACH_OF (c->model, EZPROF_LINKS_OF, publisher, found) {
		const struct ezprof_object *link = &c->model->objects[found->object];

		if (!could_be_shm(c->model, link))
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
		ezprof_finding_rests_on(finding, found->object, EZPROF_LINK_LEASE_AVG_MS);
	}
	if (finding) {
		ez_buffer_append_text(&text, "), where shared memory is possible: is force_tcp "
					     "set, or /dev/shm too small or not shared?");
		ezprof_finding_say(c->findings, finding, &text);
	}
	ez_buffer_free(&text);
}

/* Time that serialising takes per message, and its share of the time; false: not known. */
static bool serialise_cost(const struct ezprof_why_context *c, const struct ezprof_object *p,
			   double *ret_ms, double *ret_share)
{
	double messages = ezprof_growth(c->before, p, EZPROF_PUB_MESSAGES_TOTAL);
	double total_ms = ezprof_growth(c->before, p, EZPROF_PUB_SERIALISE_TOTAL_MS);

	if (!ezprof_known(ezprof_value(p, EZPROF_PUB_SERIALISE_TOTAL_MS)) || messages < 1)
		return false;
	*ret_ms = total_ms / messages;
	*ret_share = *ret_ms * ezprof_figure(p, EZPROF_PUB_RATE_HZ, 0.0) / 1000.0;
	return true;
}

/* A publisher that spends much of the time on making its messages fit to travel. */
static void serialising(struct ezprof_why_context *c, size_t publisher)
{
	const struct ezprof_object *p = &c->model->objects[publisher];
	double messages = ezprof_figure(p, EZPROF_PUB_MESSAGES_WINDOW, 0.0), ms, share;
	struct ezprof_finding *finding;
	struct ez_buffer text;

	if (!serialise_cost(c, p, &ms, &share) || share < SERIALISE_SHARE_MIN)
		return;
	finding = ezprof_finding_add(c->findings, EZPROF_FINDING_SERIALISING, publisher,
				     100.0 * share);
	if (!finding)
		return;
	finding->bound_hz = 1000.0 / ms;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_say_publisher(&text, p);
	ez_buffer_append_text(&text, " spends ");
	ezprof_say_share(&text, share);
	ez_buffer_append_text(&text, " of the time on serialising and copying: ");
	ezprof_say_ms(&text, ms);
	ez_buffer_append_text(&text, " for each message");
	if (messages > 0) {
		ez_buffer_append_text(&text, " of ");
		ezprof_say_bytes(&text, ezprof_figure(p, EZPROF_PUB_BYTES_WINDOW, 0.0) / messages);
	}
	ez_buffer_append_text(&text, ", so at most ");
	ezprof_say_rate(&text, finding->bound_hz);
	ez_buffer_append_text(&text, "; in the same process nothing would be serialised.");
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_SERIALISE_TOTAL_MS);
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_MESSAGES_TOTAL);
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_RATE_HZ);
	ezprof_finding_say(c->findings, finding, &text);
}

void ezprof_why_advice(struct ezprof_why_context *c)
{
	EZPROF_EACH (c->model, EZPROF_PUB, i) {
		tcp_within_host(c, i);
		serialising(c, i);
	}
}
