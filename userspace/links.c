/* SPDX-License-Identifier: MIT */
/* One uprobe_multi link for all sites, or one perf_event link per site; see links.h. */
#include "links.h"
#include "bpf_link_attr.h"
#include "probe_nop.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A path that leads to the open file itself, whatever became of its name. */
struct fd_path {
	char text[32];
};

static struct fd_path path_of(int fd)
{
	struct fd_path path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

static int create_multi(const struct ezprof_link_request *r)
{
	uint64_t offsets[EZPROF_LINKS_MAX], semaphores[EZPROF_LINKS_MAX], cookies[EZPROF_LINKS_MAX];
	struct fd_path path = path_of(r->object_fd);
	struct ezprof_bpf_link_attr attr = {
		.program_fd = (uint32_t)r->program_fd,
		.attach_type = EZPROF_TRACE_UPROBE_MULTI,
		.multi = {.path = (uint64_t)(uintptr_t)path.text,
			  .offsets = (uint64_t)(uintptr_t)offsets,
			  .ref_ctr_offsets = (uint64_t)(uintptr_t)semaphores,
			  .cookies = (uint64_t)(uintptr_t)cookies,
			  .count = r->site_count,
			  .pid = (uint32_t)r->pid},
	};

	for (uint32_t i = 0; i < r->site_count; i++) {
		offsets[i] = r->sites[i].offset;
		semaphores[i] = r->sites[i].semaphore_offset;
		cookies[i] = r->sites[i].cookie;
	}
	return ezprof_bpf_link_create(&attr);
}

static int uprobe_pmu_type(uint32_t *ret_type)
{
	char text[16] = "";
	char *end;
	int fd = open(EZPROF_UPROBE_TYPE, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	/* No kernel with uprobes lacks it, a machine without /sys does. */
	if (fd < 0)
		return errno == ENOENT ? -ENODEV : -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	*ret_type = (uint32_t)strtoul(text, &end, 10);
	return n > 0 && end != text ? 0 : -EIO;
}

static int open_uprobe(const struct ezprof_link_request *r, const struct ezprof_link_site *site,
		       uint32_t type)
{
	struct fd_path path = path_of(r->object_fd);
	struct perf_event_attr attr;
	long fd;

	/* The event has 32 bits for the semaphore's place. */
	if (site->semaphore_offset > UINT32_MAX)
		return -EFBIG;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = site->semaphore_offset << 32;
	attr.config1 = (uint64_t)(uintptr_t)path.text;
	attr.config2 = site->offset;
	fd = syscall(SYS_perf_event_open, &attr, r->pid ? r->pid : -1, r->pid ? -1 : 0, -1,
		     PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

bool ezprof_links_may_perf_event(void)
{
	/* A descriptor that isn't open leads to no file. */
	const struct ezprof_link_request request = {.object_fd = -1};
	const struct ezprof_link_site site = {.offset = 0};
	uint32_t type;
	int fd;

	if (uprobe_pmu_type(&type))
		return false;
	fd = open_uprobe(&request, &site, type);
	if (fd >= 0)
		close(fd);
	return fd != -EPERM && fd != -EACCES;
}

/* The link holds the event, so one descriptor is enough. */
static int create_perf(const struct ezprof_link_request *r, const struct ezprof_link_site *site,
		       uint32_t type)
{
	struct ezprof_bpf_link_attr attr = {
		.program_fd = (uint32_t)r->program_fd,
		.attach_type = BPF_PERF_EVENT,
		.perf_event = {.cookie = site->cookie},
	};
	int event, link;

	event = open_uprobe(r, site, type);
	if (event < 0)
		return event;
	attr.target_fd = (uint32_t)event;
	link = ezprof_bpf_link_create(&attr);
	close(event);
	return link;
}

static int create_perf_all(const struct ezprof_link_request *r, int *fds, uint32_t *ret_count)
{
	uint32_t type = 0;
	int err = uprobe_pmu_type(&type);

	for (uint32_t i = 0; i < r->site_count && !err; i++) {
		fds[i] = create_perf(r, &r->sites[i], type);
		if (fds[i] < 0)
			err = fds[i];
		else
			*ret_count = i + 1;
	}
	return err;
}

int ezprof_links_create(const struct ezprof_link_request *request,
			int ret_fds[static EZPROF_LINKS_MAX], uint32_t *ret_count)
{
	uint32_t count = 0;
	int err = 0;

	if (!request->site_count || request->site_count > EZPROF_LINKS_MAX || request->pid < 0)
		return -EINVAL;
	for (uint32_t i = 0; i < request->site_count; i++) {
		if (!ezprof_is_probe_nop(request->object_fd, request->sites[i].offset))
			return -EINVAL;
	}
	if (!request->uprobe_multi) {
		err = create_perf_all(request, ret_fds, &count);
	} else {
		ret_fds[0] = create_multi(request);
		err = ret_fds[0] < 0 ? ret_fds[0] : 0;
		count = 1;
	}
	if (!err) {
		*ret_count = count;
		return 0;
	}
	if (!request->uprobe_multi) {
		while (count > 0)
			close(ret_fds[--count]);
	}
	return err;
}
