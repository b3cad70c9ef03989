/* SPDX-License-Identifier: MIT */
/*
 * `require bpf`, `require interop`, `require skip REASON [VARIABLE]`: require.h for tests in shell
 * and Python.
 */
#include "require.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int i;

	if (argc >= 3 && strcmp(argv[1], "skip") == 0)
		ez_skip(argc > 3 ? argv[3] : NULL, argv[2]);
	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "bpf") == 0) {
			ez_require_bpf();
		} else if (strcmp(argv[i], "interop") == 0) {
			ez_require_interop();
		} else {
			fprintf(stderr,
				"usage: require [bpf] [interop] | skip REASON [VARIABLE]\n");
			return 2;
		}
	}
	return 0;
}
