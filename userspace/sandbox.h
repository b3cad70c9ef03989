/* SPDX-License-Identifier: MIT */
/*
 * What the two halves of ezprof-bpf may still ask of the kernel once they are at work: a list of
 * system calls for each, everything else fails with EPERM. For good, and for all threads to come.
 */
#ifndef EZPROF_SANDBOX_H
#define EZPROF_SANDBOX_H

/*
 * The opener: opens files for reading, pidfds, probes' links; talks over the descriptors it has. It
 * starts nothing, writes no file, opens no socket. Sets no_new_privs.
 * Errors: -EOPNOTSUPP the kernel has no seccomp filters; -ENOMEM; those of seccomp().
 */
int ezprof_sandbox_opener(void);

/*
 * The agent: reads, talks to the network and to maps that are open; its threads may close things.
 * No new BPF programs, maps or links, no file opened for writing, no program started, no
 * executable memory made. Errors: as above.
 */
int ezprof_sandbox_agent(void);

#endif
