/* SPDX-License-Identifier: MIT */
/* How far a document can be trusted: who died, who is silent, what nobody measured. */
#include "load.h"
#include "phrase.h"
#include "why_part.h"

#include <string.h>

#define DEAD_SCORE 400.0
#define DEAD_RECENT_S 60.0
#define SILENT_SCORE 300.0
#define LOST_SCORE 200.0
#define PIDS_MAX 8u

/* Of late it explains what one sees; long ago it is a note. */
static bool is_recent(const struct ezprof_model *model, const struct ezprof_mention *process)
{
	double window_s = ezprof_figure(&model->objects[0], EZPROF_GRAPH_WINDOW_S, 0.0);
	double ago_s = process->at_ns && process->at_ns < model->time_ns
			       ? (double)(model->time_ns - process->at_ns) / 1e9
			       : 0.0;

	return ago_s <= DEAD_RECENT_S || ago_s <= window_s;
}

static void dead(struct ezprof_why_context *c, const struct ezprof_mention *process)
{
	bool recent = is_recent(c->model, process);
	struct ezprof_finding *finding =
		ezprof_finding_add(c->findings, recent ? EZPROF_FINDING_DEAD : EZPROF_FINDING_ENDED,
				   EZPROF_NO_OBJECT, DEAD_SCORE);
	struct ez_buffer text;

	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_put(&text, "Process %lld", (long long)process->pid);
	if (process->what) {
		ez_buffer_append_text(&text, " (");
		ezprof_say_name(&text, process->what);
		ez_buffer_append_text(&text, ")");
	}
	ez_buffer_append_text(&text, ", which was measured, ended");
	if (process->at_ns && process->at_ns < c->model->time_ns) {
		ez_buffer_append_text(&text, " ");
		ezprof_say_ms(&text, (double)(c->model->time_ns - process->at_ns) / 1e6);
		ez_buffer_append_text(&text, " ago");
	}
	ez_buffer_append_text(&text, ": its publishers and subscribers are gone, and whoever got "
				     "messages from it gets none.");
	ezprof_finding_say(c->findings, finding, &text);
}

static uint64_t key_of(const struct ezprof_model *model, const struct ezprof_mention *mention)
{
	uint64_t key = ezprof_key_whole(ezprof_key(0), (uint64_t)mention->pid);

	return ezprof_key_text(key, ezprof_mention_host(model, mention));
}

static bool is_exited(const struct ezprof_mention *process)
{
	return process->reason && strcmp(process->reason, "exited") == 0;
}

/* exited: those processes that are told to be so. */
static bool is_told(const struct ezprof_model *model, const struct ezprof_lookup *exited,
		    const struct ezprof_mention *error)
{
	const char *host = ezprof_mention_host(model, error);

	EZPROF_EACH_FOUND (exited, key_of(model, error), found) {
		const struct ezprof_mention *process = &model->processes[found->object];

		if (error->pid && process->pid == error->pid &&
		    strcmp(ezprof_mention_host(model, process), host) == 0)
			return true;
	}
	return false;
}

static void silent(struct ezprof_why_context *c, const struct ezprof_mention *error)
{
	bool died = error->reason && strcmp(error->reason, "died") == 0;
	struct ezprof_finding *finding =
		ezprof_finding_add(c->findings, died ? EZPROF_FINDING_DEAD : EZPROF_FINDING_SILENT,
				   EZPROF_NO_OBJECT, died ? DEAD_SCORE : SILENT_SCORE);
	struct ez_buffer text;

	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ez_buffer_append_text(&text, "The figures are incomplete: the ");
	ezprof_say_name(&text, error->what ? error->what : "process");
	if (error->pid)
		ezprof_put(&text, " of pid %lld", (long long)error->pid);
	if (error->host && c->model->host && strcmp(error->host, c->model->host) != 0) {
		ez_buffer_append_text(&text, ", host ");
		ezprof_say_name(&text, error->host);
	}
	if (error->topic) {
		ez_buffer_append_text(&text, " on ");
		ezprof_say_name(&text, error->topic);
	}
	ez_buffer_append_text(&text, ": ");
	ezprof_say_name(&text, error->reason ? error->reason : "no reason given");
	if (error->detail && *error->detail) {
		ez_buffer_append_text(&text, " (");
		ezprof_say_name(&text, error->detail);
		ez_buffer_append_text(&text, ")");
	}
	ez_buffer_append_text(&text, ".");
	ezprof_finding_say(c->findings, finding, &text);
}

