/* SPDX-License-Identifier: MIT */
/* What stdout is: a terminal of some width, or something that reads whole lines. */
#ifndef EZPROF_TERMINAL_H
#define EZPROF_TERMINAL_H

/* Columns of the terminal that stdout is; 0 = it is none. COLUMNS goes before what it says itself.
 */
unsigned int ezprof_terminal_columns(void);

#endif
