/* SPDX-License-Identifier: MIT */
#include "live_source.h"
#include "exit_status.h"
#include "fd.h"
#include "profile_source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_BYTES_MAX (1u << 28)
#define MESSAGES_BYTES_MAX (1u << 20)
#define STEP_BYTES 16384u

void ezprof_live_init(struct ezprof_live_source *source)
{
	source->child = 0;
	source->text_fd = source->messages_fd = -1;
	ez_buffer_init(&source->text, TEXT_BYTES_MAX);
	ez_buffer_init(&source->messages, MESSAGES_BYTES_MAX);
}

/* Signals as at the start of a program, no terminal, and no life longer than the parent's. */
static int become_child(pid_t parent, int messages_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), err = 0;
	sigset_t none;

	sigemptyset(&none);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGWINCH, SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0 || dup2(messages_fd, STDERR_FILENO) < 0)
		err = -EIO;
	return err;
}

static _Noreturn void fetch(pid_t parent, int text_fd, int messages_fd, const char *program,
			    const struct ez_address *address, double window_s)
{
	char *text = NULL;
	int status = EZPROF_EXIT_FAILURE;

	if (!become_child(parent, messages_fd))
		status = ezprof_profile_fetch(program, address, window_s, NULL, &text);
	if (!status && ez_fd_write_all(text_fd, text, strlen(text)))
		status = EZPROF_EXIT_FAILURE;
	/* Nothing of the parent's is flushed or run. */
	_exit(status);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int ezprof_live_start(struct ezprof_live_source *source, const char *program,
		      const struct ez_address *address, double window_s)
{
	int text[2], messages[2], err;
	pid_t parent = getpid();

	ez_buffer_reset(&source->text);
	ez_buffer_reset(&source->messages);
	/* Inherited as ignored, nobody would learn how the child ended. */
	signal(SIGCHLD, SIG_DFL);
	if (pipe2(text, O_CLOEXEC))
		return -errno;
	if (pipe2(messages, O_CLOEXEC)) {
		err = -errno;
		close(text[0]);
		close(text[1]);
		return err;
	}
	source->child = fork();
	if (source->child == 0)
		fetch(parent, text[1], messages[1], program, address, window_s);
	err = source->child < 0 ? -errno : 0;
	close(text[1]);
	close(messages[1]);
	source->text_fd = text[0];
	source->messages_fd = messages[0];
	fcntl(text[0], F_SETFL, O_NONBLOCK);
	fcntl(messages[0], F_SETFL, O_NONBLOCK);
	if (err) {
		source->child = 0;
		ezprof_live_stop(source);
	}
	return err;
}

/* Closes it at its end. */
static int read_some(int *fd, struct ez_buffer *into)
{
	while (*fd >= 0) {
		uint8_t *to = ez_buffer_reserve(into, STEP_BYTES);
		char waste[512];
		/* What exceeds the room is read, so that nobody waits for it to be. */
		ssize_t n = to ? read(*fd, to, STEP_BYTES) : read(*fd, waste, sizeof(waste));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0)
			return -errno;
		if (n == 0)
			close_fd(fd);
		else if (to)
			into->len += (size_t)n;
	}
	return 0;
}

static int reap(struct ezprof_live_source *source)
{
	int state = 0;
	pid_t child;

	do {
		child = waitpid(source->child, &state, 0);
	} while (child < 0 && errno == EINTR);
	source->child = 0;
	return child > 0 && WIFEXITED(state) ? WEXITSTATUS(state) : EZPROF_EXIT_FAILURE;
}

static char *take(struct ez_buffer *buffer)
{
	size_t len;
	char *text;

	ez_buffer_append(buffer, "", 1);
	text = ez_buffer_steal(buffer, &len);
	ez_buffer_reset(buffer);
	return text;
}

int ezprof_live_read(struct ezprof_live_source *source, struct ezprof_live_answer *ret_answer)
{
	struct ezprof_live_answer answer = {0};
	int err = read_some(&source->text_fd, &source->text);

	if (!err)
		err = read_some(&source->messages_fd, &source->messages);
	if (err) {
		ezprof_live_stop(source);
		return err;
	}
	if (source->text_fd >= 0 || source->messages_fd >= 0)
		return 0;
	answer.status = reap(source);
	answer.messages = take(&source->messages);
	if (!answer.messages)
		answer.messages = strdup("");
	if (!answer.status)
		answer.text = take(&source->text);
	if (!answer.messages || (!answer.status && !answer.text)) {
		free(answer.messages);
		free(answer.text);
		return -ENOMEM;
	}
	*ret_answer = answer;
	return 1;
}

void ezprof_live_stop(struct ezprof_live_source *source)
{
	close_fd(&source->text_fd);
	close_fd(&source->messages_fd);
	if (source->child > 0) {
		kill(source->child, SIGKILL);
		reap(source);
	}
	ez_buffer_free(&source->text);
	ez_buffer_free(&source->messages);
}
