/* SPDX-License-Identifier: MIT */
/* Instantiates the events of stream_lttng.h. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "stream_lttng.h"
