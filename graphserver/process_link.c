/* SPDX-License-Identifier: MIT */
#include "process_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "meta_reader.h"
#include "process_request.h"
#include "settings.h"
#include "topology_events.h"

struct ezprof_process *ezprof_process_of(const struct ezprof_server *server, struct ez_str address)
{
	struct ezprof_unit *unit;

	HASH_FIND(hh, server->units, address.data, address.len, unit);
	return unit ? unit->process : NULL;
}

bool ezprof_process_owns(const struct ezprof_process *process, struct ez_str unit)
{
	return ezprof_process_of(process->conn->server, unit) == process;
}

static void unit_free(struct ezprof_server *server, struct ezprof_unit *unit)
{
	if (unit->hh.tbl) {
		HASH_DEL(server->units, unit);
		DL_DELETE(unit->process->units, unit);
	}
	free(unit->address);
	free(unit);
}

/* 1 = new, 0 = it had it, -ENOMEM. */
static int add_unit(struct ezprof_process *process, struct ez_str address)
{
	struct ezprof_server *server = process->conn->server;
	struct ezprof_unit *unit;

	if (ezprof_process_owns(process, address))
		return 0;
	unit = calloc(1, sizeof(*unit));
	if (!unit)
		return -ENOMEM;
	unit->process = process;
	unit->len = address.len;
	unit->address = malloc(address.len + 1);
	if (unit->address) {
		memcpy(unit->address, address.data, address.len);
		HASH_ADD_KEYPTR(hh, server->units, unit->address, unit->len, unit);
	}
	if (!unit->hh.tbl) {
		free(unit->address);
		free(unit);
		return -ENOMEM;
	}
	DL_APPEND(process->units, unit);
	return 1;
}

static bool remove_unit(struct ezprof_process *process, struct ez_str address)
{
	struct ezprof_unit *unit;

	HASH_FIND(hh, process->conn->server->units, address.data, address.len, unit);
	if (!unit || unit->process != process)
		return false;
	unit_free(process->conn->server, unit);
	return true;
}

/* Does another process have one of these? */
static bool is_conflict(const struct ezprof_process *process, const struct ez_node *units)
{
	for (size_t i = 0; i < units->n_items; i++) {
		struct ezprof_process *owner =
			ezprof_process_of(process->conn->server, units->items[i]->text);

		if (owner && owner != process) {
			ezprof_conn_complain(process->conn, "refused: %.*s is another process's",
					     EZPROF_STR_ARGS(units->items[i]->text));
			return true;
		}
	}
	return false;
}

/* True if that changed something. */
static int add_units(struct ezprof_process *process, const struct ez_node *units)
{
	bool changed = false;

	for (size_t i = 0; i < units->n_items; i++) {
		int result = add_unit(process, units->items[i]->text);

		if (result < 0)
			return result;
		changed = changed || result;
	}
	return changed;
}

/* Those that a new registration doesn't name. */
static bool drop_others(struct ezprof_process *process, const struct ez_node *units)
{
	struct ezprof_unit *unit, *next;
	bool changed = false;

	DL_FOREACH(process->units, unit)
	unit->mark = 0;
	for (size_t i = 0; i < units->n_items; i++) {
		struct ez_str address = units->items[i]->text;

		HASH_FIND(hh, process->conn->server->units, address.data, address.len, unit);
		if (unit)
			unit->mark = 1;
	}
	DL_FOREACH_SAFE(process->units, unit, next)
	{
		if (unit->mark)
			continue;
		unit_free(process->conn->server, unit);
		changed = true;
	}
	return changed;
}

static int answer_register(struct ezprof_process *process, const struct ez_node *state)
{
	const struct ez_node *units;
	struct ez_str host;
	int64_t pid;
	int result = ezprof_meta_int(state, "pid", &pid);
	char *copy;

	if (!result)
		result = ezprof_meta_str(state, "host", &host);
	if (!result)
		result = ezprof_meta_strs(state, "units", &units);
	if (result)
		return result;
	if (is_conflict(process, units))
		return -EEXIST;
	copy = strndup(host.data, host.len);
	if (!copy)
		return -ENOMEM;
	free(process->host);
	process->host = copy;
	process->pid = pid;
	process->is_registered = true;
	result = add_units(process, units);
	if (drop_others(process, units) || result > 0)
		ezprof_topology_event_process(process);
	return result < 0 ? result : 0;
}

