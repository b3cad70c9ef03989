/* SPDX-License-Identifier: MIT */
/*
 * Descriptors 0 to 2 of a program that was started without some of them (`>&-`). Left alone, the
 * next file or socket to be opened takes such a number, and what is printed goes into it.
 */
#ifndef EZ_STANDARD_STREAMS_H
#define EZ_STANDARD_STREAMS_H

/*
 * Fills the gaps with descriptors on which reading or writing fails with EBADF, so that printing
 * there is the error that it is. To be called first of all in main(), before there are threads.
 * They are inherited: a program that is executed has the same need. Errors: -errno of open().
 */
int ez_standard_streams_reserve(void);

#endif
