/* SPDX-License-Identifier: MIT */
#include "process_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_BYTES 8192
#define NS_PER_S 1000000000

static int read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	return 0;
}

/* What stands behind the key at the start of a line; NULL if there is none. */
static const char *line_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (text) {
		if (strncmp(text, key, n) == 0)
			return text + n;
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

int ezprof_status_ns_pid(const char *status, pid_t *ret_pid)
{
	const char *line = line_of(status, "NSpid:");
	long last = 0;
	char *end;

	while (line && *line && *line != '\n') {
		last = strtol(line, &end, 10);
		if (end == line || last <= 0 || last > INT32_MAX)
			return -EPROTO;
		line = end;
	}
	if (last == 0)
		return -EPROTO;
	*ret_pid = (pid_t)last;
	return 0;
}

int64_t ezprof_timens_monotonic_ns(const char *offsets)
{
	const char *line = line_of(offsets, "monotonic");
	long long s;
	long ns;

	if (!line || sscanf(line, "%lld %ld", &s, &ns) != 2)
		return 0;
	if (s > INT32_MAX || s < -INT32_MAX || ns < 0 || ns >= NS_PER_S)
		return 0;
	return (int64_t)s * NS_PER_S + ns;
}

int ezprof_process_of_thread(pid_t tid, pid_t *ret_pid)
{
	char text[STATUS_BYTES];
	const char *line;
	long pid;
	int err = read_proc(tid, "status", text, sizeof(text));

	if (err)
		return err;
	line = line_of(text, "Tgid:");
	pid = line ? strtol(line, NULL, 10) : 0;
	if (pid <= 0 || pid > INT32_MAX)
		return -EPROTO;
	*ret_pid = (pid_t)pid;
	return 0;
}

/*
 * timens_offsets speaks of the namespace of the process's children. It is the process's own unless
 * the process has just made a new one and has not executed anything since; then our own is taken.
 */
static bool offsets_are_its_own(pid_t pid)
{
	char path[64], own[64], children[64];
	ssize_t n, m;

	snprintf(path, sizeof(path), "/proc/%d/ns/time", (int)pid);
	n = readlink(path, own, sizeof(own));
	snprintf(path, sizeof(path), "/proc/%d/ns/time_for_children", (int)pid);
	m = readlink(path, children, sizeof(children));
	return n > 0 && n == m && memcmp(own, children, (size_t)n) == 0;
}

static bool is_in_other_network(pid_t pid)
{
	char path[64], own[64], theirs[64];
	ssize_t n, m;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	n = readlink(path, theirs, sizeof(theirs));
	m = readlink("/proc/self/ns/net", own, sizeof(own));
	return n > 0 && m > 0 && (n != m || memcmp(own, theirs, (size_t)n) != 0);
}

int ezprof_process_namespaces(pid_t pid, struct ezprof_namespaces *ret_namespaces)
{
	struct ezprof_namespaces found = {0};
	struct stat st;
	char text[STATUS_BYTES];
	int err = read_proc(pid, "status", text, sizeof(text));

	if (!err)
		err = ezprof_status_ns_pid(text, &found.ns_pid);
	if (err)
		return err;
	if (offsets_are_its_own(pid) && read_proc(pid, "timens_offsets", text, sizeof(text)) == 0)
		found.clock_offset_ns = ezprof_timens_monotonic_ns(text);
	snprintf(text, sizeof(text), "/proc/%d/ns/pid", (int)pid);
	if (stat(text, &st) == 0) {
		found.pid_ns_dev = st.st_dev;
		found.pid_ns_inode = st.st_ino;
	}
	found.other_network = is_in_other_network(pid);
	*ret_namespaces = found;
	return 0;
}
