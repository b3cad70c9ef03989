/* SPDX-License-Identifier: MIT */
/* Compiled with the variant's skeleton before the real one, and linked in the place of loader.o. */
#include "loader.c"
#include "stop_loader.h"

void stop_at(struct ezprof_bpf *bpf, uint64_t countdown, const void *page)
{
	bpf->skeleton->bss->stop_page = (uintptr_t)page;
	bpf->skeleton->bss->stop_countdown = countdown;
}
