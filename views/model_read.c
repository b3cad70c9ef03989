/* SPDX-License-Identifier: MIT */
#include "model_read.h"
#include "utf8.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32
#define KEY_BYTES 64

struct json_object *ezprof_json_at(struct json_object *object, const char *path)
{
	char key[KEY_BYTES];

	while (object) {
		size_t n = strcspn(path, ".");
		struct json_object *value = NULL;

		if (n >= sizeof(key) || !json_object_is_type(object, json_type_object))
			return NULL;
		memcpy(key, path, n);
		key[n] = '\0';
		json_object_object_get_ex(object, key, &value);
		if (!path[n])
			return value;
		object = value;
		path += n + 1;
	}
	return NULL;
}

size_t ezprof_json_length(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

static struct ezprof_number length_at(struct json_object *object, const char *path, size_t n)
{
	char key[KEY_BYTES] = "";
	struct json_object *list;

	memcpy(key, path, n);
	list = ezprof_json_at(object, key);
	if (!json_object_is_type(list, json_type_array))
		return (struct ezprof_number){0};
	return ezprof_whole(json_object_array_length(list));
}

struct ezprof_number ezprof_json_number(struct json_object *object, const char *path)
{
	struct ezprof_number number = {0};
	size_t n = strlen(path);
	struct json_object *value;

	if (n > 2 && n < KEY_BYTES && strcmp(path + n - 2, "[]") == 0)
		return length_at(object, path, n - 2);
	value = ezprof_json_at(object, path);
	if (json_object_is_type(value, json_type_int)) {
		if (json_object_get_int64(value) >= 0)
			number = ezprof_whole(json_object_get_uint64(value));
	} else if (json_object_is_type(value, json_type_double)) {
		double real = json_object_get_double(value);

		if (isfinite(real) && real >= 0)
			number = ezprof_real(real);
	}
	return number;
}

/* A NUL within is like any other byte that shows nothing. */
static char *repaired(const char *from, size_t n)
{
	char *copy = malloc(3 * n + 1), *to = copy;
	uint32_t code;

	while (copy && n) {
		size_t took = ez_utf8_decode(from, n, &code);

		if (code && (code != EZ_UTF8_REPLACEMENT || took == 3)) {
			memcpy(to, from, took);
			to += took;
		} else {
			memcpy(to, "\xef\xbf\xbd", 3);
			to += 3;
		}
		from += took;
		n -= took;
	}
	if (copy)
		*to = '\0';
	return copy;
}

char *ezprof_json_copy(struct json_object *object, const char *path)
{
	struct json_object *value = ezprof_json_at(object, path);

	if (!json_object_is_type(value, json_type_string))
		return NULL;
	return repaired(json_object_get_string(value), (size_t)json_object_get_string_len(value));
}

struct json_object *ezprof_json_next_document(const char *text, size_t n, size_t *at)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *document = NULL;

	if (tokener && n - *at <= INT_MAX) {
		document = json_tokener_parse_ex(tokener, text + *at, (int)(n - *at));
		*at += json_tokener_get_parse_end(tokener);
	}
	if (tokener)
		json_tokener_free(tokener);
	if (json_object_is_type(ezprof_json_at(document, "publishers"), json_type_array) &&
	    json_object_is_type(ezprof_json_at(document, "channels"), json_type_array))
		return document;
	json_object_put(document);
	return NULL;
}

struct json_object *ezprof_json_document(const char *text, size_t n)
{
	size_t at = 0;

	return ezprof_json_next_document(text, n, &at);
}
