/* SPDX-License-Identifier: MIT */
/* A publisher and a channel as JSON objects: the middle of report_json.h. */
#ifndef EZPROF_REPORT_ENDPOINT_H
#define EZPROF_REPORT_ENDPOINT_H

#include <json-c/json.h>

#include "profile.h"

/* Each: a new object, owned by the caller. */
struct json_object *ezprof_report_publisher(const struct ezprof_profile *profile,
					    const struct ezprof_row *publisher);
struct json_object *ezprof_report_channel(const struct ezprof_profile *profile,
					  const struct ezprof_row *channel);

#endif
