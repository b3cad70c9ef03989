/* SPDX-License-Identifier: MIT */
#include "report_loop.h"
#include "clock.h"
#include "exit_status.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Below that since the last report another one has nothing to tell. */
#define LAST_WORD_NS (150 * EZ_NS_PER_MS)

enum wake { WAKE_TIME, WAKE_SIGNAL, WAKE_NO_READER };

static int open_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return -errno;
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Of a pipe without a reader poll() tells an error, whatever was asked. */
static enum wake wait_until(ez_mono_ns_t due_ns, int signal_fd)
{
	struct pollfd fds[] = {{.fd = signal_fd, .events = POLLIN}, {.fd = STDOUT_FILENO}};

	for (;;) {
		ez_mono_ns_t now_ns = ez_clock_mono_ns();
		struct timespec left = {0};

		if (now_ns < due_ns) {
			left.tv_sec = (time_t)((due_ns - now_ns) / EZ_NS_PER_S);
			left.tv_nsec = (long)((due_ns - now_ns) % EZ_NS_PER_S);
		}
		if (ppoll(fds, 2, &left, NULL) < 0 && errno != EINTR)
			return WAKE_SIGNAL;
		if (fds[0].revents)
			return WAKE_SIGNAL;
		if (fds[1].revents & (POLLERR | POLLNVAL))
			return WAKE_NO_READER;
		if (ez_clock_mono_ns() >= due_ns)
			return WAKE_TIME;
	}
}

static bool is_worse(int status, int than)
{
	return status != EZPROF_EXIT_OK && than == EZPROF_EXIT_OK;
}

static bool goes_on(int status)
{
	return (status == EZPROF_EXIT_OK || status == EZPROF_EXIT_PARTIAL ||
		status == EZPROF_EXIT_NOTHING) &&
	       !ferror(stdout);
}

int ezprof_report_loop(const char *program, double interval_s, uint64_t count,
		       ezprof_report_fn report, void *user)
{
	uint64_t interval_ns = (uint64_t)(interval_s * 1e9), n = 0;
	ez_mono_ns_t due_ns = ez_clock_mono_ns(), last_ns;
	int worst = EZPROF_EXIT_OK, status, signal_fd = open_signals();
	enum wake wake = WAKE_TIME;

	if (signal_fd < 0) {
		fprintf(stderr, "%s: signals: %s\n", program, strerror(-signal_fd));
		return EZPROF_EXIT_FAILURE;
	}
	for (;;) {
		status = report(user);
		last_ns = ez_clock_mono_ns();
		if (is_worse(status, worst))
			worst = status;
		if (!goes_on(status) || ++n == count || wake == WAKE_SIGNAL)
			break;
		/* One that took longer than the interval isn't followed by a burst. */
		due_ns += interval_ns;
		if (due_ns < last_ns)
			due_ns = last_ns;
		wake = wait_until(due_ns, signal_fd);
		if (wake == WAKE_NO_READER)
			break;
		if (wake == WAKE_SIGNAL && ez_clock_mono_ns() - last_ns < LAST_WORD_NS)
			break;
	}
	close(signal_fd);
	return goes_on(status) || status == EZPROF_EXIT_OK ? worst : status;
}
