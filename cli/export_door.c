/* SPDX-License-Identifier: MIT */
/*
 * Of a connection that evhttp frees nobody is told. So each of its bufferevents is referred to here
 * as well, and evhttp's freeing is seen by its having no callbacks any more.
 */
#include "export_door.h"

#include <errno.h>
#include <event2/event.h>
#include <sys/socket.h>

/* To send a request in; between two requests. */
#define REQUEST_MS 10000
#define REST_MS 75000
/* More than what evhttp takes for a head. */
#define READ_BYTES_MAX 32768
static const struct timeval sweep_interval = {.tv_sec = 1};

static bool is_gone(const struct ezprof_guest *guest)
{
	bufferevent_data_cb on_read = NULL;

	bufferevent_getcb(guest->bev, &on_read, NULL, NULL, NULL);
	return !on_read;
}

static void leave(struct ezprof_guest *guest)
{
	bufferevent_decref(guest->bev);
	*guest = (struct ezprof_guest){0};
}

/* evhttp sees the end of the connection, and frees it. */
static void turn_out(struct ezprof_export_door *door, struct ezprof_guest *guest)
{
	shutdown(bufferevent_getfd(guest->bev), SHUT_RDWR);
	door->dropped++;
	leave(guest);
}

static size_t sweep(struct ezprof_export_door *door)
{
	ez_mono_ns_t now_ns = ez_clock_mono_ns();
	size_t i, n = 0;

	for (i = 0; i < EZPROF_GUESTS_MAX; i++) {
		struct ezprof_guest *guest = &door->guests[i];

		if (!guest->bev)
			continue;
		if (is_gone(guest))
			leave(guest);
		else if (guest->deadline_ns < now_ns)
			turn_out(door, guest);
		else
			n++;
	}
	return n;
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	struct ezprof_export_door *door = arg;

	(void)fd;
	(void)what;
	if (sweep(door))
		event_add(door->sweep, &sweep_interval);
}

static struct ezprof_guest *who_makes_room(struct ezprof_export_door *door)
{
	struct ezprof_guest *found = NULL;
	size_t i;

	for (i = 0; i < EZPROF_GUESTS_MAX; i++) {
		struct ezprof_guest *guest = &door->guests[i];

		if (!guest->bev)
			return guest;
		if (!found || guest->is_served < found->is_served ||
		    (guest->is_served == found->is_served &&
		     guest->deadline_ns < found->deadline_ns))
			found = guest;
	}
	turn_out(door, found);
	return found;
}

static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
	struct ezprof_export_door *door = arg;
	struct bufferevent *bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	struct ezprof_guest *guest;

	if (!bev)
		return NULL;
	sweep(door);
	guest = who_makes_room(door);
	/* Until our reference goes it reads on, also when evhttp has freed it. */
	bufferevent_setwatermark(bev, EV_READ, 0, READ_BYTES_MAX);
	bufferevent_incref(bev);
	*guest = (struct ezprof_guest){.bev = bev, .deadline_ns = ez_clock_deadline_ns(REQUEST_MS)};
	if (!event_pending(door->sweep, EV_TIMEOUT, NULL))
		event_add(door->sweep, &sweep_interval);
	return bev;
}

int ezprof_export_door_open(struct ezprof_export_door *door, struct event_base *base,
			    struct evhttp *http)
{
	*door = (struct ezprof_export_door){.base = base};
	door->sweep = evtimer_new(base, on_sweep, door);
	if (!door->sweep)
		return -ENOMEM;
	evhttp_set_bevcb(http, on_connection, door);
	return 0;
}

void ezprof_export_door_close(struct ezprof_export_door *door)
{
	size_t i;

	for (i = 0; i < EZPROF_GUESTS_MAX; i++) {
		if (door->guests[i].bev)
			leave(&door->guests[i]);
	}
	if (door->sweep)
		event_free(door->sweep);
	door->sweep = NULL;
}

static struct ezprof_guest *guest_of(struct ezprof_export_door *door,
				     struct evhttp_request *request)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	struct bufferevent *bev = connection ? evhttp_connection_get_bufferevent(connection) : NULL;
	size_t i;

	for (i = 0; bev && i < EZPROF_GUESTS_MAX; i++) {
		if (door->guests[i].bev == bev)
			return &door->guests[i];
	}
	return NULL;
}

static void on_answered(struct evhttp_request *request, void *arg)
{
	struct ezprof_export_door *door = arg;
	struct ezprof_guest *guest = guest_of(door, request);

	if (guest) {
		guest->is_served = false;
		guest->deadline_ns = ez_clock_deadline_ns(REST_MS);
	}
	/* If evhttp closes it now, the descriptor isn't kept until the next sweep. */
	event_active(door->sweep, EV_TIMEOUT, 0);
}

void ezprof_export_door_serve(struct ezprof_export_door *door, struct evhttp_request *request,
			      ez_mono_ns_t deadline_ns)
{
	struct ezprof_guest *guest = guest_of(door, request);

	evhttp_request_set_on_complete_cb(request, on_answered, door);
	if (!guest)
		return;
	guest->is_served = true;
	guest->deadline_ns = deadline_ns;
}
