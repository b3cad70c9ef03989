/* SPDX-License-Identifier: MIT */
/* The smallest instrumented program: usdt/ alone, statically linked. */
#include "endpoint.h"
#include "registry.h"

int main(void)
{
	struct ez_endpoint_spec spec = {.kind = EZ_KIND_PUBLISHER, .num_buffers = 2, .topic = "T"};
	struct ez_entry *entry;

	if (ez_registry_open(&spec, &entry))
		return 1;
	ez_endpoint_publish(entry, 0, 1);
	return 0;
}
