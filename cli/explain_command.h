/* SPDX-License-Identifier: MIT */
#ifndef EZPROF_EXPLAIN_COMMAND_H
#define EZPROF_EXPLAIN_COMMAND_H

/* `ezprof explain`. Returns the exit status. */
int ezprof_explain_main(int argc, char **argv);

#endif
