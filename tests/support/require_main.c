/* SPDX-License-Identifier: MIT */
/* `require bpf`, `require interop`: the checks of require.h for shell and Python tests. */
#include "require.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "bpf") == 0) {
			ez_require_bpf();
		} else if (strcmp(argv[i], "interop") == 0) {
			ez_require_interop();
		} else {
			fprintf(stderr, "usage: require [bpf] [interop]\n");
			return 2;
		}
	}
	return 0;
}
