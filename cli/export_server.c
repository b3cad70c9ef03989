/* SPDX-License-Identifier: MIT */
/*
 * One event loop; documents come from a thread (export_fetch). A scrape that finds none in time
 * says so by ezprof_up 0: figures of an earlier one would be taken for figures of now.
 */
#include "export_server.h"
#include "accept_header.h"
#include "exit_status.h"
#include "export_door.h"
#include "export_fetch.h"
#include "export_news.h"
#include "export_page.h"
#include "export_service.h"
#include "fd.h"
#include "output.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define PROGRAM "ezprof export"
#define HEADERS_BYTES_MAX 8192
#define BODY_BYTES_MAX 1024
#define IDLE_S 75
/* Prometheus gives up after 10 s, unless it says otherwise. */
#define SCRAPE_S_DEFAULT 9.0
#define SCRAPE_S_MIN 0.1
#define SCRAPE_S_MAX 60.0
#define SCRAPE_SHARE 0.9 /* of what it says */
#define SEND_MS 30000
#define LISTENERS_MAX 8
#define BACKLOG 128

struct exporter;

/* A scrape that waits for a document. */
struct scrape {
	struct exporter *exporter;
	struct evhttp_request *request;
	enum ezprof_dialect dialect;
	struct event *timeout;
	LIST_ENTRY(scrape) others;
};

struct exporter {
	const struct ezprof_export_settings *settings;
	struct event_base *base;
	struct evhttp *http;
	struct ezprof_export_door door;
	struct ezprof_export_fetch *fetch;
	struct event *fetched;
	struct ezprof_scrape_memory memory;
	struct ezprof_export_news news;
	ez_mono_ns_t fetch_begun_ns;
	LIST_HEAD(, scrape) scrapes;
	uint64_t scrape_count, failure_count;
};

static const char *content_type(enum ezprof_dialect dialect)
{
	return dialect == EZPROF_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

static void say(struct evhttp_request *request, int code, const char *reason, const char *text)
{
	struct evbuffer *body = evbuffer_new();

	evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
			  "text/plain; charset=utf-8");
	if (body)
		evbuffer_add_printf(body, "%s\n", text);
	evhttp_send_reply(request, code, reason, body);
	if (body)
		evbuffer_free(body);
}

static void send_page(struct evhttp_request *request, struct ezprof_export_page *page,
		      enum ezprof_dialect dialect)
{
	struct evbuffer *body = evbuffer_new();

	if (!page || !body || ezprof_export_page_send(page, body)) {
		say(request, HTTP_INTERNAL, "Internal Server Error", "no memory");
	} else {
		struct evkeyvalq *headers = evhttp_request_get_output_headers(request);

		evhttp_add_header(headers, "Content-Type", content_type(dialect));
		evhttp_add_header(headers, "Cache-Control", "no-store");
		evhttp_send_reply(request, HTTP_OK, "OK", body);
	}
	if (body)
		evbuffer_free(body);
}

static void end_scrape(struct scrape *scrape)
{
	LIST_REMOVE(scrape, others);
	event_free(scrape->timeout);
	free(scrape);
}

static struct ezprof_export_facts facts_of(const struct exporter *exporter)
{
	return (struct ezprof_export_facts){
		.memory = &exporter->memory,
		.scrapes = exporter->scrape_count,
		.scrapes_failed = exporter->failure_count,
		.connections_dropped = exporter->door.dropped,
		.series_max = exporter->settings->series_max,
	};
}

static double seconds(ez_mono_ns_t from_ns, ez_mono_ns_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0.0;
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct scrape *scrape = arg;
	struct exporter *exporter = scrape->exporter;
	struct ezprof_export_facts facts;
	struct ezprof_export_page *page;

	(void)fd;
	(void)what;
	exporter->failure_count++;
	facts = facts_of(exporter);
	facts.failure = "timeout";
	facts.duration_s = seconds(exporter->fetch_begun_ns, ez_clock_mono_ns());
	page = ezprof_export_page_new(&facts, scrape->dialect);
	send_page(scrape->request, page, scrape->dialect);
	ezprof_export_page_put(page);
	end_scrape(scrape);
}

/* All who wait get it, one text for each dialect. */
static void answer_all(struct exporter *exporter, const struct ezprof_export_facts *facts)
{
	struct ezprof_export_page *pages[2] = {NULL, NULL};
	struct scrape *scrape;

	while ((scrape = LIST_FIRST(&exporter->scrapes))) {
		struct ezprof_export_page **page = &pages[scrape->dialect];

		if (!*page)
			*page = ezprof_export_page_new(facts, scrape->dialect);
		send_page(scrape->request, *page, scrape->dialect);
		end_scrape(scrape);
	}
	ezprof_export_page_put(pages[0]);
	ezprof_export_page_put(pages[1]);
}

