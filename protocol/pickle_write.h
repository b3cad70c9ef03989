/* SPDX-License-Identifier: MIT */
/*
 * Pieces of pickles (protocol 4), without memo and frames, both of which are optional.
 */
#ifndef EZ_PICKLE_WRITE_H
#define EZ_PICKLE_WRITE_H

#include <stddef.h>

#include "buffer.h"
#include "frame.h"
#include "pickle_opcodes.h"
#include "pickle_tree.h"

/* A str of valid UTF-8, and its opcode and length alone, to be followed by len bytes. */
void ez_pickle_put_str(struct ez_buffer *out, const char *data, size_t len);
void ez_pickle_put_text(struct ez_buffer *out, const char *text);
void ez_pickle_put_str_header(struct ez_buffer *out, size_t len);

/* The class or function module.name. */
void ez_pickle_put_global(struct ez_buffer *out, const char *module, const char *name);

void ez_pickle_put_int(struct ez_buffer *out, int64_t value);
void ez_pickle_put_float(struct ez_buffer *out, double value);
void ez_pickle_put_bytes(struct ez_buffer *out, const void *data, size_t len);

/* How deep the values of a pickle that is written again may be nested. */
#define EZ_PICKLE_DEPTH_MAX 200

/*
 * A node of a parsed pickle, with all that it holds, written again. What several places share is
 * written several times; the buffer's limit is also the limit of that. A node that contains itself
 * or out-of-band buffers can't be written: -ENOTSUP, which also sticks to the buffer.
 */
int ez_pickle_put_node(struct ez_buffer *out, const struct ez_node *node);

#endif
