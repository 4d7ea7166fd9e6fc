#include "unit/rule/expr_rig.h"

#include "base/err.h"

static struct var_name
name(const char *text)
{
	struct var_name n;
	const char *why = NULL;

	assert_int_equal(var_name_parse(str_of(text), &n, &why), 0);
	return n;
}

static struct sample
text(const char *s)
{
	return (struct sample){ .type = SAMPLE_STR, .u.str = str_of(s) };
}

static void
names_have_a_scope(void **state)
{
	static const char *const bad[] = { "", "x", "foo.x", "txn", "txn.", "txn.x-y", "txn.x y",
		"TXN.x", "proc", ".x" };
	struct var_name n;
	char big[VAR_NAME_MAX + 6] = "txn.";
	const char *why;

	(void)state;
	assert_int_equal(name("proc.a").scope, VAR_PROC);
	assert_int_equal(name("sess.a").scope, VAR_SESS);
	assert_int_equal(name("txn.a").scope, VAR_TXN);
	assert_int_equal(name("req.a").scope, VAR_REQ);
	assert_int_equal(name("res.a").scope, VAR_RES);
	/* one set of names for several scopes */
	assert_true(name("txn.a").id != name("req.a").id);
	assert_true(name("txn.a").id != name("txn.b").id);
	assert_true(name("txn.a.b_C9").id != name("txn.a.b_C").id);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		why = NULL;
		assert_int_equal(var_name_parse(str_of(bad[i]), &n, &why), -1);
		assert_non_null(why);
	}
	memset(big + 4, 'x', VAR_NAME_MAX);
	assert_int_equal(var_name_parse(str_of(big), &n, &why), 0);
	big[VAR_NAME_MAX + 4] = 'x';
	assert_int_equal(var_name_parse((struct str){ big, VAR_NAME_MAX + 5 }, &n, &why), -1);
}

static void
variables_are_set_and_unset(void **state)
{
	struct vars v;
	struct sample_ctx cx = { .txn = &v };
	struct sample s;
	struct var_name a = name("txn.a"), b = name("txn.b");
	char owned[] = "hello";

	(void)state;
	vars_init(&v);
	assert_false(var_find(&cx, a, &s));
	s = text(owned);
	s.has_more = s.may_change = 1;
	assert_int_equal(var_store(&cx, a, &s), 0);
	memset(owned, 'x', 5);
	s = (struct sample){ .type = SAMPLE_SINT, .u.sint = 7 };
	assert_int_equal(var_store(&cx, b, &s), 0);
	assert_true(var_find(&cx, a, &s));
	assert_true(str_is(s.u.str, STR("hello")));
	assert_false(s.has_more || s.may_change);
	/* set from itself, truncated */
	s.u.str.len = 4;
	assert_int_equal(var_store(&cx, a, &s), 0);
	assert_true(var_find(&cx, a, &s));
	assert_true(str_is(s.u.str, STR("hell")));
	/* of another type */
	s = (struct sample){ .type = SAMPLE_BOOL, .u.sint = 1 };
	assert_int_equal(var_store(&cx, a, &s), 0);
	assert_true(var_find(&cx, a, &s));
	assert_int_equal(s.type, SAMPLE_BOOL);
	assert_true(var_find(&cx, b, &s));
	assert_int_equal(s.u.sint, 7);
	vars_fini(&v);
	assert_int_equal(v.bytes, 0);
	assert_true(list_is_empty(&v.all));
}

static void
memory_of_variables_is_bounded(void **state)
{
	static char big[VARS_BYTES_MAX];
	struct vars v;
	struct sample_ctx cx = { .txn = &v };
	struct sample s = { .type = SAMPLE_BIN, .u.str = { big, VARS_BYTES_MAX } }, got;
	struct var_name a = name("txn.a"), b = name("txn.b");

	(void)state;
	vars_init(&v);
	assert_int_equal(var_store(&cx, a, &s), -ERR_NOMEM);
	s.u.str.len = VARS_BYTES_MAX / 2 + 100;
	assert_int_equal(var_store(&cx, a, &s), 0);
	assert_int_equal(var_store(&cx, b, &s), -ERR_NOMEM);
	/* replacing a value does not count its memory twice */
	assert_int_equal(var_store(&cx, a, &s), 0);
	s.u.str.len = VARS_BYTES_MAX - 1;
	assert_int_equal(var_store(&cx, a, &s), -ERR_NOMEM);
	assert_true(var_find(&cx, a, &got));
	assert_int_equal(got.u.str.len, VARS_BYTES_MAX / 2 + 100);
	vars_fini(&v);
}

static void
in_a_context(void **state)
{
	static struct expr_rig r;
	struct sample s = text("v");
	struct lock lock = { 0 };
	struct var_name p = name("proc.a"), t = name("txn.a"), q = name("req.a");

	(void)state;
	rig_init(&r);
	r.vars[VAR_PROC].lock = &lock;
	for (int i = 0; i < VAR_SCOPES; i++) {
		struct var_name n = { .scope = (enum var_scope)i, .id = 1 };

		assert_int_equal(var_store(&r.cx, n, &s), 0);
		assert_true(r.vars[i].bytes > 0);
		var_forget(&r.cx, n);
		assert_int_equal(r.vars[i].bytes, 0);
	}
	assert_int_equal(var_store(&r.cx, p, &s), 0);
	assert_int_equal(var_store(&r.cx, t, &s), 0);
	assert_false(var_find(&r.cx, q, &s));
	/* a shared variable is copied, a private one is not */
	assert_true(var_find(&r.cx, p, &s));
	assert_true(s.u.str.p >= r.mem && s.u.str.p < r.mem + sizeof(r.mem));
	assert_true(str_is(s.u.str, STR("v")));
	assert_true(var_find(&r.cx, t, &s));
	assert_false(s.u.str.p >= r.mem && s.u.str.p < r.mem + sizeof(r.mem));
	r.arena.cap = r.arena.used;
	assert_false(var_find(&r.cx, p, &s));
	assert_int_equal(r.arena.refused, 1);
	var_forget(&r.cx, p);
	var_forget(&r.cx, p);
	var_forget(&r.cx, t);
	assert_false(var_find(&r.cx, p, &s));
	assert_false(var_find(&r.cx, t, &s));
	assert_int_equal(lock.taken, 0);
	r.cx.txn = NULL;
	s = text("v");
	assert_int_equal(var_store(&r.cx, t, &s), -ERR_MISSING);
	assert_false(var_find(&r.cx, t, &s));
	var_forget(&r.cx, t);
	rig_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_a_scope),
		cmocka_unit_test(variables_are_set_and_unset),
		cmocka_unit_test(memory_of_variables_is_bounded),
		cmocka_unit_test(in_a_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
