/* SPDX-License-Identifier: MIT */
/* `ezprof top`. */
#ifndef EZPROF_TOP_COMMAND_H
#define EZPROF_TOP_COMMAND_H

int ezprof_top_main(int argc, char **argv);

#endif
