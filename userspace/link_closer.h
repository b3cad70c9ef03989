/* SPDX-License-Identifier: MIT */
/*
 * Closing many links. A kernel takes about 100 ms for each, nearly all of it waiting for other CPUs
 * to be done with the probe, and partly under a lock of its own: four at a time take Linux 6.1
 * 49 ms for each instead of 82. More than four gain nothing.
 */
#ifndef EZPROF_LINK_CLOSER_H
#define EZPROF_LINK_CLOSER_H

#include <stddef.h>

/* Closes all of them and returns when that is done. Any thread, with all signals blocked. */
void ezprof_links_close_all(const int *fds, size_t count);

/* Has them closed by a thread of its own, and returns at once (without memory: as above). */
void ezprof_links_close_later(const int *fds, size_t count);

#endif
