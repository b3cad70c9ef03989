/* SPDX-License-Identifier: MIT */
/* `ezprof serve` and `ezprof shutdown`. */
#ifndef EZPROF_SERVER_COMMAND_H
#define EZPROF_SERVER_COMMAND_H

int ezprof_serve_main(int argc, char **argv);
int ezprof_shutdown_main(int argc, char **argv);

#endif