static uint64_t how_many_wait(const struct exporter *exporter)
{
	const struct scrape *scrape;
	uint64_t n = 0;

	LIST_FOREACH (scrape, &exporter->scrapes, others)
		n++;
	return n;
}

static void on_fetched(evutil_socket_t fd, short what, void *arg)
{
	struct exporter *exporter = arg;
	struct ezprof_export_facts facts;
	struct ezprof_fetched fetched;

	(void)fd;
	(void)what;
	if (!ezprof_export_fetch_take(exporter->fetch, &fetched))
		return;
	ezprof_export_news_tell(&exporter->news, fetched.messages);
	if (fetched.model && ezprof_scrape_memory_renew(&exporter->memory, fetched.model)) {
		ezprof_model_free(fetched.model);
		fetched.model = NULL;
		fetched.failure = "no_memory";
	}
	if (!fetched.model)
		exporter->failure_count += how_many_wait(exporter);
	facts = facts_of(exporter);
	facts.model = fetched.model;
	facts.failure = fetched.failure;
	facts.duration_s = seconds(fetched.begun_ns, fetched.ended_ns);
	facts.age_s = seconds(fetched.ended_ns, ez_clock_mono_ns());
	answer_all(exporter, &facts);
	ezprof_fetched_free(&fetched);
}

/* How long this scrape may take: less than whoever scrapes waits. */
static double bound_of(struct evhttp_request *request)
{
	const char *text = evhttp_find_header(evhttp_request_get_input_headers(request),
					      "X-Prometheus-Scrape-Timeout-Seconds");
	double bound_s;

	if (!text || ez_parse_double(text, &bound_s))
		return SCRAPE_S_DEFAULT;
	bound_s *= SCRAPE_SHARE;
	if (bound_s < SCRAPE_S_MIN)
		return SCRAPE_S_MIN;
	return bound_s < SCRAPE_S_MAX ? bound_s : SCRAPE_S_MAX;
}

static void begin_scrape(struct exporter *exporter, struct evhttp_request *request, double bound_s)
{
	struct scrape *scrape = calloc(1, sizeof(*scrape));
	struct timeval bound = {(time_t)bound_s,
				(suseconds_t)((bound_s - (double)(time_t)bound_s) * 1e6)};

	if (scrape)
		scrape->timeout = evtimer_new(exporter->base, on_timeout, scrape);
	if (!scrape || !scrape->timeout || event_add(scrape->timeout, &bound)) {
		if (scrape && scrape->timeout)
			event_free(scrape->timeout);
		free(scrape);
		say(request, HTTP_INTERNAL, "Internal Server Error", "no memory");
		return;
	}
	scrape->exporter = exporter;
	scrape->request = request;
	scrape->dialect = ezprof_accept_dialect(
		evhttp_find_header(evhttp_request_get_input_headers(request), "Accept"));
	exporter->scrape_count++;
	if (LIST_EMPTY(&exporter->scrapes))
		exporter->fetch_begun_ns = ez_clock_mono_ns();
	LIST_INSERT_HEAD(&exporter->scrapes, scrape, others);
	ezprof_export_fetch_begin(exporter->fetch);
}

static void on_request(struct evhttp_request *request, void *arg)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
	enum evhttp_cmd_type command = evhttp_request_get_command(request);
	struct exporter *exporter = arg;
	double bound_s = bound_of(request);

	ezprof_export_door_serve(&exporter->door, request,
				 ez_clock_deadline_ns((int64_t)(bound_s * 1000) + SEND_MS));
	if (command != EVHTTP_REQ_GET && command != EVHTTP_REQ_HEAD) {
		evhttp_add_header(evhttp_request_get_output_headers(request), "Allow", "GET, HEAD");
		say(request, HTTP_BADMETHOD, "Method Not Allowed", "only GET and HEAD");
	} else if (path && strcmp(path, "/metrics") == 0) {
		begin_scrape(exporter, request, bound_s);
	} else if (path && strcmp(path, "/healthz") == 0) {
		say(request, HTTP_OK, "OK", "ok");
	} else if (!path || !*path || strcmp(path, "/") == 0) {
		say(request, HTTP_OK, "OK",
		    "ezprof export " EZPROF_VERSION ": the graph's figures are at /metrics");
	} else {
		say(request, HTTP_NOTFOUND, "Not Found",
		    "no such page; there are /metrics and /healthz");
	}
}

