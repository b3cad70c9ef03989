/* SPDX-License-Identifier: MIT */
/* What a profile comes to: sentences, each with the objects and figures that it rests on. */
#ifndef EZPROF_FINDING_H
#define EZPROF_FINDING_H

#include "model.h"

enum ezprof_weight { EZPROF_NOTE, EZPROF_ADVICE, EZPROF_PROBLEM };

/* Name, id, weight, what it means. */
#define EZPROF_FINDINGS(X) \
	X(STUCK, "stuck_subscriber", PROBLEM, "holds a message and gives none back") \
	X(DEAD, "dead_process", PROBLEM, "a process that was measured has ended") \
	X(SLOW, "slow_subscriber", PROBLEM, "its own processing is the limit") \
	X(STARVED, "cpu_starved", PROBLEM, "it could run, but waits for a CPU") \
	X(LOOP_HELD, "loop_held", PROBLEM, "another task holds the event loop") \
	X(CONNECTION, "connection", PROBLEM, "the TCP connection is the limit") \
	X(FEW_BUFFERS, "few_buffers", PROBLEM, "bursts need more buffers than there are") \
	X(LATE, "late_subscriber", PROBLEM, "its messages wait, and nothing tells why") \
	X(BLOCKED, "blocked_publisher", PROBLEM, "it is held up by somebody who isn't measured") \
	X(DROPS, "drops", PROBLEM, "a leaky subscriber loses messages") \
	X(BURSTS, "bursts", PROBLEM, "messages come in bursts, and wait") \
	X(GAP, "gap", PROBLEM, "the stream stuttered") \
	X(SILENT, "silent", PROBLEM, "somebody did not answer, or not properly") \
	X(LOST, "lost", PROBLEM, "something happened that was not counted") \
	X(SERIALISING, "serialising", ADVICE, \
	  "making the message is most of the publisher's time") \
	X(TCP_LOCAL, "tcp_within_host", ADVICE, "TCP where shared memory is possible") \
	X(OWN_PACE, "own_pace", NOTE, "the publisher itself sets the rate") \
	X(IDLE, "idle", NOTE, "nothing moves") \
	X(ENDED, "ended_process", NOTE, "a process that was measured has ended, some time ago") \
	X(WARMING_UP, "warming_up", NOTE, "measured for less than was asked") \
	X(UNPREPARED, "unprepared", NOTE, "nobody measures it from the kernel") \
	X(FINE, "fine", NOTE, "nothing is wrong")

enum ezprof_finding_kind {
#define EZPROF_FINDING_VALUE(name, id, weight, what) EZPROF_FINDING_##name,
	EZPROF_FINDINGS(EZPROF_FINDING_VALUE)
#undef EZPROF_FINDING_VALUE
};

struct ezprof_evidence {
	size_t object;
	enum ezprof_metric_id metric;
};

#define EZPROF_EVIDENCE_MAX 24u

struct ezprof_finding {
	enum ezprof_finding_kind kind;
	double score;	/* for the order among those of the same weight */
	size_t subject; /* an object of the model, or EZPROF_NO_OBJECT */
	char *sentence;
	size_t *waiting; /* objects that it holds up */
	size_t n_waiting, waiting_room;
	struct ezprof_evidence evidence[EZPROF_EVIDENCE_MAX];
	size_t n_evidence;
	double bound_hz, bound_without_hz; /* of the rate; negative = not known */
};

/* Is it the subject of a finding; is it held up by what one says? */
#define EZPROF_MARK_SUBJECT 1u
#define EZPROF_MARK_WAITING 2u

struct ezprof_findings {
	struct ezprof_finding *list; /* ranked by ezprof_findings_rank() */
	size_t n, room;
	bool failed;	      /* no memory: something is missing */
	unsigned char *marks; /* per object of the model, EZPROF_MARK_ */
};

/* A new finding without a sentence; NULL (and failed) without memory. Valid until the next one. */
struct ezprof_finding *ezprof_finding_add(struct ezprof_findings *findings,
					  enum ezprof_finding_kind kind, size_t subject,
					  double score);

/* What exceeds the room of a finding is left out. */
void ezprof_finding_rests_on(struct ezprof_finding *finding, size_t object,
			     enum ezprof_metric_id metric);

/* One object more that it holds up. */
void ezprof_finding_holds_up(struct ezprof_findings *findings, struct ezprof_finding *finding,
			     size_t object);

/* The sentence is what the buffer holds, which is empty then. */
void ezprof_finding_say(struct ezprof_findings *findings, struct ezprof_finding *finding,
			struct ez_buffer *sentence);

void ezprof_findings_rank(struct ezprof_findings *findings);
void ezprof_findings_free(struct ezprof_findings *findings);

const char *ezprof_finding_id(enum ezprof_finding_kind kind);
enum ezprof_weight ezprof_finding_weight(enum ezprof_finding_kind kind);
const char *ezprof_weight_word(enum ezprof_weight weight); /* "problem" */

#endif
