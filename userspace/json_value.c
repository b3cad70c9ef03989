/* SPDX-License-Identifier: MIT */
#include "json_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ezprof_json_add(struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, value))
		json_object_put(value);
}

void ezprof_json_text(struct json_object *object, const char *key, const char *text)
{
	ezprof_json_add(object, key, json_object_new_string(text));
}

void ezprof_json_text_or_null(struct json_object *object, const char *key, const char *text)
{
	ezprof_json_add(object, key, text && *text ? json_object_new_string(text) : NULL);
}

void ezprof_json_uuid(struct json_object *object, const char *key, const struct ez_uuid *id)
{
	char text[EZ_UUID_TEXT_BYTES];

	ez_uuid_format(id, text);
	ezprof_json_text(object, key, text);
}

void ezprof_json_u64(struct json_object *object, const char *key, uint64_t value)
{
	ezprof_json_add(object, key, json_object_new_uint64(value));
}

void ezprof_json_u64_if(struct json_object *object, const char *key, bool known, uint64_t value)
{
	ezprof_json_add(object, key, known ? json_object_new_uint64(value) : NULL);
}

/* A double without a point would be read as an int: "2.0". */
static struct json_object *new_double(double value)
{
	char text[40];
	int digits;

	if (!isfinite(value))
		return NULL;
	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
	return json_object_new_double_s(value, text);
}

void ezprof_json_double(struct json_object *object, const char *key, double value)
{
	ezprof_json_add(object, key, new_double(isfinite(value) ? value : 0.0));
}

void ezprof_json_double_if(struct json_object *object, const char *key, bool known, double value)
{
	ezprof_json_add(object, key, known ? new_double(value) : NULL);
}

void ezprof_json_bool_if(struct json_object *object, const char *key, bool known, bool value)
{
	ezprof_json_add(object, key, known ? json_object_new_boolean(value) : NULL);
}

void ezprof_json_null(struct json_object *object, const char *key)
{
	ezprof_json_add(object, key, NULL);
}

char *ezprof_json_line(struct json_object *object)
{
	const char *text = json_object_to_json_string_ext(
		object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	char *copy = text ? strdup(text) : NULL;

	json_object_put(object);
	return copy;
}
