/* SPDX-License-Identifier: MIT */
#include "backpressure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ez_slots_init(struct ez_slots *slots, uint32_t n)
{
	memset(slots, 0, sizeof(*slots));
	slots->n = n;
	slots->leases = calloc(n, sizeof(*slots->leases));
	slots->bytes = calloc(n, sizeof(*slots->bytes));
	if (slots->leases && slots->bytes)
		return 0;
	ez_slots_free(slots);
	return -ENOMEM;
}

void ez_slots_free(struct ez_slots *slots)
{
	free(slots->leases);
	free(slots->bytes);
	memset(slots, 0, sizeof(*slots));
}

int ez_holder_init(struct ez_holder *holder, uint32_t n)
{
	holder->held = calloc(n, sizeof(*holder->held));
	return holder->held ? 0 : -ENOMEM;
}

void ez_holder_free(struct ez_holder *holder)
{
	free(holder->held);
	holder->held = NULL;
}
