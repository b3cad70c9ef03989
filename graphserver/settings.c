/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "meta_reader.h"
#include "pickle_write.h"
#include "process_link.h"
#include "session_link.h"

struct ezprof_setting {
	char *address;
	size_t len;
	struct ezprof_fragment value;
	struct ezprof_session *session; /* whose graph it is part of; NULL = nobody's */
	struct ezprof_process *process; /* who said it last; NULL = the session */
	UT_hash_handle hh;
};

static int copy_fragment(const struct ezprof_fragment *from, struct ezprof_fragment *ret_copy)
{
	char *data = malloc(from->len + 1);

	if (!data)
		return -ENOMEM;
	memcpy(data, from->data, from->len);
	ret_copy->data = data;
	ret_copy->len = from->len;
	return 0;
}

static void append_event(struct ezprof_server *server, const char *type,
			 const struct ezprof_setting *setting, const struct ezprof_fragment *value,
			 double timestamp)
{
	struct ez_buffer event;

	ez_buffer_init(&event, server->config.payload_bytes_max);
	ezprof_pickle_instance(&event, "SettingsChangedEvent");
	ezprof_pickle_member_int(&event, "seq", (int64_t)server->settings_log.last_seq + 1);
	ezprof_pickle_member_enum(&event, "event_type", "SettingsEventType", type);
	ez_pickle_put_text(&event, "component_address");
	ez_pickle_put_str(&event, setting->address, setting->len);
	ez_put_u8(&event, EZ_OP_SETITEM);
	ezprof_pickle_member_float(&event, "timestamp", timestamp);
	ezprof_pickle_member_text(&event, "source_session_id",
				  setting->session ? setting->session->id : NULL);
	ezprof_pickle_member_uuid(&event, "source_process_id",
				  setting->process ? setting->process->id : NULL);
	ezprof_pickle_member_fragment(&event, "value", value);
	ezprof_pickle_build(&event);
	ezprof_event_log_append(&server->settings_log, &event);
}

static void setting_free(struct ezprof_server *server, struct ezprof_setting *setting)
{
	if (setting->hh.tbl)
		HASH_DEL(server->settings, setting);
	free(setting->address);
	free(setting->value.data);
	free(setting);
}

static struct ezprof_setting *find_setting(const struct ezprof_server *server,
					   struct ez_str address)
{
	struct ezprof_setting *setting;

	HASH_FIND(hh, server->settings, address.data, address.len, setting);
	return setting;
}

static struct ezprof_setting *hold_setting(struct ezprof_server *server, struct ez_str address)
{
	struct ezprof_setting *setting = find_setting(server, address);

	if (setting)
		return setting;
	setting = calloc(1, sizeof(*setting));
	if (!setting)
		return NULL;
	setting->address = malloc(address.len + 1);
	if (setting->address) {
		memcpy(setting->address, address.data, address.len);
		setting->len = address.len;
		HASH_ADD_KEYPTR(hh, server->settings, setting->address, setting->len, setting);
	}
	if (!setting->hh.tbl) {
		setting_free(server, setting);
		return NULL;
	}
	return setting;
}

static void set_value(struct ezprof_setting *setting, struct ezprof_fragment *value)
{
	free(setting->value.data);
	setting->value = *value;
	*value = (struct ezprof_fragment){0};
}

static void components_free(struct ezprof_component **components)
{
	struct ezprof_component *component, *next;

	HASH_ITER (hh, *components, component, next) {
		HASH_DEL(*components, component);
		free(component->address);
		free(component->initial.data);
		free(component);
	}
}

