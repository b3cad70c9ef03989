/* SPDX-License-Identifier: MIT */
#include "top_feed.h"
#include "document_file.h"
#include "exit_status.h"
#include "graph_choice.h"
#include "profile_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 2500
/*
 * An answer takes a second where a client is silent, and a window where ezmsg has to be listened
 * to; longer is worth a word.
 */
#define PATIENCE_S 3.0

static int take(struct ezprof_top_feed *feed, struct ezprof_model *model)
{
	feed->got_ns = ez_clock_mono_ns();
	feed->error[0] = '\0';
	return ezprof_watch_add(&feed->watch, model);
}

/* The next document of the file. -ENODATA at its end. */
static int play(struct ezprof_top_feed *feed)
{
	struct ezprof_model *model;
	int err = ezprof_model_next(feed->text, feed->text_bytes, &feed->text_at, &model);

	if (err)
		return err;
	feed->played++;
	snprintf(feed->source, sizeof(feed->source), "%.300s #%zu", feed->options->from,
		 feed->played);
	return take(feed, model);
}

static int open_file(struct ezprof_top_feed *feed)
{
	int status = ezprof_document_file_text(feed->program, feed->options->from, &feed->text);
	int err;

	if (status)
		return status;
	feed->text_bytes = strlen(feed->text);
	err = play(feed);
	if (!err)
		return EZPROF_EXIT_OK;
	fprintf(stderr, "%s: %.200s: %s\n", feed->program, feed->options->from,
		err == -ENOMEM ? strerror(ENOMEM)
			       : "this is no PROFILE document (`ezprof profile` prints one)");
	return EZPROF_EXIT_FAILURE;
}

/* Once chosen it stays that graph, also when another one appears, or this one's server goes. */
static int choose(struct ezprof_top_feed *feed)
{
	const struct ezprof_top_options *o = feed->options;
	struct ezprof_graph_choice choice;
	int status = ezprof_graph_choose(feed->program, o->address, false,
					 ez_clock_deadline_ns(LOOK_MS), &choice);

	/* The usual address, taken for want of any, gets a hint with its error. */
	if (!status && choice.have_address && !choice.is_default) {
		feed->have_address = true;
		feed->address = choice.address;
	}
	if (!status)
		snprintf(feed->source, sizeof(feed->source), "%s",
			 choice.have_address ? choice.text : "agents");
	ezprof_graph_choice_free(&choice);
	return status;
}

static const struct ez_address *address_of(const struct ezprof_top_feed *feed)
{
	return feed->have_address ? &feed->address : NULL;
}

static int open_graph(struct ezprof_top_feed *feed)
{
	struct ezprof_source_memory memory = {0};
	struct ezprof_model *model;
	char *text = NULL;
	int status = choose(feed);

	if (!status)
		status = ezprof_profile_fetch(feed->program, address_of(feed),
					      feed->options->window_s, &memory, &text);
	/* The usual one has answered: it needn't be looked for again either. */
	if (!status && memory.have_graph) {
		feed->have_address = true;
		feed->address = memory.graph;
	}
	if (!status)
		status = ezprof_document_model(feed->program, text, &model);
	free(text);
	if (!status && take(feed, model)) {
		fprintf(stderr, "%s: %s\n", feed->program, strerror(ENOMEM));
		status = EZPROF_EXIT_FAILURE;
	}
	return status;
}

static uint64_t interval_ns(const struct ezprof_top_feed *feed)
{
	return (uint64_t)(feed->options->interval_s * 1e9);
}

int ezprof_top_feed_open(struct ezprof_top_feed *feed, const char *program,
			 const struct ezprof_top_options *options)
{
	int status;

	memset(feed, 0, sizeof(*feed));
	feed->program = program;
	feed->options = options;
	ezprof_live_init(&feed->live);
	if (ezprof_watch_init(&feed->watch)) {
		fprintf(stderr, "%s: %s\n", program, strerror(ENOMEM));
		return EZPROF_EXIT_FAILURE;
	}
	status = options->from ? open_file(feed) : open_graph(feed);
	feed->due_ns = ez_clock_mono_ns() + interval_ns(feed);
	return status;
}

