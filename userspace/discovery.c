/* SPDX-License-Identifier: MIT */
/*
 * A process is looked at when it is new, and again when its address space has changed, less and
 * less often: at first after 250 ms, in the end every 8 s. So a library is found within that time
 * after it was loaded, and a process that will never have probes costs little.
 */
#include "discovery.h"
#include "clock.h"
#include "complaints.h"
#include "process_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_PAUSE_NS (250 * EZ_NS_PER_MS)
#define DOUBLINGS_MAX 5u
/* An address space that doesn't change is looked at so many times all the same. */
#define LOOKS_MIN 3u

struct ezprof_discovery {
	struct ezprof_measurement *measurement;
	struct ezprof_discovery_options options;
	struct ezprof_process_table table;
	struct ezprof_complaints complaints;
};

struct ezprof_discovery *ezprof_discovery_new(struct ezprof_measurement *measurement,
					      const struct ezprof_discovery_options *options)
{
	struct ezprof_discovery *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->measurement = measurement;
	d->options = *options;
	return d;
}

void ezprof_discovery_free(struct ezprof_discovery *d)
{
	if (!d)
		return;
	ezprof_process_table_free(&d->table);
	free(d);
}

void ezprof_discovery_tell(struct ezprof_discovery *d,
			   const struct ezprof_discovery_options *options)
{
	d->options.joined = options->joined;
	d->options.say = options->say;
	d->options.context = options->context;
}

static bool looks_at_all(const struct ezprof_discovery *d)
{
	return d->options.children || d->options.all || d->options.graph;
}

/* A named process that lives may yet execute what has probes. */
bool ezprof_discovery_goes_on(const struct ezprof_discovery *d)
{
	if (d->options.all || d->options.graph)
		return true;
	for (size_t i = 0; i < d->table.count; i++) {
		const struct ezprof_candidate *c = &d->table.list[i];

		if (c->size_bytes && (c->named || (d->options.children && c->descendant)))
			return true;
	}
	return false;
}

int ezprof_discovery_name(struct ezprof_discovery *d, pid_t pid)
{
	return ezprof_process_table_name(&d->table, pid);
}

static bool is_asked_for(const struct ezprof_discovery *d, const struct ezprof_candidate *c)
{
	if (!c->size_bytes || c->pid == getpid() ||
	    c->pid == ezprof_opener_pid(d->measurement->opener))
		return false;
	return c->named || d->options.all || d->options.graph ||
	       (d->options.children && c->descendant);
}

static bool is_due(const struct ezprof_candidate *c, uint64_t now_ns)
{
	return now_ns >= c->next_look_ns &&
	       (c->looks < LOOKS_MIN || c->size_bytes != c->looked_at_bytes);
}

static void note_look(struct ezprof_candidate *c, uint64_t now_ns)
{
	uint32_t doublings = c->looks < DOUBLINGS_MAX ? c->looks : DOUBLINGS_MAX;

	c->looks++;
	c->looked_at_bytes = c->size_bytes;
	c->next_look_ns = now_ns + (FIRST_PAUSE_NS << doublings);
}

static bool uses_graph(struct ezprof_target *target, const char *graph, uint64_t now_ns)
{
	ezprof_target_refresh(target, now_ns);
	for (size_t i = 0; i < target->object_count; i++) {
		if (ezprof_target_uses(target, i, graph))
			return true;
	}
	return false;
}

static void complain(const struct ezprof_discovery *d, pid_t pid, const char *sentence)
{
	char line[EZPROF_SENTENCE_BYTES + 40];

	snprintf(line, sizeof(line), "process %d: %s", (int)pid, sentence);
	d->options.say(d->options.context, line);
}

/* Most processes have no probes: nothing is said of those that nobody named. */
static int try(struct ezprof_discovery *d, struct ezprof_candidate *c, uint64_t now_ns,
	       struct ezprof_refusal *refusal)
{
	struct ezprof_measurement *m = d->measurement;
	char sentence[EZPROF_SENTENCE_BYTES];
	struct ezprof_target *target;
	int err = ezprof_measurement_add(m, c->pid, refusal, sentence);

	note_look(c, now_ns);
	if (err)
		return err == -EPIPE || err == -ENOMEM ? err : 0;
	target = m->targets[m->target_count - 1];
	if (d->options.graph && !c->named && !uses_graph(target, d->options.graph, now_ns)) {
		ezprof_measurement_remove(m, target);
		/* It may come to use it without any change of its size. */
		c->looked_at_bytes = 0;
		return 0;
	}
	if (m->started) {
		err = ezprof_measurement_attach(m, target, refusal, sentence);
		if (err) {
			if (!c->complained_of &&
			    !ezprof_complaints_note(&d->complaints, c->pid, sentence))
				complain(d, c->pid, sentence);
			c->complained_of = true;
			return err == -EPIPE ? err : 0;
		}
	}
	c->looks = 0;
	d->options.joined(d->options.context, target);
	return 0;
}

static int rescan(struct ezprof_discovery *d, struct ezprof_candidate *c,
		  struct ezprof_target *target, uint64_t now_ns)
{
	size_t found = 0;
	int err = ezprof_measurement_rescan(d->measurement, target, &found);

	note_look(c, now_ns);
	if (found && !err)
		complain(d, c->pid, "has loaded a library with probes, which are measured too");
	return err == -EPIPE ? err : 0;
}

/* A measured process: does it still run the same program, with the same libraries? */
static int follow(struct ezprof_discovery *d, struct ezprof_candidate *c,
		  struct ezprof_target *target, uint64_t now_ns)
{
	if (target->process->start_time != c->start_time)
		return 0;
	if (!ezprof_target_executed(target))
		return is_due(c, now_ns) ? rescan(d, c, target, now_ns) : 0;
	complain(d, c->pid, "has executed another program");
	ezprof_measurement_exited(d->measurement, target);
	c->looks = 0;
	c->next_look_ns = 0;
	c->complained_of = false;
	return 0;
}

int ezprof_discovery_look(struct ezprof_discovery *d, struct ezprof_refusal *ret_refusal)
{
	struct ezprof_refusal ignored;
	uint64_t now_ns;
	size_t i;
	int err = ezprof_process_table_look(&d->table, looks_at_all(d));

	if (err)
		return 0;
	for (i = 0; !err && i < d->table.count; i++) {
		struct ezprof_candidate *c = &d->table.list[i];
		struct ezprof_target *target = ezprof_measurement_find(d->measurement, c->pid);

		now_ns = ez_clock_mono_ns();
		if (target && d->measurement->started)
			err = follow(d, c, target, now_ns);
		else if (!target && is_asked_for(d, c) && is_due(c, now_ns))
			err = try(d, c, now_ns, ret_refusal ? ret_refusal : &ignored);
	}
	ezprof_complaints_tell(&d->complaints, d->options.say, d->options.context);
	return err == -EPIPE ? err : 0;
}