/* SettingsSnapshotValue of what a component was started with. */
static int read_initial(const struct ez_node *component, size_t max, struct ezprof_fragment *ret)
{
	const struct ez_node *state = ezprof_meta_state(component);
	const struct ez_node *initial = ez_node_lookup(state, "initial_settings");
	const struct ez_node *schema = ez_node_lookup(state, "settings_schema");
	struct ez_buffer value;

	if (!initial || initial->kind != EZ_NODE_TUPLE || initial->n_items != 2 || !schema)
		return -EBADMSG;
	ez_buffer_init(&value, max);
	ezprof_pickle_instance(&value, "SettingsSnapshotValue");
	ez_pickle_put_text(&value, "serialized");
	ez_pickle_put_node(&value, initial->items[0]);
	ez_put_u8(&value, EZ_OP_SETITEM);
	ez_pickle_put_text(&value, "repr_value");
	ez_pickle_put_node(&value, initial->items[1]);
	ez_put_u8(&value, EZ_OP_SETITEM);
	ez_pickle_put_text(&value, "structured_value");
	if (initial->items[1]->kind == EZ_NODE_DICT)
		ez_pickle_put_node(&value, initial->items[1]);
	else
		ez_put_u8(&value, EZ_OP_NONE);
	ez_put_u8(&value, EZ_OP_SETITEM);
	ez_pickle_put_text(&value, "settings_schema");
	ez_pickle_put_node(&value, schema);
	ez_put_u8(&value, EZ_OP_SETITEM);
	ezprof_pickle_build(&value);
	ret->data = ez_buffer_steal(&value, &ret->len);
	if (ret->data)
		return 0;
	ez_buffer_free(&value);
	return -ENOMEM;
}

static int add_component(struct ezprof_component **components, struct ez_str address,
			 const struct ez_node *node, size_t max)
{
	struct ezprof_component *component;
	int err;

	HASH_FIND(hh, *components, address.data, address.len, component);
	if (component)
		return -EBADMSG;
	component = calloc(1, sizeof(*component));
	if (!component)
		return -ENOMEM;
	component->address = malloc(address.len + 1);
	err = component->address ? read_initial(node, max, &component->initial) : -ENOMEM;
	if (!err) {
		memcpy(component->address, address.data, address.len);
		component->len = address.len;
		HASH_ADD_KEYPTR(hh, *components, component->address, component->len, component);
		err = component->hh.tbl ? 0 : -ENOMEM;
	}
	if (err) {
		free(component->address);
		free(component->initial.data);
		free(component);
	}
	return err;
}

static int read_components(const struct ez_node *metadata, size_t max,
			   struct ezprof_component **ret_components)
{
	const struct ez_node *dict = ez_node_lookup(metadata, "components");
	int err = dict && dict->kind == EZ_NODE_DICT ? 0 : -EBADMSG;

	for (size_t i = 0; !err && i + 1 < dict->n_items; i += 2)
		err = dict->items[i]->kind == EZ_NODE_STR
			      ? add_component(ret_components, dict->items[i]->text,
					      dict->items[i + 1], max)
			      : -EBADMSG;
	if (err)
		components_free(ret_components);
	return err;
}

/* The session that registered the component, other than `except`. */
static struct ezprof_session *session_of(const struct ezprof_server *server, struct ez_str address,
					 const struct ezprof_session *except)
{
	struct ezprof_component *component;
	struct ezprof_session *session;

	DL_FOREACH(server->sessions, session)
	{
		HASH_FIND(hh, session->components, address.data, address.len, component);
		if (component && session != except)
			return session;
	}
	return NULL;
}

static void apply_component(struct ezprof_session *session, struct ezprof_component *component)
{
	struct ezprof_server *server = session->conn->server;
	struct ez_str address = {component->address, component->len};
	struct ezprof_setting *setting = hold_setting(server, address);
	struct ezprof_setting event = {
		.address = component->address, .len = component->len, .session = session};
	struct ezprof_fragment value;

	if (!setting)
		return;
	setting->session = session;
	if (!setting->process && copy_fragment(&component->initial, &value) == 0)
		set_value(setting, &value);
	append_event(server, "INITIAL_SETTINGS", &event, &component->initial, ez_clock_unix_s());
}

/* GraphMetadata again, whole, for snapshots. */
static int copy_metadata(const struct ez_node *metadata, size_t max, struct ezprof_fragment *ret)
{
	struct ez_buffer out;

	ez_buffer_init(&out, max);
	ez_pickle_put_global(&out, EZPROF_META_MODULE, "GraphMetadata");
	ez_put_u8(&out, EZ_OP_EMPTY_TUPLE);
	ez_put_u8(&out, EZ_OP_NEWOBJ);
	ez_pickle_put_node(&out, metadata);
	ezprof_pickle_build(&out);
	ret->data = ez_buffer_steal(&out, &ret->len);
	if (ret->data)
		return 0;
	ez_buffer_free(&out);
	return -ENOMEM;
}

