/* SPDX-License-Identifier: MIT */
/* Pickles that clients send: instances of the dataclasses of ezmsg.core.graphmeta. */
#ifndef EZPROF_META_READER_H
#define EZPROF_META_READER_H

#include "frame.h"
#include "pickle_tree.h"
#include "uuid.h"

#define EZPROF_META_MODULE "ezmsg.core.graphmeta"

/*
 * Reads a pickle of one instance of the class: ret_state is the dict of its members. 0 or negative
 * errno; it may be no pickle, or one of something else. ez_pickle_tree_free() the tree, which
 * borrows from the pickle.
 */
int ezprof_meta_read(struct ez_str pickle, const char *class_name, struct ez_pickle_tree **ret_tree,
		     const struct ez_node **ret_state);

/* The members' dict of a node that is an instance, NULL if it is none. */
const struct ez_node *ezprof_meta_state(const struct ez_node *node);

/* Members by key; each -EBADMSG if it isn't there or of another type. */
int ezprof_meta_str(const struct ez_node *state, const char *key, struct ez_str *ret_text);
int ezprof_meta_int(const struct ez_node *state, const char *key, int64_t *ret_value);
int ezprof_meta_number(const struct ez_node *state, const char *key, double *ret_value);

/* A list whose items are all str. */
int ezprof_meta_strs(const struct ez_node *state, const char *key, const struct ez_node **ret_list);

/* An instance of uuid.UUID. */
int ezprof_meta_uuid(const struct ez_node *node, struct ez_uuid *ret_uuid);

#endif
