/* SPDX-License-Identifier: MIT */
#ifndef EZPROF_DOCTOR_COMMAND_H
#define EZPROF_DOCTOR_COMMAND_H

/* `ezprof doctor`. Returns the exit status. */
int ezprof_doctor_main(int argc, char **argv);

#endif
