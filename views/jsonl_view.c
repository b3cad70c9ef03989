/* SPDX-License-Identifier: MIT */
/* JSON lines: the document's own objects, so that nothing is lost or said differently. */
#include "model_read.h"
#include "view.h"
#include "visible_name.h"

#include <errno.h>
#include <string.h>

#define FLAGS (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

static void put_line(struct ez_buffer *out, struct json_object *line)
{
	const char *text = json_object_to_json_string_ext(line, FLAGS);

	if (!text && !out->err)
		out->err = -ENOMEM;
	ez_visible_json(out, text ? text : "");
	ez_buffer_append_text(out, "\n");
}

/* {"type": TYPE, then all that `from` has under other keys than the two}; shares its values. */
static struct json_object *typed(const char *type, struct json_object *from, const char *without,
				 const char *without_too)
{
	struct json_object *line = json_object_new_object();

	json_object_object_add(line, "type", json_object_new_string(type));
	if (!json_object_is_type(from, json_type_object))
		return line;
	json_object_object_foreach(from, key, value)
	{
		if (strcmp(key, "type") != 0 && strcmp(key, without) != 0 &&
		    strcmp(key, without_too) != 0)
			json_object_object_add(line, key, json_object_get(value));
	}
	return line;
}

static void put_list(struct ez_buffer *out, const char *type, struct json_object *list)
{
	size_t i, n = ezprof_json_length(list);

	for (i = 0; i < n; i++) {
		struct json_object *line =
			typed(type, json_object_array_get_idx(list, i), "subscribers", "");

		put_line(out, line);
		json_object_put(line);
	}
}

/* A subscriber's line says of which channel and publisher. */
static size_t put_subscribers(struct ez_buffer *out, struct json_object *channel)
{
	static const char *const shared[] = {"channel_id", "pub_id", "pid", "host", "mode"};
	struct json_object *list = ezprof_json_at(channel, "subscribers");
	size_t i, k, n = ezprof_json_length(list);

	for (i = 0; i < n; i++) {
		struct json_object *line =
			typed("subscriber", json_object_array_get_idx(list, i), "", "");

		for (k = 0; k < sizeof(shared) / sizeof(shared[0]); k++)
			json_object_object_add(line, shared[k],
					       json_object_get(ezprof_json_at(channel, shared[k])));
		json_object_object_add(line, "publisher",
				       json_object_get(ezprof_json_at(channel, "topic")));
		put_line(out, line);
		json_object_put(line);
	}
	return n;
}

/* What isn't a list. */
static void put_meta(struct ez_buffer *out, struct json_object *document)
{
	struct json_object *line = typed("meta", document, "publishers", "channels");

	json_object_object_del(line, "agents");
	json_object_object_del(line, "errors");
	put_line(out, line);
	json_object_put(line);
}

static void put_summary(struct ez_buffer *out, struct json_object *document, size_t subscribers)
{
	static const char *const lists[] = {"publishers", "channels", "agents", "errors"};
	struct json_object *line = json_object_new_object();
	size_t i;

	json_object_object_add(line, "type", json_object_new_string("summary"));
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		json_object_object_add(line, lists[i],
				       json_object_new_uint64(ezprof_json_length(
					       ezprof_json_at(document, lists[i]))));
	json_object_object_add(line, "subscribers", json_object_new_uint64(subscribers));
	json_object_object_add(line, "lost", json_object_get(ezprof_json_at(document, "lost")));
	put_line(out, line);
	json_object_put(line);
}

int ezprof_view_jsonl(struct ez_buffer *out, const char *text, size_t n)
{
	struct json_object *document = ezprof_json_document(text, n), *channels;
	size_t i, subscribers = 0;

	if (!document)
		return -EPROTO;
	put_meta(out, document);
	put_list(out, "publisher", ezprof_json_at(document, "publishers"));
	channels = ezprof_json_at(document, "channels");
	put_list(out, "channel", channels);
	for (i = 0; i < ezprof_json_length(channels); i++)
		subscribers += put_subscribers(out, json_object_array_get_idx(channels, i));
	put_list(out, "agent", ezprof_json_at(document, "agents"));
	put_list(out, "error", ezprof_json_at(document, "errors"));
	put_summary(out, document, subscribers);
	json_object_put(document);
	return 0;
}
