/* SPDX-License-Identifier: MIT */
/*
 * Answers to PROFILE, as a publisher's, a channel's and an agent's, into one document; and marks.
 */
#include <stdlib.h>
#include <string.h>

#include "identity.h"
#include "json_text.h"
#include "reply_merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(struct ezprof_fanout *fanout, const char *who, const char *id, const uint8_t *data,
		size_t size)
{
	struct ezprof_asked asked = {.who = who, .id = id};
	size_t index;

	if (ezprof_fanout_add(fanout, &asked, &index))
		return;
	ezprof_fanout_answer(fanout, index, (const char *)data, size);
	if (size % 2)
		ezprof_reply_read(fanout, index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ezprof_document_origin origin = {.host = "h", .time_ns = 1, .time_unix_s = 1};
	struct ezprof_fanout *fanout = ezprof_fanout_new(2000, 0);
	struct ezprof_identity identity;
	struct json_object *document;
	size_t len;
	char *json;

	if (!fanout)
		return 0;
	add(fanout, "publisher", "p", data, size);
	add(fanout, "channel", "c", data, size);
	add(fanout, "agent", NULL, data, size);
	if (ezprof_reply_merge(fanout, &origin, &json, &len) == 0) {
		/* Whatever came in, what goes out is a document. */
		document = ezprof_json_object(json, len);
		if (!document || !ezprof_json_member(document, "errors", json_type_array))
			abort();
		json_object_put(document);
		free(json);
	}
	ezprof_fanout_free(fanout);
	ezprof_identity_parse((const char *)data, size, &identity);
	return 0;
}
