/* SPDX-License-Identifier: MIT */
#include "top_state.h"

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

/* For each object and each finding: what most of them have nothing to do with is found out first.
 */
static struct ezprof_top_state by_finding(const struct ezprof_finding *finding, size_t rank,
					  size_t object)
{
	enum ezprof_weight weight = ezprof_finding_weight(finding->kind);
	struct ezprof_top_state state = no_state;
	size_t i;

	if (weight == EZPROF_NOTE)
		return state;
	if (finding->subject == object) {
		state.word = word_of(finding->kind);
		state.mark = weight == EZPROF_ADVICE ? '>' : '!';
		state.severity =
			weight == EZPROF_ADVICE ? ADVICE_SEVERITY : PROBLEM_SEVERITY - (double)rank;
		return *state.word ? state : no_state;
	}
	for (i = 0; i < finding->n_waiting; i++) {
		if (finding->waiting[i] == object && weight == EZPROF_PROBLEM)
			return own_states[WAITS].state;
	}
	return state;
}

/* A message that is lost is a subscriber's or a publisher's. */
static bool has_lost(const struct ezprof_object *object)
{
	if (object->scope == EZPROF_PUB)
		return ezprof_figure(object, EZPROF_PUB_LOST_TOTAL, 0.0) > 0;
	return object->scope == EZPROF_SUB && ezprof_figure(object, EZPROF_SUB_LOST_TOTAL, 0.0) > 0;
}

struct ezprof_top_state ezprof_top_state_of(const struct ezprof_model *model,
					    const struct ezprof_findings *findings, size_t object)
{
	struct ezprof_top_state state = no_state;
	const struct ezprof_object *o;
	size_t i;

	if (object == EZPROF_NO_OBJECT)
		return state;
	o = &model->objects[object];
	for (i = 0; findings && i < findings->n; i++)
		state = ezprof_top_state_worse(state, by_finding(&findings->list[i], i, object));
	if (has_lost(o))
		state = ezprof_top_state_worse(state, own_states[LOST].state);
	if (o->warming_up)
		state = ezprof_top_state_worse(state, own_states[WARMING].state);
	if (strcmp(ezprof_label(o, EZPROF_LABEL_SOURCE), "process") == 0)
		state = ezprof_top_state_worse(state, own_states[UNSEEN].state);
	return state;
}

static bool is_of(const struct ezprof_model *model, const struct ezprof_mention *mention,
		  int64_t pid, const char *host)
{
	return pid && mention->pid == pid && strcmp(ezprof_mention_host(model, mention), host) == 0;
}

struct ezprof_top_state ezprof_top_state_of_process(const struct ezprof_model *model, int64_t pid,
						    const char *host)
{
	struct ezprof_top_state state = no_state;
	size_t i;

	if (!*host && model->host)
		host = model->host;
	for (i = 0; i < model->n_processes; i++) {
		const struct ezprof_mention *process = &model->processes[i];

		if (is_of(model, process, pid, host) && process->reason &&
		    strcmp(process->reason, "exited") == 0)
			state = ezprof_top_state_worse(state, own_states[ENDED].state);
	}
	for (i = 0; i < model->n_errors; i++) {
		if (is_of(model, &model->errors[i], pid, host))
			state = ezprof_top_state_worse(state, own_states[SILENT].state);
	}
	return state;
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
