/* SPDX-License-Identifier: MIT */
/*
 * Documents for a screen, one each interval, without ever waiting for one: of the running graph, or
 * played from a file. It goes on when a fetch fails, and says why and since when. One thread.
 */
#ifndef EZPROF_TOP_FEED_H
#define EZPROF_TOP_FEED_H

#include "clock.h"
#include "live_source.h"
#include "top_run.h"
#include "watch.h"

struct ezprof_top_feed {
	const char *program;
	const struct ezprof_top_options *options;
	struct ezprof_watch watch;
	struct ezprof_live_source live;
	bool have_address;
	struct ez_address address;
	char *text; /* all documents of a file */
	size_t text_bytes, text_at, played;
	bool at_end;		      /* of the file */
	ez_mono_ns_t due_ns;	      /* when the next one is wanted */
	ez_mono_ns_t asked_ns;	      /* when it was last asked */
	ez_mono_ns_t got_ns;	      /* when the last one came */
	char source[384], error[384]; /* error: "" = the last one came */
};

/*
 * Gets the first document, which may take some seconds: before there is a screen, errors are
 * printed as any command does. Returns an exit status; ezprof_top_feed_close() it in any case.
 */
int ezprof_top_feed_open(struct ezprof_top_feed *feed, const char *program,
			 const struct ezprof_top_options *options);
void ezprof_top_feed_close(struct ezprof_top_feed *feed);

/* Asks when it is due (unless frozen). Returns when it wants to be called again. */
ez_mono_ns_t ezprof_top_feed_step(struct ezprof_top_feed *feed, bool frozen);

/* Something can be read. True: there is something new to show. */
bool ezprof_top_feed_read(struct ezprof_top_feed *feed);

/* Why what is shown isn't fresh, "" if it is. */
void ezprof_top_feed_trouble(const struct ezprof_top_feed *feed, char *out, size_t out_bytes);

#endif
