/* SPDX-License-Identifier: MIT */
/* `ezprof export`. */
#ifndef EZPROF_EXPORT_COMMAND_H
#define EZPROF_EXPORT_COMMAND_H

int ezprof_export_main(int argc, char **argv);

#endif
