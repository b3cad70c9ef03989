/* SPDX-License-Identifier: MIT */
#include "fd_limit.h"

#include <sys/resource.h>

void ez_fd_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}
