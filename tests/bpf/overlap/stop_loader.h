/* SPDX-License-Identifier: MIT */
/* The loader with programs that can be stopped, see stops.bpf.h, and how to tell them where. */
#ifndef EZ_STOP_LOADER_H
#define EZ_STOP_LOADER_H

#include "loader.h"

/* The next program to run reads from `page` at its step `countdown`; 0: none does. */
void stop_at(struct ezprof_bpf *bpf, uint64_t countdown, const void *page);

#endif
