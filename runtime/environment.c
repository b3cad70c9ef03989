/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "log.h"
#include "parse.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

bool ez_env_flag(const char *name, bool fallback)
{
	static const char *const yes[] = {"1", "true", "yes", "on"};
	const char *value = getenv(name);

	if (!value)
		return fallback;
	for (size_t i = 0; i < COUNT(yes); i++)
		if (strcasecmp(value, yes[i]) == 0)
			return true;
	return false;
}

bool ez_env_is(const char *name, const char *value)
{
	const char *found = getenv(name);

	return found && strcmp(found, value) == 0;
}

uint64_t ez_env_u64(const char *name, uint64_t min, uint64_t max, uint64_t fallback)
{
	const char *text = getenv(name);
	uint64_t value;

	return text && ez_parse_u64_range(text, min, max, &value) == 0 ? value : fallback;
}

void ez_env_log_setup(void)
{
	static const struct {
		const char *name;
		enum ez_log_level level;
	} levels[] = {
		{"DEBUG", EZ_LOG_DEBUG}, {"INFO", EZ_LOG_INFO},	  {"WARNING", EZ_LOG_WARN},
		{"WARN", EZ_LOG_WARN},	 {"ERROR", EZ_LOG_ERROR}, {"CRITICAL", EZ_LOG_ERROR},
	};
	const char *value = getenv("EZMSG_LOGLEVEL");

	for (size_t i = 0; value && i < COUNT(levels); i++)
		if (strcasecmp(value, levels[i].name) == 0)
			ez_log_setup(levels[i].level, "libezmsg");
}
