/* SPDX-License-Identifier: MIT */
#include "identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "json_text.h"

#define IDENTITY_BYTES_MAX 65536

static void take(struct json_object *object, const char *key, char *out, size_t out_bytes)
{
	const char *text = ezprof_json_text(object, key);

	snprintf(out, out_bytes, "%s", text ? text : "");
}

int ezprof_identity_parse(const char *text, size_t len, struct ezprof_identity *ret_identity)
{
	struct json_object *object =
		len <= IDENTITY_BYTES_MAX ? ezprof_json_object(text, len) : NULL;
	struct json_object *pid;

	if (!object)
		return -EINVAL;
	memset(ret_identity, 0, sizeof(*ret_identity));
	take(object, "type", ret_identity->type, sizeof(ret_identity->type));
	take(object, "role", ret_identity->role, sizeof(ret_identity->role));
	take(object, "program", ret_identity->program, sizeof(ret_identity->program));
	take(object, "version", ret_identity->version, sizeof(ret_identity->version));
	take(object, "host", ret_identity->host, sizeof(ret_identity->host));
	pid = ezprof_json_member(object, "pid", json_type_int);
	if (pid && json_object_get_int64(pid) > 0)
		ret_identity->pid = json_object_get_int64(pid);
	json_object_put(object);
	return 0;
}
