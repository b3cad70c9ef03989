/* SPDX-License-Identifier: MIT */
#ifndef EZPROF_PROBES_COMMAND_H
#define EZPROF_PROBES_COMMAND_H

/* `ezprof probes`. Returns the exit status. */
int ezprof_probes_main(int argc, char **argv);

#endif
