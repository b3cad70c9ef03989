/* SPDX-License-Identifier: MIT */
/* What agents and servers send as JSON: documents read and merged, HELLOs. */
#include "document.h"
#include "hello_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void merge(char *text)
{
	char *texts[] = {text, text};
	char *merged;

	if (ezprof_document_merge(texts, 2, &merged) == 0)
		free(merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ezprof_verdict verdict;
	char graphs[4][32], graph[32];
	char *text = malloc(size + 1), *pretty;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (ezprof_document_read(text, size, &pretty, &verdict) == 0)
		free(pretty);
	merge(text);
	ezprof_hello_graph(text, size, graph, sizeof(graph));
	if (strlen(graph) >= sizeof(graph) ||
	    ezprof_hello_graphs(text, graphs[0], sizeof(graphs[0]), 4) > 4)
		abort();
	free(text);
	return 0;
}
