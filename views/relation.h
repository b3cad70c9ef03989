/* SPDX-License-Identifier: MIT */
/* Which objects of a model belong together: found by its lookup, not by going through all. */
#ifndef EZPROF_RELATION_H
#define EZPROF_RELATION_H

#include "model.h"

/* Fills model->lookup, once it is known who is whose. -ENOMEM. */
int ezprof_model_relate(struct ezprof_model *model);

enum ezprof_relation {
	EZPROF_LINKS_OF,     /* a publisher's links */
	EZPROF_LISTENERS_OF, /* a publisher's subscribers */
	EZPROF_ENDPOINTS_OF  /* a process's publishers and subscribers, whatever the host */
};

/* What EZPROF_EACH_OF() goes through, in the model's order; whose: publisher or pid. */
uint64_t ezprof_relation_key(enum ezprof_relation relation, uint64_t whose);
bool ezprof_is_related(const struct ezprof_object *object, enum ezprof_relation relation,
		       uint64_t whose);

#define EZPROF_EACH_OF(model, relation, whose, found) \
	EZPROF_EACH_FOUND (&(model)->lookup, ezprof_relation_key((relation), (uint64_t)(whose)), \
			   found) \
		if (ezprof_is_related(&(model)->objects[found->object], (relation), \
				      (uint64_t)(whose)))

/* The first of them that fits; EZPROF_NO_OBJECT if there is none. */

/* The link by which a subscriber's publisher reaches it. */
size_t ezprof_link_to(const struct ezprof_model *model, const struct ezprof_object *subscriber);
/* The channel that a link leads to. */
size_t ezprof_channel_of(const struct ezprof_model *model, const struct ezprof_object *link);
/* The subscriber that reads what goes by a link: on that channel; in that process. */
size_t ezprof_reader_on(const struct ezprof_model *model, const struct ezprof_object *link);
size_t ezprof_reader_in(const struct ezprof_model *model, const struct ezprof_object *link);
/* What that object of another document of the same graph is in this one. */
size_t ezprof_same_in(const struct ezprof_model *model, const struct ezprof_object *object);
/* By that a task of that process is found that has the name among its names. */
uint64_t ezprof_task_key(int64_t pid, const char *name, size_t len);

#endif
