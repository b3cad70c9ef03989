/* SPDX-License-Identifier: MIT */
/*
 * What a test needs from the machine. Where it is missing the test is skipped with a reason on
 * stdout (exit status 77), or fails where EZPROF_REQUIRE_BPF / EZPROF_REQUIRE_INTEROP is 1:
 * a CI that silently skips the interesting half is worse than none. Call these first in main().
 */
#ifndef EZ_TEST_REQUIRE_H
#define EZ_TEST_REQUIRE_H

#define EZ_TEST_SKIPPED 77

/* The right to load BPF programs of the kind that uprobes run. Returns, or ends the process. */
void ez_require_bpf(void);

/* An interpreter with the real ezmsg ($EZPROF_INTEROP_PYTHON). Returns its path, or ends the
 * process. */
const char *ez_require_interop(void);

/*
 * Ends the process: as skipped with the reason, or as failed where the environment variable named
 * by "required_by" (may be NULL) is 1.
 */
_Noreturn void ez_skip(const char *required_by, const char *reason);

#endif
