/* SPDX-License-Identifier: MIT */
#include "probe_view.h"
#include "number.h"
#include "text.h"
#include "text_width.h"

#include <stdlib.h>
#include <string.h>

#define PATH_COLUMNS 4096u

static const struct {
	const char *name, *arguments, *meaning;
} probes[] = {
#define PROBE_ROW(name, count, arguments, meaning) {#name, arguments, meaning},
	EZ_PROBE_LIST(PROBE_ROW)
#undef PROBE_ROW
};

static const struct {
	const char *name, *meaning;
} arguments[] = {
#define ARGUMENT_ROW(name, meaning) {#name, meaning},
	EZ_PROBE_ARGUMENT_LIST(ARGUMENT_ROW)
#undef ARGUMENT_ROW
};

static const char *argument_meaning(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		if (strlen(arguments[i].name) == len && memcmp(arguments[i].name, name, len) == 0)
			return arguments[i].meaning;
	}
	return "";
}

/* The next name of "endpoint, kind, topic"; its length, 0 = no more. */
static size_t next_argument(const char **text)
{
	*text += strspn(*text, ", ");
	return strcspn(*text, ",");
}

static unsigned int count_sites(const struct ezprof_elf *elf, uint32_t probe)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < elf->site_count; i++)
		n += elf->sites[i].probe == probe;
	return n;
}

/* bpftrace takes the path up to a colon, the shell up to a quote; a file without name has none. */
static bool can_be_named(const char *path)
{
	return *path == '/' && !path[strcspn(path, "'\"\\:*?[ \t\n")] &&
	       !strstr(path, " (deleted)");
}

/* What is counted: topics where the probe tells one, else endpoints. */
static void put_one_liner(struct ez_buffer *out, const struct ezprof_probe_file *file,
			  const char *name, int topic)
{
	ezprof_put(out, "    bpftrace ");
	if (file->pid)
		ezprof_put(out, "-p %d ", (int)file->pid);
	ezprof_put(out, "-e 'usdt:%s:" EZ_PROVIDER ":%s { ", file->path, name);
	if (topic < 0)
		ezprof_put(out, "@[arg0] = count(); }'\n");
	else
		ezprof_put(out, "@[str(arg%d)] = count(); }'\n", topic);
}

static void put_probe(struct ez_buffer *out, const struct ezprof_probe_file *file, uint32_t probe)
{
	unsigned int sites = count_sites(file->elf, probe), number = 0;
	const char *at = probes[probe].arguments;
	int topic = -1;
	size_t len;

	if (!sites) {
		ezprof_put(out, "\n" EZ_PROVIDER ":%s: not in this build\n", probes[probe].name);
		return;
	}
	ezprof_put(out, "\n" EZ_PROVIDER ":%s: %s", probes[probe].name, probes[probe].meaning);
	if (file->listeners[probe] >= 0)
		ezprof_put(out, " (%d listening)", (int)file->listeners[probe]);
	ezprof_put(out, "\n");
	while ((len = next_argument(&at))) {
		if (len == 5 && memcmp(at, "topic", len) == 0)
			topic = (int)number;
		ezprof_put(out, "    arg%u %-14.*s %s\n", number++, (int)len, at,
			   argument_meaning(at, len));
		at += len;
	}
	if (can_be_named(file->path))
		put_one_liner(out, file, probes[probe].name, topic);
}

void ezprof_probe_view(struct ez_buffer *out, const struct ezprof_probe_file *file)
{
	const struct ezprof_elf *elf = file->elf;
	char *path = ezprof_text_repair(file->path, strlen(file->path), 0);

	ezprof_put_shortened(out, path ? path : "a file", PATH_COLUMNS);
	free(path);
	ezprof_put(out, ": %u site%s of provider " EZ_PROVIDER ", %s registry of endpoints\n",
		   elf->site_count, elf->site_count == 1 ? "" : "s",
		   elf->has_registry ? "a" : "no");
	if (elf->foreign) {
		char *text = ezprof_text_repair(elf->arguments, strlen(elf->arguments), 0);

		ezprof_put(out, "arguments are not in registers: ");
		ezprof_put_shortened(out, text ? text : "", PATH_COLUMNS);
		ezprof_put(out, "\n");
		free(text);
	}
	if (!can_be_named(file->path))
		ezprof_put(out, "bpftrace can't be told this file's name: use -p PID and "
				"'usdt:*:" EZ_PROVIDER ":...', or a copy elsewhere\n");
	for (uint32_t probe = 0; probe < EZ_PROBE_COUNT; probe++)
		put_probe(out, file, probe);
}
