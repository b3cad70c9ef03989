/* SPDX-License-Identifier: MIT */
/*
 * How many may be connected to the exporter, and for how long, whatever they do or don't: evhttp
 * limits neither. Who is connected without a request being answered makes room for newcomers, the
 * one that has had most time first. Event loop's thread only.
 */
#ifndef EZPROF_EXPORT_DOOR_H
#define EZPROF_EXPORT_DOOR_H

#include <event2/bufferevent.h>
#include <event2/http.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

#define EZPROF_GUESTS_MAX 64u

struct ezprof_guest {
	struct bufferevent *bev; /* a reference of ours; NULL = free place */
	ez_mono_ns_t deadline_ns;
	bool is_served;
};

struct ezprof_export_door {
	struct event_base *base;
	struct event *sweep;
	struct ezprof_guest guests[EZPROF_GUESTS_MAX];
	uint64_t dropped; /* connections that were closed by us */
};

/* From now on all of http's connections come in here. The door stays where it is. -ENOMEM. */
int ezprof_export_door_open(struct ezprof_export_door *door, struct event_base *base,
			    struct evhttp *http);

/* Before the evhttp and the base are freed; bears a zeroed one. */
void ezprof_export_door_close(struct ezprof_export_door *door);

/* A request has come in whole, and may take until then to be answered. */
void ezprof_export_door_serve(struct ezprof_export_door *door, struct evhttp_request *request,
			      ez_mono_ns_t deadline_ns);

#endif
