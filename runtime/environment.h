/* SPDX-License-Identifier: MIT */
/* Environment variables that set defaults. What can't be read as the right kind counts as unset. */
#ifndef EZ_ENVIRONMENT_H
#define EZ_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* "1", "true", "yes", "on" in any case are true, all else false, as in ezmsg. */
bool ez_env_flag(const char *name, bool fallback);
bool ez_env_is(const char *name, const char *value);
uint64_t ez_env_u64(const char *name, uint64_t min, uint64_t max, uint64_t fallback);

/* EZMSG_LOGLEVEL lets the library speak on stderr; without it, it is silent. */
void ez_env_log_setup(void);

#endif
