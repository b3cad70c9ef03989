/* SPDX-License-Identifier: MIT */
#include "export_service.h"
#include "fd.h"
#include "parse.h"
#include "readiness.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define WATCHDOG_US_MAX UINT64_C(86400000000)

static void tell(const char *state)
{
	int err = ez_readiness_tell(state);

	if (err)
		fprintf(stderr, "ezprof export: can't say %s to $NOTIFY_SOCKET: %s\n", state,
			strerror(-err));
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct ezprof_export_service *service = arg;
	struct signalfd_siginfo info;

	(void)what;
	if (read(fd, &info, sizeof(info)) == sizeof(info))
		event_base_loopbreak(service->base);
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	tell("WATCHDOG=1");
}

static int open_signals(struct ezprof_export_service *service)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	service->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (service->signal_fd < 0)
		return -errno;
	service->signals = event_new(service->base, service->signal_fd, EV_READ | EV_PERSIST,
				     on_signal, service);
	return service->signals && event_add(service->signals, NULL) == 0 ? 0 : -ENOMEM;
}

/* Twice as often as it is asked for, as sd_watchdog_enabled(3) advises. */
static int open_watchdog(struct ezprof_export_service *service)
{
	const char *text = getenv("WATCHDOG_USEC"), *pid_text = getenv("WATCHDOG_PID");
	uint64_t limit_us, pid;

	if (!text || ez_parse_u64_range(text, 1, WATCHDOG_US_MAX, &limit_us))
		return 0;
	if (pid_text &&
	    (ez_parse_u64_range(pid_text, 1, INT32_MAX, &pid) || (pid_t)pid != getpid()))
		return 0;
	service->alive_interval.tv_sec = (time_t)(limit_us / 2 / 1000000);
	service->alive_interval.tv_usec = (suseconds_t)(limit_us / 2 % 1000000);
	service->watchdog = event_new(service->base, -1, EV_PERSIST, on_watchdog, service);
	return service->watchdog && event_add(service->watchdog, &service->alive_interval) == 0
		       ? 0
		       : -ENOMEM;
}

int ezprof_export_service_open(struct ezprof_export_service *service, struct event_base *base)
{
	int err;

	*service = (struct ezprof_export_service){.base = base, .signal_fd = -1};
	err = open_signals(service);
	return err ? err : open_watchdog(service);
}

int ezprof_export_service_run(struct ezprof_export_service *service)
{
	int err;

	tell("READY=1");
	err = event_base_dispatch(service->base) < 0 ? -EIO : 0;
	tell("STOPPING=1");
	return err;
}

void ezprof_export_service_close(struct ezprof_export_service *service)
{
	if (service->watchdog)
		event_free(service->watchdog);
	if (service->signals)
		event_free(service->signals);
	ez_fd_close(service->signal_fd);
}
