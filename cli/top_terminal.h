/* SPDX-License-Identifier: MIT */
/* The terminal that `ezprof top` paints on and gets keys from; all that knows of curses. One
 * thread. */
#ifndef EZPROF_TOP_TERMINAL_H
#define EZPROF_TOP_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "screen_text.h"

struct ezprof_terminal; /* opaque */

/*
 * Is stdout a terminal that a screen can be painted on, and where are keys from? NULL = it is; else
 * why not. tty_fd: stdin, or another descriptor for the terminal where that is none; the caller's.
 */
const char *ezprof_terminal_trouble(int tty_fd);

/* Takes the terminal over. NULL: it can't be. At most one at a time. */
struct ezprof_terminal *ezprof_terminal_open(int tty_fd, bool with_color);

/* Gives it back as it was. NULL is fine. */
void ezprof_terminal_close(struct ezprof_terminal *terminal);

/* Gives it back for a while, and takes it again. */
void ezprof_terminal_leave(struct ezprof_terminal *terminal);
void ezprof_terminal_return(struct ezprof_terminal *terminal);

/* The size has changed, or may have. */
void ezprof_terminal_resize(struct ezprof_terminal *terminal);
void ezprof_terminal_size(const struct ezprof_terminal *terminal, unsigned int *ret_columns,
			  unsigned int *ret_lines);

/* everything: also what is there already. */
void ezprof_terminal_paint(struct ezprof_terminal *terminal, const struct ezprof_screen *screen,
			   bool everything);

/* The next key, EZPROF_KEY_NONE where there is none yet. Never waits for one. */
uint32_t ezprof_terminal_key(struct ezprof_terminal *terminal);

#endif
