/* SPDX-License-Identifier: MIT */
/* Findings as text and as JSON. Pure; the buffer's sticky error tells of a failure. */
#ifndef EZPROF_WHY_PRINT_H
#define EZPROF_WHY_PRINT_H

#include "finding.h"

/* Numbered sentences, broken at so many columns (0: not broken); notes behind the others. */
void ezprof_why_text(struct ez_buffer *out, const struct ezprof_findings *findings,
		     unsigned int columns);

/* {"schema": "ezprof.why/1", ...}, one line; docs/profile-json.md describes it. */
void ezprof_why_json(struct ez_buffer *out, const struct ezprof_model *model,
		     const struct ezprof_findings *findings);

#endif