int ezprof_settings_register(struct ezprof_session *session, const struct ez_node *metadata)
{
	struct ezprof_server *server = session->conn->server;
	size_t max = server->config.payload_bytes_max;
	struct ezprof_component *components = NULL, *component, *next;
	struct ezprof_fragment copy = {0};
	int err = read_components(metadata, max, &components);

	if (err)
		return err;
	HASH_ITER (hh, components, component, next)
		if (session_of(server, (struct ez_str){component->address, component->len},
			       session))
			err = -EEXIST;
	if (!err)
		err = copy_metadata(metadata, max, &copy);
	if (err) {
		components_free(&components);
		return err;
	}
	ezprof_settings_drop_session(session);
	session->metadata = copy;
	session->components = components;
	HASH_ITER (hh, components, component, next)
		apply_component(session, component);
	return 0;
}

void ezprof_settings_drop_session(struct ezprof_session *session)
{
	struct ezprof_server *server = session->conn->server;
	struct ezprof_setting *setting, *next;

	HASH_ITER (hh, server->settings, setting, next) {
		if (setting->session != session)
			continue;
		setting->session = NULL;
		if (!setting->process)
			setting_free(server, setting);
	}
	components_free(&session->components);
	free(session->metadata.data);
	session->metadata = (struct ezprof_fragment){0};
}

int ezprof_settings_update(struct ezprof_process *process, const struct ez_node *update)
{
	struct ezprof_server *server = process->conn->server;
	const struct ez_node *value = ez_node_lookup(update, "value");
	struct ezprof_setting *setting;
	struct ezprof_session *session;
	struct ezprof_fragment fragment;
	struct ez_buffer bytes;
	struct ez_str address;
	double timestamp;
	int err = ezprof_meta_str(update, "component_address", &address);

	if (!err)
		err = ezprof_meta_number(update, "timestamp", &timestamp);
	if (err || !value)
		return -EBADMSG;
	if (!ezprof_process_owns(process, address))
		return -ENOENT;
	ez_buffer_init(&bytes, server->config.payload_bytes_max);
	ez_pickle_put_node(&bytes, value);
	fragment.data = ez_buffer_steal(&bytes, &fragment.len);
	setting = fragment.data ? hold_setting(server, address) : NULL;
	if (!setting) {
		ez_buffer_free(&bytes);
		free(fragment.data);
		return -ENOMEM;
	}
	session = session_of(server, address, NULL);
	if (session)
		setting->session = session;
	setting->process = process;
	set_value(setting, &fragment);
	append_event(server, "SETTINGS_UPDATED", setting, &setting->value, timestamp);
	return 0;
}

/* False if there is nothing to go back to. */
static bool restore(struct ezprof_server *server, struct ezprof_setting *setting)
{
	struct ezprof_component *component = NULL;
	struct ezprof_fragment value;

	if (setting->session)
		HASH_FIND(hh, setting->session->components, setting->address, setting->len,
			  component);
	if (!component || copy_fragment(&component->initial, &value))
		return false;
	setting->process = NULL;
	set_value(setting, &value);
	append_event(server, "SETTINGS_UPDATED", setting, &setting->value, ez_clock_unix_s());
	return true;
}

void ezprof_settings_drop_process(struct ezprof_process *process)
{
	struct ezprof_server *server = process->conn->server;
	struct ezprof_setting *setting, *next;

	HASH_ITER (hh, server->settings, setting, next)
		if (setting->process == process && !restore(server, setting))
			setting_free(server, setting);
}

static int compare(const struct ezprof_setting *a, const struct ezprof_setting *b)
{
	size_t n = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->address, b->address, n);

	return order ? order : (a->len > b->len) - (a->len < b->len);
}

void ezprof_settings_put_snapshot(struct ezprof_server *server, struct ez_buffer *out)
{
	struct ezprof_setting *setting;

	HASH_SORT(server->settings, compare);
	ezprof_pickle_begin(out);
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
	for (setting = server->settings; setting; setting = setting->hh.next) {
		ez_pickle_put_str(out, setting->address, setting->len);
		ez_buffer_append(out, setting->value.data, setting->value.len);
		ez_put_u8(out, EZ_OP_SETITEM);
	}
	ez_put_u8(out, EZ_OP_STOP);
}

void ezprof_settings_clear(struct ezprof_server *server)
{
	struct ezprof_setting *setting, *next;

	HASH_ITER (hh, server->settings, setting, next)
		setting_free(server, setting);
}
