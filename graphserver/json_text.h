/* SPDX-License-Identifier: MIT */
/*
 * JSON of strangers into json-c objects: strict, whole, of bounded depth, valid UTF-8, finite
 * numbers.
 */
#ifndef EZPROF_JSON_TEXT_H
#define EZPROF_JSON_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/* The object that text is; NULL if it is anything else. To be put by the caller. */
struct json_object *ezprof_json_object(const char *text, size_t len);

/* A member, NULL if it isn't there or of another type. Borrowed. */
struct json_object *ezprof_json_member(struct json_object *object, const char *key,
				       enum json_type type);

/* The same for a string; NULL likewise. */
const char *ezprof_json_text(struct json_object *object, const char *key);

#endif
