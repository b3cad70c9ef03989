/* SPDX-License-Identifier: MIT */
#include "document.h"
#include "json_value.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32

static struct json_object *parse(const char *text, size_t n)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *object = NULL;

	if (!tokener)
		return NULL;
	if (n <= INT_MAX)
		object = json_tokener_parse_ex(tokener, text, (int)n);
	json_tokener_free(tokener);
	return object;
}

/* The list under that key; NULL if there is none. */
static struct json_object *list_of(struct json_object *document, const char *key)
{
	struct json_object *list = NULL;

	if (!json_object_is_type(document, json_type_object))
		return NULL;
	json_object_object_get_ex(document, key, &list);
	return json_object_is_type(list, json_type_array) ? list : NULL;
}

static bool is_document(struct json_object *document)
{
	return list_of(document, "publishers") && list_of(document, "channels");
}

static bool has_lost(struct json_object *object)
{
	struct json_object *lost = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, "lost", &lost);
	return json_object_is_type(lost, json_type_int) && json_object_get_uint64(lost) > 0;
}

static bool any_has_lost(struct json_object *list)
{
	size_t i;

	for (i = 0; list && i < json_object_array_length(list); i++) {
		if (has_lost(json_object_array_get_idx(list, i)))
			return true;
	}
	return false;
}

/* The sum may be unknown while a part of it is known. */
static bool lost_something(struct json_object *document)
{
	struct json_object *channels = list_of(document, "channels");
	size_t i;

	if (has_lost(document) || any_has_lost(list_of(document, "publishers")))
		return true;
	for (i = 0; i < json_object_array_length(channels); i++) {
		if (any_has_lost(list_of(json_object_array_get_idx(channels, i), "subscribers")))
			return true;
	}
	return false;
}

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

static void judge(struct json_object *document, struct ezprof_verdict *ret_verdict)
{
	struct json_object *errors = list_of(document, "errors");

	ret_verdict->endpoints = json_object_array_length(list_of(document, "publishers")) +
				 json_object_array_length(list_of(document, "channels"));
	ret_verdict->errors = errors ? json_object_array_length(errors) : 0;
	ret_verdict->lost = lost_something(document);
	ret_verdict->by_ezmsg = strcmp(text_of(document, "source"), "ezmsg") == 0;
}

int ezprof_document_read(const char *text, size_t n, char **ret_pretty,
			 struct ezprof_verdict *ret_verdict)
{
	struct json_object *document = parse(text, n);
	const char *pretty;
	char *copy;

	if (!is_document(document)) {
		json_object_put(document);
		return -EPROTO;
	}
	pretty = json_object_to_json_string_ext(document, JSON_C_TO_STRING_PRETTY |
								  JSON_C_TO_STRING_SPACED |
								  JSON_C_TO_STRING_NOSLASHESCAPE);
	copy = pretty ? strdup(pretty) : NULL;
	if (copy) {
		judge(document, ret_verdict);
		*ret_pretty = copy;
	}
	json_object_put(document);
	return copy ? 0 : -ENOMEM;
}

static double covered_s(struct json_object *endpoint)
{
	struct json_object *window = NULL, *covered = NULL;

	if (json_object_is_type(endpoint, json_type_object))
		json_object_object_get_ex(endpoint, "window", &window);
	if (json_object_is_type(window, json_type_object))
		json_object_object_get_ex(window, "covered_s", &covered);
	return covered ? json_object_get_double(covered) : 0.0;
}

/* Agents seldom share endpoints and are few: comparing each with each will do. */
static void merge_endpoints(struct json_object *to, struct json_object *from, const char *id_key)
{
	size_t i, j, n = json_object_array_length(to);

	for (i = 0; i < json_object_array_length(from); i++) {
		struct json_object *endpoint = json_object_array_get_idx(from, i);
		const char *id = text_of(endpoint, id_key);

		for (j = 0; j < n; j++) {
			if (strcmp(text_of(json_object_array_get_idx(to, j), id_key), id) == 0)
				break;
		}
		if (j == n)
			json_object_array_add(to, json_object_get(endpoint));
		else if (covered_s(endpoint) > covered_s(json_object_array_get_idx(to, j)))
			json_object_array_put_idx(to, j, json_object_get(endpoint));
	}
}

static void append_list(struct json_object *to, struct json_object *from, const char *key)
{
	struct json_object *head = list_of(to, key), *tail = list_of(from, key);
	size_t i;

	for (i = 0; head && tail && i < json_object_array_length(tail); i++)
		json_object_array_add(head, json_object_get(json_object_array_get_idx(tail, i)));
}

static void add_lost(struct json_object *to, struct json_object *from)
{
	struct json_object *a = json_object_object_get(to, "lost");
	struct json_object *b = json_object_object_get(from, "lost");

	ezprof_json_u64_if(to, "lost", a && b,
			   json_object_get_uint64(a) + json_object_get_uint64(b));
}

static void merge_into(struct json_object *to, struct json_object *from)
{
	merge_endpoints(list_of(to, "publishers"), list_of(from, "publishers"), "id");
	merge_endpoints(list_of(to, "channels"), list_of(from, "channels"), "channel_id");
	append_list(to, from, "agents");
	append_list(to, from, "errors");
	add_lost(to, from);
}

int ezprof_document_merge(char *const *texts, size_t n, char **ret_text)
{
	struct json_object *merged = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		struct json_object *next = parse(texts[i], strlen(texts[i]));

		if (!is_document(next)) {
			json_object_put(next);
			json_object_put(merged);
			return -EPROTO;
		}
		if (!merged) {
			merged = next;
			continue;
		}
		merge_into(merged, next);
		json_object_put(next);
	}
	if (!merged)
		return -EPROTO;
	*ret_text = ezprof_json_line(merged);
	return *ret_text ? 0 : -ENOMEM;
}
