/* SPDX-License-Identifier: MIT */
/*
 * The settings of components, as sessions registered them and processes changed them since, and the
 * events about them: the rules of ezmsg 3.9.0's server. Loop thread only.
 */
#ifndef EZPROF_SETTINGS_H
#define EZPROF_SETTINGS_H

#include "hash.h"
#include "meta_pickle.h"
#include "pickle_tree.h"

struct ezprof_process;
struct ezprof_session;

/* A component that a session registered, with the settings that it began with. */
struct ezprof_component {
	char *address;
	size_t len;
	struct ezprof_fragment initial;
	UT_hash_handle hh; /* of the session */
};

/*
 * Takes over what a session says of its graph (the state of a GraphMetadata, and all of it). 0;
 * -EEXIST: another session has one of its components; -EBADMSG, -ENOMEM. Unchanged on an error.
 */
int ezprof_settings_register(struct ezprof_session *session, const struct ez_node *metadata);

/* Forgets all of that. */
void ezprof_settings_drop_session(struct ezprof_session *session);

/* A process says (the state of a ProcessSettingsUpdate). -ENOENT: it isn't its component. */
int ezprof_settings_update(struct ezprof_process *process, const struct ez_node *update);

/* What the process changed is as at the beginning again, or forgotten. */
void ezprof_settings_drop_process(struct ezprof_process *process);

/* Appends a pickle: a dict of all settings by address. */
void ezprof_settings_put_snapshot(struct ezprof_server *server, struct ez_buffer *out);

void ezprof_settings_clear(struct ezprof_server *server);

#endif
