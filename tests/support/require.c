/* SPDX-License-Identifier: MIT */
/* Skip or fail, with the reason: see require.h. Talks to the kernel without libbpf. */
#include "require.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* scripts/test.sh shows these lines in its summary, since ctest keeps the reason to itself. */
static void log_skip(const char *reason)
{
	const char *path = getenv("EZPROF_SKIP_LOG");
	const char *test = getenv("EZPROF_TEST_NAME");
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		return;
	fprintf(file, "  skipped %s: %s\n", test ? test : "?", reason);
	fclose(file);
}

_Noreturn void ez_skip(const char *required_by, const char *reason)
{
	const char *value = required_by ? getenv(required_by) : NULL;

	if (value && strcmp(value, "1") == 0) {
		printf("FAIL: %s (%s=1 forbids a skip)\n", reason, required_by);
		fflush(stdout);
		_exit(EXIT_FAILURE);
	}
	printf("SKIP: %s\n", reason);
	fflush(stdout);
	log_skip(reason);
	_exit(EZ_TEST_SKIPPED);
}

/* "return 0" as a kprobe program, which is what a uprobe runs. */
static int load_smallest_program(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uint64_t)(uintptr_t) "GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

void ez_require_bpf(void)
{
	char reason[160];
	int err = load_smallest_program();

	if (!err)
		return;
	snprintf(reason, sizeof(reason), "no right to load BPF programs: bpf(BPF_PROG_LOAD): %s",
		 strerror(-err));
	ez_skip("EZPROF_REQUIRE_BPF", reason);
}

/* scripts/test.sh leaves the reason beside the folder when it could not make the environment. */
static void read_reason(const char *python, char *ret_reason, size_t size)
{
	char path[4096];
	const char *end = strstr(python, "/bin/python");
	FILE *file;

	snprintf(ret_reason, size, "no interpreter with ezmsg (%s); scripts/test.sh makes one",
		 python);
	if (!end)
		return;
	snprintf(path, sizeof(path), "%.*s.reason", (int)(end - python), python);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(ret_reason, (int)size, file))
		ret_reason[strcspn(ret_reason, "\n")] = '\0';
	fclose(file);
}

const char *ez_require_interop(void)
{
	const char *python = getenv("EZPROF_INTEROP_PYTHON");
	char reason[512];

	if (!python)
		ez_skip("EZPROF_REQUIRE_INTEROP", "EZPROF_INTEROP_PYTHON is not set");
	if (access(python, X_OK) == 0)
		return python;
	read_reason(python, reason, sizeof(reason));
	ez_skip("EZPROF_REQUIRE_INTEROP", reason);
}
