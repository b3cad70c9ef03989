/* SPDX-License-Identifier: MIT */
/* `ezprof profile`. */
#ifndef EZPROF_PROFILE_COMMAND_H
#define EZPROF_PROFILE_COMMAND_H

int ezprof_profile_main(int argc, char **argv);

#endif
