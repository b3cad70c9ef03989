/* SPDX-License-Identifier: MIT */
/* Feature probes: each asks for something impossible and looks at how the kernel refuses. */
#include "kernel_features.h"
#include "bpf_link_attr.h"

#include <string.h>

#include <bpf/libbpf.h>

/* "return 0", to be attached by uprobe_multi. Returns a descriptor or a negative errno. */
static int load_empty_program(uint32_t attach_type)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = attach_type;
	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uint64_t)(uintptr_t) "GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}

/* A folder can't be probed: a kernel that gets as far as the path says -EBADF. */
static int try_link(int program_fd, uint32_t pid)
{
	static const uint64_t offset;
	struct ezprof_bpf_link_attr attr = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = EZPROF_TRACE_UPROBE_MULTI,
		.multi = {.path = (uint64_t)(uintptr_t) "/",
			  .offsets = (uint64_t)(uintptr_t)&offset,
			  .count = 1,
			  .pid = pid},
	};
	int fd = ezprof_bpf_link_create(&attr);

	if (fd >= 0)
		close(fd);
	return fd;
}

int ezprof_features_probe(struct ezprof_features *ret_features)
{
	struct ezprof_features found = {0};
	int fd = load_empty_program(EZPROF_TRACE_UPROBE_MULTI);

	/* A kernel that doesn't know the attach type may refuse to load; one without rights too. */
	if (fd < 0)
		fd = load_empty_program(0);
	if (fd < 0)
		return fd;
	found.uprobe_multi = try_link(fd, 0) == -EBADF;
	/* The change that made the filter mean the process also refuses a negative pid at once
	   (46ba0e49b642 "bpf: fix multi-uprobe PID filtering logic"); before, it was -ESRCH. */
	found.uprobe_multi_pid = found.uprobe_multi && try_link(fd, UINT32_MAX) == -EINVAL;
	close(fd);
	*ret_features = found;
	return 0;
}

const char *ezprof_libbpf_version(void)
{
	return libbpf_version_string();
}
