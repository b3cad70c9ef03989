/* SPDX-License-Identifier: MIT */
#ifndef EZPROF_RECORD_COMMAND_H
#define EZPROF_RECORD_COMMAND_H

/* `ezprof record`; returns the exit status. */
int ezprof_record_main(int argc, char **argv);

#endif
