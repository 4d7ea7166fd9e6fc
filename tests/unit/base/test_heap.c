/* The heap against a plain array, with nodes that leave from any place. */
#include "base/heap.h"

#include <string.h>

#include "base/compiler.h"
#include "unit/test.h"

#define NODES 200

struct item {
	struct heap_node node;
	int key, number;
};

static struct item items[NODES];

static int
item_is_before(const struct heap_node *a, const struct heap_node *b)
{
	const struct item *x = container_of(a, const struct item, node);
	const struct item *y = container_of(b, const struct item, node);

	return x->key != y->key ? x->key < y->key : x->number < y->number;
}

/* The first one of those in the heap, found by reading all of them. */
static struct item *
first_item(void)
{
	struct item *best = NULL;

	for (int i = 0; i < NODES; i++)
		if (heap_has(&items[i].node) &&
			(!best || item_is_before(&items[i].node, &best->node)))
			best = &items[i];
	return best;
}

static void
check_first(const struct heap *h)
{
	const struct item *want = first_item();

	assert_ptr_equal(h->first, want ? &want->node : NULL);
	if (h->first)
		assert_ptr_equal(h->first->from, &h->first);
}

static void
test_empty(void **state)
{
	struct heap h = { 0 };

	(void)state;
	memset(items, 0, sizeof(items));
	assert_false(heap_has(&items[0].node));
	heap_add(&h, &items[0].node, item_is_before);
	assert_true(heap_has(&items[0].node));
	assert_ptr_equal(h.first, &items[0].node);
	heap_remove(&h, &items[0].node, item_is_before);
	assert_false(heap_has(&items[0].node));
	assert_null(h.first);
}

static void
test_random(void **state)
{
	struct heap h = { 0 };
	unsigned int seed = 1;

	(void)state;
	memset(items, 0, sizeof(items));
	for (int i = 0; i < 20000; i++) {
		struct item *x;

		seed = seed * 1103515245 + 12345;
		x = &items[(seed >> 16) % NODES];
		if (heap_has(&x->node)) {
			heap_remove(&h, &x->node, item_is_before);
		} else {
			x->key = (int)(seed >> 8) % 50;
			x->number = i;
			heap_add(&h, &x->node, item_is_before);
		}
		assert_true(i % 1000 || h.first || i == 0);
		check_first(&h);
	}
	while (h.first) {
		heap_remove(&h, h.first, item_is_before);
		check_first(&h);
	}
}

/* All the nodes leave in their order, however they came. */
static void
test_sorts(void **state)
{
	for (int way = 0; way < 3; way++) {
		struct heap h = { 0 };

		(void)state;
		memset(items, 0, sizeof(items));
		for (int i = 0; i < NODES; i++) {
			items[i].key = way == 0 ? i : way == 1 ? -i : i % 7;
			items[i].number = i;
			heap_add(&h, &items[i].node, item_is_before);
		}
		for (int i = 0; i < NODES; i++) {
			check_first(&h);
			heap_remove(&h, h.first, item_is_before);
		}
		assert_null(h.first);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_sorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
