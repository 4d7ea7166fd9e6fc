/* Entries that are changed during look-ups: one operation at a time, and with real threads. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/thread.h"
#include "rule/match/pattern_live.h"
#include "rule/match/pattern_version.h"
#include "unit/test.h"

enum { SETS = 4, THREADS = 4, ROUNDS = 4000, KEYS = 40, SAME = 500 };

/* One set for each method of finding: by the whole text, by its beginning, one by one, and as
 * numbers. */
static const struct {
	enum pattern_method method;
	enum sample_type out;
} kinds[SETS] = {
	{ PATTERN_STR, SAMPLE_STR },
	{ PATTERN_BEG, SAMPLE_STR },
	{ PATTERN_SUB, SAMPLE_STR },
	{ PATTERN_STR, SAMPLE_SINT },
};

static struct pattern_set set[SETS];
static struct pattern_ref *ref;
static struct sys sys;
static struct rule_err why;

static unsigned int
del_id(struct pattern_ref *of, uint64_t id)
{
	struct pattern_entry *e = pattern_ref_by_id(of, id);

	if (e)
		pattern_ref_del_entry(of, e);
	return e != NULL;
}

static int
open_ref(void **state)
{
	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	ref = pattern_ref_new("f.map", &keyhash_known);
	assert_non_null(ref);
	for (int i = 0; i < SETS; i++) {
		pattern_set_init(&set[i], kinds[i].method, kinds[i].out, &keyhash_known);
		/* Sets added before the guard exists, and after. */
		if (i == 2)
			pattern_ref_guard(ref);
		assert_int_equal(pattern_ref_feed(ref, &set[i], 0, &why), 0);
	}
	return 0;
}

static int
close_ref(void **state)
{
	(void)state;
	for (int i = 0; i < SETS; i++)
		pattern_set_forget(&set[i]);
	pattern_ref_free(&ref);
	return 0;
}

/* The value of set i for a key, looked up as the converters do it. */
static struct str
look_up(int i, const char *key, struct sys *who, char *to, size_t size)
{
	struct sample s = { .type = SAMPLE_STR, .u.str = str_of(key) };
	char room[256];
	struct arena arena = { .p = room, .cap = sizeof(room) };
	struct sample_ctx cx = { .arena = &arena };
	const struct pattern *hit;

	pattern_set_look(&set[i], who);
	hit = pattern_match(&set[i], &s, &cx, NULL);
	snprintf(to, size, "%s", hit ? pattern_entry_of(hit)->value : "(none)");
	pattern_set_looked(&set[i]);
	return str_of(to);
}

static void
is(const char *key, const char *value)
{
	char text[64];

	for (int i = 0; i < SETS; i++)
		assert_string_equal(look_up(i, key, &sys, text, sizeof(text)).p, value);
}

static int
put(const char *key, const char *value)
{
	return pattern_live_put(ref, &sys, str_of(key), str_of(value), &why);
}

static void
one_by_one(void **state)
{
	(void)state;
	assert_int_equal(pattern_ref_add(ref, 0, STR("a"), STR("1"), &why), 0);
	assert_int_equal(pattern_ref_add(ref, 0, STR("a"), STR("2"), &why), 0);
	assert_int_equal(put("a", "3"), 0);
	is("a", "3");
	assert_int_equal(ref->n, 2);
	/* Both sets have the entry. */
	assert_int_equal(del_id(ref, 1), 1);
	is("a", "3");
	assert_int_equal(put("b", "7"), 0);
	is("b", "7");
	assert_int_equal(put("b", "7"), 0);
	assert_int_equal(ref->n, 2);
	assert_int_equal(pattern_live_del(ref, &sys, STR("b")), 1);
	assert_int_equal(pattern_live_del(ref, &sys, STR("b")), 0);
	is("b", "(none)");
	/* A key or value that one of the sets rejects. */
	assert_true(put("a", "x") < 0);
	assert_true(put("c", "x") < 0);
	assert_string_equal(why.text, "the value 'x' is not a number");
	is("a", "3");
	is("c", "(none)");
	assert_int_equal(ref->n, 1);
	assert_int_equal(ref->lock.state, 0);
	pattern_live_refuse(ref);
	assert_int_equal(ref->refused, 1);
}

