/* SPDX-License-Identifier: MIT */
/* Checks of what is there to be measured; see checkup.h. */
#include "agent_client.h"
#include "census.h"
#include "census_view.h"
#include "checkup.h"
#include "clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define SHM "/dev/shm"
#define SEGMENT "psm_"
#define AGENTS_MAX 64u
#define LOOK_MS 3000
/* What a publisher takes where nobody says otherwise: 32 slots of 64 KiB. */
#define PUBLISHER_BYTES (32ull * 65536)

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Of all that is measured or could be. */
struct inventory {
	size_t processes, publishers, unprobed;
	uint64_t buffers;
};

static struct inventory count(const struct ezprof_census *census)
{
	struct inventory n = {0};

	for (size_t i = 0; i < census->count; i++) {
		const struct ezprof_target *t = census->list[i].target;

		n.processes += t != NULL;
		n.unprobed += !t && census->list[i].connected &&
			      strcmp(census->list[i].comm, "ezprof-bpf") != 0;
		for (size_t k = 0; t && k < t->object_count; k++) {
			const struct ezprof_endpoints *found = t->objects[k].endpoints;

			for (size_t e = 0; found && e < found->count; e++) {
				if (found->list[e].kind != EZ_KIND_PUBLISHER)
					continue;
				n.publishers++;
				n.buffers += found->list[e].num_buffers;
			}
		}
	}
	return n;
}

static void check_orphans(struct ezprof_checkup *c, const struct ezprof_census *census)
{
	char fix[64];

	for (size_t i = 0; i < census->count; i++) {
		const struct ezprof_census_process *p = &census->list[i];

		for (size_t k = 0; p->target && k < p->target->object_count; k++) {
			const struct ezprof_census_graph *g =
				ezprof_census_graph(census, p->target, k);

			if (!ezprof_census_is_orphan(g))
				continue;
			snprintf(fix, sizeof(fix), "kill %d, and start it anew with a server",
				 (int)p->pid);
			ezprof_checkup_add(c, "orphan", EZPROF_SICK, fix,
					   "process %d is of the graph %s, where nobody listens",
					   (int)p->pid, g->address);
		}
	}
}

static void check_processes(struct ezprof_checkup *c, const struct ezprof_census *census,
			    const struct inventory *n)
{
	char hidden[64] = "";

	if (census->refused.total)
		snprintf(hidden, sizeof(hidden), "; %zu other%s may not be looked into",
			 census->refused.total, plural(census->refused.total));

	if (n->processes)
		ezprof_checkup_add(c, "processes", EZPROF_HEALTHY, NULL,
				   "%zu with probes, %zu publisher%s%s", n->processes,
				   n->publishers, plural(n->publishers), hidden);
	else
		ezprof_checkup_add(c, "processes", EZPROF_AILING,
				   "link libezmsg, or start Python by: ezprof run -- python ...",
				   "none with probes%s", hidden);
	if (n->unprobed)
		ezprof_checkup_add(c, "unprobed", EZPROF_AILING,
				   "start them by: ezprof run -- python ... (ezprof ps names them)",
				   "%zu process%s of graphs have no probes", n->unprobed,
				   n->unprobed == 1 ? "" : "es");
}

static void check_agents(struct ezprof_checkup *c, const struct inventory *n)
{
	struct ezprof_agent_found *agents = calloc(AGENTS_MAX, sizeof(*agents));
	size_t found = 0;

	if (agents)
		found = ezprof_agent_find(agents, AGENTS_MAX, ez_clock_deadline_ns(LOOK_MS));
	free(agents);
	if (found)
		ezprof_checkup_add(c, "agents", EZPROF_HEALTHY, NULL, "%zu measuring", found);
	else if (n->processes)
		ezprof_checkup_add(c, "agents", EZPROF_AILING, "sudo ezprof-bpf attach --all",
				   "nobody measures the processes that have probes");
	else
		ezprof_checkup_add(c, "agents", EZPROF_HEALTHY, NULL,
				   "none, and nothing to measure");
}

/* What the segments of all publishers take once every slot of theirs has been written. */
static uint64_t segments_bytes(size_t *ret_count)
{
	DIR *folder = opendir(SHM);
	struct dirent *entry;
	uint64_t sum = 0;
	struct stat st;

	*ret_count = 0;
	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		if (strncmp(entry->d_name, SEGMENT, strlen(SEGMENT)) != 0 ||
		    fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || st.st_size < 0)
			continue;
		/* A size that somebody made up must not wrap the sum round. */
		if (__builtin_add_overflow(sum, (uint64_t)st.st_size, &sum))
			sum = UINT64_MAX;
		(*ret_count)++;
	}
	closedir(folder);
	return sum;
}

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static void check_shm(struct ezprof_checkup *c, const struct inventory *n)
{
	struct statvfs fs;
	uint64_t total, segments, wanted;
	size_t count;
	char fix[96];

	if (statvfs(SHM, &fs)) {
		ezprof_checkup_add(c, "shm", EZPROF_SICK, "sudo mount -t tmpfs tmpfs " SHM,
				   SHM ": %s", strerror(errno));
		return;
	}
	total = (uint64_t)fs.f_blocks * fs.f_frsize;
	segments = segments_bytes(&count);
	/* Room for one publisher more; 0 blocks: no limit. */
	wanted = segments > UINT64_MAX / 4 ? UINT64_MAX / 2 : segments + PUBLISHER_BYTES;
	snprintf(fix, sizeof(fix),
		 "sudo mount -o remount,size=%" PRIu64 "m " SHM " (docker: --shm-size)",
		 (2 * wanted >> 20) + 1);
	ezprof_checkup_add(c, "shm", total && wanted > total ? EZPROF_SICK : EZPROF_HEALTHY,
			   total && wanted > total ? fix : NULL,
			   SHM " has %.1f MiB, %.1f free; %zu segment%s take%s up to %.1f MiB "
			       "(%zu publisher%s seen, %" PRIu64 " slots)",
			   mib(total), mib((uint64_t)fs.f_bavail * fs.f_frsize), count,
			   plural(count), count == 1 ? "s" : "", mib(segments), n->publishers,
			   plural(n->publishers), n->buffers);
}

int ezprof_checkup_graphs(struct ezprof_checkup *c)
{
	struct ezprof_census *census;
	struct inventory n;
	int err = ezprof_census_take(&census);

	if (err)
		return err;
	n = count(census);
	ezprof_checkup_servers(c, census);
	check_processes(c, census, &n);
	ezprof_checkup_python(c, census);
	check_agents(c, &n);
	check_shm(c, &n);
	check_orphans(c, census);
	ezprof_census_free(census);
	return 0;
}
