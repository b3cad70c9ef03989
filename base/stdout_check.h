/* SPDX-License-Identifier: MIT */
/*
 * That what was printed on stdout came through: a full disk is an error, a reader that has gone is
 * none. What failed is said on stderr, once in a program's life. One thread.
 */
#ifndef EZ_STDOUT_CHECK_H
#define EZ_STDOUT_CHECK_H

/*
 * To be called before anything is printed: a reader that goes is an error of write() from here on,
 * not a signal, and at exit, argp's for --help and --version included, what wasn't flushed until
 * then is, and makes the exit status 1 if it can't be. -ENOMEM.
 */
int ez_stdout_check_at_exit(void);

/* For who becomes another program: a reader that goes is to it what it was to us at the start. */
void ez_stdout_restore_signal(void);

/* Flushes. 0: it came through, or its reader has gone; else -errno, and `program` has said so. */
int ez_stdout_flush(const char *program);

/* The same after a call of stdio that failed with that errno (0: not known). */
int ez_stdout_failed(const char *program, int err);

#endif
