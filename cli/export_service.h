/* SPDX-License-Identifier: MIT */
/*
 * What makes an event loop a service: SIGINT and SIGTERM end it, whoever started it hears that it
 * is ready, that it ends, and, where it wants to (WATCHDOG_USEC), that its loop still turns.
 */
#ifndef EZPROF_EXPORT_SERVICE_H
#define EZPROF_EXPORT_SERVICE_H

#include <event2/event.h>
#include <sys/time.h>

struct ezprof_export_service {
	struct event_base *base;
	int signal_fd;
	struct event *signals, *watchdog; /* watchdog: NULL = nobody wants it */
	struct timeval alive_interval;
};

/* Before there are threads: they inherit that these signals are blocked. -errno. */
int ezprof_export_service_open(struct ezprof_export_service *service, struct event_base *base);

/* Until a signal. -errno. */
int ezprof_export_service_run(struct ezprof_export_service *service);

/* Bears one that could not be opened. */
void ezprof_export_service_close(struct ezprof_export_service *service);

#endif
