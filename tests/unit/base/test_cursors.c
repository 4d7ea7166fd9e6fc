/* Walks over lists that change: an item that stays is visited once, whatever else is added or
 * removed. */
#include <stdlib.h>

#include "base/cursors.h"
#include "unit/test.h"

enum { ITEMS = 200, WALKS = 6, STAYS = 3 };

struct item {
	struct list link;
	uint64_t number;
	int is_in;
	unsigned int seen[WALKS];
};

static struct item items[ITEMS * 10];
static struct list head;
static struct cursors cursors;
static uint64_t last;

static void
come(void)
{
	struct item *it = &items[last];

	*it = (struct item){ .number = ++last, .is_in = 1 };
	list_append(&head, &it->link);
}

static void
go(struct item *it)
{
	cursors_leave(&cursors, &it->link);
	list_remove(&it->link);
	it->is_in = 0;
}

static void
start(void)
{
	list_init(&head);
	cursors = (struct cursors){ 0 };
	last = 0;
	while (last < ITEMS)
		come();
}

static struct list *
find(uint64_t after)
{
	struct list *at = head.next;

	while (at != &head && list_entry(at, struct item, link)->number <= after)
		at = at->next;
	return at;
}

/* Visits up to n items; 0 at the end. */
static int
visit(uint64_t *after, unsigned int walk, unsigned int n)
{
	struct list *at = cursors_take(&cursors, *after);

	if (!at)
		at = find(*after);
	for (; at != &head && n; at = at->next, n--) {
		struct item *it = list_entry(at, struct item, link);

		assert_true(it->is_in && it->number > *after);
		*after = it->number;
		it->seen[walk]++;
	}
	if (at == &head)
		return 0;
	cursors_put(&cursors, *after, at);
	return 1;
}

static void
items_that_stay_are_visited_once(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 20; seed++) {
		uint64_t after[WALKS] = { 0 };
		int more = WALKS;

		srand(seed);
		start();
		/* More walks than cursors, each at its own pace; every STAYS-th item stays. */
		while (more) {
			more = 0;
			for (unsigned int w = 0; w < WALKS; w++)
				more += visit(&after[w], w, w + 1);
			for (int i = 0; i < 5; i++) {
				struct item *it = &items[(unsigned int)rand() % last];

				if (it->is_in && it->number % STAYS)
					go(it);
			}
			if (last < ITEMS * 2)
				come();
		}
		for (unsigned int i = 0; i < ITEMS; i++)
			for (unsigned int w = 0; w < WALKS; w++)
				if (items[i].number % STAYS == 0)
					assert_int_equal(items[i].seen[w], 1);
				else
					assert_in_range(items[i].seen[w], 0, 1);
	}
}

/* When its item is removed, the cursor moves to the next one. */
static void
a_cursor_moves_when_its_item_is_removed(void **state)
{
	uint64_t after = 0;

	(void)state;
	start();
	assert_int_equal(visit(&after, 0, 10), 1);
	assert_int_equal(cursors.n, 1);
	for (unsigned int i = 5; i < 20; i++)
		go(&items[i]);
	assert_ptr_equal(cursors_take(&cursors, 10), &items[20].link);
	assert_int_equal(cursors.n, 0);
	assert_null(cursors_take(&cursors, 10));
	cursors_put(&cursors, 199, &items[199].link);
	go(&items[199]);
	assert_ptr_equal(cursors_take(&cursors, 199), &head);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_that_stay_are_visited_once),
		cmocka_unit_test(a_cursor_moves_when_its_item_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
