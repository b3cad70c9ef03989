/* SPDX-License-Identifier: MIT */
/* Requests about the whole graph: each on a connection of its own, in the caller's thread. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "client.h"
#include "context.h"
#include "request.h"

#define CALL_NS (10 * EZ_NS_PER_S)

static ez_mono_ns_t call_deadline(void)
{
	return ez_clock_mono_ns() + CALL_NS;
}

/* A server that closes without an answer is one that doesn't know the request, or is leaving. */
static int result(int err)
{
	return err == -ENODATA ? -ECONNRESET : err;
}

static bool is_topic(const char *topic)
{
	return topic && strnlen(topic, EZ_TOPIC_BYTES_MAX + 1) <= EZ_TOPIC_BYTES_MAX;
}

int ez_connect(struct ez_context *context, const char *from_topic, const char *to_topic)
{
	int err = ez_context_check(context);

	if (err)
		return err;
	if (!is_topic(from_topic) || !is_topic(to_topic))
		return -EINVAL;
	return result(ez_client_connect(&context->address, from_topic, to_topic, call_deadline()));
}

int ez_disconnect(struct ez_context *context, const char *from_topic, const char *to_topic)
{
	int err = ez_context_check(context);

	if (err)
		return err;
	if (!is_topic(from_topic) || !is_topic(to_topic))
		return -EINVAL;
	return result(
		ez_client_disconnect(&context->address, from_topic, to_topic, call_deadline()));
}

int ez_pause(struct ez_context *context)
{
	int err = ez_context_check(context);

	return err ? err : result(ez_client_pause(&context->address, call_deadline()));
}

int ez_resume(struct ez_context *context)
{
	int err = ez_context_check(context);

	return err ? err : result(ez_client_resume(&context->address, call_deadline()));
}

int ez_sync(struct ez_context *context, int64_t timeout_ns)
{
	int err = ez_context_check(context);

	return err ? err : result(ez_client_sync(&context->address, ez_deadline_ns(timeout_ns)));
}

int ez_profile(struct ez_context *context, double window_s, char **ret_json)
{
	int err = ez_context_check(context);
	size_t len;

	if (err)
		return err;
	if (!isfinite(window_s) || window_s < 0 || window_s > 1e6)
		return -EINVAL;
	/* Any other server would take it for something else. */
	if (!context->server_is_ours)
		return -ENOTSUP;
	return result(ez_client_profile(&context->address, EZ_PROGRAM,
					(uint64_t)(window_s * 1000.0), call_deadline(), ret_json,
					&len));
}
