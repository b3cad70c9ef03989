/* SPDX-License-Identifier: MIT */
/* Rings filled by hand; see ring_model.h. */
#include "ring_model.h"
#include "ring_shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

struct ring_model *ring_model_new(void)
{
	struct ring_model *model = calloc(1, sizeof(*model));

	assert_non_null(model);
	model->owner = EZ_OWNER_READY(1, 1);
	return model;
}

void ring_model_free(struct ring_model *model)
{
	free(model);
}

static struct ez_ring *enter(struct ring_model *model, unsigned int cpu, uint64_t id)
{
	struct ez_ring *ring = &model->rings[cpu];

	assert_int_equal(ez_ring_own(ring, model->owner, id), EZ_RING_OK);
	assert_int_equal(ez_ring_note(ring, id), EZ_RING_OK);
	return ring;
}

void ring_model_message(struct ring_model *model, unsigned int cpu, uint64_t now_ns, uint64_t bytes)
{
	ez_ring_message(enter(model, cpu, now_ns >> EZ_BUCKET_SHIFT), bytes);
}

void ring_model_interval(struct ring_model *model, unsigned int cpu, uint64_t now_ns,
			 unsigned int which, uint64_t ns)
{
	uint64_t id = now_ns >> EZ_BUCKET_SHIFT;

	assert_true(ez_ring_interval(enter(model, cpu, id), id, which, ns));
}

void ring_model_blocked(struct ring_model *model, unsigned int cpu, uint64_t now_ns,
			uint64_t since_ns)
{
	uint64_t id = now_ns >> EZ_BUCKET_SHIFT;

	ring_model_interval(model, cpu, now_ns, EZ_PUB_BLOCKED, now_ns - since_ns);
	ez_ring_carry(&model->rings[cpu], id, since_ns);
}

struct ezprof_fold_input ring_model_input(const struct ring_model *model, uint64_t now_ns,
					  uint64_t window_ns)
{
	return (struct ezprof_fold_input){
		.rings = model->rings,
		.cpu_count = MODEL_CPUS,
		.slot = &model->slot,
		.owner = model->owner,
		.now_ns = now_ns,
		.window_ns = window_ns,
	};
}
