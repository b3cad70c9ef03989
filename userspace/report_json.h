/* SPDX-License-Identifier: MIT */
/*
 * Renders a profile as JSON: docs/profile-json.md, key by key. Pure: same values, same text. One of
 * the few files that see json-c.
 */
#ifndef EZPROF_REPORT_JSON_H
#define EZPROF_REPORT_JSON_H

#include "profile.h"

/* The PROFILE document made from one agent; one line, terminated, owned by the caller. NULL: no
 * memory. */
char *ezprof_report_document(const struct ezprof_profile *profile);

/* An agent's answer on its link to the graph server; likewise. */
char *ezprof_report_agent(const struct ezprof_profile *profile);

#endif
