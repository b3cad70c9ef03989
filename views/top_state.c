/* SPDX-License-Identifier: MIT */
#include "top_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A problem is worse the higher it ranks, and than anything else. */
#define PROBLEM_SEVERITY 1e6
#define ADVICE_SEVERITY 100.0

/* clang-format off */
/* X(finding, word) in the order of finding.h, which has what they mean. */
#define FINDING_WORDS(X) \
	X(STUCK, "stuck") X(DEAD, "ended") X(SLOW, "slow") X(STARVED, "no cpu") X(LOOP_HELD, "loop") \
	X(CONNECTION, "network") X(FEW_BUFFERS, "buffers") X(LATE, "late") X(BLOCKED, "blocked") \
	X(DROPS, "drops") X(BURSTS, "bursts") X(GAP, "gap") X(SILENT, "silent") X(LOST, "lost") \
	X(SERIALISING, "serial.") X(TCP_LOCAL, "tcp")
/* clang-format on */

static const struct {
	enum ezprof_finding_kind kind;
	const char *word;
} finding_words[] = {
#define FINDING_WORD(name, word) {EZPROF_FINDING_##name, word},
	FINDING_WORDS(FINDING_WORD)
#undef FINDING_WORD
};

static const char *const finding_whats[] = {
#define FINDING_WHAT(name, id, weight, what) what,
	EZPROF_FINDINGS(FINDING_WHAT)
#undef FINDING_WHAT
};

/* What no finding tells of an object by itself; their order is that of their severity. */
static const struct ezprof_top_state no_state = {"", ' ', 0.0};
static const struct {
	struct ezprof_top_state state;
	const char *what;
} own_states[] = {
	{{"waits", '-', 500.0}, "it is held up by somebody else, and would be fine alone"},
	{{"lost", '~', 80.0}, "some of its messages were not counted"},
	{{"warming", '~', 60.0}, "measured for less than a whole window"},
	{{"unseen", '~', 50.0}, "nobody measures it: its process tells totals only"},
	{{"ended", '~', 70.0}, "the process has ended"},
	{{"silent", '!', 600.0}, "the process did not answer, or not properly"},
};
enum { WAITS, LOST, WARMING, UNSEEN, ENDED, SILENT };

static const char *word_of(enum ezprof_finding_kind kind)
{
	size_t i;

	for (i = 0; i < sizeof(finding_words) / sizeof(finding_words[0]); i++) {
		if (finding_words[i].kind == kind)
			return finding_words[i].word;
	}
	return "";
}

struct ezprof_top_state ezprof_top_state_worse(struct ezprof_top_state a, struct ezprof_top_state b)
{
	return b.severity > a.severity ? b : a;
}

static void worsen(struct ezprof_top_state *state, struct ezprof_top_state other)
{
	*state = ezprof_top_state_worse(*state, other);
}

/* What a finding says of its subject and of those that it holds up. */
static void add_finding(struct ezprof_top_state *list, const struct ezprof_finding *finding,
			size_t rank)
{
	enum ezprof_weight weight = ezprof_finding_weight(finding->kind);
	struct ezprof_top_state state = {word_of(finding->kind), '!',
					 PROBLEM_SEVERITY - (double)rank};
	size_t i;

	if (weight == EZPROF_NOTE)
		return;
	if (weight == EZPROF_ADVICE) {
		state.mark = '>';
		state.severity = ADVICE_SEVERITY;
	}
	if (finding->subject != EZPROF_NO_OBJECT && *state.word)
		worsen(&list[finding->subject], state);
	for (i = 0; i < finding->n_waiting && weight == EZPROF_PROBLEM; i++) {
		if (finding->waiting[i] != finding->subject)
			worsen(&list[finding->waiting[i]], own_states[WAITS].state);
	}
}

/* A message that is lost is a subscriber's or a publisher's. */
static bool has_lost(const struct ezprof_object *object)
{
	if (object->scope == EZPROF_PUB)
		return ezprof_figure(object, EZPROF_PUB_LOST_TOTAL, 0.0) > 0;
	return object->scope == EZPROF_SUB && ezprof_figure(object, EZPROF_SUB_LOST_TOTAL, 0.0) > 0;
}

