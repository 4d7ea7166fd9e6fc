/* A pairing heap. Under its owner's lock; each node comes before its children, and n->from points
 * to the pointer to n. */
#include "base/heap.h"

#include <stddef.h>

/* Joins two heaps and returns the first node. First nodes have no neighbours; either heap may be
 * empty. */
static struct heap_node *
meld_heaps(struct heap_node *a, struct heap_node *b, heap_before_fn *before)
{
	if (!a || !b)
		return a ? a : b;
	if (before(b, a)) {
		struct heap_node *first = b;

		b = a;
		a = first;
	}
	b->next = a->child;
	if (b->next)
		b->next->from = &b->next;
	a->child = b;
	b->from = &a->child;
	return a;
}

/* Joins a node and its neighbours: first in pairs, then the pairs from the last one on. */
static struct heap_node *
meld_neighbours(struct heap_node *n, heap_before_fn *before)
{
	struct heap_node *pairs = NULL, *all = NULL;

	while (n) {
		struct heap_node *a = n, *b = n->next, *rest = b ? b->next : NULL;

		a->next = NULL;
		if (b)
			b->next = NULL;
		a = meld_heaps(a, b, before);
		a->next = pairs;
		pairs = a;
		n = rest;
	}
	while (pairs) {
		struct heap_node *a = pairs;

		pairs = a->next;
		a->next = NULL;
		all = meld_heaps(all, a, before);
	}
	return all;
}

static void
heap_meld(struct heap *h, struct heap_node *n, heap_before_fn *before)
{
	h->first = meld_heaps(h->first, n, before);
	if (h->first)
		h->first->from = &h->first;
}

void
heap_add(struct heap *h, struct heap_node *n, heap_before_fn *before)
{
	assert(!heap_has(n));
	n->child = n->next = NULL;
	heap_meld(h, n, before);
}

void
heap_remove(struct heap *h, struct heap_node *n, heap_before_fn *before)
{
	struct heap_node *behind;

	assert(heap_has(n));
	*n->from = n->next;
	if (n->next)
		n->next->from = n->from;
	behind = meld_neighbours(n->child, before);
	n->child = n->next = NULL;
	n->from = NULL;
	heap_meld(h, behind, before);
}
