/* SPDX-License-Identifier: MIT */
#include "finding.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 16u

static const struct {
	const char *id;
	enum ezprof_weight weight;
} kinds[] = {
#define KIND_ROW(name, id, weight, what) {id, EZPROF_##weight},
	EZPROF_FINDINGS(KIND_ROW)
#undef KIND_ROW
};

struct ezprof_finding *ezprof_finding_add(struct ezprof_findings *findings,
					  enum ezprof_finding_kind kind, size_t subject,
					  double score)
{
	struct ezprof_finding *finding;

	if (findings->n == findings->room) {
		size_t room = findings->room ? 2 * findings->room : ROOM_MIN;

		finding = reallocarray(findings->list, room, sizeof(*finding));
		if (!finding) {
			findings->failed = true;
			return NULL;
		}
		findings->list = finding;
		findings->room = room;
	}
	finding = &findings->list[findings->n++];
	if (subject != EZPROF_NO_OBJECT)
		findings->marks[subject] |= EZPROF_MARK_SUBJECT;
	*finding = (struct ezprof_finding){.kind = kind,
					   .score = score,
					   .subject = subject,
					   .bound_hz = -1,
					   .bound_without_hz = -1};
	return finding;
}

void ezprof_finding_rests_on(struct ezprof_finding *finding, size_t object,
			     enum ezprof_metric_id metric)
{
	size_t i;

	for (i = 0; i < finding->n_evidence; i++) {
		if (finding->evidence[i].object == object && finding->evidence[i].metric == metric)
			return;
	}
	if (finding->n_evidence < EZPROF_EVIDENCE_MAX)
		finding->evidence[finding->n_evidence++] = (struct ezprof_evidence){object, metric};
}

void ezprof_finding_holds_up(struct ezprof_findings *findings, struct ezprof_finding *finding,
			     size_t object)
{
	size_t *grown, room = finding->waiting_room ? 2 * finding->waiting_room : ROOM_MIN;

	if (finding->n_waiting == finding->waiting_room) {
		grown = reallocarray(finding->waiting, room, sizeof(*grown));
		if (!grown) {
			findings->failed = true;
			return;
		}
		finding->waiting = grown;
		finding->waiting_room = room;
	}
	finding->waiting[finding->n_waiting++] = object;
	findings->marks[object] |= EZPROF_MARK_WAITING;
}

void ezprof_finding_say(struct ezprof_findings *findings, struct ezprof_finding *finding,
			struct ez_buffer *sentence)
{
	size_t len;

	free(finding->sentence);
	finding->sentence = ez_buffer_steal(sentence, &len);
	if (!finding->sentence)
		findings->failed = true;
}

static int compare(const void *a, const void *b)
{
	const struct ezprof_finding *x = a, *y = b;
	enum ezprof_weight v = kinds[x->kind].weight, w = kinds[y->kind].weight;

	if (v != w)
		return v > w ? -1 : 1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->subject < y->subject ? -1 : x->subject > y->subject;
}

void ezprof_findings_rank(struct ezprof_findings *findings)
{
	if (findings->n)
		qsort(findings->list, findings->n, sizeof(findings->list[0]), compare);
}

void ezprof_findings_free(struct ezprof_findings *findings)
{
	size_t i;

	for (i = 0; i < findings->n; i++) {
		free(findings->list[i].sentence);
		free(findings->list[i].waiting);
	}
	free(findings->list);
	free(findings->marks);
	*findings = (struct ezprof_findings){0};
}

const char *ezprof_finding_id(enum ezprof_finding_kind kind)
{
	return kinds[kind].id;
}

enum ezprof_weight ezprof_finding_weight(enum ezprof_finding_kind kind)
{
	return kinds[kind].weight;
}

const char *ezprof_weight_word(enum ezprof_weight weight)
{
	static const char *const words[] = {"note", "advice", "problem"};

	return words[weight];
}
