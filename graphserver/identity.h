/* SPDX-License-Identifier: MIT */
/*
 * How a client of this project introduces itself: the JSON of a HELLO, or of the mark on a link.
 * All of it is a claim, used for names in reports and nothing else.
 */
#ifndef EZPROF_IDENTITY_H
#define EZPROF_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

struct ezprof_identity {
	char type[16];	  /* of a mark: "hello" */
	char role[16];	  /* of a HELLO: "agent", "client", "probe" */
	char program[32]; /* empty = unknown, like the others; cut to size */
	char version[16];
	char host[65];
	int64_t pid; /* 0 = unknown */
};

/* -EINVAL unless text is a JSON object of at most 64 KiB. */
int ezprof_identity_parse(const char *text, size_t len, struct ezprof_identity *ret_identity);

#endif
