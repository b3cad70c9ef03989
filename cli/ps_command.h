/* SPDX-License-Identifier: MIT */
#ifndef EZPROF_PS_COMMAND_H
#define EZPROF_PS_COMMAND_H

/* `ezprof ps`. Returns the exit status. */
int ezprof_ps_main(int argc, char **argv);

#endif
