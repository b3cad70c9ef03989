/* SPDX-License-Identifier: MIT */
#include "loss.h"

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * The running number after which everything should have been counted. A message that was counted
 * before the table was read at the attach moves it back: counting had begun by then.
 */
static bool base_total(const struct ezprof_loss_input *in, uint64_t *ret_base)
{
	uint64_t before_first = in->first_total ? in->first_total - 1 : UINT64_MAX;

	if (in->opened_after) {
		*ret_base = 0;
		return true;
	}
	if (!in->have_attach && !in->first_total)
		return false;
	*ret_base = before_first;
	if (in->have_attach && in->at_attach.total < before_first)
		*ret_base = in->at_attach.total;
	return true;
}

/*
 * What has surely been through the probes. Updates of an endpoint follow each other, so of a
 * reading amid one only the newest message is in doubt. Departures are then taken from the later
 * reading: too many rather than too few.
 */
static struct ezprof_running surely(const struct ezprof_loss_input *in)
{
	struct ezprof_running sure = in->before;

	if (!sure.stable) {
		sure.total = minus(sure.total, 1);
		if (in->after.departed > sure.departed)
			sure.departed = in->after.departed;
	}
	return sure;
}

/*
 * lost = total - base - departed since then - counted. Departures between base and the reading at
 * the attach can't be told from those before base: taken as after it, which makes `lost` smaller,
 * never larger.
 */
void ezprof_loss_compute(const struct ezprof_loss_input *in, struct ezprof_loss *ret_loss)
{
	struct ezprof_running sure = surely(in);
	struct ezprof_loss loss = {0};
	uint64_t base, departed_base = 0;
	bool departed_exact = true;

	*ret_loss = loss;
	if (!base_total(in, &base))
		return;
	if (!in->opened_after && in->have_attach) {
		if (base == in->at_attach.total)
			departed_base = in->at_attach.departed;
		else
			departed_exact = in->at_attach.departed == 0;
	} else if (!in->opened_after) {
		departed_exact = sure.departed == 0;
	}
	loss.known = true;
	loss.lost = minus(minus(minus(sure.total, base), minus(sure.departed, departed_base)),
			  in->measured);
	loss.exact = departed_exact && in->maps_stable && in->before.stable && in->after.stable &&
		     in->after.total == in->before.total &&
		     in->after.departed == in->before.departed;
	*ret_loss = loss;
}