/* In a version that waits for `commit` the value is changed too; the current version gets an
 * entry. */
static void
versions(void **state)
{
	(void)state;
	assert_int_equal(pattern_version_prepare(ref), 1);
	assert_int_equal(pattern_ref_add(ref, 1, STR("a"), STR("1"), &why), 0);
	is("a", "(none)");
	assert_int_equal(put("a", "2"), 0);
	is("a", "2");
	assert_int_equal(ref->n, 2);
	assert_int_equal(pattern_version_replace(ref, 1, 0), 0);
	is("a", "2");
	assert_int_equal(ref->n, 1);
	/* The sets were replaced, with the same guard. */
	for (int i = 0; i < SETS; i++)
		assert_ptr_equal(set[i].guard, &ref->lock);
	assert_int_equal(put("a", "3"), 0);
	assert_int_equal(put("b", "4"), 0);
	is("a", "3");
	is("b", "4");
}

/* An ACL has no values to change. */
static void
without_values(void **state)
{
	struct pattern_ref *acl = pattern_ref_new("a.lst", &keyhash_known);
	struct pattern_set one;

	(void)state;
	pattern_set_init(&one, PATTERN_REG, SAMPLE_ANY, &keyhash_known);
	assert_int_equal(pattern_ref_feed(acl, &one, 0, &why), 0);
	pattern_ref_guard(acl);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pattern_live_put(
					 acl, &sys, STR("a+"), (struct str){ NULL, 0 }, &why),
			0);
	assert_int_equal(one.n, 1);
	assert_true(pattern_live_put(acl, &sys, STR("("), (struct str){ NULL, 0 }, &why) < 0);
	assert_int_equal(acl->n, 1);
	assert_int_equal(pattern_live_del(acl, &sys, STR("a+")), 1);
	assert_int_equal(one.n, 0);
	pattern_set_forget(&one);
	pattern_ref_free(&acl);
}

/* A kernel whose only call fails the test: nothing may wait. */
static long
waits(void *ctx)
{
	(void)ctx;
	fail_msg("waits for a lock that it need not have");
	return 0;
}

/* An operation that changes nothing does not wait for readers. */
static void
changes_without_effect_do_not_wait(void **state)
{
	const struct sys_ops ops = { .sched_yield = waits };
	struct sys patient;

	(void)state;
	sys_init(&patient, &ops, NULL);
	assert_int_equal(put("a", "1"), 0);
	shared_lock_look(&ref->lock, &sys);
	assert_int_equal(pattern_live_del(ref, &patient, STR("b")), 0);
	assert_int_equal(pattern_live_put(ref, &patient, STR("a"), STR("1"), &why), 0);
	shared_lock_looked(&ref->lock);
	assert_int_equal(ref->lock.state, 0);
	/* Deletes from a version that is not in use, too. */
	assert_int_equal(pattern_version_prepare(ref), 1);
	assert_int_equal(pattern_ref_add(ref, 1, STR("b"), STR("1"), &why), 0);
	assert_int_equal(pattern_live_del(ref, &sys, STR("b")), 1);
	assert_int_equal(ref->n, 1);
}

/* --- with threads: a look-up finds nothing, or a value that was put for its key --- */

struct worker {
	struct thread thread;
	struct sys sys;
	unsigned int number;
	uint32_t dice;
	int value[KEYS]; /* the values of its own keys; 0: none */
	uint64_t wrong, found;
};

static unsigned int
roll(struct worker *w, unsigned int n)
{
	w->dice ^= w->dice << 13;
	w->dice ^= w->dice >> 17;
	w->dice ^= w->dice << 5;
	return w->dice % n;
}

/* The value of a key ends in its number, and its length varies. */
static void
put_one(struct worker *w)
{
	unsigned int k = roll(w, KEYS), v = 1 + roll(w, roll(w, 2) ? 9 : 900000);
	struct rule_err bad;
	char key[16], value[16];

	snprintf(key, sizeof(key), "<%u.%u>", w->number, k);
	snprintf(value, sizeof(value), "%u%02u%u", v, k, w->number);
	if (pattern_live_put(ref, &w->sys, str_of(key), str_of(value), &bad) < 0)
		w->wrong++;
	w->value[k] = atoi(value);
}

