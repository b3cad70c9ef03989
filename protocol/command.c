/* SPDX-License-Identifier: MIT */
#include "command.h"

const char *ez_command_name(uint8_t command)
{
	switch (command) {
#define EZ_COMMAND_CASE(name, value) \
	case value: \
		return #name;
		EZ_COMMANDS(EZ_COMMAND_CASE)
#undef EZ_COMMAND_CASE
	default:
		return "unknown";
	}
}