static void lost(struct ezprof_why_context *c)
{
	double lost = ezprof_figure(&c->model->objects[0], EZPROF_GRAPH_LOST_TOTAL, 0.0);
	struct ezprof_finding *finding;
	struct ez_buffer text;

	if (lost < 1)
		return;
	finding = ezprof_finding_add(c->findings, EZPROF_FINDING_LOST, 0, LOST_SCORE);
	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_put(&text, "%.0f messages went by without being counted: the figures are too low.",
		   lost);
	ezprof_finding_rests_on(finding, 0, EZPROF_GRAPH_LOST_TOTAL);
	ezprof_finding_say(c->findings, finding, &text);
}

static void warming_up(struct ezprof_why_context *c)
{
	const struct ezprof_model *model = c->model;
	double asked_s = ezprof_figure(&model->objects[0], EZPROF_GRAPH_WINDOW_S, 0.0);
	size_t i, least = EZPROF_NO_OBJECT;
	struct ezprof_finding *finding;
	struct ez_buffer text;
	double least_s = asked_s;

	for (i = 0; i < model->n; i++) {
		const struct ezprof_object *o = &model->objects[i];
		double covered_s;

		if (!o->warming_up || (o->scope != EZPROF_PUB && o->scope != EZPROF_SUB))
			continue;
		covered_s = ezprof_figure(
			o, o->scope == EZPROF_PUB ? EZPROF_PUB_COVERED_S : EZPROF_SUB_COVERED_S,
			0.0);
		if (least == EZPROF_NO_OBJECT || covered_s < least_s) {
			least = i;
			least_s = covered_s;
		}
	}
	if (least == EZPROF_NO_OBJECT)
		return;
	finding = ezprof_finding_add(c->findings, EZPROF_FINDING_WARMING_UP, least, 50.0);
	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ez_buffer_append_text(&text, "Just started: ");
	ezprof_say_ms(&text, 1000.0 * least_s);
	ez_buffer_append_text(&text, " are measured of the ");
	ezprof_say_ms(&text, 1000.0 * asked_s);
	ez_buffer_append_text(&text, " asked for; ask again for a firmer answer.");
	ezprof_finding_rests_on(finding, least,
				model->objects[least].scope == EZPROF_PUB ? EZPROF_PUB_COVERED_S
									  : EZPROF_SUB_COVERED_S);
	ezprof_finding_say(c->findings, finding, &text);
}

/* Are its figures not from the kernel? */
static bool is_unmeasured(const struct ezprof_object *o)
{
	const char *source = ezprof_label(o, EZPROF_LABEL_SOURCE);

	return (o->scope == EZPROF_PUB || o->scope == EZPROF_SUB) && *source &&
	       strcmp(source, "bpf") != 0;
}

/* Of the host of `first`, and such that nobody measures it? */
static bool is_one_more(const struct ezprof_model *model, size_t first, size_t at)
{
	const struct ezprof_object *o = &model->objects[at];

	return is_unmeasured(o) && o->pid &&
	       strcmp(ezprof_label(o, EZPROF_LABEL_HOST),
		      ezprof_label(&model->objects[first], EZPROF_LABEL_HOST)) == 0;
}

/* " 12 13 14"; returns how many there are, PIDS_MAX + 1 for whatever is more. NULL: only counts. */
static size_t say_pids(struct ez_buffer *text, const struct ezprof_model *model, size_t first)
{
	int64_t pids[PIDS_MAX + 1];
	size_t n = 0, k;

	for (size_t i = first; i < model->n && n <= PIDS_MAX; i++) {
		if (!is_one_more(model, first, i))
			continue;
		for (k = 0; k < n && pids[k] != model->objects[i].pid; k++)
			;
		if (k < n)
			continue;
		pids[n++] = model->objects[i].pid;
		if (n <= PIDS_MAX && text)
			ezprof_put(text, " %lld", (long long)pids[k]);
	}
	return n;
}

