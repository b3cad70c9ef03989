/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 1024

static const struct {
	const char *name;
	const char *journal;
} levels[] = {
	[EZ_LOG_OFF] = {"off", ""},	   [EZ_LOG_ERROR] = {"error", "<3>"},
	[EZ_LOG_WARN] = {"warn", "<4>"},   [EZ_LOG_INFO] = {"info", "<6>"},
	[EZ_LOG_DEBUG] = {"debug", "<7>"},
};

static enum ez_log_level log_level = EZ_LOG_OFF;
static const char *log_program;
static bool log_to_journal;

/*
 * JOURNAL_STREAM is "device:inode" of the stream that the journal reads; it is inherited, so
 * compare.
 */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char mine[64];
	struct stat st;

	if (!stream || fstat(STDERR_FILENO, &st) < 0)
		return false;
	snprintf(mine, sizeof(mine), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return strcmp(stream, mine) == 0;
}

void ez_log_setup(enum ez_log_level level, const char *program)
{
	log_level = level;
	log_program = program;
	log_to_journal = stderr_is_journal();
}

int ez_log_parse_level(const char *text, enum ez_log_level *ret_level)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (strcmp(text, levels[i].name) != 0)
			continue;
		*ret_level = (enum ez_log_level)i;
		return 0;
	}
	return -EINVAL;
}

bool ez_log_enabled(enum ez_log_level level)
{
	return level != EZ_LOG_OFF && level <= log_level;
}

/*
 * Never waits: a program whose stderr is a full pipe goes on, and says later how many lines that
 * cost. A pipe counts as writable when it takes 4096 bytes, more than a line has.
 */
static void write_line(const char *line, size_t len)
{
	static uint64_t lost;
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
	char note[96];
	int n = 0;

	if (poll(&out, 1, 0) != 1) {
		__atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
		return;
	}
	if (__atomic_load_n(&lost, __ATOMIC_RELAXED))
		n = snprintf(note, sizeof(note), "(%ju lines were lost: nobody read them)\n",
			     (uintmax_t)__atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED));
	/* If nobody is left to be told, so be it. */
	if (n > 0 && write(STDERR_FILENO, note, (size_t)n) < 0)
		return;
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}

void ez_log(enum ez_log_level level, const char *format, ...)
{
	int saved_errno = errno;
	char line[LINE_BYTES];
	va_list args;
	size_t used;
	int n;

	if (!ez_log_enabled(level))
		return;
	n = snprintf(line, sizeof(line), "%s%s%s%s%s", log_to_journal ? levels[level].journal : "",
		     log_program ? log_program : "", log_program ? ": " : "",
		     log_to_journal ? "" : levels[level].name, log_to_journal ? "" : ": ");
	used = n < 0 ? 0 : (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1;
	va_start(args, format);
	n = vsnprintf(line + used, sizeof(line) - used, format, args);
	va_end(args);
	if (n > 0)
		used += (size_t)n < sizeof(line) - used ? (size_t)n : sizeof(line) - used - 1;
	/*
	 * Texts may carry bytes of other processes: a line stays one line, and no escape sequence
	 * gets through.
	 */
	for (size_t i = 0; i < used; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
	line[used] = '\n';
	write_line(line, used + 1);
	errno = saved_errno;
}

bool ez_log_limited(struct ez_log_limit *limit, uint64_t interval_ns, uint64_t *ret_held_back)
{
	ez_mono_ns_t now_ns = ez_clock_mono_ns();

	if (now_ns < limit->next_ns) {
		limit->held_back++;
		return false;
	}
	*ret_held_back = limit->held_back;
	limit->held_back = 0;
	limit->next_ns = now_ns + interval_ns;
	return true;
}
