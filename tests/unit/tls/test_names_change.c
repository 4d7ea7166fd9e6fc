#include "tls/names.h"

#include <stdio.h>
#include <string.h>

#include "tls/bind.h"
#include "unit/tls/tls_rig.h"

enum { LINES = 40, WORDS = 60, ROUNDS = 2000 };

static struct tls_names t;
static struct tls_names_change c;
static struct tls_line line[LINES];

/* The names of each line now, and after the change. */
static unsigned char has[LINES][WORDS], will[LINES][WORDS];
static uint32_t seed = 1;

static uint32_t
draw(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* Exact names, wildcards, and both excluded. */
static const char *
pattern(unsigned int word)
{
	static char text[32];
	static const char *const form[] = { "n%u.test", "*.w%u.test", "!n%u.test", "!*.w%u.test" };

	snprintf(text, sizeof(text), form[word % 4], word / 4);
	return text;
}

static int
setup(void **state)
{
	(void)state;
	tls_names_init(&t);
	memset(has, 0, sizeof(has));
	for (unsigned int i = 0; i < LINES; i++)
		line[i].order = i;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	tls_names_fini(&t);
	return 0;
}

static void
assert_same_name(const char *name, const struct tls_names *other)
{
	const struct tls_name *a = tls_names_find(&t, name, strlen(name));
	const struct tls_name *b = tls_names_find(other, name, strlen(name));

	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->line, b->line, a->n * sizeof(*a->line));
}

/* The table equals one that is rebuilt from the names of all lines. */
static void
assert_is(unsigned char of[LINES][WORDS])
{
	struct tls_names fresh;
	char name[32];

	tls_names_init(&fresh);
	for (unsigned int i = 0; i < LINES; i++)
		for (unsigned int w = 0; w < WORDS; w++)
			if (of[i][w])
				assert_int_equal(
					tls_names_add(&fresh, pattern(w), &line[i]), 0);
	assert_int_equal(t.exact.n, fresh.exact.n);
	assert_int_equal(t.wild.n, fresh.wild.n);
	for (unsigned int k = 0; k < WORDS; k++) {
		snprintf(name, sizeof(name), "n%u.test", k);
		assert_same_name(name, &fresh);
		snprintf(name, sizeof(name), "x.w%u.test", k);
		assert_same_name(name, &fresh);
	}
	tls_names_fini(&fresh);
}

static void
draw_change(void)
{
	unsigned int i = draw(LINES), most = draw(10) ? 4 : WORDS;

	for (unsigned int k = 0; k < most; k++) {
		unsigned int w = draw(WORDS);

		if (will[i][w])
			assert_int_equal(names_change_remove(&c, pattern(w), &line[i]), 0);
		else
			assert_int_equal(names_change_add(&c, pattern(w), &line[i]), 0);
		will[i][w] = !will[i][w];
		i = draw(4) ? i : draw(LINES);
	}
}

/* Before a change is put in place the table is as it was, also if it never is. */
static void
test_model(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		memcpy(will, has, sizeof(has));
		names_change_init(&c, &t);
		draw_change();
		assert_int_equal(names_change_make_room(&c), 0);
		if (round % 16 == 0)
			assert_is(has);
		if (draw(8)) {
			names_change_apply(&c);
			memcpy(has, will, sizeof(has));
		}
		names_change_fini(&c);
		if (round % 8 == 0)
			assert_is(has);
	}
	assert_is(has);
}

/* A table without names, and a name that comes and goes in one change. */
static void
test_new_and_gone(void **state)
{
	(void)state;
	names_change_init(&c, &t);
	assert_int_equal(names_change_add(&c, "A.test", &line[1]), 0);
	assert_int_equal(names_change_add(&c, "a.Test", &line[1]), 0);
	assert_int_equal(names_change_add(&c, "a.test", &line[0]), 0);
	assert_int_equal(names_change_add(&c, "b.test", &line[0]), 0);
	assert_int_equal(names_change_remove(&c, "b.test", &line[0]), 0);
	assert_int_equal(names_change_add(&c, "!*", &line[0]), 0);
	assert_int_equal(names_change_make_room(&c), 0);
	assert_null(tls_names_find(&t, "a.test", 6));
	names_change_apply(&c);
	names_change_fini(&c);
	assert_int_equal(t.exact.n, 1);
	assert_int_equal(t.wild.n, 0);
	assert_int_equal(tls_names_find(&t, "a.test", 6)->n, 2);
	assert_ptr_equal(tls_names_find(&t, "a.test", 6)->line[0], &line[0]);
}

static void
test_fallback(void **state)
{
	(void)state;
	assert_int_equal(tls_names_add_fallback(&t, &line[0]), 0);
	assert_int_equal(tls_names_add_fallback(&t, &line[1]), 0);
	for (unsigned int i = 0; i < 2; i++) {
		names_change_init(&c, &t);
		assert_ptr_equal(names_change_first(&c), &line[i]);
		assert_int_equal(names_change_remove_fallback(&c, &line[i]), 0);
		assert_ptr_equal(names_change_first(&c), i ? NULL : &line[1]);
		assert_ptr_equal(t.fallback.line[0], &line[i]);
		assert_int_equal(names_change_make_room(&c), 0);
		names_change_apply(&c);
		names_change_fini(&c);
		assert_int_equal(t.fallback.n, 1 - i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_model),
		CASE(test_new_and_gone),
		CASE(test_fallback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
