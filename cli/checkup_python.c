/* SPDX-License-Identifier: MIT */
/*
 * Which ezmsg the Python processes of graphs run with, and which ezmsg-usdt: by the folder that
 * their libraries come from, where pip writes down what it has installed. See checkup.h.
 */
#include "census.h"
#include "checkup.h"

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_BYTES 32u
#define VERSIONS_MAX 16u
/* Of what another process can make long. */
#define LINES_MAX 65536u
#define ENTRIES_MAX 65536u

struct installed {
	char ezmsg[VERSION_BYTES], usdt[VERSION_BYTES]; /* "" = not there, or not known */
};

/* "ezmsg-3.9.0.dist-info" gives "3.9.0"; everything that is no version is refused. */
static void take_version(const char *entry, const char *package, char *to)
{
	static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyz.+!";
	size_t begin = strlen(package), n;

	if (strncmp(entry, package, begin) != 0)
		return;
	n = strspn(entry + begin, allowed);
	/* The last point is that of the ending. */
	if (n > 5 && strcmp(entry + begin + n, "-info") == 0)
		n -= strlen(".dist");
	else
		return;
	if (n == 0 || n >= VERSION_BYTES)
		return;
	memcpy(to, entry + begin, n);
	to[n] = '\0';
}

static void look_into(pid_t pid, const char *folder, struct installed *found)
{
	char path[4096 + 64];
	struct dirent *entry;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, folder);
	list = opendir(path);
	if (!list)
		return;
	for (size_t i = 0; i < ENTRIES_MAX && (entry = readdir(list)); i++) {
		take_version(entry->d_name, "ezmsg-", found->ezmsg);
		take_version(entry->d_name, "ezmsg_usdt-", found->usdt);
	}
	closedir(list);
}

/* The folder of packages that a line of /proc/PID/maps names; false: none. */
static bool packages_folder(char *line, char **ret_folder)
{
	static const char *const names[] = {"/site-packages/", "/dist-packages/"};
	char *path = strchr(line, '/');

	for (size_t i = 0; path && i < sizeof(names) / sizeof(names[0]); i++) {
		char *at = strstr(path, names[i]);

		if (!at)
			continue;
		at[strlen(names[i]) - 1] = '\0';
		*ret_folder = path;
		return true;
	}
	return false;
}

/* Of an environment, by the interpreter that was started: ezmsg itself maps nothing. */
static void look_beside_interpreter(pid_t pid, struct installed *found)
{
	char path[64], name[1024] = "", pattern[1200], *end;
	size_t root, n;
	FILE *command;
	glob_t places;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	command = fopen(path, "re");
	n = command ? fread(name, 1, sizeof(name) - 1, command) : 0;
	name[n] = '\0';
	if (command)
		fclose(command);
	end = strstr(name, "/bin/python");
	/* Nothing in it may mean anything to glob(). */
	if (!end || *name != '/' || name[strcspn(name, "*?[\\~")])
		return;
	*end = '\0';
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = strlen(path);
	snprintf(pattern, sizeof(pattern), "%s%s/lib/python3*/site-packages", path, name);
	if (glob(pattern, GLOB_NOSORT, NULL, &places) == 0) {
		for (size_t i = 0; i < places.gl_pathc && i < VERSIONS_MAX; i++)
			look_into(pid, places.gl_pathv[i] + root, found);
		globfree(&places);
	}
}

static struct installed installed_of(pid_t pid)
{
	struct installed found = {0};
	char path[64], line[4096], last[4096] = "", *folder;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	for (size_t i = 0; maps && i < LINES_MAX && fgets(line, sizeof(line), maps); i++) {
		if (!packages_folder(line, &folder) || strcmp(folder, last) == 0)
			continue;
		snprintf(last, sizeof(last), "%s", folder);
		look_into(pid, folder, &found);
	}
	if (maps)
		fclose(maps);
	if (!*found.ezmsg)
		look_beside_interpreter(pid, &found);
	return found;
}

struct versions {
	char names[VERSIONS_MAX][VERSION_BYTES];
	size_t processes[VERSIONS_MAX], n;
};

static void count(struct versions *v, const char *name)
{
	size_t i = 0;

	while (i < v->n && strcmp(v->names[i], name) != 0)
		i++;
	if (i == VERSIONS_MAX)
		return;
	if (i == v->n)
		snprintf(v->names[v->n++], VERSION_BYTES, "%s", name);
	v->processes[i]++;
}

static void check_usdt(struct ezprof_checkup *c, pid_t pid, const char *version)
{
	if (!*version || strcmp(version, EZPROF_VERSION) == 0)
		return;
	ezprof_checkup_add(
		c, "ezmsg-usdt", EZPROF_AILING,
		"in its environment: pip install --upgrade ezmsg-usdt; then start it anew",
		"process %d has ezmsg-usdt %s, and this program is " EZPROF_VERSION, (int)pid,
		version);
}

void ezprof_checkup_python(struct ezprof_checkup *c, const struct ezprof_census *census)
{
	struct versions versions = {.n = 0};
	char text[sizeof(((struct ezprof_check *)0)->text)];
	size_t used = 0;

	for (size_t i = 0; i < census->count; i++) {
		struct installed found = installed_of(census->list[i].pid);

		if (!*found.ezmsg)
			continue;
		count(&versions, found.ezmsg);
		check_usdt(c, census->list[i].pid, found.usdt);
	}
	for (size_t i = 0; i < versions.n && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s in %zu process%s",
					 i ? ", " : "", versions.names[i], versions.processes[i],
					 versions.processes[i] == 1 ? "" : "es");
	ezprof_checkup_add(c, "ezmsg", EZPROF_HEALTHY, NULL, "%s",
			   versions.n ? text : "no Python process of a graph is known");
}
