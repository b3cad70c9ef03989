/* SPDX-License-Identifier: MIT */
/* What a received message says: the public view of an item, its pickle read as far as we can. */
#ifndef EZ_VALUE_H
#define EZ_VALUE_H

#include "channel.h"

/* Fills in the whole of the message. Touches nothing that needs a lock; the item is the caller's.
 */
void ez_message_fill(struct ez_message *message, struct ez_item *item);

#endif
