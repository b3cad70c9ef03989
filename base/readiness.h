/* SPDX-License-Identifier: MIT */
/*
 * Tells whoever started us that we are ready, or stopping: the protocol of sd_notify(3), one
 * datagram to the socket that NOTIFY_SOCKET names.
 */
#ifndef EZ_READINESS_H
#define EZ_READINESS_H

/* state is "READY=1", "STOPPING=1". 0 (also where nobody wants to know) or negative errno. */
int ez_readiness_tell(const char *state);

#endif
