/* SPDX-License-Identifier: MIT */
/*
 * A group of slots goes when all 16 indices that share it are closed. A close hands its bucket over
 * first and returns from its probes before the registry says "closed", so no program is at work on
 * such a group, nor will be before an index is used again, EZ_REGISTRY_REUSE_NS after its close. A
 * quarter of that is left for us to be late in: later than that the group stays, and whoever has
 * the index next has the slot too. A process that lies about it has its hits put into slots of its
 * own all the same: a group in the map tells whose it is (hit.bpf.h), and a slot is taken over by
 * higher epochs only.
 */
#include "recycling.h"
#include "registry_layout.h"

#define REST_NS (EZ_REGISTRY_REUSE_NS / 4 * 3)

_Static_assert(EZPROF_BLOCK_SHIFT == EZ_GROUP_SHIFT, "a block of the registry is a group of slots");

static void recycle_object(const struct ezprof_measurement *m, const struct ezprof_target *target,
			   const struct ezprof_target_object *object, uint64_t now_ns)
{
	const struct ezprof_closed_blocks *closed = object->endpoints->closed;

	for (size_t block = 0; block < closed->count; block++) {
		if (ezprof_closed_block_rests(closed, block, now_ns, REST_NS))
			ezprof_maps_release_group(m->maps, target->process->pid, object->file,
						  (uint32_t)block);
	}
}

void ezprof_recycle(const struct ezprof_measurement *m, const struct ezprof_target *target,
		    uint64_t now_ns)
{
	for (size_t i = 0; i < target->object_count; i++) {
		const struct ezprof_target_object *object = &target->objects[i];

		if (object->linked && object->reader && !object->read_err && object->endpoints)
			recycle_object(m, target, object, now_ns);
	}
}
