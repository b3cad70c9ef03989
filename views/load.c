/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <string.h>

#define BURST_SAMPLES_MIN 8.0
#define BURST_RATIO 4.0

bool ezprof_is_told_by_ezmsg(const struct ezprof_object *object)
{
	return strcmp(ezprof_label(object, EZPROF_LABEL_SOURCE), "ezmsg") == 0;
}

bool ezprof_is_work_measured(const struct ezprof_object *subscriber)
{
	return ezprof_known(ezprof_value(subscriber, EZPROF_SUB_PROCESS_SAMPLES));
}

double ezprof_busy_share(const struct ezprof_object *subscriber)
{
	double covered_ms = 1000.0 * ezprof_figure(subscriber, EZPROF_SUB_COVERED_S, 0.0);
	double ms = ezprof_figure(subscriber, EZPROF_SUB_PROCESS_AVG_MS, 0.0) *
			    ezprof_figure(subscriber, EZPROF_SUB_PROCESS_SAMPLES, 0.0) +
		    ezprof_figure(subscriber, EZPROF_SUB_PROCESS_NOW_MS, 0.0);

	if (covered_ms <= 0)
		return 0.0;
	return ms >= covered_ms ? 1.0 : ms / covered_ms;
}

double ezprof_runnable_share(const struct ezprof_object *subscriber)
{
	double all_ms = ezprof_figure(subscriber, EZPROF_SUB_PROCESS_SCHED_MS, 0.0);

	return all_ms > 0 ? ezprof_figure(subscriber, EZPROF_SUB_PROCESS_RUNNABLE_MS, 0.0) / all_ms
			  : 0.0;
}

double ezprof_held(const struct ezprof_object *subscriber)
{
	double now = ezprof_figure(subscriber, EZPROF_SUB_IN_FLIGHT, 0.0);
	double usual = ezprof_figure(subscriber, EZPROF_SUB_RATE_HZ, 0.0) *
		       ezprof_figure(subscriber, EZPROF_SUB_LEASE_AVG_MS, 0.0) / 1000.0;

	return usual > now ? usual : now;
}

double ezprof_capacity_hz(const struct ezprof_object *subscriber)
{
	double ms = ezprof_figure(subscriber, EZPROF_SUB_PROCESS_AVG_MS, 0.0);

	return ms > 0 ? 1000.0 / ms : -1.0;
}

double ezprof_own_ms(const struct ezprof_object *publisher)
{
	double covered_ms = 1000.0 * ezprof_figure(publisher, EZPROF_PUB_COVERED_S, 0.0);
	double messages = ezprof_figure(publisher, EZPROF_PUB_MESSAGES_WINDOW, 0.0);
	double free_ms = covered_ms - ezprof_figure(publisher, EZPROF_PUB_BLOCKED_WINDOW_MS, 0.0);

	if (messages < 1 || covered_ms <= 0)
		return -1.0;
	return free_ms > 0 ? free_ms / messages : 0.0;
}

double ezprof_blocked_share(const struct ezprof_object *publisher)
{
	double share = ezprof_figure(publisher, EZPROF_PUB_BLOCKED_SHARE, 0.0);
	double covered_ms = 1000.0 * ezprof_figure(publisher, EZPROF_PUB_COVERED_S, 0.0);
	double now_ms = ezprof_figure(publisher, EZPROF_PUB_BLOCKED_NOW_MS, 0.0);
	double open = covered_ms > 0 && now_ms > 0 ? now_ms / covered_ms : 0.0;

	/* Without an agent the wait in progress is all that is known. */
	if (covered_ms <= 0 && now_ms > 500.0)
		open = 1.0;
	if (open > share)
		share = open;
	return share > 1.0 ? 1.0 : share;
}

bool ezprof_is_bursty(const struct ezprof_object *publisher)
{
	double usual = ezprof_figure(publisher, EZPROF_PUB_GAP_P50_MS, -1.0);
	double average = ezprof_figure(publisher, EZPROF_PUB_GAP_AVG_MS, 0.0);

	return usual >= 0 && usual * BURST_RATIO < average &&
	       ezprof_figure(publisher, EZPROF_PUB_GAP_SAMPLES, 0.0) >= BURST_SAMPLES_MIN;
}
