/* SPDX-License-Identifier: MIT */
/* `ezprof-bpf status`. */
#ifndef EZPROF_STATUS_COMMAND_H
#define EZPROF_STATUS_COMMAND_H

int ezprof_status_main(int argc, char **argv);

#endif
