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

/* The place of the topic among a probe's arguments; -1 = it tells none. */
static int topic_of(uint32_t probe)
{
	const char *at = probes[probe].arguments;
	size_t len;

	for (int number = 0; (len = next_argument(&at)); number++) {
		if (len == 5 && memcmp(at, "topic", len) == 0)
			return number;
		at += len;
	}
	return -1;
}

/* What is counted: topics where the probe tells one, else endpoints. */
static void put_one_liner(struct ez_buffer *out, const struct ezprof_probe_file *file,
			  uint32_t probe)
{
	const char *name = probes[probe].name;
	int topic = topic_of(probe);

	ezprof_put(out, "bpftrace ");
	if (file->pid)
		ezprof_put(out, "-p %d ", (int)file->pid);
	ezprof_put(out, "-e 'usdt:%s:" EZ_PROVIDER ":%s { ", file->path, name);
	if (topic < 0)
		ezprof_put(out, "@[arg0] = count(); }'");
	else
		ezprof_put(out, "@[str(arg%d)] = count(); }'", topic);
}

static void put_probe(struct ez_buffer *out, const struct ezprof_probe_file *file, uint32_t probe)
{
	unsigned int sites = count_sites(file->elf, probe), number = 0;
	const char *at = probes[probe].arguments;
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
		ezprof_put(out, "    arg%u %-14.*s %s\n", number++, (int)len, at,
			   argument_meaning(at, len));
		at += len;
	}
	if (!can_be_named(file->path))
		return;
	ezprof_put(out, "    ");
	put_one_liner(out, file, probe);
	ezprof_put(out, "\n");
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

static void put_arguments_json(struct ez_json *json, uint32_t probe)
{
	const char *at = probes[probe].arguments;
	size_t len;

	ez_json_key(json, "arguments");
	ez_json_array_begin(json);
	while ((len = next_argument(&at))) {
		ez_json_object_begin(json);
		ez_json_key(json, "name");
		ez_json_str_n(json, at, len);
		ez_json_kv_str(json, "what", argument_meaning(at, len));
		ez_json_object_end(json);
		at += len;
	}
	ez_json_array_end(json);
}

static void put_probe_json(struct ez_json *json, const struct ezprof_probe_file *file,
			   uint32_t probe)
{
	unsigned int sites = count_sites(file->elf, probe);
	struct ez_buffer line;

	ez_buffer_init(&line, SIZE_MAX / 2);
	if (sites && can_be_named(file->path))
		put_one_liner(&line, file, probe);
	ez_json_object_begin(json);
	ez_json_kv_str(json, "name", probes[probe].name);
	ez_json_kv_str(json, "what", probes[probe].meaning);
	ez_json_kv_u64(json, "sites", sites);
	ez_json_key(json, "listeners");
	if (sites && file->listeners[probe] >= 0)
		ez_json_u64(json, (uint64_t)file->listeners[probe]);
	else
		ez_json_null(json);
	put_arguments_json(json, probe);
	ez_json_key(json, "bpftrace");
	if (line.len)
		ez_json_str_n(json, (const char *)line.data, line.len);
	else
		ez_json_null(json);
	ez_json_object_end(json);
	ez_buffer_free(&line);
}

void ezprof_probe_view_json(struct ez_json *json, const struct ezprof_probe_file *file)
{
	ez_json_object_begin(json);
	ez_json_kv_str(json, "path", file->path);
	ez_json_kv_str(json, "provider", EZ_PROVIDER);
	ez_json_kv_bool(json, "registry", file->elf->has_registry);
	ez_json_kv_str(json, "foreign_arguments", file->elf->foreign ? file->elf->arguments : NULL);
	ez_json_key(json, "probes");
	ez_json_array_begin(json);
	for (uint32_t probe = 0; probe < EZ_PROBE_COUNT; probe++)
		put_probe_json(json, file, probe);
	ez_json_array_end(json);
	ez_json_object_end(json);
}
