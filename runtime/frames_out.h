/* SPDX-License-Identifier: MIT */
/*
 * Frames of one link on their way, in order: heads, which are kept here, and bodies, which lie in
 * leased slots or with the caller. Plain data; the caller's lock guards it.
 */
#ifndef EZ_FRAMES_OUT_H
#define EZ_FRAMES_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "gather.h"
#include "parts.h"
#include "segment.h"

#define EZ_FRAME_HEAD_BYTES_MAX (32 + EZ_SEGMENT_NAME_BYTES)

struct ez_frames_out {
	size_t head_bytes;
	uint32_t parts; /* 0: there is nothing to write */
	uint32_t done;	/* parts that are written */
	struct iovec part[2 * EZ_GATHER_MAX];
	uint8_t heads[32 * EZ_GATHER_MAX + EZ_FRAME_HEAD_BYTES_MAX];
};

/* There is room for one more frame, whatever it is. When nothing is to be written there is. */
static inline bool ez_frames_out_have_room(const struct ez_frames_out *out)
{
	return out->parts + 2 <= 2 * EZ_GATHER_MAX &&
	       out->head_bytes + EZ_FRAME_HEAD_BYTES_MAX <= sizeof(out->heads);
}

/* Add one where there is room. */
void ez_frames_out_add_shm(struct ez_frames_out *out, uint64_t id, const char *segment_name);
void ez_frames_out_add_tcp(struct ez_frames_out *out, uint64_t id, const uint8_t *body,
			   size_t bytes);

/*
 * The same of a message that isn't in its slot, but in the caller's memory, where there is nothing
 * else to write and it fits. What is left after a write is to be moved before the caller goes on.
 */
bool ez_frames_out_fits(const struct ez_outgoing *outgoing);
void ez_frames_out_add_pieces(struct ez_frames_out *out, uint64_t id,
			      const struct ez_outgoing *outgoing, size_t bytes);
/* The body of that only frame, `bytes` of it, lies there now. */
void ez_frames_out_move(struct ez_frames_out *out, const uint8_t *body, size_t bytes);

static inline void ez_frames_out_clear(struct ez_frames_out *out)
{
	out->head_bytes = 0;
	out->parts = 0;
	out->done = 0;
}

/* Writes as much as goes: 0 = all, -EAGAIN, or what is wrong with the socket or the bodies. */
int ez_frames_out_write(struct ez_frames_out *out, int fd);

#endif
