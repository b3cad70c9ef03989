/* SPDX-License-Identifier: MIT */
#include "topology_events.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "meta_pickle.h"
#include "pickle_write.h"
#include "process_link.h"

void ezprof_changed_add(struct ezprof_changed *changed, const char *name)
{
	if (changed->n == changed->capacity) {
		size_t capacity = changed->capacity ? 2 * changed->capacity : 8;
		void *grown = realloc(changed->names, capacity * sizeof(char *));

		if (!grown)
			return;
		changed->names = grown;
		changed->capacity = capacity;
	}
	changed->names[changed->n] = strdup(name);
	if (changed->names[changed->n])
		changed->n++;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void append(struct ezprof_server *server, const char *type,
		   const struct ezprof_changed *changed, const char *session_id,
		   const char *process_id)
{
	struct ez_buffer event;

	ez_buffer_init(&event, server->config.payload_bytes_max);
	ezprof_pickle_instance(&event, "TopologyChangedEvent");
	ezprof_pickle_member_int(&event, "seq", (int64_t)server->topology_log.last_seq + 1);
	ezprof_pickle_member_enum(&event, "event_type", "TopologyEventType", type);
	ezprof_pickle_member_float(&event, "timestamp", ez_clock_unix_s());
	ez_pickle_put_text(&event, "changed_topics");
	ez_put_u8(&event, EZ_OP_EMPTY_LIST);
	for (size_t i = 0; i < changed->n; i++) {
		if (i && strcmp(changed->names[i], changed->names[i - 1]) == 0)
			continue;
		ez_pickle_put_text(&event, changed->names[i]);
		ez_put_u8(&event, EZ_OP_APPEND);
	}
	ez_put_u8(&event, EZ_OP_SETITEM);
	ezprof_pickle_member_text(&event, "source_session_id", session_id);
	ezprof_pickle_member_uuid(&event, "source_process_id", process_id);
	ezprof_pickle_build(&event);
	ezprof_event_log_append(&server->topology_log, &event);
}

void ezprof_topology_event_graph(struct ezprof_server *server, struct ezprof_changed *changed,
				 const char *session_id)
{
	if (changed->n) {
		qsort(changed->names, changed->n, sizeof(*changed->names), compare);
		append(server, "GRAPH_CHANGED", changed, session_id, NULL);
	}
	for (size_t i = 0; i < changed->n; i++)
		free(changed->names[i]);
	free(changed->names);
	*changed = (struct ezprof_changed){0};
}

void ezprof_topology_event_process(const struct ezprof_process *process)
{
	const struct ezprof_changed nothing = {0};

	append(process->conn->server, "PROCESS_CHANGED", &nothing, NULL, process->id);
}
