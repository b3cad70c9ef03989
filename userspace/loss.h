/* SPDX-License-Identifier: MIT */
/*
 * How many messages of an endpoint went by since the attach without being counted: pure
 * arithmetic on running numbers. Nothing is guessed: what isn't provable is a lower bound, and
 * what can't be known is not known.
 */
#ifndef EZPROF_LOSS_H
#define EZPROF_LOSS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Messages are publishes (publisher), or frees (link, client). Those of `departed` are in `total`
 * but no probe reports them (leases that ended because their holder left).
 */
struct ezprof_running {
	uint64_t total;
	uint64_t departed;
	bool stable; /* all of `total` has been through the probes, and was read in one moment */
};

struct ezprof_loss_input {
	bool opened_after; /* the endpoint was opened after the attach: everything should be counted
			    */
	bool have_attach;  /* at_attach was read, right after the attach */
	struct ezprof_running at_attach;
	struct ezprof_running before; /* read before the maps */
	struct ezprof_running after;  /* and after them */
	uint64_t measured;	      /* what the maps hold */
	uint64_t first_total;	      /* running number of the first one counted; 0 = none */
	bool maps_stable;
};

struct ezprof_loss {
	bool known;
	bool exact; /* false: a lower bound */
	uint64_t lost;
};

void ezprof_loss_compute(const struct ezprof_loss_input *input, struct ezprof_loss *ret_loss);

#endif
