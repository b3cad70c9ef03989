/* SPDX-License-Identifier: MIT */
#include "departure.h"

#include <stdlib.h>

#include <event2/event.h>

#include "subscriber_link.h"

struct ezprof_departure {
	struct ezprof_server *server;
	struct ezprof_topic *topic; /* held */
	uint64_t change;
	struct event *timer;
	struct ezprof_departure *prev, *next;
};

static void departure_free(struct ezprof_departure *departure)
{
	struct ezprof_server *server = departure->server;

	DL_DELETE(server->departures, departure);
	ezprof_graph_release(&server->graph, departure->topic);
	event_free(departure->timer);
	free(departure);
}

static void tell(evutil_socket_t fd, short what, void *arg)
{
	struct ezprof_departure *departure = arg;
	struct ezprof_told told = {.server = departure->server, .unaware_of = departure->change};

	(void)fd;
	(void)what;
	ezprof_told_add(departure->topic, &told);
	ezprof_told_send(&told, NULL);
	departure_free(departure);
}

void ezprof_departure_of(struct ezprof_server *server, struct ezprof_topic *topic)
{
	uint64_t delay_ms = server->config.departure_delay_ms;
	struct timeval delay = {.tv_sec = (time_t)(delay_ms / 1000),
				.tv_usec = (suseconds_t)(delay_ms % 1000 * 1000)};
	struct ezprof_departure *departure = calloc(1, sizeof(*departure));

	if (departure)
		departure->timer = event_new(server->base, -1, 0, tell, departure);
	if (!departure || !departure->timer) {
		ez_log(EZ_LOG_ERROR, "no memory to tell subscribers that a publisher left");
		free(departure);
		return;
	}
	departure->server = server;
	departure->change = ++server->changes;
	departure->topic = topic;
	topic->holds++;
	DL_APPEND(server->departures, departure);
	event_add(departure->timer, &delay);
}

void ezprof_departures_drop(struct ezprof_server *server)
{
	while (server->departures)
		departure_free(server->departures);
}
