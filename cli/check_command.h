/* SPDX-License-Identifier: MIT */
#ifndef EZPROF_CHECK_COMMAND_H
#define EZPROF_CHECK_COMMAND_H

/* `ezprof check` and `ezprof diff`. Return the exit status. */
int ezprof_check_main(int argc, char **argv);
int ezprof_diff_main(int argc, char **argv);

#endif