static int listen_on(struct exporter *exporter, struct ez_address *address)
{
	int fds[LISTENERS_MAX], i, n, err = 0;

	n = ez_fd_listen_all(address->host, address->port, BACKLOG, fds, LISTENERS_MAX,
			     &address->port);
	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		if (!err)
			err = ez_fd_nonblock(fds[i], true);
		if (!err && evhttp_accept_socket(exporter->http, fds[i]))
			err = -ENOMEM;
		if (err)
			ez_fd_close(fds[i]);
	}
	return err;
}

static int open_http(struct exporter *exporter)
{
	exporter->http = evhttp_new(exporter->base);
	if (!exporter->http)
		return -ENOMEM;
	evhttp_set_max_headers_size(exporter->http, HEADERS_BYTES_MAX);
	evhttp_set_max_body_size(exporter->http, BODY_BYTES_MAX);
	evhttp_set_timeout(exporter->http, IDLE_S);
	/* What isn't wanted gets an answer that says so. */
	evhttp_set_allowed_methods(exporter->http, UINT16_MAX);
	evhttp_set_gencb(exporter->http, on_request, exporter);
	return ezprof_export_door_open(&exporter->door, exporter->base, exporter->http);
}

static int open_fetch(struct exporter *exporter)
{
	int err = ezprof_export_fetch_new(exporter->settings->graph, exporter->settings->window_s,
					  &exporter->fetch);

	if (err)
		return err;
	exporter->fetched = event_new(exporter->base, ezprof_export_fetch_fd(exporter->fetch),
				      EV_READ | EV_PERSIST, on_fetched, exporter);
	return exporter->fetched && event_add(exporter->fetched, NULL) == 0 ? 0 : -ENOMEM;
}

static void close_all(struct exporter *exporter)
{
	while (!LIST_EMPTY(&exporter->scrapes))
		end_scrape(LIST_FIRST(&exporter->scrapes));
	if (exporter->http)
		evhttp_free(exporter->http);
	ezprof_export_door_close(&exporter->door);
	if (exporter->fetched)
		event_free(exporter->fetched);
	ezprof_export_fetch_free(exporter->fetch);
	ezprof_scrape_memory_free(&exporter->memory);
	ezprof_export_news_free(&exporter->news);
}

/* -ECANCELED: it could not, and has said why. */
static int announce(const struct ez_address *address)
{
	char text[EZ_ADDRESS_BYTES];

	ez_address_format(address, text);
	printf("http://%s/metrics\n", text);
	return ezprof_output_flush(PROGRAM) ? -ECANCELED : 0;
}

static int run(struct exporter *exporter, struct ez_address *address)
{
	struct ezprof_export_service service;
	int err = ezprof_export_service_open(&service, exporter->base);

	if (!err)
		err = open_http(exporter);
	if (!err)
		err = open_fetch(exporter);
	if (!err)
		err = listen_on(exporter, address);
	if (!err)
		err = announce(address);
	if (!err)
		err = ezprof_export_service_run(&service);
	ezprof_export_service_close(&service);
	return err;
}

static int explain(const struct ez_address *address, int err)
{
	char text[EZ_ADDRESS_BYTES];
	const char *advice = "";

	if (err == -ECANCELED)
		return EZPROF_EXIT_FAILURE;
	ez_address_format(address, text);
	if (err == -EADDRINUSE)
		advice = ": is another exporter there? Another port: --listen";
	if (err == -EACCES)
		advice = "; ports below 1024 want CAP_NET_BIND_SERVICE: take a higher one";
	fprintf(stderr, "%s: %s: %s%s\n", PROGRAM, text, strerror(-err), advice);
	return err == -EACCES ? EZPROF_EXIT_NOPERM : EZPROF_EXIT_FAILURE;
}

int ezprof_export_serve(const struct ezprof_export_settings *settings)
{
	struct exporter exporter = {.settings = settings};
	struct ez_address address = settings->listen;
	int err = -ENOMEM;

	LIST_INIT(&exporter.scrapes);
	exporter.base = event_base_new();
	if (exporter.base) {
		err = run(&exporter, &address);
		close_all(&exporter);
		event_base_free(exporter.base);
	}
	return err ? explain(&settings->listen, err) : EZPROF_EXIT_OK;
}