void ezprof_top_feed_close(struct ezprof_top_feed *feed)
{
	ezprof_live_stop(&feed->live);
	ezprof_watch_free(&feed->watch);
	free(feed->text);
	feed->text = NULL;
}

static void fail(struct ezprof_top_feed *feed, const char *why)
{
	snprintf(feed->error, sizeof(feed->error), "%s", why);
}

static void ask(struct ezprof_top_feed *feed, ez_mono_ns_t now_ns)
{
	int err;

	if (feed->options->from) {
		err = play(feed);
		feed->at_end = err != 0;
		if (err && err != -ENODATA)
			fail(feed, err == -EPROTO ? "what follows is no PROFILE document"
						  : strerror(-err));
		return;
	}
	feed->asked_ns = now_ns;
	err = ezprof_live_start(&feed->live, feed->program, address_of(feed),
				feed->options->window_s);
	if (err)
		fail(feed, strerror(-err));
}

ez_mono_ns_t ezprof_top_feed_step(struct ezprof_top_feed *feed, bool frozen)
{
	ez_mono_ns_t now_ns = ez_clock_mono_ns();

	if (frozen || feed->at_end)
		return EZ_NEVER;
	if (feed->live.child)
		return now_ns + EZ_NS_PER_S; /* for the age that is shown */
	if (now_ns < feed->due_ns)
		return feed->due_ns;
	ask(feed, now_ns);
	/* One that took longer than the interval isn't followed by a burst. */
	feed->due_ns += interval_ns(feed);
	if (feed->due_ns < now_ns)
		feed->due_ns = now_ns + interval_ns(feed);
	return feed->live.child ? now_ns + EZ_NS_PER_S : feed->due_ns;
}

/* "ezprof top: 127.0.0.1:25978: nobody listens there\n" without the program and what follows. */
static void fail_by_messages(struct ezprof_top_feed *feed, char *messages)
{
	size_t prefix = strlen(feed->program);
	char *line = messages;

	if (strncmp(line, feed->program, prefix) == 0 && line[prefix] == ':')
		line += prefix + 1 + strspn(line + prefix + 1, " ");
	line[strcspn(line, "\n")] = '\0';
	fail(feed, *line ? line : "no answer");
}

bool ezprof_top_feed_read(struct ezprof_top_feed *feed)
{
	struct ezprof_live_answer answer = {0};
	struct ezprof_model *model;
	int err = ezprof_live_read(&feed->live, &answer);

	if (err == 0)
		return false;
	if (err < 0) {
		fail(feed, strerror(-err));
		return true;
	}
	if (answer.status) {
		fail_by_messages(feed, answer.messages);
	} else {
		err = ezprof_model_read(answer.text, strlen(answer.text), &model);
		if (!err)
			err = take(feed, model);
		if (err)
			fail(feed,
			     err == -EPROTO ? "the answer is no PROFILE document" : strerror(-err));
	}
	free(answer.text);
	free(answer.messages);
	return true;
}

void ezprof_top_feed_trouble(const struct ezprof_top_feed *feed, char *out, size_t out_bytes)
{
	ez_mono_ns_t now_ns = ez_clock_mono_ns();
	double age_s = (double)(now_ns - feed->got_ns) / 1e9;
	double asked_s = (double)(now_ns - feed->asked_ns) / 1e9;
	bool waits = feed->live.child && asked_s > feed->options->window_s + PATIENCE_S;

	out[0] = '\0';
	if (*feed->error && feed->options->from)
		snprintf(out, out_bytes, "%s", feed->error);
	else if (*feed->error || waits)
		snprintf(out, out_bytes, "data is %.0f s old: %s", age_s,
			 *feed->error ? feed->error : "waiting for an answer");
	else if (feed->at_end)
		snprintf(out, out_bytes, "the recording is at its end (q quits)");
}
