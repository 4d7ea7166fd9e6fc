#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rule/match/pattern_ref.h"
#include "rule/match/pattern_version.h"
#include "unit/test.h"

enum { SETS = 4, KEYS = 12, STEPS = 4000, MODEL_MAX = 4096 };

static char room[4096];
static struct arena arena = { .p = room, .cap = sizeof(room) };
static struct sample_ctx cx = { .arena = &arena };
static struct pattern_set set[SETS];
static struct pattern_ref *ref;
static struct rule_err why;

static const struct {
	enum pattern_method method;
	unsigned int flags;
} kinds[SETS] = {
	{ PATTERN_STR, 0 },
	{ PATTERN_STR, PATTERN_NOCASE },
	{ PATTERN_BEG, 0 },
	{ PATTERN_SUB, 0 },
};

static unsigned int
del_id(struct pattern_ref *of, uint64_t id)
{
	struct pattern_entry *e = pattern_ref_by_id(of, id);

	if (e)
		pattern_ref_del_entry(of, e);
	return e != NULL;
}

static int
set_id(struct pattern_ref *of, uint64_t id, struct str value, struct rule_err *err)
{
	struct pattern_entry *e = pattern_ref_by_id(of, id);
	int rc = e ? pattern_entry_change(e, value, err) : 0;

	return rc < 0 ? rc : e != NULL;
}

static int
open_ref_of(const char *path)
{
	ref = pattern_ref_new(path, &keyhash_known);
	assert_non_null(ref);
	for (int i = 0; i < SETS; i++) {
		pattern_set_init(&set[i], kinds[i].method, SAMPLE_STR, &keyhash_known);
		assert_int_equal(pattern_ref_feed(ref, &set[i], kinds[i].flags, &why), 0);
	}
	return 0;
}

static int
open_ref(void **state)
{
	(void)state;
	return open_ref_of("f.map");
}

