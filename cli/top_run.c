/* SPDX-License-Identifier: MIT */
#include "top_run.h"
#include "exit_status.h"
#include "top_feed.h"
#include "top_print.h"
#include "top_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Keys that are taken before something is painted. */
#define KEYS_AT_ONCE 256
#define TROUBLE_BYTES 512

struct run {
	const char *program;
	const struct ezprof_top_options *options;
	struct ezprof_top_control *control;
	struct ezprof_top_feed feed;
	struct ezprof_terminal *terminal;
	int tty_fd, signal_fd;
	bool owns_tty, ends, repaint;
	int status;
};

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

static void no_action(int signal_number)
{
	(void)signal_number;
}

/*
 * From here on they are read, so that a terminal is given back whatever comes. A handler for
 * SIGTSTP keeps ncurses from one of its own: that has the signal ignored while it paints, which
 * throws away a Ctrl-Z that is waiting to be read.
 */
static int open_signals(void)
{
	sigset_t set;
	size_t i;

	signal(SIGTSTP, no_action);
	sigemptyset(&set);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int advise(const char *program, const char *trouble)
{
	fprintf(stderr,
		"%s: %s: `%s --once` prints the view as text, `ezprof profile --interval 1 "
		"--format table` goes on\n",
		program, trouble, program);
	return EZPROF_EXIT_USAGE;
}

/* Keys come from stdin, or where that is a file of documents, from the terminal itself. */
static void find_tty(struct run *run)
{
	run->tty_fd = STDIN_FILENO;
	if (isatty(STDIN_FILENO))
		return;
	run->tty_fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	run->owns_tty = run->tty_fd >= 0;
}

static bool wants_color(enum ezprof_color color)
{
	const char *no_color = getenv("NO_COLOR");

	if (color == EZPROF_COLOR_AUTO)
		return !no_color || !*no_color;
	return color == EZPROF_COLOR_ALWAYS;
}

static void paint(struct run *run)
{
	char when[EZPROF_WHEN_BYTES], trouble[TROUBLE_BYTES];
	struct ezprof_watch *watch = &run->feed.watch;
	struct ezprof_top_picture picture = {.model = watch->model,
					     .findings = &watch->findings,
					     .history = watch->history,
					     .source = run->feed.source,
					     .when = when,
					     .trouble = trouble,
					     .ascii = ezprof_top_is_ascii(),
					     .interactive = true};
	struct ezprof_screen screen;

	ezprof_top_when(watch->model, when);
	ezprof_top_feed_trouble(&run->feed, trouble, sizeof(trouble));
	ezprof_terminal_size(run->terminal, &picture.columns, &picture.lines);
	/* Without memory for all of it some of it is better than nothing. */
	ezprof_top_compose(&picture, run->control, &screen);
	ezprof_terminal_paint(run->terminal, &screen, run->repaint);
	run->repaint = false;
	ezprof_screen_free(&screen);
}

static void save(struct run *run)
{
	struct ezprof_top_control *control = run->control;
	struct ez_buffer text;
	int err;

	ez_buffer_init(&text, SIZE_MAX / 2);
	err = ezprof_top_print(&text, &run->feed.watch, run->feed.source, control, 0,
			       ezprof_top_is_ascii());
	if (!err)
		err = ezprof_top_save(control->typed, &text);
	ez_buffer_free(&text);
	snprintf(control->notice, sizeof(control->notice),
		 err ? "%.100s: not written: %s" : "%.100s%s", control->typed,
		 !err		  ? " is written"
		 : err == -EEXIST ? "it is there already; say another name"
				  : strerror(-err));
}

/* True: there may be more. */
static bool take_keys(struct run *run)
{
	uint32_t key;
	int n;

	for (n = 0; n < KEYS_AT_ONCE && !run->ends; n++) {
		key = ezprof_terminal_key(run->terminal);
		if (key == EZPROF_KEY_NONE)
			return false;
		switch (ezprof_top_control_key(run->control, key)) {
		case EZPROF_TOP_QUIT:
			run->ends = true;
			break;
		case EZPROF_TOP_SAVE:
			save(run);
			break;
		case EZPROF_TOP_REPAINT:
			run->repaint = true;
			break;
		default:
			break;
		}
	}
	return true;
}

/* Gives the terminal back and stops, as if nobody had caught the signal. */
static void suspend(struct run *run)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	ezprof_terminal_leave(run->terminal);
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here it stops */
	sigprocmask(SIG_BLOCK, &stop, NULL);
	signal(SIGTSTP, no_action);
	ezprof_terminal_return(run->terminal);
}

