/* SPDX-License-Identifier: MIT */
/* The server's mark: found while its process lives, and not believed otherwise. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fd.h"
#include "server_mark.h"

/* A port that nobody else has while fd is open, so that two runs don't meet. */
static uint16_t own_port(int *ret_fd)
{
	uint16_t port;

	*ret_fd = ez_fd_listen("127.0.0.1", 0, 1, &port);
	assert_true(*ret_fd >= 0);
	return port;
}

static bool is_listed(uint16_t port, pid_t pid)
{
	struct ez_server_mark marks[256];
	int n = ez_server_mark_list(NULL, 0, marks, 256);

	for (int i = 0; i < n; i++)
		if (marks[i].port == port && marks[i].pid == pid && marks[i].owner == geteuid())
			return true;
	return false;
}

static void test_life(void **state)
{
	struct ez_server_mark_file file, again;
	int fd;
	uint16_t port = own_port(&fd);

	(void)state;
	assert_int_equal(ez_server_mark_find(port, NULL, 0), 0);
	assert_int_equal(ez_server_mark_write(port, &file), 0);
	assert_int_equal(ez_server_mark_find(port, NULL, 0), 1);
	assert_true(is_listed(port, getpid()));
	assert_int_equal(ez_server_mark_write(port, &again), 0);
	assert_string_equal(file.path, again.path);
	ez_server_mark_remove(&again);
	assert_int_equal(access(file.path, F_OK), -1);
	assert_int_equal(ez_server_mark_find(port, NULL, 0), 0);
	assert_false(is_listed(port, getpid()));
	ez_server_mark_remove(&file);
	ez_server_mark_remove(&file);
	ez_fd_close(fd);
}

static void test_dead_process(void **state)
{
	int fd, status;
	uint16_t port = own_port(&fd);
	struct ez_server_mark_file mine;
	char path[200];
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(ez_server_mark_write(port, &mine) == 0 ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(ez_server_mark_find(port, NULL, 0), 0);
	/* A successor takes the place of what a killed server left behind. */
	assert_int_equal(ez_server_mark_write(port, &mine), 0);
	assert_int_equal(ez_server_mark_find(port, NULL, 0), 1);
	snprintf(path, sizeof(path), "%s", mine.path);
	ez_server_mark_remove(&mine);
	assert_int_equal(access(path, F_OK), -1);
	ez_fd_close(fd);
}

static void overwrite(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void test_forged(void **state)
{
	static const char *const lines[] = {"",
					    "pid=1\n",
					    "pid=1 start=0 netns=0\n",
					    "pid= start= netns=\n",
					    "pid=99999999999999999999999 start=1 netns=1\n",
					    "\n",
					    NULL};
	struct ez_server_mark_file file;
	char line[128], *path;
	int fd;
	uint16_t port = own_port(&fd);
	FILE *f;

	(void)state;
	assert_int_equal(ez_server_mark_write(port, &file), 0);
	path = file.path;
	f = fopen(path, "r");
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	for (int i = 0; lines[i]; i++) {
		overwrite(path, lines[i]);
		assert_int_equal(ez_server_mark_find(port, NULL, 0), 0);
	}
	overwrite(path, line);
	assert_int_equal(ez_server_mark_find(port, NULL, 0), 1);
	/* Right in every word, but the folder's user isn't trusted to say so. */
	if (geteuid() == 0 && chown(path, 54321, 54321) == 0) {
		const uid_t trusted = 54321;

		assert_int_equal(ez_server_mark_find(port, NULL, 0), 0);
		assert_int_equal(ez_server_mark_find(port, &trusted, 1), 1);
		assert_int_equal(chown(path, 0, 0), 0);
	}
	ez_server_mark_remove(&file);
	ez_fd_close(fd);
}

/* Dead servers' marks go with the next server's start; those of living ones stay. */
static void test_sweep(void **state)
{
	struct ez_server_mark_file dead = {0}, second, mine;
	int fds[3], status, pipe_fds[2];
	uint16_t ports[3];
	char path[PATH_MAX] = "";
	pid_t child;

	(void)state;
	for (int i = 0; i < 3; i++)
		ports[i] = own_port(&fds[i]);
	assert_int_equal(pipe(pipe_fds), 0);
	child = fork();
	if (child == 0) {
		if (ez_server_mark_write(ports[0], &dead) ||
		    write(pipe_fds[1], dead.path, strlen(dead.path)) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(read(pipe_fds[0], path, sizeof(path) - 1) > 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(ez_server_mark_write(ports[1], &second), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(ez_server_mark_write(ports[2], &mine), 0);
	assert_int_equal(ez_server_mark_find(ports[1], NULL, 0), 1);
	ez_server_mark_remove(&second);
	ez_server_mark_remove(&mine);
	for (int i = 0; i < 3; i++)
		ez_fd_close(fds[i]);
	ez_fd_close(pipe_fds[0]);
	ez_fd_close(pipe_fds[1]);
}

static void test_other_user(void **state)
{
	int fd, status;
	uint16_t port = own_port(&fd);
	char folder[64];
	/* Nobody else's, another run's of this test included. */
	uid_t uid = 100000 + (uid_t)getpid();
	pid_t child;

	(void)state;
	if (geteuid() != 0)
		skip();
	snprintf(folder, sizeof(folder), "/tmp/ezprof-%u", (unsigned int)uid);
	child = fork();
	if (child == 0) {
		struct ez_server_mark_file file;
		struct stat st;
		bool ok;

		if (setgid(uid) < 0 || setuid(uid) < 0)
			_exit(2);
		ok = ez_server_mark_write(port, &file) == 0 &&
		     ez_server_mark_find(port, NULL, 0) == 1 &&
		     strncmp(file.path, folder, strlen(folder)) == 0 && stat(folder, &st) == 0 &&
		     (st.st_mode & 0777) == 0700;
		ez_server_mark_remove(&file);
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	rmdir(folder);
	assert_int_equal(status, 0);
	ez_fd_close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),	   cmocka_unit_test(test_dead_process),
		cmocka_unit_test(test_forged),	   cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_other_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
