/* SPDX-License-Identifier: MIT */
#include "json_text.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include "utf8.h"

#define DEPTH_MAX 16

/*
 * json-c reads NaN and Infinity, which are no JSON and may not reach a document. Depth is bounded
 * by the parser.
 */
static bool is_finite(struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_double:
		return isfinite(json_object_get_double(value));
	case json_type_array:
		for (size_t i = 0; i < json_object_array_length(value); i++)
			if (!is_finite(json_object_array_get_idx(value, i)))
				return false;
		return true;
	case json_type_object: {
		json_object_object_foreach(value, key, member)
		{
			(void)key;
			if (!is_finite(member))
				return false;
		}
		return true;
	}
	default:
		return true;
	}
}

struct json_object *ezprof_json_object(const char *text, size_t len)
{
	struct json_tokener *tokener;
	struct json_object *object;

	if (len > INT_MAX || !ez_utf8_is_valid(text, len))
		return NULL;
	tokener = json_tokener_new_ex(DEPTH_MAX);
	if (!tokener)
		return NULL;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	object = json_tokener_parse_ex(tokener, text, (int)len);
	if (object && (json_tokener_get_error(tokener) != json_tokener_success ||
		       !json_object_is_type(object, json_type_object) || !is_finite(object))) {
		json_object_put(object);
		object = NULL;
	}
	json_tokener_free(tokener);
	return object;
}

struct json_object *ezprof_json_member(struct json_object *object, const char *key,
				       enum json_type type)
{
	struct json_object *member;

	if (!json_object_object_get_ex(object, key, &member) || !json_object_is_type(member, type))
		return NULL;
	return member;
}

const char *ezprof_json_text(struct json_object *object, const char *key)
{
	struct json_object *member = ezprof_json_member(object, key, json_type_string);

	return member ? json_object_get_string(member) : NULL;
}
