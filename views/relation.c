/* SPDX-License-Identifier: MIT */
#include "relation.h"
#include "flow.h"

enum kind { OF, LINK_TO, READER_ON, READER_IN, CHANNEL, SAME, TASK };

uint64_t ezprof_relation_key(enum ezprof_relation relation, uint64_t whose)
{
	return ezprof_key_whole(ezprof_key_whole(ezprof_key(OF), relation), whose);
}

bool ezprof_is_related(const struct ezprof_object *object, enum ezprof_relation relation,
		       uint64_t whose)
{
	switch (relation) {
	case EZPROF_LINKS_OF:
		return object->scope == EZPROF_LINK && object->parent == whose;
	case EZPROF_LISTENERS_OF:
		return object->scope == EZPROF_SUB && object->from == whose;
	default:
		return (object->scope == EZPROF_PUB || object->scope == EZPROF_SUB) &&
		       (uint64_t)object->pid == whose;
	}
}

static uint64_t key_of_id(enum kind kind, uint64_t number, const char *id)
{
	return ezprof_key_text(ezprof_key_whole(ezprof_key(kind), number), id);
}

static uint64_t key_of_same(const struct ezprof_object *object)
{
	uint64_t key = key_of_id(SAME, object->scope, ezprof_label(object, EZPROF_LABEL_ID));

	key = ezprof_key_text(key, ezprof_label(object, EZPROF_LABEL_CHANNEL_ID));
	if (object->scope == EZPROF_TASK)
		key = ezprof_key_text(key, ezprof_label(object, EZPROF_LABEL_TASK));
	return ezprof_key_whole(key, (uint64_t)object->pid);
}

uint64_t ezprof_task_key(int64_t pid, const char *name, size_t len)
{
	return ezprof_key_bytes(ezprof_key_whole(ezprof_key(TASK), (uint64_t)pid), name, len);
}

static int add(struct ezprof_model *model, uint64_t key, size_t object)
{
	return ezprof_lookup_add(&model->lookup, key, 0.0, object);
}

static int add_link(struct ezprof_model *model, size_t at)
{
	const struct ezprof_object *link = &model->objects[at];
	int err = add(model, ezprof_relation_key(EZPROF_LINKS_OF, link->parent), at);

	return err ? err
		   : add(model,
			 key_of_id(LINK_TO, link->parent,
				   ezprof_label(link, EZPROF_LABEL_CHANNEL_ID)),
			 at);
}

static int add_subscriber(struct ezprof_model *model, size_t at)
{
	const struct ezprof_object *s = &model->objects[at];
	int err = add(model, ezprof_relation_key(EZPROF_LISTENERS_OF, s->from), at);

	if (!err)
		err = add(model,
			  key_of_id(READER_ON, s->from, ezprof_label(s, EZPROF_LABEL_CHANNEL_ID)),
			  at);
	if (!err)
		err = add(model,
			  ezprof_key_whole(ezprof_key_whole(ezprof_key(READER_IN), s->from),
					   (uint64_t)s->pid),
			  at);
	return err;
}

static int add_task(struct ezprof_model *model, size_t at)
{
	const struct ezprof_object *task = &model->objects[at];
	const char *names = ezprof_label(task, EZPROF_LABEL_TASK), *name;
	size_t len;
	int err = 0;

	while (!err && (name = ezprof_next_task(&names, &len)))
		err = add(model, ezprof_task_key(task->pid, name, len), at);
	return err;
}

static int add_object(struct ezprof_model *model, size_t at)
{
	const struct ezprof_object *object = &model->objects[at];
	int err = add(model, key_of_same(object), at);

	if (!err && (object->scope == EZPROF_PUB || object->scope == EZPROF_SUB))
		err = add(model, ezprof_relation_key(EZPROF_ENDPOINTS_OF, (uint64_t)object->pid),
			  at);
	if (err)
		return err;
	switch (object->scope) {
	case EZPROF_LINK:
		return add_link(model, at);
	case EZPROF_CHAN:
		return add(model, key_of_id(CHANNEL, 0, ezprof_label(object, EZPROF_LABEL_ID)), at);
	case EZPROF_SUB:
		return add_subscriber(model, at);
	case EZPROF_TASK:
		return add_task(model, at);
	default:
		return 0;
	}
}