/* How far it can be trusted. */
static void add_trust(struct ezprof_top_state *state, const struct ezprof_object *object)
{
	if (has_lost(object))
		worsen(state, own_states[LOST].state);
	if (object->warming_up)
		worsen(state, own_states[WARMING].state);
	if (strcmp(ezprof_label(object, EZPROF_LABEL_SOURCE), "process") == 0)
		worsen(state, own_states[UNSEEN].state);
}

static uint64_t process_key(int64_t pid, const char *host)
{
	return ezprof_key_text(ezprof_key_whole(ezprof_key(0), (uint64_t)pid), host);
}

/* Errors are numbered behind the processes. */
static const struct ezprof_mention *mention_at(const struct ezprof_model *model, size_t number)
{
	return number < model->n_processes ? &model->processes[number]
					   : &model->errors[number - model->n_processes];
}

static struct ezprof_top_state state_by(const struct ezprof_model *model, size_t number)
{
	const char *reason = mention_at(model, number)->reason;

	if (number >= model->n_processes)
		return own_states[SILENT].state;
	return reason && strcmp(reason, "exited") == 0 ? own_states[ENDED].state : no_state;
}

static int add_processes(struct ezprof_top_states *states)
{
	const struct ezprof_model *model = states->model;
	size_t i, n = model->n_processes + model->n_errors;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		const struct ezprof_mention *mention = mention_at(model, i);
		double severity = state_by(model, i).severity;

		if (mention->pid && severity > 0)
			err = ezprof_lookup_add(
				&states->processes,
				process_key(mention->pid, ezprof_mention_host(model, mention)),
				severity, i);
	}
	ezprof_lookup_sort(&states->processes);
	return err;
}

int ezprof_top_states_find(const struct ezprof_model *model, const struct ezprof_findings *findings,
			   struct ezprof_top_states *ret_states)
{
	size_t i;

	*ret_states = (struct ezprof_top_states){
		.model = model, .list = calloc(model->n, sizeof(*ret_states->list))};
	if (!ret_states->list)
		return -ENOMEM;
	for (i = 0; i < model->n; i++)
		ret_states->list[i] = no_state;
	for (i = 0; findings && i < findings->n; i++)
		add_finding(ret_states->list, &findings->list[i], i);
	for (i = 0; i < model->n; i++)
		add_trust(&ret_states->list[i], &model->objects[i]);
	return add_processes(ret_states);
}

void ezprof_top_states_free(struct ezprof_top_states *states)
{
	free(states->list);
	ezprof_lookup_free(&states->processes);
}

struct ezprof_top_state ezprof_top_state_of(const struct ezprof_top_states *states, size_t object)
{
	return object == EZPROF_NO_OBJECT ? no_state : states->list[object];
}

struct ezprof_top_state ezprof_top_state_of_process(const struct ezprof_top_states *states,
						    int64_t pid, const char *host)
{
	const struct ezprof_model *model = states->model;

	if (!*host && model->host)
		host = model->host;
	EZPROF_EACH_FOUND (&states->processes, process_key(pid, host), found) {
		const struct ezprof_mention *mention = mention_at(model, found->object);

		if (mention->pid == pid && strcmp(ezprof_mention_host(model, mention), host) == 0)
			return state_by(model, found->object);
	}
	return no_state;
}

bool ezprof_top_state_word(size_t i, const char **ret_word, char *ret_mark, const char **ret_what)
{
	size_t findings = sizeof(finding_words) / sizeof(finding_words[0]);
	size_t own = sizeof(own_states) / sizeof(own_states[0]);

	if (i < findings) {
		bool advice = ezprof_finding_weight(finding_words[i].kind) == EZPROF_ADVICE;

		*ret_word = finding_words[i].word;
		*ret_mark = advice ? '>' : '!';
		*ret_what = finding_whats[finding_words[i].kind];
		return true;
	}
	/* "ended", "silent" and "lost" are explained with the findings. */
	if (i - findings >= own || i - findings >= ENDED)
		return false;
	*ret_word = own_states[i - findings].state.word;
	*ret_mark = own_states[i - findings].state.mark;
	*ret_what = own_states[i - findings].what;
	return true;
}
