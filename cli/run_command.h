/* SPDX-License-Identifier: MIT */
/* `ezprof run`. */
#ifndef EZPROF_RUN_COMMAND_H
#define EZPROF_RUN_COMMAND_H

int ezprof_run_main(int argc, char **argv);

#endif
