/* SPDX-License-Identifier: MIT */
/*
 * One endpoint's per-CPU rings in user space, filled by the very code that BPF runs, with a clock
 * that the test sets. Hits don't overlap here: test_ring.c is about those.
 */
#ifndef EZ_TEST_RING_MODEL_H
#define EZ_TEST_RING_MODEL_H

#include <stdint.h>

#include "fold.h"
#include "window_shared.h"

#define MODEL_CPUS 4u

struct ring_model {
	struct ez_ring rings[MODEL_CPUS];
	struct ez_slot slot;
	uint64_t owner;
};

/* Empty rings that belong to EZ_OWNER_READY(1, 1). On the heap: half a megabyte. */
struct ring_model *ring_model_new(void);
void ring_model_free(struct ring_model *model);

void ring_model_message(struct ring_model *model, unsigned int cpu, uint64_t now_ns,
			uint64_t bytes);
/* An interval that ends now. */
void ring_model_interval(struct ring_model *model, unsigned int cpu, uint64_t now_ns,
			 unsigned int which, uint64_t ns);
/* A wait that ends now. */
void ring_model_blocked(struct ring_model *model, unsigned int cpu, uint64_t now_ns,
			uint64_t since_ns);

/* The fold of what is there. Attached and opened at 0 unless the test changes the input. */
struct ezprof_fold_input ring_model_input(const struct ring_model *model, uint64_t now_ns,
					  uint64_t window_ns);

#endif
