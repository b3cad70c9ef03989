/* SPDX-License-Identifier: MIT */
/* Which of the two texts somebody who asks by HTTP would rather have. Pure; any thread. */
#ifndef EZPROF_ACCEPT_HEADER_H
#define EZPROF_ACCEPT_HEADER_H

#include "exposition.h"

/*
 * header: what Accept says, or NULL. OpenMetrics 1.0 only for who asks for it, and not for less
 * (q=) than the older text; that one for everybody else, for it is what all can read.
 */
enum ezprof_dialect ezprof_accept_dialect(const char *header);

#endif
