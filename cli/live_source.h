/* SPDX-License-Identifier: MIT */
/*
 * A document of the running graph without waiting for it: it is fetched by a child process, since
 * who is silent is waited for, and a screen must stay alive meanwhile. One fetch at a time; one
 * thread.
 */
#ifndef EZPROF_LIVE_SOURCE_H
#define EZPROF_LIVE_SOURCE_H

#include <stdbool.h>
#include <sys/types.h>

#include "buffer.h"
#include "parse.h"

struct ezprof_live_source {
	pid_t child;		  /* 0 = no fetch is in progress */
	int text_fd, messages_fd; /* -1 = at its end */
	struct ez_buffer text, messages;
};

struct ezprof_live_answer {
	int status;	/* of ezprof_profile_fetch() */
	char *text;	/* the document; NULL = there is none */
	char *messages; /* what was said meanwhile, lines; never NULL */
};

void ezprof_live_init(struct ezprof_live_source *source);

/* Begins a fetch, as ezprof_profile_fetch() does. Errors: those of pipe() and fork(). */
int ezprof_live_start(struct ezprof_live_source *source, const char *program,
		      const struct ez_address *address, double window_s);

/*
 * Reads what is there; to be called when text_fd or messages_fd is readable. 1: the answer is whole
 * (both texts the caller's to free()); 0: not yet; or an error, and the fetch is over.
 */
int ezprof_live_read(struct ezprof_live_source *source, struct ezprof_live_answer *ret_answer);

/* Ends a fetch in progress, and waits for the child. */
void ezprof_live_stop(struct ezprof_live_source *source);

#endif
