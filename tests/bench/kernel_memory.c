/* SPDX-License-Identifier: MIT */
/*
 * Memory of the window path's maps for 500 streams: loads them, compares what is stated with what
 * the machine has less, prints the row. To be run where there are 64 possible CPUs.
 */
#include "bench_row.h"
#include "loader.h"

#include <stdio.h>
#include <string.h>

#define STREAMS 500u
#define MIB (1024.0 * 1024.0)

/* Free memory as the kernel sees it, MiB; -1: unknown. */
static double free_mib(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long kib = 0;
	char line[128];
	double found = -1;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemFree: %lu kB", &kib) == 1)
			found = (double)kib / 1024;
	}
	if (file)
		fclose(file);
	return found;
}

int main(void)
{
	const struct ezprof_bpf_options options = {.endpoints_max = STREAMS,
						   .paths = EZPROF_PATH_WINDOW};
	struct ezprof_refusal refusal = {0};
	struct ezprof_bpf *bpf;
	double before = free_mib(), used, stated;
	int err = ezprof_bpf_load(&options, &bpf, &refusal);

	if (err) {
		printf("load: %s: %s: %s\n", strerror(-err), refusal.what, refusal.why);
		return 1;
	}
	used = before - free_mib();
	stated = (double)ezprof_bpf_map_bytes(bpf) / MIB;
	printf("%u streams, %d possible CPUs: %.0f MiB stated, %.0f MiB less free\n",
	       ezprof_bpf_endpoints_max(bpf), ezprof_bpf_cpu_count(bpf), stated, used);
	bench_row_at_most("kernel.memory_mib", used > stated ? used : stated, "MiB, 64 CPUs", 512);
	ezprof_bpf_free(bpf);
	return 0;
}
