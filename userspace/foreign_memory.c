/* SPDX-License-Identifier: MIT */
#include "foreign_memory.h"

#include <errno.h>
#include <unistd.h>

int ezprof_memory_read_fd(void *context, uint64_t address, void *to, size_t n)
{
	int fd = *(const int *)context;

	if (address > INT64_MAX)
		return -EFAULT;
	while (n > 0) {
		ssize_t got = pread(fd, to, n, (off_t)address);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EIO ? -EFAULT : -errno;
		if (got == 0) /* the address space is gone: exit or exec */
			return -ESRCH;
		to = (char *)to + got;
		address += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}
