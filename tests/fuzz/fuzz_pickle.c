/* SPDX-License-Identifier: MIT */
/* Pickles of strangers: values, graphs, and the tree below both. */
#include <stdlib.h>

#include "pickle.h"
#include "pickle_dag.h"
#include "pickle_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches every name, so that the sanitizer sees a bad one. */
static void walk(const struct ez_dag *dag)
{
	volatile size_t sum = 0;

	for (size_t i = 0; i < dag->n_topics; i++)
		for (size_t k = 0; k < dag->topics[i].n_successors; k++)
			sum += (size_t)*dag->topics[dag->topics[i].successors[k]].name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ez_pickle_tree *tree;
	struct ez_value value;
	struct ez_dag *dag;

	if (ez_pickle_read(data, size, &value) == 0 && value.type == EZ_VALUE_NDARRAY &&
	    ez_dtype_bytes(value.array.dtype) == 0)
		abort();
	if (ez_pickle_read_dag(data, size, &dag) == 0) {
		walk(dag);
		ez_dag_free(dag);
	}
	if (ez_pickle_tree_parse(data, size, 1000, &tree) == 0) {
		ez_node_lookup(ez_pickle_tree_root(tree), "graph");
		ez_pickle_tree_free(tree);
	}
	return 0;
}
