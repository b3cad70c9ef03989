/* SPDX-License-Identifier: MIT */
/*
 * PROFILE, answered by the process itself from its registry entries: identity, totals, what is in
 * flight. It measures no time, so window figures are 0 or null (docs/profile-json.md).
 */
#ifndef EZ_PROFILE_ANSWER_H
#define EZ_PROFILE_ANSWER_H

#include "buffer.h"
#include "channel.h"
#include "publisher.h"

/* Appends PROFILE_DATA and the publisher's object. I/O thread. */
void ez_publisher_answer(struct ez_publisher *publisher, uint64_t window_ms, struct ez_buffer *out);

/* Takes a command on a channel's link to the graph server: PROFILE is answered, others skipped. */
int ez_channel_answer(struct ez_channel *channel, struct ez_reader *reader);

#endif
