/* SPDX-License-Identifier: MIT */
/* The first program of docs/runtime.md. */
#include <ezmsg/ezmsg.h>
#include <stdio.h>

int main(void)
{
	struct ez_context *context;
	struct ez_subscriber *subscriber;
	struct ez_publisher *publisher;
	struct ez_message message;

	if (ez_context_create(NULL, &context) ||
	    ez_subscriber_create(context, "GREETING", NULL, &subscriber) ||
	    ez_publisher_create(context, "GREETING", NULL, &publisher) ||
	    ez_publish_bytes(publisher, "hello", 5, EZ_FOREVER) ||
	    ez_receive(subscriber, EZ_FOREVER, &message))
		return 1;
	printf("%.*s\n", (int)message.bytes, (const char *)message.data);
	ez_message_release(&message);
	ez_context_destroy(context);
	return 0;
}
