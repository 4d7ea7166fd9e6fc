#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "rule/match/pattern_entry.h"
#include "unit/test.h"
/* The unit itself, instead of the library's. */
#include "rule/match/acl.c"

static const struct str NO_VALUE = { NULL, 0 };

static void
methods_have_names(void **state)
{
	(void)state;
	for (unsigned int m = 0; m < PATTERN_METHODS; m++) {
		const char *name = pattern_method_name((enum pattern_method)m);

		assert_true(m == PATTERN_VER ? !name : name != NULL);
		if (name)
			assert_int_equal(pattern_method_of(str_of(name)), m);
	}
	assert_null(pattern_method_name(PATTERN_METHODS));
	assert_int_equal(pattern_method_of(STR("regm")), PATTERN_METHODS);
	assert_int_equal(pattern_method_of(STR("")), PATTERN_METHODS);
	assert_int_equal(pattern_op_of(STR("ge")), PATTERN_GE);
	assert_int_equal(pattern_op_of(STR("lt")), PATTERN_LT);
	assert_int_equal(pattern_op_of(STR("ne")), PATTERN_OPS);
}

/* The manual's tables in 7.1, and what HAProxy 2.6 accepts besides. */
static void
types_permit_the_methods_of_the_manual(void **state)
{
	static const struct {
		enum sample_type type;
		enum pattern_method own;
		const char *others;
	} t[] = {
		{ SAMPLE_BOOL, PATTERN_BOOL, "found bool int len str beg end sub dir dom reg bin" },
		{ SAMPLE_SINT, PATTERN_INT,
			"found bool int len ip str beg end sub dir dom reg bin" },
		{ SAMPLE_IPV4, PATTERN_IP,
			"found bool int len ip str beg end sub dir dom reg bin" },
		{ SAMPLE_IPV6, PATTERN_IP, "found int len ip str beg end sub dir dom reg bin" },
		{ SAMPLE_STR, PATTERN_STR,
			"found bool int len ip str beg end sub dir dom reg bin" },
		{ SAMPLE_BIN, PATTERN_METHODS, "found len str beg end sub dir dom reg bin" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(pattern_method_default(t[i].type), t[i].own);
		for (unsigned int m = 0; m < PATTERN_METHODS; m++) {
			const char *name = pattern_method_name((enum pattern_method)m);

			if (name && pattern_method_fits((enum pattern_method)m, t[i].type) !=
					    (strstr(t[i].others, name) != NULL))
				fail_msg("%s with type %d", name, t[i].type);
		}
	}
	assert_int_equal(pattern_method_default(SAMPLE_ADDR), PATTERN_IP);
	assert_int_equal(pattern_method_default(SAMPLE_ANY), PATTERN_METHODS);
}

/* All entries are kept, in order; the first of equal ones is found. */
static void
the_first_of_equal_entries_is_found(void **state)
{
	struct pattern_set p;
	struct rule_err why;

	(void)state;
	pattern_set_init(&p, PATTERN_STR, SAMPLE_STR, &keyhash_known);
	for (int i = 0; i < 100; i++)
		assert_int_equal(pattern_set_add(&p, STR("k"), PATTERN_EQ, 0,
					 i ? STR("later") : STR("first"), &why), 0);
	assert_int_equal(p.n, 100);
	assert_int_equal(p.index[0].n, 1);
	assert_int_equal(p.n_list, 0);
	pattern_set_fini(&p);
}

static struct pattern *
enter(struct pattern_set *p, const char *text)
{
	struct rule_err why;

	assert_int_equal(pattern_set_add(p, str_of(text), PATTERN_EQ, 0, NO_VALUE, &why), 0);
	return p->all[p->n_all - 1];
}

/* When an entry is removed, the next equal one is found. */
static void
the_next_equal_entry_is_found(void **state)
{
	struct pattern *t[5];
	struct pattern_set p;

	(void)state;
	pattern_set_init(&p, PATTERN_STR, SAMPLE_ANY, &keyhash_known);
	for (int i = 0; i < 5; i++)
		t[i] = enter(&p, i == 3 ? "other" : "k");
	pattern_set_leave(&p, t[1]);
	pattern_set_leave(&p, t[0]);
	assert_int_equal(p.n, 3);
	assert_int_equal(p.index[0].n, 2);
	assert_ptr_equal(
		pattern_index_find(&p.index[0], t[2]->hash, "k", 1), t[2]);
	pattern_set_leave(&p, t[2]);
	pattern_set_leave(&p, t[4]);
	assert_null(pattern_index_find(&p.index[0], t[2]->hash, "k", 1));
	assert_int_equal(p.n, 1);
	assert_ptr_equal(p.all[0], t[3]);
	for (int i = 0; i < 5; i++)
		if (i != 3)
			pattern_entry_free(pattern_entry_of(t[i]));
	pattern_set_fini(&p);
}

static void
removal_from_the_list(void **state)
{
	struct pattern *t[4];
	struct pattern_set p;

	(void)state;
	pattern_set_init(&p, PATTERN_SUB, SAMPLE_ANY, &keyhash_known);
	for (int i = 0; i < 4; i++)
		t[i] = enter(&p, "k");
	pattern_set_leave(&p, t[1]);
	pattern_set_leave(&p, t[3]);
	assert_int_equal(p.n_list, 2);
	assert_ptr_equal(p.list[0], t[0]);
	assert_ptr_equal(p.list[1], t[2]);
	pattern_entry_free(pattern_entry_of(t[1]));
	pattern_entry_free(pattern_entry_of(t[3]));
	pattern_set_fini(&p);
}

/* A pattern that is in no set. */
static struct pattern *
made(const struct pattern_set *set, struct str text, unsigned int flags)
{
	struct pattern_entry *e =
		pattern_entry_new_for(&set->index[0].key, text, NO_VALUE, set, flags);
	struct pattern *t;
	struct rule_err why;

	assert_non_null(e);
	assert_int_equal(pattern_entry_feed(e, set, PATTERN_EQ, flags, &t, &why), 0);
	return t;
}

/* The whole set is replaced; some entries are in both, others only in one. */
static void
replacing_the_whole_set(void **state)
{
	struct pattern **all = mem_alloc(3 * sizeof(struct pattern *));
	struct pattern_set p, to;
	struct pattern *t[4];
	const struct keyhash key = { 8000, 7 };

	(void)state;
	pattern_set_init(&p, PATTERN_DIR, SAMPLE_ANY, &key);
	t[0] = enter(&p, "gone");
	t[1] = enter(&p, "stays");
	t[2] = made(&p, STR("stays"), PATTERN_NOCASE);
	/* "" is not part of a path: this one goes to the list */
	t[3] = made(&p, STR("/"), 0);
	memcpy(all, t + 1, 3 * sizeof(struct pattern *));
	assert_int_equal(pattern_set_plan(&p, &to, all, 3), 0);
	assert_int_equal(p.n, 2);
	pattern_set_fill(&to);
	pattern_set_swap(&p, &to);
	pattern_set_forget(&to);
	assert_int_equal(p.n, 3);
	assert_int_equal(p.n_list, 1);
	assert_int_equal(p.index[0].n, 1);
	assert_int_equal(p.index[1].n, 1);
	for (int i = 0; i < 2; i++)
		assert_memory_equal(&p.index[i].key, &key, sizeof(key));
	assert_ptr_equal(p.list[0], t[3]);
	for (int i = 1; i < 3; i++)
		assert_ptr_equal(
			pattern_index_find(&p.index[i - 1], t[i]->hash, "stays", 5), t[i]);
	for (int i = 0; i < 4; i++)
		pattern_entry_free(pattern_entry_of(t[i]));
	pattern_set_forget(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(methods_have_names),
		cmocka_unit_test(types_permit_the_methods_of_the_manual),
		cmocka_unit_test(the_first_of_equal_entries_is_found),
		cmocka_unit_test(the_next_equal_entry_is_found),
		cmocka_unit_test(removal_from_the_list),
		cmocka_unit_test(replacing_the_whole_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
