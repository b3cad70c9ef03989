/* SPDX-License-Identifier: MIT */
/*
 * A PROFILE document as plain values: objects of a few scopes with labels and figures. Every view
 * is made of it. What the document lacks is unknown, not 0. One thread per model; reading is pure.
 */
#ifndef EZPROF_MODEL_H
#define EZPROF_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "lookup.h"
#include "metric.h"
#include "number.h"

/* Labels: name, key in the document. Which scopes have which is up to the document. */
#define EZPROF_LABELS(X) \
	X(ID, "id") \
	X(TOPIC, "topic") \
	X(HANDLE, "handle") \
	X(TASK, "task") \
	X(HOST, "host") \
	X(TRANSPORT, "transport") \
	X(SOURCE, "source") \
	X(PUB_ID, "pub_id") \
	X(CHANNEL_ID, "channel_id")

enum ezprof_label {
#define EZPROF_LABEL_VALUE(name, key) EZPROF_LABEL_##name,
	EZPROF_LABELS(EZPROF_LABEL_VALUE)
#undef EZPROF_LABEL_VALUE
		EZPROF_LABEL_COUNT
};

/* Distributions: scope, name, path; a scope has few. distribution.h reads their text. */
#define EZPROF_DISTRIBUTIONS(X) \
	X(PUB, 0, LEASE, "lease.bins") \
	X(SUB, 0, QUEUE, "queue.bins") \
	X(SUB, 1, PROCESS, "processing.bins")

enum {
#define EZPROF_DISTRIBUTION_VALUE(scope, number, name, path) EZPROF_##scope##_BINS_##name = number,
	EZPROF_DISTRIBUTIONS(EZPROF_DISTRIBUTION_VALUE)
#undef EZPROF_DISTRIBUTION_VALUE
		EZPROF_DISTRIBUTIONS_MAX = 2
};

#define EZPROF_NO_OBJECT SIZE_MAX

struct ezprof_object {
	enum ezprof_scope scope;
	char *labels[EZPROF_LABEL_COUNT]; /* owned; NULL = unknown; valid UTF-8 */
	int64_t pid;			  /* 0 = unknown */
	size_t parent; /* link: its publisher; subscriber: its channel; else EZPROF_NO_OBJECT */
	size_t from;   /* link, channel, subscriber: the publisher, where it is in the document */
	bool from_several; /* it may be one of several; figures are of all that lead here */
	bool warming_up;
	struct ezprof_number *values;	      /* of the scope's metrics, in their order */
	char *bins[EZPROF_DISTRIBUTIONS_MAX]; /* EZPROF_SUB_BINS_QUEUE ...; NULL = not measured */
};

/* A process that an agent has attached to, or somebody in errors[]. */
struct ezprof_mention {
	int64_t pid;
	char *what;	/* comm; or who */
	char *reason;	/* state ("attached", "exited"); or reason ("died", "timeout") */
	char *detail;	/* NULL = none */
	char *topic;	/* likewise */
	char *host;	/* whose pid it is; NULL = the document's, ezprof_mention_host() */
	uint64_t at_ns; /* when a process ended; 0 = it didn't, or not known */
};

/* What an agent says of itself beside its figures; NULL = not known. */
struct ezprof_agent_note {
	char *version;
	char *probes; /* "window", "boundary", "both" */
	char *link;   /* how the kernel calls it: "uprobe_multi", "perf_event" */
	char *losses; /* "no_slot 3, read_failed 1": reasons that aren't 0; "" = none */
};

struct ezprof_edge {
	char *from, *to; /* topics */
};

struct ezprof_model {
	struct ezprof_object *objects; /* grouped by scope */
	size_t n;
	size_t first[EZPROF_SCOPE_COUNT + 1]; /* first[s + 1] - first[s]: how many of scope s */
	struct ezprof_lookup lookup;	      /* of relation.h */
	struct ezprof_mention *processes, *errors;
	size_t n_processes, n_errors;
	struct ezprof_edge *edges; /* `graph` of the document, if it has one */
	size_t n_edges;
	struct ezprof_agent_note *agents; /* as many as objects of scope AGENT, in their order */
	char *host;
	char *tool, *tool_version;
	uint64_t silent_agents; /* were there, and told this user nothing */
	uint64_t time_ns;
	double time_unix_s;
};

/* -EPROTO: it is no PROFILE document; -ENOMEM. ezprof_model_free() it. */
int ezprof_model_read(const char *text, size_t n, struct ezprof_model **ret_model);

/*
 * The next one of several documents, one behind the other, from *at on, which moves. -ENODATA:
 * there is no more.
 */
int ezprof_model_next(const char *text, size_t n, size_t *at, struct ezprof_model **ret_model);

void ezprof_model_free(struct ezprof_model *model); /* NULL is fine */

static inline struct ezprof_number ezprof_value(const struct ezprof_object *object,
						enum ezprof_metric_id metric)
{
	return object->values[metric - ezprof_metric_first(object->scope)];
}

/* As a double; otherwise: where it is unknown. */
static inline double ezprof_figure(const struct ezprof_object *object, enum ezprof_metric_id metric,
				   double otherwise)
{
	return ezprof_as_double(ezprof_value(object, metric), otherwise);
}

/* On which host a mention's pid is; "" = not known. */
static inline const char *ezprof_mention_host(const struct ezprof_model *model,
					      const struct ezprof_mention *mention)
{
	return mention->host ? mention->host : model->host ? model->host : "";
}

/* A label, "" where it is unknown. */
static inline const char *ezprof_label(const struct ezprof_object *object, enum ezprof_label label)
{
	return object->labels[label] ? object->labels[label] : "";
}

const char *ezprof_label_key(enum ezprof_label label);

#endif