static int
open_line(void **state)
{
	(void)state;
	return open_ref_of(NULL);
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

static void
add(uint32_t version, const char *key, const char *value)
{
	assert_int_equal(pattern_ref_add(ref, version, str_of(key), str_of(value), &why), 0);
}

static const char *
look_up(int i, const char *key)
{
	struct sample s = { .type = SAMPLE_STR, .u.str = str_of(key) };
	const struct pattern *t = pattern_match(&set[i], &s, &cx, NULL);

	return t ? pattern_entry_of(t)->value : "(none)";
}

#define IS(key, value) assert_string_equal(look_up(0, key), value)

static void
one_by_one(void **state)
{
	(void)state;
	add(0, "a", "1");
	add(0, "a", "2");
	add(0, "b", "3");
	IS("a", "1");
	assert_string_equal(look_up(1, "A"), "1");
	assert_string_equal(look_up(3, "xbx"), "3");
	/* the equal entry after it */
	assert_int_equal(del_id(ref, 1), 1);
	IS("a", "2");
	assert_int_equal(del_id(ref, 1), 0);
	assert_int_equal(pattern_ref_set(ref, STR("a"), STR("a longer one"), &why), 1);
	IS("a", "a longer one");
	assert_int_equal(pattern_ref_set(ref, STR("z"), STR("x"), &why), 0);
	assert_int_equal(set_id(ref, 3, STR(""), &why), 1);
	IS("b", "");
	assert_int_equal(set_id(ref, 77, STR(""), &why), 0);
	assert_string_equal(pattern_ref_find(ref, STR("a"))->value, "a longer one");
	assert_null(pattern_ref_find(ref, STR("z")));
	assert_int_equal(pattern_ref_del(ref, STR("a")), 1);
	assert_int_equal(pattern_ref_del(ref, STR("a")), 0);
	IS("a", "(none)");
	assert_int_equal(ref->n, 1);
}

/* As in the management manual: a prepared version is not used before `commit`. */
static void
a_prepared_version_waits_for_commit(void **state)
{
	(void)state;
	add(0, "a", "old");
	assert_int_equal(pattern_version_replace(ref, 1, 0), -ERR_RANGE);
	assert_false(pattern_ref_has_version(ref, 1));
	assert_int_equal(pattern_version_prepare(ref), 1);
	assert_int_equal(pattern_version_prepare(ref), 2);
	assert_true(pattern_ref_has_version(ref, 2));
	add(1, "a", "never");
	add(2, "a", "new");
	IS("a", "old");
	/* in every version */
	assert_int_equal(pattern_ref_set(ref, STR("a"), STR("x"), &why), 3);
	IS("a", "x");
	assert_int_equal(pattern_version_replace(ref, 2, 0), 0);
	IS("a", "x");
	assert_int_equal(ref->n, 1);
	assert_int_equal(ref->version, 2);
	assert_int_equal(pattern_version_replace(ref, 2, 0), -ERR_RANGE);
	assert_int_equal(pattern_version_replace(ref, 0, 0), -ERR_RANGE);
	/* committing a version without entries empties it at once */
	assert_int_equal(pattern_version_replace(ref, pattern_version_prepare(ref), 0), 0);
	IS("a", "(none)");
	assert_int_equal(ref->n, 0);
	/* version numbers wrap around */
	ref->version = ref->next = UINT32_MAX;
	assert_int_equal(pattern_version_prepare(ref), 0);
	add(0, "w", "1");
	assert_int_equal(pattern_version_replace(ref, 0, 0), 0);
	IS("w", "1");
}

static void
clear_removes_one_version(void **state)
{
	(void)state;
	add(0, "a", "1");
	(void)pattern_version_prepare(ref);
	add(1, "a", "2");
	assert_int_equal(pattern_version_replace(ref, 1, 1), 0);
	IS("a", "1");
	assert_int_equal(ref->n, 1);
	assert_int_equal(pattern_version_replace(ref, 0, 1), 0);
	IS("a", "(none)");
	assert_int_equal(ref->n, 0);
	add(0, "a", "3");
	IS("a", "3");
}

/* An entry that one of the sets rejects changes none of them. */
static void
a_rejected_entry_changes_no_set(void **state)
{
	struct pattern_set numbers;
	const struct pattern *t;

	(void)state;
	add(0, "a", "7");
	pattern_set_init(&numbers, PATTERN_STR, SAMPLE_SINT, &keyhash_known);
	assert_int_equal(pattern_ref_feed(ref, &numbers, 0, &why), 0);
	assert_true(pattern_ref_add(ref, 0, STR("b"), STR("x"), &why) < 0);
	assert_string_equal(why.text, "the value 'x' is not a number");
	assert_true(pattern_ref_set(ref, STR("a"), STR("x"), &why) < 0);
	IS("a", "7");
	IS("b", "(none)");
	assert_int_equal(numbers.n, 1);
	assert_int_equal(set[0].n, 1);
	assert_int_equal(ref->n, 1);
	assert_int_equal(pattern_ref_set(ref, STR("a"), STR("8"), &why), 1);
	t = pattern_entry_first(list_first(&ref->entries, struct pattern_entry, link));
	while (t->next)
		t = t->next;
	assert_int_equal(pattern_value(t).u.sint, 8);
	pattern_set_forget(&numbers);
}

/* Lines of one ACL share a set: changes to one line do not affect the other. */
static void
lines_of_one_set(void **state)
{
	struct pattern_ref *other = pattern_ref_new(NULL, &keyhash_known);

	(void)state;
	assert_int_equal(pattern_ref_feed(other, &set[0], 0, &why), 0);
	add(0, "a", "1");
	assert_int_equal(pattern_ref_add(other, 0, STR("b"), STR("2"), &why), 0);
	assert_int_equal(pattern_version_replace(ref, 0, 1), 0);
	IS("a", "(none)");
	IS("b", "2");
	add(0, "a", "3");
	assert_int_equal(pattern_version_replace(other, pattern_version_prepare(other), 0), 0);
	IS("a", "3");
	IS("b", "(none)");
	pattern_ref_free(&other);
}

/* A line that was cleared, and whose entries are not swept yet, stays empty when another line of
 * the ACL changes as a whole. */
static void
lines_of_one_set_before_the_sweep(void **state)
{
	struct pattern_ref *other = pattern_ref_new(NULL, &keyhash_known);
	struct pattern_change ch;

	(void)state;
	assert_int_equal(pattern_ref_feed(other, &set[0], 0, &why), 0);
	add(0, "a", "1");
	assert_int_equal(pattern_ref_add(other, 0, STR("b"), STR("2"), &why), 0);
	assert_int_equal(pattern_version_plan(ref, 0, 1, &ch), 0);
	pattern_version_apply(ref, &ch);
	pattern_version_forget(ref, &ch);
	add(0, "c", "3");
	assert_int_equal(pattern_version_replace(other, 0, 1), 0);
	IS("a", "(none)");
	IS("b", "(none)");
	IS("c", "3");
	while (pattern_version_sweep(ref, &ch, 1))
		;
	IS("c", "3");
	assert_int_equal(set[0].n, 1);
	pattern_ref_unfeed(other);
	pattern_ref_free(&other);
}

/* --- compared with a simple list --- */

static struct row {
	char key[8], value[16];
	uint32_t version;
	uint64_t id;
} model[MODEL_MAX];
static int n_rows;

static void
forget_row(int i)
{
	n_rows--;
	memmove(&model[i], &model[i + 1], (size_t)(n_rows - i) * sizeof(model[0]));
}

static const char *
model_look_up(int i, const char *key)
{
	const char *best = "(none)";
	size_t longest = 0;

	for (int r = 0; r < n_rows; r++) {
		const struct row *m = &model[r];
		size_t len = strlen(m->key);

		if (m->version != ref->version)
			continue;
		if (i == 0               ? strcmp(m->key, key) == 0
				: i == 1 ? strcasecmp(m->key, key) == 0
				: i == 3 ? strstr(key, m->key) != NULL
					 : 0)
			return m->value;
		if (i == 2 && strncmp(m->key, key, len) == 0 && len > longest) {
			longest = len;
			best = m->value;
		}
	}
	return best;
}

static void
check_all(const char *const *keys)
{
	for (int i = 0; i < SETS; i++) {
		int current = 0;

		for (int k = 0; k < KEYS; k++)
			assert_string_equal(look_up(i, keys[k]), model_look_up(i, keys[k]));
		for (int r = 0; r < n_rows; r++)
			current += model[r].version == ref->version;
		assert_int_equal(set[i].n, current);
	}
	assert_int_equal(ref->n, n_rows);
}

static void
random_step(const char *const *keys)
{
	const char *key = keys[rand() % KEYS];
	uint32_t version = ref->version + (uint32_t)(rand() % (int)(ref->next - ref->version + 1));
	char value[16];
	int what = rand() % 100;

	snprintf(value, sizeof(value), "%d", rand());
	if (what < 60 && n_rows < MODEL_MAX) {
		add(version, key, value);
		snprintf(model[n_rows].key, sizeof(model[0].key), "%s", key);
		snprintf(model[n_rows].value, sizeof(model[0].value), "%s", value);
		model[n_rows].version = version;
		model[n_rows++].id = ref->last_id;
	} else if (what < 75) {
		(void)pattern_ref_del(ref, str_of(key));
		for (int r = n_rows - 1; r >= 0; r--)
			if (strcmp(model[r].key, key) == 0)
				forget_row(r);
	} else if (what < 85 && n_rows) {
		int r = rand() % n_rows;

		assert_int_equal(del_id(ref, model[r].id), 1);
		forget_row(r);
	} else if (what < 93) {
		assert_true(pattern_ref_set(ref, str_of(key), str_of(value), &why) >= 0);
		for (int r = 0; r < n_rows; r++)
			if (strcmp(model[r].key, key) == 0)
				snprintf(model[r].value, sizeof(model[0].value), "%s", value);
	} else if (what < 96) {
		(void)pattern_version_prepare(ref);
	} else if (what < 98) {
		assert_int_equal(pattern_version_replace(ref, version, 1), 0);
		for (int r = n_rows - 1; r >= 0; r--)
			if (model[r].version == version)
				forget_row(r);
	} else if (version != ref->version) {
		assert_int_equal(pattern_version_replace(ref, version, 0), 0);
		for (int r = n_rows - 1; r >= 0; r--)
			if (model[r].version < version)
				forget_row(r);
	}
}

static void
changes_in_any_order_agree(void **state)
{
	static const char *const keys[KEYS] = { "a", "A", "ab", "abc", "b", "bc", "B", "c", "Ca",
		"cab", "x", "xab" };

	(void)state;
	srand(7);
	n_rows = 0;
	for (int i = 0; i < STEPS; i++) {
		random_step(keys);
		check_all(keys);
	}
}

/* Entries that are swept in slices disappear for all users at once, whatever other changes happen
 * meanwhile. */
static void
swept_entries_disappear_at_once(void **state)
{
	struct pattern_change ch;
	char key[16];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		add(0, key, "old");
	}
	assert_int_equal(pattern_version_plan(ref, 0, 1, &ch), 0);
	IS("k7", "old");
	pattern_version_apply(ref, &ch);
	pattern_version_forget(ref, &ch);
	IS("k7", "(none)");
	assert_null(pattern_ref_find(ref, STR("k7")));
	assert_int_equal(ref->n, 100);
	/* One of the entries to be swept is deleted, and one is added again. */
	assert_int_equal(pattern_ref_del(ref, STR("k99")), 1);
	add(0, "k7", "new");
	assert_int_equal(pattern_version_sweep(ref, &ch, 10), 1);
	assert_int_equal(ref->n, 90);
	assert_int_equal(pattern_version_prepare(ref), 1);
	add(1, "k8", "next");
	IS("k7", "new");
	IS("k8", "(none)");
	/* Another change before the first one is complete. */
	assert_int_equal(pattern_version_plan(ref, 1, 0, &ch), 0);
	pattern_version_apply(ref, &ch);
	pattern_version_forget(ref, &ch);
	IS("k7", "(none)");
	IS("k8", "next");
	while (pattern_version_sweep(ref, &ch, 7))
		;
	assert_int_equal(ref->n, 1);
	assert_int_equal(pattern_ref_del(ref, STR("k8")), 1);
	IS("k8", "(none)");
	assert_int_equal(pattern_version_plan(ref, 5, 0, &ch), -ERR_RANGE);
}

