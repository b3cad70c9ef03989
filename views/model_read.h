/* SPDX-License-Identifier: MIT */
/* Values of a json-c object for those who read documents; private to the views. */
#ifndef EZPROF_MODEL_READ_H
#define EZPROF_MODEL_READ_H

#include <json-c/json.h>

#include "model.h"

/* The value under the keys of a path ("a.b"); NULL if there is none. */
struct json_object *ezprof_json_at(struct json_object *object, const char *path);

/* A list's length, 0 where there is no list. */
size_t ezprof_json_length(struct json_object *list);

/* Of a number; "a[]" is the length of the list a. Negative and other values are unknown. */
struct ezprof_number ezprof_json_number(struct json_object *object, const char *path);

/* A copy that is valid UTF-8; NULL if it is no string, or without memory. */
char *ezprof_json_copy(struct json_object *object, const char *path);

/* Parses a PROFILE document; NULL = it is none. json_object_put() it. */
struct json_object *ezprof_json_document(const char *text, size_t n);

/* The same for the one that begins at *at, which moves behind it. */
struct json_object *ezprof_json_next_document(const char *text, size_t n, size_t *at);

/* `graph` of the document; then who is behind whom, for which edges come first. -ENOMEM. */
int ezprof_model_read_edges(struct ezprof_model *model, struct json_object *document);
int ezprof_model_find_publishers(struct ezprof_model *model);

/* What agents say of themselves; the objects come first. -ENOMEM. */
int ezprof_model_read_agents(struct ezprof_model *model, struct json_object *document);
void ezprof_model_free_agents(struct ezprof_model *model);

#endif
