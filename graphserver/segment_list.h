/* SPDX-License-Identifier: MIT */
/*
 * Which shared-memory segments this server has made: a file beside its mark, so that what a killed
 * server left in /dev/shm is found and removed by the next one. The file's lock says that its
 * server lives. A segment is known by name, device and inode: one that somebody else made since
 * under the same name is left alone. Loop thread only.
 */
#ifndef EZPROF_SEGMENT_LIST_H
#define EZPROF_SEGMENT_LIST_H

#include <stddef.h>

struct ezprof_segment_list;

/*
 * Removes the segments of dead servers of this user, then begins a list of our own. NULL with
 * *ret_err if there is nowhere to keep one; all functions bear NULL.
 */
struct ezprof_segment_list *ezprof_segment_list_new(int *ret_err);

/* Ends the list and removes its file. */
void ezprof_segment_list_free(struct ezprof_segment_list *list);

/* Notes the segment "psm_xxxxxxxx" that fd is open on. Its place in the list, for the removal. */
size_t ezprof_segment_list_add(struct ezprof_segment_list *list, const char *name, int fd);
void ezprof_segment_list_remove(struct ezprof_segment_list *list, size_t place);

#endif
