/* SPDX-License-Identifier: MIT */
/*
 * The agent's end of a control link, be it to the graph server or to a client of its socket:
 * PROFILE requests (15 + u64 window_ms) come in, PROFILE_DATA (16 + str) goes out. A peer that
 * doesn't take its answers gets no more of them made. Event loop's thread only.
 */
#ifndef EZPROF_PROFILE_LINK_H
#define EZPROF_PROFILE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bufferevent;
struct event_base;
struct ezprof_profile_link;

struct ezprof_profile_link_handler {
	/* A new JSON text for this window, to be freed by the link; NULL: the link is closed. */
	char *(*profile)(void *context, uint64_t window_ms);
	/*
	 * HELLO (e0 + str): an answer as above. NULL pointer: HELLO is not for this link, and
	 * closes it.
	 */
	char *(*hello)(void *context, const char *text, size_t n);
	/*
	 * RECORD (e1 + u64): takes the connection over; the link has ended and is freed after this
	 * call. NULL pointer: as above.
	 */
	void (*record)(void *context, struct bufferevent *events, uint32_t flags);
	/* The link has ended and is freed after this call. */
	void (*closed)(void *context);
	void *context;
	bool complete; /* 00 follows every PROFILE_DATA */
};

/* Takes the socket over in any case. idle_s: closed after so long without a request; 0: never. */
int ezprof_profile_link_new(struct event_base *base, int fd,
			    const struct ezprof_profile_link_handler *handler, unsigned int idle_s,
			    struct ezprof_profile_link **ret_link);

/* Closes it; `closed` is not called. NULL is fine. */
void ezprof_profile_link_free(struct ezprof_profile_link *link);

#endif
