/* SPDX-License-Identifier: MIT */
/*
 * Who holds which buffer of a publisher. A slot may be written again when nobody holds it: that is
 * the whole of backpressure. Plain data; the caller's lock guards it.
 */
#ifndef EZ_BACKPRESSURE_H
#define EZ_BACKPRESSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ez_slots {
	uint32_t n;
	uint32_t *leases; /* per slot: how many channels hold it */
	uint64_t *bytes;  /* per slot: marshalled size of its message */
	uint64_t open;	  /* all leases */
};

/* What one channel holds: per slot the message id + 1, 0 = nothing. */
struct ez_holder {
	uint64_t *held;
};

int ez_slots_init(struct ez_slots *slots, uint32_t n);
void ez_slots_free(struct ez_slots *slots);

int ez_holder_init(struct ez_holder *holder, uint32_t n);
void ez_holder_free(struct ez_holder *holder);

static inline bool ez_slots_busy(const struct ez_slots *slots, uint64_t message_id)
{
	return slots->leases[message_id % slots->n] != 0;
}

/* The slot must be free of this holder. */
static inline void ez_slots_lease(struct ez_slots *slots, struct ez_holder *holder,
				  uint64_t message_id)
{
	uint64_t slot = message_id % slots->n;

	holder->held[slot] = message_id + 1;
	slots->leases[slot]++;
	slots->open++;
}

/*
 * Ends the lease of exactly that message, which lies in that slot. False if the holder has none: an
 * acknowledgement that is unknown, repeated or of an earlier lap must not free what is being read
 * now.
 */
static inline bool ez_slots_release(struct ez_slots *slots, struct ez_holder *holder, uint64_t slot,
				    uint64_t message_id)
{
	if (holder->held[slot] != message_id + 1)
		return false;
	holder->held[slot] = 0;
	slots->leases[slot]--;
	slots->open--;
	return true;
}

/* The message that the holder has in that slot. */
static inline bool ez_holder_has(const struct ez_holder *holder, uint64_t slot,
				 uint64_t *ret_message_id)
{
	if (!holder->held[slot])
		return false;
	*ret_message_id = holder->held[slot] - 1;
	return true;
}

#endif
