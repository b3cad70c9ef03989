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

/* A str of valid UTF-8, and its opcode and length alone, to be followed by len bytes. */
void ez_pickle_put_str(struct ez_buffer *out, const char *data, size_t len);
void ez_pickle_put_text(struct ez_buffer *out, const char *text);
void ez_pickle_put_str_header(struct ez_buffer *out, size_t len);

/* The class or function module.name. */
void ez_pickle_put_global(struct ez_buffer *out, const char *module, const char *name);

#endif
