/* SPDX-License-Identifier: MIT */
#ifndef EZPROF_REPORT_COMMAND_H
#define EZPROF_REPORT_COMMAND_H

int ezprof_report_main(int argc, char **argv);

#endif
