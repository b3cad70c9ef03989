/* SPDX-License-Identifier: MIT */
/*
 * What `ezprof export` tells beside the metrics of metric_list.h, and which of those it tells first
 * or not at all.
 */
#ifndef EZPROF_EXPORT_LIST_H
#define EZPROF_EXPORT_LIST_H

/* clang-format off */
/* X(NAME, name without endings, type, unit, help) */
#define EZPROF_EXPORT_FAMILIES(X) \
	X(BUILD, "ezprof_build", INFO, "", "the exporter's version") \
	X(UP, "ezprof_up", GAUGE, "", "1: the figures here are of now; 0: there are none, see ezprof_scrape_failure") \
	X(FAILURE, "ezprof_scrape_failure", GAUGE, "", "why there are no figures") \
	X(DURATION, "ezprof_scrape_duration_seconds", GAUGE, "seconds", "how long getting the figures took") \
	X(AGE, "ezprof_scrape_age_seconds", GAUGE, "seconds", "how long ago that was") \
	X(SCRAPES, "ezprof_scrapes", COUNTER, "", "how often somebody asked the exporter for figures") \
	X(SCRAPES_FAILED, "ezprof_scrapes_failed", COUNTER, "", "how often there were none") \
	X(DROPPED, "ezprof_dropped_series", GAUGE, "", "series left out: too many, or two of one name") \
	X(CONNECTIONS_DROPPED, "ezprof_dropped_connections", COUNTER, "", "connections closed because there were too many, or their requests took too long") \
	X(PROCESS_ERRORS, "ezprof_process_errors", GAUGE, "", "who did not answer, or not properly, and why") \
	X(PUBLISHER, "ezprof_publisher", INFO, "", "what a restart changes of a publisher") \
	X(SUBSCRIBER, "ezprof_subscriber", INFO, "", "what a restart changes of a subscriber") \
	X(TASK, "ezprof_task", INFO, "", "what a restart changes of a task") \
	X(AGENT, "ezprof_agent", INFO, "", "what a restart changes of an agent")

/* Before all others, where there is room for so many series only. */
#define EZPROF_EXPORT_FIRST(X) \
	X(GRAPH_ERRORS) X(GRAPH_PUBLISHERS) X(GRAPH_CHANNELS) X(GRAPH_AGENTS) X(GRAPH_WINDOW_S) \
	X(AGENT_LOST_TOTAL) X(AGENT_ENDPOINTS) \
	X(PUB_MESSAGES_TOTAL) X(SUB_MESSAGES_TOTAL) \
	X(PUB_BLOCKED_TOTAL_MS) X(SUB_DROPS_TOTAL) X(PUB_LOST_TOTAL) X(SUB_LOST_TOTAL) \
	X(PUB_IN_FLIGHT) X(PUB_NUM_BUFFERS) X(SUB_PROCESS_P99_MS) X(SUB_QUEUE_P99_MS) \
	X(PUB_BLOCKED_SHARE) X(PUB_RATE_HZ) X(SUB_RATE_HZ) \
	X(SUB_PROCESS_AVG_MS) X(SUB_QUEUE_AVG_MS) X(SUB_IN_FLIGHT) X(PUB_BYTES_TOTAL)

/*
 * Never: a total that goes down when an agent leaves (its parts are ezprof_agent_lost_total), and
 * points in time of a clock that begins at boot. Links and channels are left out as a whole: they
 * are called by nothing but ids of processes, and what they know is also known of their ends.
 */
#define EZPROF_EXPORT_NEVER(X) \
	X(GRAPH_LOST_TOTAL) X(PUB_GAP_LONGEST_AT_NS) X(SUB_GAP_LONGEST_AT_NS) X(TASK_HOLD_MAX_AT_NS)
/* clang-format on */

#endif
