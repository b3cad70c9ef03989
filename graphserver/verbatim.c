/* SPDX-License-Identifier: MIT */
#include "verbatim.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json_object.h>
#include <json-c/printbuf.h>

#include "json_text.h"

struct text {
	char *data;
	size_t len;
};

static bool is_digit(const char *p, const char *end)
{
	return p < end && *p >= '0' && *p <= '9';
}

static const char *skip_digits(const char *p, const char *end)
{
	while (is_digit(p, end))
		p++;
	return p;
}

/* Past the number at p; NULL if JSON has no such numbers (01, 1., 1e). */
static const char *skip_number(const char *p, const char *end)
{
	if (p < end && *p == '-')
		p++;
	if (!is_digit(p, end) || (*p == '0' && is_digit(p + 1, end)))
		return NULL;
	p = skip_digits(p, end);
	if (p < end && *p == '.') {
		if (!is_digit(++p, end))
			return NULL;
		p = skip_digits(p, end);
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		if (!is_digit(p, end))
			return NULL;
		p = skip_digits(p, end);
	}
	return p;
}

/* Past the string whose first character is at p; NULL if it isn't plain. */
static const char *skip_string(const char *p, const char *end)
{
	for (; p < end && *p != '"'; p++) {
		if ((unsigned char)*p < ' ')
			return NULL;
		/* Half a surrogate pair is something that the parser would have repaired. */
		if (*p == '\\' && (++p == end || *p == 'u'))
			return NULL;
	}
	return p < end ? p + 1 : NULL;
}

bool ezprof_verbatim_is_safe(const char *text, size_t len)
{
	const char *p = text, *end = text + len;

	while (p && p < end) {
		if (*p == '"')
			p = skip_string(p + 1, end);
		else if (*p == '-' || is_digit(p, end))
			p = skip_number(p, end);
		else if ((*p >= 'a' && *p <= 'z') || memchr("{}[],: ", *p, 7))
			p++;
		else
			return false;
	}
	return p != NULL;
}

static int print_text(struct json_object *object, struct printbuf *out, int level, int flags)
{
	const struct text *text = json_object_get_userdata(object);

	(void)level;
	(void)flags;
	return printbuf_memappend(out, text->data, (int)text->len);
}

static void free_text(struct json_object *object, void *userdata)
{
	struct text *text = userdata;

	(void)object;
	free(text->data);
	free(text);
}

/* References to the members, whose objects outlive the rest. */
static bool copy_members(struct json_object *from, struct json_object *to)
{
	static const char *const keys[] = {"type", "id", "channel_id", "pub_id", "topic", "window"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct json_object *member;

		if (json_object_object_get_ex(from, keys[i], &member) &&
		    json_object_object_add(to, keys[i], json_object_get(member)) < 0) {
			json_object_put(member);
			return false;
		}
	}
	return true;
}

struct json_object *ezprof_verbatim_object(struct json_object *endpoint, char *text, size_t len)
{
	struct json_object *object;
	struct text *kept;

	/* The merge adds a topic to those that lack it. */
	if (!ezprof_json_text(endpoint, "topic") || !ezprof_verbatim_is_safe(text, len))
		return NULL;
	object = json_object_new_object();
	kept = malloc(sizeof(*kept));
	if (!object || !kept || !copy_members(endpoint, object)) {
		json_object_put(object);
		free(kept);
		return NULL;
	}
	*kept = (struct text){.data = text, .len = len};
	json_object_set_serializer(object, print_text, kept, free_text);
	return object;
}
