/* SPDX-License-Identifier: MIT */
#include "graph_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

static const char *folder(const char *variable)
{
	const char *path = getenv(variable);

	if (!path)
		fail_msg("%s is not set: run by ctest", variable);
	return path;
}

/* Starts a program with pipes on stdin and stdout. */
static pid_t start(char *const argv[], int *ret_to, int *ret_from)
{
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	pid_t pid;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	assert_int_equal(posix_spawn(&pid, argv[0], &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	*ret_to = in[1];
	*ret_from = out[0];
	return pid;
}

int graph_setup(void **state)
{
	struct graph *graph = calloc(1, sizeof(*graph));
	char program[512];
	char *const argv[] = {program, (char *)"--address", (char *)"127.0.0.1:0", NULL};
	int to, from;
	FILE *file;

	assert_non_null(graph);
	snprintf(program, sizeof(program), "%s/ezprof-graphserver", folder("EZPROF_BIN_DIR"));
	graph->server = start(argv, &to, &from);
	close(to);
	file = fdopen(from, "r");
	assert_non_null(file);
	assert_non_null(fgets(graph->address, sizeof(graph->address), file));
	graph->address[strcspn(graph->address, "\n")] = '\0';
	fclose(file);
	*state = graph;
	return 0;
}

static void end(pid_t *pid, int signal_number)
{
	if (*pid <= 0)
		return;
	/* A test that failed may have stopped it. Before the other: at its end LeakSanitizer stops
	 * threads. */
	kill(*pid, SIGCONT);
	kill(*pid, signal_number);
	assert_int_equal(waitpid(*pid, NULL, 0), *pid);
	*pid = 0;
}

void graph_end_server(struct graph *graph)
{
	end(&graph->server, SIGTERM);
}

int graph_teardown(void **state)
{
	struct graph *graph = *state;

	end(&graph->server, SIGTERM);
	free(graph);
	return 0;
}

void peer_start(struct peer *peer, const struct graph *graph)
{
	char program[512];
	char *const argv[] = {program, (char *)graph->address, NULL};
	int to, from;

	snprintf(program, sizeof(program), "%s/runtime_peer", folder("EZPROF_TEST_BIN_DIR"));
	peer->pid = start(argv, &to, &from);
	peer->to = fdopen(to, "w");
	peer->from = fdopen(from, "r");
	assert_non_null(peer->to);
	assert_non_null(peer->from);
	peer_expect(peer, "ready");
}

static void send_line(struct peer *peer, const char *format, va_list arguments)
{
	assert_true(vfprintf(peer->to, format, arguments) > 0);
	assert_true(fputc('\n', peer->to) == '\n');
	assert_int_equal(fflush(peer->to), 0);
}

void peer_send(struct peer *peer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	send_line(peer, format, arguments);
	va_end(arguments);
}

void peer_expect(struct peer *peer, const char *expected)
{
	char line[256];

	if (!fgets(line, sizeof(line), peer->from))
		fail_msg("the peer has ended; expected '%s'", expected);
	if (strncmp(line, expected, strlen(expected)) != 0)
		fail_msg("the peer says '%s', not '%s'", line, expected);
}

void peer_tell(struct peer *peer, const char *expected, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	send_line(peer, format, arguments);
	va_end(arguments);
	peer_expect(peer, expected);
}

static void peer_close(struct peer *peer)
{
	fclose(peer->to);
	fclose(peer->from);
}

void peer_stop(struct peer *peer)
{
	int status;

	peer_send(peer, "quit");
	assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
	assert_int_equal(status, 0);
	peer_close(peer);
}

void peer_kill(struct peer *peer)
{
	end(&peer->pid, SIGKILL);
	peer_close(peer);
}

void send_number(struct ez_publisher *publisher, uint64_t n)
{
	assert_int_equal(ez_publish_bytes(publisher, &n, sizeof(n), PATIENCE_NS), 0);
}

uint64_t receive_number(struct ez_subscriber *subscriber, uint64_t n)
{
	struct ez_message message;
	uint64_t got, id;

	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
	assert_int_equal(message.type, EZ_TYPE_BYTES);
	assert_int_equal(message.bytes, sizeof(got));
	memcpy(&got, message.data, sizeof(got));
	assert_int_equal(got, n);
	id = message.id;
	ez_message_release(&message);
	return id;
}

void wait_channels(struct ez_publisher *publisher, size_t n)
{
	int tries = 0;

	while (ez_publisher_channels(publisher) != n) {
		assert_true(tries++ < 2000);
		nap_ms(10);
	}
}

void nap_ms(unsigned int ms)
{
	struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}
