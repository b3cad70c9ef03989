/* SPDX-License-Identifier: MIT */
/*
 * What happens to an endpoint while somebody listens: counters and probe under one odd `seq`, so
 * that a reader who finds it even knows that what was counted has been through the probe. Out of
 * line, since a call in the middle of the inline functions would cost every message the saving of
 * registers, listened to or not.
 */
#include "endpoint.h"

void ez_endpoint_publish_probed(struct ez_entry *e, uint64_t message_id, uint64_t bytes)
{
	ez_entry_begin(e);
	ez_entry_count_publish(e, bytes);
	ez_probe_publish(ez_entry_ref(e), message_id, bytes, e->messages, ez_entry_topic(e));
	ez_entry_end(e);
}

void ez_endpoint_lease_probed(struct ez_entry *e, uint64_t message_id)
{
	ez_entry_begin(e);
	ez_entry_count_lease(e, message_id);
	ez_probe_lease(ez_entry_ref(e), message_id, e->num_buffers, e->leases, ez_entry_topic(e),
		       ez_entry_handle(e));
	ez_entry_end(e);
}

void ez_endpoint_free_probed(struct ez_entry *e, uint64_t message_id, uint64_t bytes)
{
	ez_entry_begin(e);
	ez_entry_count_free(e, message_id, bytes);
	ez_probe_free(ez_entry_ref(e), message_id, e->num_buffers, e->frees, bytes,
		      ez_entry_handle(e));
	ez_entry_end(e);
}

void ez_endpoint_callback_begin_probed(const struct ez_entry *e, uint64_t message_id)
{
	ez_probe_callback_begin(ez_entry_ref(e), message_id, e->num_buffers, ez_entry_topic(e),
				ez_entry_handle(e));
}

void ez_endpoint_callback_end_probed(const struct ez_entry *e, uint64_t message_id,
				     uint64_t excluded_ns)
{
	ez_probe_callback_end(ez_entry_ref(e), message_id, e->num_buffers, ez_entry_topic(e),
			      ez_entry_handle(e), excluded_ns);
}
