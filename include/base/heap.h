/*
 * Intrusive heap of nodes that may leave from any place: a pairing heap (Fredman, Sedgewick,
 * Sleator, Tarjan, 1986). Adding takes constant time, removing O(log n) on average. It allocates
 * nothing. Memory of zeros is an empty heap, and a node that is in none.
 */
#ifndef TACIT_BASE_HEAP_H
#define TACIT_BASE_HEAP_H

#include "base/compiler.h"

struct heap_node {
	struct heap_node *child; /* the first one of those behind it */
	struct heap_node *next;  /* the next child of the same node */
	struct heap_node **from; /* the pointer to this node; NULL: it is in no heap */
};

struct heap {
	struct heap_node *first; /* of the order; NULL: empty */
};

/* True if a comes before b; a total order that does not change for nodes in a heap. */
typedef int heap_before_fn(const struct heap_node *a, const struct heap_node *b);

void heap_add(struct heap *h, struct heap_node *n, heap_before_fn *before);
/* n is in h. */
void heap_remove(struct heap *h, struct heap_node *n, heap_before_fn *before);

static inline int
heap_has(const struct heap_node *n)
{
	return n->from != NULL;
}

#endif
