/* SPDX-License-Identifier: MIT */
/* `ezprof-bpf attach`: its options, then attach_run.h. */
#ifndef EZPROF_ATTACH_COMMAND_H
#define EZPROF_ATTACH_COMMAND_H

int ezprof_attach_main(int argc, char **argv);

#endif
