/* SPDX-License-Identifier: MIT */
/* Taking messages out of a subscriber's queue, by ez_receive() or by the callback's thread. */
#ifndef EZ_RECEIVE_H
#define EZ_RECEIVE_H

/* Runs the callback of a struct ez_subscriber until it is closed or its server is gone. */
void *ez_receive_thread(void *subscriber);

#endif