static int answer_ownership(struct ezprof_process *process, const struct ez_node *state)
{
	const struct ez_node *added, *removed;
	int result = ezprof_meta_strs(state, "added_units", &added);
	bool changed;

	if (!result)
		result = ezprof_meta_strs(state, "removed_units", &removed);
	if (result)
		return result;
	if (is_conflict(process, added))
		return -EEXIST;
	result = add_units(process, added);
	changed = result > 0;
	for (size_t i = 0; i < removed->n_items; i++)
		changed = remove_unit(process, removed->items[i]->text) || changed;
	if (changed)
		ezprof_topology_event_process(process);
	return result < 0 ? result : 0;
}

static int answer_settings(struct ezprof_process *process, const struct ez_node *state)
{
	return ezprof_settings_update(process, state);
}

static int take_trace(struct ezprof_process *process, const struct ez_node *state)
{
	return ezprof_trace_add(&process->trace, ez_node_lookup(state, "samples"));
}

/* What a process says, and the class that it says it with. All but the trace are answered. */
static const struct {
	uint8_t command;
	bool is_answered;
	const char *class_name;
	int (*take)(struct ezprof_process *process, const struct ez_node *state);
} messages[] = {
	{EZ_CMD_PROCESS_REGISTER, true, "ProcessRegistration", answer_register},
	{EZ_CMD_PROCESS_UPDATE_OWNERSHIP, true, "ProcessOwnershipUpdate", answer_ownership},
	{EZ_CMD_PROCESS_SETTINGS_UPDATE, true, "ProcessSettingsUpdate", answer_settings},
	{EZ_CMD_PROCESS_PROFILING_TRACE_UPDATE, false, "ProcessProfilingTraceBatch", take_trace},
};

static void take_message(struct ezprof_process *process, size_t which, struct ez_str pickle)
{
	struct ezprof_conn *conn = process->conn;
	struct ez_pickle_tree *tree = NULL;
	const struct ez_node *state;
	int err = ezprof_meta_read(pickle, messages[which].class_name, &tree, &state);

	if (!err)
		err = messages[which].take(process, state);
	ez_pickle_tree_free(tree);
	if (err)
		ezprof_conn_complain(conn, "refused its %s: %s", messages[which].class_name,
				     strerror(-err));
	if (messages[which].is_answered) {
		ez_put_u8(&conn->out, err ? EZ_CMD_ERROR : EZ_CMD_COMPLETE);
		ezprof_conn_flush(conn);
	}
}

static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_process *process = conn->data;
	struct ez_str pickle;
	uint8_t command;
	size_t which = 0;
	int err = ez_read_u8(in, &command);

	if (err)
		return err;
	while (which < sizeof(messages) / sizeof(messages[0]) && messages[which].command != command)
		which++;
	if (which == sizeof(messages) / sizeof(messages[0]) &&
	    command != EZ_CMD_PROCESS_ROUTE_RESPONSE) {
		ez_log(EZ_LOG_DEBUG, "%s: skipped %02x on a process's link", ezprof_conn_peer(conn),
		       command);
		return 0;
	}
	err = ez_read_str(in, conn->server->config.payload_bytes_max, &pickle);
	if (err)
		return err;
	if (command == EZ_CMD_PROCESS_ROUTE_RESPONSE)
		ezprof_process_request_answered(process, pickle);
	else
		take_message(process, which, pickle);
	return 0;
}

static void gone(struct ezprof_conn *conn)
{
	struct ezprof_process *process = conn->data;
	struct ezprof_unit *unit, *next;

	ezprof_process_requests_drop(process);
	ezprof_settings_drop_process(process);
	DL_FOREACH_SAFE(process->units, unit, next)
	unit_free(conn->server, unit);
	ezprof_topology_event_process(process);
	ezprof_trace_clear(&process->trace);
	DL_DELETE(conn->server->processes, process);
	free(process->host);
	free(process);
}

static const struct ezprof_role process_role = {
	.name = "process's message",
	.receive = receive,
	.gone = gone,
};

int ezprof_process_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_process *process = calloc(1, sizeof(*process));

	(void)in;
	if (!process)
		return -ENOMEM;
	process->conn = conn;
	ezprof_server_new_id(process->id);
	DL_APPEND(conn->server->processes, process);
	ezprof_conn_become(conn, &process_role, process);
	ezprof_conn_establish(conn);
	ez_put_text(&conn->out, process->id);
	ez_put_u8(&conn->out, EZ_CMD_COMPLETE);
	ezprof_conn_flush(conn);
	return 0;
}