int ezprof_model_relate(struct ezprof_model *model)
{
	int err = 0;
	size_t i;

	for (i = model->first[EZPROF_PUB]; i < model->n && !err; i++)
		err = add_object(model, i);
	ezprof_lookup_sort(&model->lookup);
	return err;
}

static bool same_text(const struct ezprof_object *a, enum ezprof_label label,
		      const struct ezprof_object *b, enum ezprof_label other)
{
	return strcmp(ezprof_label(a, label), ezprof_label(b, other)) == 0;
}

size_t ezprof_link_to(const struct ezprof_model *model, const struct ezprof_object *subscriber)
{
	const char *channel = ezprof_label(subscriber, EZPROF_LABEL_CHANNEL_ID);

	EZPROF_EACH_FOUND (&model->lookup, key_of_id(LINK_TO, subscriber->from, channel), found) {
		const struct ezprof_object *link = &model->objects[found->object];

		if (link->scope == EZPROF_LINK && link->parent == subscriber->from &&
		    same_text(link, EZPROF_LABEL_CHANNEL_ID, subscriber, EZPROF_LABEL_CHANNEL_ID))
			return found->object;
	}
	return EZPROF_NO_OBJECT;
}

size_t ezprof_channel_of(const struct ezprof_model *model, const struct ezprof_object *link)
{
	const char *id = ezprof_label(link, EZPROF_LABEL_CHANNEL_ID);

	EZPROF_EACH_FOUND (&model->lookup, key_of_id(CHANNEL, 0, id), found) {
		const struct ezprof_object *channel = &model->objects[found->object];

		if (channel->scope == EZPROF_CHAN &&
		    same_text(channel, EZPROF_LABEL_ID, link, EZPROF_LABEL_CHANNEL_ID))
			return found->object;
	}
	return EZPROF_NO_OBJECT;
}

size_t ezprof_reader_on(const struct ezprof_model *model, const struct ezprof_object *link)
{
	const char *id = ezprof_label(link, EZPROF_LABEL_CHANNEL_ID);

	EZPROF_EACH_FOUND (&model->lookup, key_of_id(READER_ON, link->parent, id), found) {
		const struct ezprof_object *s = &model->objects[found->object];

		if (s->scope == EZPROF_SUB && s->from == link->parent &&
		    same_text(s, EZPROF_LABEL_CHANNEL_ID, link, EZPROF_LABEL_CHANNEL_ID))
			return found->object;
	}
	return EZPROF_NO_OBJECT;
}

size_t ezprof_reader_in(const struct ezprof_model *model, const struct ezprof_object *link)
{
	uint64_t key = ezprof_key_whole(ezprof_key_whole(ezprof_key(READER_IN), link->parent),
					(uint64_t)link->pid);

	EZPROF_EACH_FOUND (&model->lookup, key, found) {
		const struct ezprof_object *s = &model->objects[found->object];

		if (link->pid && s->scope == EZPROF_SUB && s->pid == link->pid &&
		    s->from == link->parent)
			return found->object;
	}
	return EZPROF_NO_OBJECT;
}

size_t ezprof_same_in(const struct ezprof_model *model, const struct ezprof_object *object)
{
	EZPROF_EACH_FOUND (&model->lookup, key_of_same(object), found) {
		const struct ezprof_object *other = &model->objects[found->object];

		if (other->scope == object->scope && other->pid == object->pid &&
		    same_text(other, EZPROF_LABEL_ID, object, EZPROF_LABEL_ID) &&
		    same_text(other, EZPROF_LABEL_CHANNEL_ID, object, EZPROF_LABEL_CHANNEL_ID) &&
		    (object->scope != EZPROF_TASK ||
		     same_text(other, EZPROF_LABEL_TASK, object, EZPROF_LABEL_TASK)))
			return found->object;
	}
	return EZPROF_NO_OBJECT;
}
