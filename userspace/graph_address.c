/* SPDX-License-Identifier: MIT */
#include "graph_address.h"
#include "parse.h"

#include <string.h>

#define LOOPBACK "127.0.0.1"

bool ezprof_same_graph(const char *a, const char *b)
{
	struct ez_address left, right;

	if (strcmp(a, b) == 0)
		return true;
	if (ez_parse_address(a, &left) || ez_parse_address(b, &right))
		return false;
	if (strcmp(left.host, "localhost") == 0)
		strcpy(left.host, LOOPBACK);
	if (strcmp(right.host, "localhost") == 0)
		strcpy(right.host, LOOPBACK);
	return left.port == right.port && strcasecmp(left.host, right.host) == 0;
}
