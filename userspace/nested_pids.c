/* SPDX-License-Identifier: MIT */
#include "nested_pids.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/stat.h>

#define INITIAL_PID_NS 0xeffffffcu /* PROC_PID_INIT_INO */

bool ezprof_own_pid_namespace(uint64_t *ret_dev, uint64_t *ret_inode)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PID_NS)
		return false;
	*ret_dev = st.st_dev;
	*ret_inode = st.st_ino;
	return true;
}

void ezprof_nested_pids_init(struct ezprof_nested_pids *n, int namespaces_fd, int pids_fd)
{
	uint64_t dev;

	*n = (struct ezprof_nested_pids){.namespaces_fd = namespaces_fd, .pids_fd = pids_fd};
	n->needed = ezprof_own_pid_namespace(&dev, &n->own_inode);
}

/* Its place, or a free one for it; EZ_NESTED_MAX: there is none. */
static uint32_t place_of(const struct ezprof_nested_pids *n, uint64_t dev, uint64_t inode)
{
	uint32_t found = EZ_NESTED_MAX;

	for (uint32_t i = 0; i < EZ_NESTED_MAX; i++) {
		if (n->places[i].users && n->places[i].dev == dev && n->places[i].inode == inode)
			return i;
		if (!n->places[i].users && found == EZ_NESTED_MAX)
			found = i;
	}
	return found;
}

int ezprof_nested_pids_add(struct ezprof_nested_pids *n, pid_t tgid, uint64_t dev, uint64_t inode,
			   pid_t ns_pid)
{
	const struct ez_pid_namespace namespace = {.dev = dev, .inode = inode};
	struct ez_nested_pid key = {.pid = (uint32_t)ns_pid};
	uint32_t value = (uint32_t)tgid;
	int err;

	if (!n->needed || !inode || inode == n->own_inode)
		return 0;
	key.place = place_of(n, dev, inode);
	if (key.place == EZ_NESTED_MAX)
		return -ENOSPC;
	err = bpf_map_update_elem(n->pids_fd, &key, &value, BPF_ANY);
	if (!err)
		err = bpf_map_update_elem(n->namespaces_fd, &key.place, &namespace, BPF_ANY);
	if (err)
		return err;
	n->places[key.place].dev = dev;
	n->places[key.place].inode = inode;
	n->places[key.place].users++;
	return 0;
}

void ezprof_nested_pids_remove(struct ezprof_nested_pids *n, pid_t tgid)
{
	const struct ez_pid_namespace none = {0};
	struct ez_nested_pid key, next;
	uint32_t value;
	int end;

	if (!n->needed)
		return;
	/* Next keys are looked up before a deletion, after which the walk would start again. */
	for (end = bpf_map_get_next_key(n->pids_fd, NULL, &next); !end;) {
		key = next;
		end = bpf_map_get_next_key(n->pids_fd, &key, &next);
		if (bpf_map_lookup_elem(n->pids_fd, &key, &value) || value != (uint32_t)tgid ||
		    key.place >= EZ_NESTED_MAX || bpf_map_delete_elem(n->pids_fd, &key))
			continue;
		if (--n->places[key.place].users == 0)
			bpf_map_update_elem(n->namespaces_fd, &key.place, &none, BPF_ANY);
	}
}