static void
del_one(struct worker *w)
{
	unsigned int k = roll(w, KEYS);
	char key[16];

	snprintf(key, sizeof(key), "<%u.%u>", w->number, k);
	if (pattern_live_del(ref, &w->sys, str_of(key)) != (w->value[k] != 0))
		w->wrong++;
	w->value[k] = 0;
}

static void
look_one(struct worker *w)
{
	unsigned int owner = roll(w, THREADS), k = roll(w, KEYS), i = roll(w, SETS);
	char key[16], text[32];
	int v;

	snprintf(key, sizeof(key), "<%u.%u>", owner, k);
	if (look_up((int)i, key, &w->sys, text, sizeof(text)).p[0] == '(')
		return;
	v = atoi(text);
	w->found++;
	if ((unsigned int)v % 10 != owner || (unsigned int)v / 10 % 100 != k)
		w->wrong++;
}

static void
work(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < ROUNDS; i++) {
		unsigned int what = roll(w, 10);

		if (what < 3)
			put_one(w);
		else if (what < 5)
			del_one(w);
		else
			look_one(w);
	}
}

static unsigned int
check_own(const struct worker *w)
{
	char key[16], value[16], text[32];
	unsigned int n = 0;

	for (unsigned int k = 0; k < KEYS; k++) {
		snprintf(key, sizeof(key), "<%u.%u>", w->number, k);
		snprintf(value, sizeof(value), w->value[k] ? "%d" : "(none)", w->value[k]);
		for (int i = 0; i < SETS; i++)
			assert_string_equal(
				look_up(i, key, &sys, text, sizeof(text)).p, value);
		n += w->value[k] != 0;
	}
	return n;
}

static struct worker workers[THREADS];

/* The number of values found by all threads. */
static uint64_t
run(void (*fn)(void *))
{
	uint64_t found = 0;

	memset(workers, 0, sizeof(workers));
	for (unsigned int i = 0; i < THREADS; i++) {
		struct worker *w = &workers[i];

		sys_init(&w->sys, &sys_linux, NULL);
		w->number = i;
		w->dice = 1000 + i;
		assert_int_equal(thread_start(&w->thread, fn, w, NULL), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(thread_join(&workers[i].thread), 0);
		assert_int_equal(workers[i].wrong, 0);
		found += workers[i].found;
	}
	assert_int_equal(ref->lock.state, 0);
	return found;
}

static void
threads_with_keys_of_their_own(void **state)
{
	unsigned int n = 0;

	(void)state;
	assert_true(run(work) > 0);
	for (int i = 0; i < THREADS; i++)
		n += check_own(&workers[i]);
	assert_int_equal(ref->n, n);
	for (int i = 0; i < SETS; i++)
		assert_int_equal(set[i].n, n);
}

/* --- all threads use the same keys --- */

static unsigned int arrived;

/* Each key when all threads are ready: it is added only once. */
static void
work_on_the_same(void *arg)
{
	struct worker *w = arg;
	struct rule_err bad;
	char key[16];

	for (unsigned int i = 0; i < SAME; i++) {
		snprintf(key, sizeof(key), "<%u>", i);
		(void)atomic_add(&arrived, 1);
		while (atomic_look(&arrived) < (i + 1) * THREADS)
			(void)sys_sched_yield(&w->sys);
		if (pattern_live_put(ref, &w->sys, str_of(key), STR("1"), &bad) < 0)
			w->wrong++;
	}
}

static void
threads_with_the_same_keys(void **state)
{
	(void)state;
	arrived = 0;
	assert_int_equal(run(work_on_the_same), 0);
	assert_int_equal(ref->n, SAME);
	for (int i = 0; i < SETS; i++)
		assert_int_equal(set[i].n, SAME);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_by_one, open_ref, close_ref),
		cmocka_unit_test_setup_teardown(versions, open_ref, close_ref),
		cmocka_unit_test_setup_teardown(without_values, open_ref, close_ref),
		cmocka_unit_test_setup_teardown(
			changes_without_effect_do_not_wait, open_ref, close_ref),
		cmocka_unit_test_setup_teardown(
			threads_with_keys_of_their_own, open_ref, close_ref),
		cmocka_unit_test_setup_teardown(threads_with_the_same_keys, open_ref, close_ref),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
