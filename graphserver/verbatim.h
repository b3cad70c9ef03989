/* SPDX-License-Identifier: MIT */
/*
 * An answer that goes into the document as it came: what the merge looks at is kept as a small
 * object, which prints the peer's own text. Only where that text is strict JSON beyond doubt.
 */
#ifndef EZPROF_VERBATIM_H
#define EZPROF_VERBATIM_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

/*
 * Text that the strict parser took, of bytes that can be passed on: no control characters, no \u
 * escapes, numbers in JSON's own grammar. Pure.
 */
bool ezprof_verbatim_is_safe(const char *text, size_t len);

/*
 * In the place of endpoint (not consumed), which was read of text: an object with the members that
 * the merge needs. text, from malloc(), is taken over on success. NULL: it has to stay a tree, or
 * there is no memory.
 */
struct json_object *ezprof_verbatim_object(struct json_object *endpoint, char *text, size_t len);

#endif
