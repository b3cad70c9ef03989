/* SPDX-License-Identifier: MIT */
#include "standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int ez_standard_streams_reserve(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free number is this one. Not to be read, or not to be written. */
		if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
			return -errno;
	}
	return 0;
}
