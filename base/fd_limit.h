/* SPDX-License-Identifier: MIT */
/* How many descriptors a process may have: each client, and each measured process, takes some. */
#ifndef EZ_FD_LIMIT_H
#define EZ_FD_LIMIT_H

/*
 * Raises the soft limit to the hard one, for this process and its children: the usual 1024 is for
 * programs that use select(). Where that fails the limit stays as it is.
 */
void ez_fd_limit_raise(void);

#endif