/* The sets of the version that was prepared last are filled before its commit; those of others are
 * made then. What was cleared, and is not swept yet, does not come back. */
static void
the_last_version_is_ready(void **state)
{
	struct pattern_change clear, commit;

	(void)state;
	add(0, "a", "old");
	assert_int_equal(pattern_version_prepare(ref), 1);
	add(1, "a", "1");
	add(1, "b", "gone");
	assert_int_equal(ref->coming.set[0].n, 2);
	assert_int_equal(pattern_ref_del(ref, STR("b")), 1);
	assert_int_equal(ref->coming.set[0].n, 1);
	assert_int_equal(pattern_version_plan(ref, 1, 1, &clear), 0);
	pattern_version_apply(ref, &clear);
	assert_int_equal(ref->coming.set[0].n, 0);
	add(1, "c", "2");
	IS("a", "old");
	assert_int_equal(pattern_version_plan(ref, 1, 0, &commit), 0);
	assert_int_equal(commit.to[0].n, 0);
	pattern_version_apply(ref, &commit);
	pattern_version_forget(ref, &commit);
	assert_null(ref->coming.set);
	IS("a", "(none)");
	IS("c", "2");
	assert_int_equal(ref->n, 3);
	while (pattern_version_sweep(ref, &clear, 1))
		;
	while (pattern_version_sweep(ref, &commit, 1))
		;
	assert_int_equal(ref->n, 1);
	IS("c", "2");
	/* The last of two wins. */
	assert_int_equal(pattern_version_prepare(ref), 2);
	add(2, "a", "2");
	assert_int_equal(pattern_version_prepare(ref), 3);
	add(2, "b", "2");
	add(3, "a", "3");
	assert_int_equal(ref->coming.set[0].n, 1);
	assert_int_equal(pattern_version_replace(ref, 2, 0), 0);
	IS("a", "2");
	IS("b", "2");
	assert_int_equal(pattern_version_replace(ref, 3, 0), 0);
	IS("a", "3");
	IS("b", "(none)");
	assert_int_equal(ref->n, 1);
}