static void take_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGWINCH:
			/* Some terminals wrap anew what they have: all of it is painted. */
			ezprof_terminal_resize(run->terminal);
			run->repaint = true;
			break;
		case SIGTSTP:
			suspend(run);
			break;
		case SIGCONT:
			/* Stopped by somebody who gave no warning: the shell has changed it. */
			ezprof_terminal_return(run->terminal);
			break;
		default:
			run->ends = true;
		}
	}
}

/* A terminal that is gone is readable too, without end. */
static bool is_gone(int fd, short revents)
{
	int bytes = 0;

	if (revents & (POLLHUP | POLLERR | POLLNVAL))
		return true;
	return (revents & POLLIN) && ioctl(fd, FIONREAD, &bytes) == 0 && bytes == 0;
}

static int milliseconds_until(ez_mono_ns_t when_ns)
{
	ez_mono_ns_t now_ns = ez_clock_mono_ns();
	uint64_t ms;

	if (when_ns == EZ_NEVER)
		return -1;
	if (when_ns <= now_ns)
		return 0;
	ms = (when_ns - now_ns) / EZ_NS_PER_MS + 1;
	return ms > 3600000 ? 3600000 : (int)ms;
}

static void wait_and_take(struct run *run, ez_mono_ns_t when_ns, bool *more_keys)
{
	struct pollfd fds[] = {{.fd = run->tty_fd, .events = POLLIN},
			       {.fd = run->signal_fd, .events = POLLIN},
			       {.fd = run->feed.live.text_fd, .events = POLLIN},
			       {.fd = run->feed.live.messages_fd, .events = POLLIN}};

	if (poll(fds, 4, *more_keys ? 0 : milliseconds_until(when_ns)) < 0) {
		run->ends |= errno != EINTR;
		return;
	}
	if (is_gone(run->tty_fd, fds[0].revents)) {
		run->ends = true;
		run->status = EZPROF_EXIT_FAILURE;
		return;
	}
	if (fds[0].revents || *more_keys)
		*more_keys = take_keys(run);
	if (fds[1].revents)
		take_signals(run);
	if (fds[2].revents || fds[3].revents)
		ezprof_top_feed_read(&run->feed);
}

static void go_on(struct run *run)
{
	bool more_keys = false;

	while (!run->ends) {
		ez_mono_ns_t when_ns = ezprof_top_feed_step(&run->feed, run->control->frozen);

		paint(run);
		wait_and_take(run, when_ns, &more_keys);
	}
}

static int run_on_terminal(struct run *run)
{
	run->signal_fd = open_signals();
	if (run->signal_fd < 0) {
		fprintf(stderr, "%s: signals: %s\n", run->program, strerror(-run->signal_fd));
		return EZPROF_EXIT_FAILURE;
	}
	run->terminal = ezprof_terminal_open(run->tty_fd, wants_color(run->options->color));
	if (!run->terminal) {
		close(run->signal_fd);
		return advise(run->program, "this terminal can't be used");
	}
	go_on(run);
	ezprof_terminal_close(run->terminal);
	close(run->signal_fd);
	return run->status;
}

int ezprof_top_run(const char *program, const struct ezprof_top_options *options,
		   struct ezprof_top_control *control)
{
	struct run run = {.program = program, .options = options, .control = control};
	const char *trouble;
	int status;

	find_tty(&run);
	trouble = ezprof_terminal_trouble(run.tty_fd);
	if (trouble) {
		status = advise(program, trouble);
	} else {
		status = ezprof_top_feed_open(&run.feed, program, options);
		if (!status)
			status = run_on_terminal(&run);
		ezprof_top_feed_close(&run.feed);
	}
	if (run.owns_tty)
		close(run.tty_fd);
	return status;
}
