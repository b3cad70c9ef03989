/* SPDX-License-Identifier: MIT */
/* What agents say of themselves. */
#include "model_read.h"
#include "phrase.h"

#include <errno.h>
#include <stdlib.h>

/* "no_slot 3, read_failed 1": what was lost, by reasons. */
static char *losses_of(struct json_object *agent)
{
	struct json_object *losses = ezprof_json_at(agent, "losses");
	struct ez_buffer out;
	size_t len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ez_buffer_append_text(&out, "");
	if (json_object_is_type(losses, json_type_object)) {
		json_object_object_foreach(losses, reason, count)
		{
			int64_t n = json_object_get_int64(count);

			if (!json_object_is_type(count, json_type_int) || n <= 0)
				continue;
			ez_buffer_append_text(&out, out.len ? ", " : "");
			ezprof_say_name(&out, reason);
			ezprof_put(&out, " %lld", (long long)n);
		}
	}
	return ez_buffer_steal(&out, &len);
}

int ezprof_model_read_agents(struct ezprof_model *model, struct json_object *document)
{
	size_t i, n = model->first[EZPROF_AGENT + 1] - model->first[EZPROF_AGENT];
	struct json_object *list = ezprof_json_at(document, "agents");

	model->agents = calloc(n ? n : 1, sizeof(*model->agents));
	if (!model->agents)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct json_object *agent = json_object_array_get_idx(list, i);

		model->agents[i] = (struct ezprof_agent_note){
			.version = ezprof_json_copy(agent, "tool_version"),
			.probes = ezprof_json_copy(agent, "probes"),
			.link = ezprof_json_copy(agent, "link"),
			.losses = losses_of(agent),
		};
	}
	return 0;
}

void ezprof_model_free_agents(struct ezprof_model *model)
{
	size_t i, n = model->first[EZPROF_AGENT + 1] - model->first[EZPROF_AGENT];

	for (i = 0; model->agents && i < n; i++) {
		free(model->agents[i].version);
		free(model->agents[i].probes);
		free(model->agents[i].link);
		free(model->agents[i].losses);
	}
	free(model->agents);
}
