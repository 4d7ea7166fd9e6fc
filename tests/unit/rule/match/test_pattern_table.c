#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule/match/pattern_ref.c"
#include "unit/test.h"

enum { TEXTS = 3000, STEPS = 20000 };

static struct pattern_table table;
static struct pattern_entry *there[TEXTS][2]; /* up to two entries for each text */
static uint64_t n;

static struct str
text_of(int i)
{
	static char text[32];

	snprintf(text, sizeof(text), "text%d", i);
	return str_of(text);
}

static void
add(int i, int which)
{
	struct pattern_entry *e =
		pattern_entry_new(&table.key, text_of(i), (struct str){ NULL, 0 });

	assert_non_null(e);
	assert_int_equal(pattern_table_reserve(&table, n++), 0);
	pattern_table_add(&table, e);
	there[i][which] = e;
}

static void
drop(int i, int which)
{
	pattern_table_remove(&table, there[i][which]);
	pattern_entry_free(there[i][which]);
	there[i][which] = NULL;
	n--;
}

static void
check(int i)
{
	const struct pattern_entry *a = pattern_table_find(&table, text_of(i)), *b;
	const struct pattern_entry *x = there[i][0], *y = there[i][1];

	if (!x && !y) {
		assert_null(a);
		return;
	}
	assert_non_null(a);
	assert_true(a == x || a == y);
	b = pattern_table_next(a);
	assert_ptr_equal(b, x && y ? (a == x ? y : x) : NULL);
	if (b)
		assert_null(pattern_table_next(b));
}

/* Entries are added and removed while the table grows; compared with two places for each text. */
static void
like_a_model(void **state)
{
	uint32_t size, was;
	unsigned int growing = 0;

	(void)state;
	srand(5);
	pattern_table_init(&table, &keyhash_known);
	check(0);
	for (int step = 0; step < STEPS; step++) {
		/* The number of texts increases. */
		int i = rand() % (1 + TEXTS * (step + 1) / (STEPS + 1)), which = rand() % 2;

		size = table.n_buckets;
		was = table.old ? table.moved : 0;
		if (!there[i][which])
			add(i, which);
		else if (rand() % 4 == 0)
			drop(i, which);
		if (table.n_buckets == size && table.old)
			assert_in_range(table.moved - was, 0, 2);
		growing += table.old != NULL;
		check(i);
		check(rand() % TEXTS);
		if (step % 500 == 0)
			for (int k = 0; k < TEXTS; k++)
				check(k);
	}
	assert_true(growing > 1000 && n > 2000);
	for (int i = 0; i < TEXTS; i++)
		for (int which = 0; which < 2; which++)
			if (there[i][which])
				drop(i, which);
	assert_null(pattern_table_find(&table, text_of(0)));
	pattern_table_fini(&table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_a_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
