/* SPDX-License-Identifier: MIT */
/*
 * "Same process" means equal pids to every ezmsg publisher, and messages to the same process don't
 * travel. A channel in another pid namespace whose pid happens to be the publisher's would lose
 * them all; it must be able to tell, or ask for TCP. So must one beside a publisher of Python's in
 * the same process, which knows nothing of this library.
 */
#ifndef EZ_PEER_IDENTITY_H
#define EZ_PEER_IDENTITY_H

#include <stdbool.h>

#include "stream.h"

/*
 * Is our pid surely not the one of the process at the other end, which is another process? So it is
 * in the initial pid namespace, and where that process is seen in ours; and not where a socket of
 * this process that isn't the library's listens at that port. Reads /proc; may take some
 * milliseconds, outside the initial namespace only.
 */
bool ez_peer_pid_is_clear(const struct ez_stream *peer);

#endif
