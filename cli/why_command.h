/* SPDX-License-Identifier: MIT */
#ifndef EZPROF_WHY_COMMAND_H
#define EZPROF_WHY_COMMAND_H

/* `ezprof why`. Returns the exit status. */
int ezprof_why_main(int argc, char **argv);

#endif