static void say_attach(struct ez_buffer *text, const struct ezprof_model *model, size_t first)
{
	size_t n = say_pids(NULL, model, first);

	ezprof_say_attach(text, model, &model->objects[first]);
	if (n == 0 || n > PIDS_MAX)
		ez_buffer_append_text(text, " --all");
	else
		say_pids(text, model, first);
}

/* ezmsg tells by itself who works; whether the programs have probes it can't tell. */
static void say_told_by_ezmsg(struct ez_buffer *text, const struct ezprof_model *model,
			      size_t first)
{
	if (model->silent_agents) {
		ez_buffer_append_text(text,
				      "An agent measures on this machine, but tells this user "
				      "nothing: these are ezmsg's own figures, which know neither "
				      "queues nor who keeps a buffer. Type: sudo ezprof why");
		return;
	}
	ez_buffer_append_text(text,
			      "No agent measures this graph: these are ezmsg's own figures, "
			      "which know neither queues nor who keeps a buffer. For the cause");
	say_attach(text, model, first);
	ez_buffer_append_text(text, "; it finds probes in what was started by `ezprof run`");
}

static void say_no_agent(struct ez_buffer *text, const struct ezprof_model *model, size_t first)
{
	size_t n = say_pids(NULL, model, first);
	bool one = n == 1;

	ez_buffer_append_text(text,
			      one ? "No agent measures process" : "No agent measures processes");
	say_pids(text, model, first);
	if (n > PIDS_MAX)
		ez_buffer_append_text(text, " and others");
	ez_buffer_append_text(text, one ? ": its totals are known, its times are not. Type"
					: ": their totals are known, their times are not. Type");
	say_attach(text, model, first);
}

/* The processes that nobody measures: those of one host. */
static void unprepared(struct ezprof_why_context *c)
{
	const struct ezprof_model *model = c->model;
	struct ezprof_finding *finding;
	struct ez_buffer text;
	size_t first = 0;
	bool ezmsg = false;

	while (first < model->n && !is_unmeasured(&model->objects[first]))
		first++;
	if (first == model->n)
		return;
	EZPROF_EACH (model, EZPROF_PUB, i)
		ezmsg = ezmsg || ezprof_is_told_by_ezmsg(&model->objects[i]);
	finding = ezprof_finding_add(c->findings, EZPROF_FINDING_UNPREPARED, first, 60.0);
	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	if (ezmsg)
		say_told_by_ezmsg(&text, model, first);
	else
		say_no_agent(&text, model, first);
	ezprof_finding_say(c->findings, finding, &text);
}

/* Who died and who was silent; of who died both tell, the agent and its graph server. */
static void mentions(struct ezprof_why_context *c)
{
	const struct ezprof_model *model = c->model;
	struct ezprof_lookup exited = {0};
	int err = 0;
	size_t i;

	for (i = 0; i < model->n_processes && !err; i++) {
		if (!is_exited(&model->processes[i]))
			continue;
		dead(c, &model->processes[i]);
		err = ezprof_lookup_add(&exited, key_of(model, &model->processes[i]), 0.0, i);
	}
	ezprof_lookup_sort(&exited);
	for (i = 0; i < model->n_errors && !err; i++) {
		const struct ezprof_mention *error = &model->errors[i];

		if (!error->reason || strcmp(error->reason, "died") != 0 ||
		    !is_told(model, &exited, error))
			silent(c, error);
	}
	c->findings->failed |= err != 0;
	ezprof_lookup_free(&exited);
}

void ezprof_why_trust(struct ezprof_why_context *c)
{
	mentions(c);
	lost(c);
	warming_up(c);
	unprepared(c);
}
