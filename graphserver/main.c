/* SPDX-License-Identifier: MIT */
/*
 * ezprof-graphserver: sets the loop up, says on stdout where it listens, runs until a signal or
 * SHUTDOWN.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <event2/event.h>

#include "fd.h"
#include "fd_limit.h"
#include "log.h"
#include "options.h"
#include "readiness.h"
#include "server.h"
#include "server_mark.h"
#include "standard_streams.h"
#include "stdout_check.h"

/* As of all of ezprof's programs, see docs/using.md. */
#define EXIT_NOT_PERMITTED 77

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct signalfd_siginfo info;

	(void)what;
	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return;
	ez_log(EZ_LOG_INFO, "stopping: %s", strsignal((int)info.ssi_signo));
	ezprof_server_stop(arg);
}

/* From here on SIGTERM and SIGINT only come through the descriptor. */
static int open_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* Where clients can reach it: the host as it was given, the port as it came out. */
static void announce(const struct ezprof_server *server)
{
	struct ez_address address = server->config.address;
	char text[EZ_ADDRESS_BYTES];

	address.port = server->port;
	ez_address_format(&address, text);
	printf("%s\n", text);
	/* The graph doesn't need it to be read. */
	if (ez_stdout_flush(program_invocation_short_name))
		ez_log(EZ_LOG_WARN, "listening on %s all the same", text);
}

static void tell(const char *state)
{
	int err = ez_readiness_tell(state);

	if (err)
		ez_log(EZ_LOG_WARN, "can't say %s to $NOTIFY_SOCKET: %s", state, strerror(-err));
}

static int run(struct ezprof_server *server)
{
	int fd = open_signals();
	struct event *signals;
	struct ez_server_mark_file mark = {0};
	int err;

	if (fd < 0)
		return fd;
	signals = event_new(server->base, fd, EV_READ | EV_PERSIST, on_signal, server);
	err = signals && event_add(signals, NULL) == 0 ? 0 : -ENOMEM;
	if (!err) {
		int mark_err = ez_server_mark_write(server->port, &mark);

		if (mark_err)
			ez_log(EZ_LOG_WARN,
			       "programs of ezprof won't know this server: can't leave a mark: %s",
			       strerror(-mark_err));
		announce(server);
		tell("READY=1");
		err = ezprof_server_run(server);
		tell("STOPPING=1");
		ez_server_mark_remove(&mark);
	}
	if (signals)
		event_free(signals);
	ez_fd_close(fd);
	return err;
}

/* What to do about it; "" where that is plain. */
static const char *advice_on(int err)
{
	switch (err) {
	case -EADDRINUSE:
		return "; `ezprof ps` says who is there: use that one, or another port";
	case -EADDRNOTAVAIL:
		return "; this machine has no such address: 127.0.0.1 is for itself, 0.0.0.0 for "
		       "all networks";
	case -EACCES:
		return "; ports below 1024 want CAP_NET_BIND_SERVICE: take a higher one";
	default:
		return "";
	}
}

static int refuse(const struct ez_address *asked, int err)
{
	char address[EZ_ADDRESS_BYTES];

	ez_address_format(asked, address);
	fprintf(stderr, "%s: can't listen on %s: %s%s\n", program_invocation_short_name, address,
		strerror(-err), advice_on(err));
	return err == -EACCES ? EXIT_NOT_PERMITTED : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct ezprof_options options;
	struct ezprof_server server;
	int err;

	if (ez_standard_streams_reserve() || ez_stdout_check_at_exit())
		return EXIT_FAILURE;
	ezprof_options_parse(argc, argv, &options);
	ez_log_setup(options.log_level, program_invocation_short_name);
	ez_fd_limit_raise();
	err = ezprof_server_init(&server, &options.config);
	if (err)
		return refuse(&options.config.address, err);
	err = run(&server);
	ezprof_server_free(&server);
	if (err)
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, strerror(-err));
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