/* A version that was cleared is committed before the entries are swept: they are in no set twice,
 * and not in one when they are freed. */
static void
cleared_and_committed(void **state)
{
	struct pattern_change clear;

	(void)state;
	assert_int_equal(pattern_version_prepare(ref), 1);
	assert_int_equal(pattern_version_prepare(ref), 2);
	add(1, "a", "1");
	assert_int_equal(pattern_version_plan(ref, 1, 1, &clear), 0);
	pattern_version_apply(ref, &clear);
	assert_int_equal(pattern_version_replace(ref, 1, 0), 0);
	while (pattern_version_sweep(ref, &clear, 1))
		;
	assert_int_equal(ref->n, 0);
	assert_int_equal(set[0].n, 0);
	IS("a", "(none)");
}

/* A test of the entries of a file, and one of those of a line. */
#define REF(fn) cmocka_unit_test_setup_teardown(fn, open_ref, close_ref)
#define LINE(fn) cmocka_unit_test_setup_teardown(fn, open_line, close_ref)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		REF(one_by_one),
		REF(a_prepared_version_waits_for_commit),
		REF(clear_removes_one_version),
		REF(a_rejected_entry_changes_no_set),
		LINE(lines_of_one_set),
		LINE(lines_of_one_set_before_the_sweep),
		REF(changes_in_any_order_agree),
		LINE(changes_in_any_order_agree),
		REF(the_last_version_is_ready),
		REF(cleared_and_committed),
		REF(swept_entries_disappear_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
