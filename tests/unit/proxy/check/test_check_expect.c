/* Expect rules of tcp-check. Steps and words are those of HAProxy 2.6 with scripted servers. */
#include "unit/proxy/proxies_rig.h"

#define E " option tcp-check\n tcp-check expect "
#define S(text) { text, sizeof(text) - 1 }
#define OK S("+OK ready\r\n")
#define WAIT CHECK_STEP_WAIT, CHECK_UNK, -1, ""
#define PASS CHECK_STEP_NEXT, CHECK_L7OK, 0, "(tcp-check)"
#define FAIL(text) CHECK_STEP_FAIL, CHECK_L7RSP, 0, text

static const struct check_case cases[] = {
	{ E "string +OK\n", OK, 0, PASS },
	{ E "string +OK\n", OK, 1, PASS },
	{ E "! string +OK\n", OK, 0, FAIL("TCPCHK matched unwanted content '+OK' at step 1") },
	{ E "string nope\n", OK, 0, WAIT },
	{ E "string nope\n", OK, 1, FAIL("TCPCHK did not match content 'nope' at step 1") },
	{ E "string nope comment hello\n", OK, 1,
		FAIL("TCPCHK did not match content 'nope' at step 1 comment: hello") },
	{ E "! string nope\n", OK, 0, WAIT },
	{ E "! string nope\n", OK, 1, PASS },
	{ E "rstring ^.OK\n", OK, 0, PASS },
	{ E "rstring ^x\n", OK, 0, WAIT },
	{ E "rstring ^x\n", OK, 1, FAIL("TCPCHK did not match content (regex) at step 1") },
	{ E "! rstring ^.OK\n", OK, 0, FAIL("TCPCHK matched unwanted content (regex) at step 1") },
	{ E "binary 2b4f4b\n", OK, 0, PASS },
	{ E "binary 2b4f4c\n", OK, 1, FAIL("TCPCHK did not match content (binary) at step 1") },
	{ E "! binary 2b4f4b\n", OK, 0,
		FAIL("TCPCHK matched unwanted content (binary) at step 1") },
	{ E "binary 610062\n", S("a\0b"), 0, PASS },
	{ E "string b\n", S("a\0b"), 0, PASS },
	{ E "rbinary ^2B4F4B\n", OK, 0, PASS },
	{ E "rbinary ^2b4f4b\n", OK, 1,
		FAIL("TCPCHK did not match content (binary regex) at step 1") },
	{ E "string-lf +O%[str(K)]\n", OK, 0, PASS },
	{ E "string-lf +O%[str(L)]\n", OK, 1,
		FAIL("TCPCHK did not match content (log-format string) at step 1") },
	{ E "binary-lf 2b4f%[str(4b)]\n", OK, 0, PASS },
	{ E "binary-lf 2b4f%[str(4c)]\n", OK, 1,
		FAIL("TCPCHK did not match content (log-format binary) at step 1") },
	{ E "binary-lf zz\n", OK, 0,
		FAIL("Failed to parse hexastring resulting of eval of a log-format string") },
	{ E "string nope on-error \"bad %[int(5)]\"\n", OK, 1, FAIL("bad 5") },
	{ E "string nope comment c on-error \"[%[res.payload(0,2)]] %[res.len]\"\n", OK, 1,
		FAIL("[+O] 11 comment: c") },
	{ E "string +OK on-success \"good %[int(5)] %b/%s\"\n", OK, 0, CHECK_STEP_NEXT, CHECK_L7OK,
		0, "good 5 b/s1" },
	{ E "string nope error-status L4CON\n", OK, 1, CHECK_STEP_FAIL, CHECK_L4CON, -1,
		"TCPCHK did not match content 'nope' at step 1" },
	{ E "string nope error-status L7OKC\n", OK, 1, CHECK_STEP_FAIL, CHECK_L7OKC, 0,
		"TCPCHK did not match content 'nope' at step 1" },
	{ E "string +OK ok-status L6OK\n", OK, 1, CHECK_STEP_NEXT, CHECK_L6OK, -1, "(tcp-check)" },
	{ E "string +OK status-code int(7)\n", OK, 1, CHECK_STEP_NEXT, CHECK_L7OK, 7,
		"(tcp-check)" },
	{ E "string +OK on-success \"%[payload(0,2)] %[be_name]/%[srv_name]\"\n", OK, 0,
		CHECK_STEP_NEXT, CHECK_L7OK, 0, "+O b/s1" },
	{ E "string x status-code res.payload(0,1)\n", S("12x"), 0, CHECK_STEP_NEXT, CHECK_L7OK, 1,
		"(tcp-check)" },
	/* An answer without a byte. */
	{ E "string a\n", S(""), 0, WAIT },
	{ E "string a\n", S(""), 1, FAIL("TCPCHK got an empty response at step 1") },
	{ E "! string a comment c on-error x\n", S(""), 1,
		FAIL("TCPCHK got an empty response at step 1 comment: 'c'") },
	/* Steps count comments. */
	{ " option tcp-check\n tcp-check comment a\n tcp-check send x\n"
	  " tcp-check expect string z\n",
		OK, 1, FAIL("TCPCHK did not match content 'z' at step 3") },
};

static void
test_matches(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_rig_run(&cases[i], 0);
}

/*
 * min-recv: what is decided depends on how much has come, so these are not cut. A string is
 * searched when as many bytes have come as it has.
 */
static void
test_min_recv(void **state)
{
	static const struct check_case all[] = {
		{ E "string nope min-recv 0\n", OK, 0,
			FAIL("TCPCHK did not match content 'nope' at step 1") },
		{ E "! string nope min-recv 0\n", OK, 0, PASS },
		{ E "string nope min-recv 3\n", OK, 0,
			FAIL("TCPCHK did not match content 'nope' at step 1") },
		{ E "string nope min-recv 100\n", OK, 0, WAIT },
		{ E "string nope min-recv 100\n", OK, 1,
			FAIL("TCPCHK did not match content 'nope' at step 1") },
		{ E "string ab min-recv 4\n", S("ab"), 0, WAIT },
		{ E "string ab min-recv 4\n", S("ab"), 1, PASS },
		{ E "string ab min-recv 4\n", S("abcd"), 0, PASS },
		{ E "rstring ^ab$\n", S("ab"), 0, PASS },
		{ E "rstring ^ab$ min-recv 3\n", S("ab"), 0, WAIT },
		{ E "rstring ^ab$ min-recv 3\n", S("ab"), 1, PASS },
		{ E "rstring ^ab$ min-recv 3\n", S("abcd"), 0,
			FAIL("TCPCHK did not match content (regex) at step 1") },
		{ E "string nope min-recv 0\n", S("ab"), 0, WAIT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct check_verdict v;
		struct check_rig r;

		check_rig_load(&r, all[i].lines);
		assert_int_equal(check_rig_eval(&r, check_rig_rule(&r, CHECK_RULE_EXPECT, 0),
					 all[i].bytes, all[i].ended, &v),
			all[i].step);
		assert_string_equal(v.info, all[i].info);
		check_rig_fini(&r);
	}
}

/* Without room for more the bytes that are there decide. */
static void
test_full(void **state)
{
	struct check_input in = { .received = S("xxxx"), .full = 1 };
	struct check_verdict v;
	struct check_rig r;

	(void)state;
	check_rig_load(&r, E "string nope\n");
	assert_int_equal(check_expect_eval(check_rig_rule(&r, CHECK_RULE_EXPECT, 0), &in, &r.cx,
				 &v),
		CHECK_STEP_FAIL);
	assert_string_equal(v.info, "TCPCHK did not match content 'nope' at step 1");
	check_rig_fini(&r);
}

/* A text that is made of the answer is cut at its bound. */
static void
test_long_text(void **state)
{
	static char answer[CHECK_INFO_MAX + 100];
	struct check_verdict v;
	struct check_rig r;

	(void)state;
	memset(answer, 'x', sizeof(answer));
	check_rig_load(&r, E "string nope on-error \"bad %[res.payload(0,0)]\"\n");
	assert_int_equal(check_rig_eval(&r, check_rig_rule(&r, CHECK_RULE_EXPECT, 0),
				 (struct str){ answer, sizeof(answer) }, 1, &v),
		CHECK_STEP_FAIL);
	assert_int_equal(strlen(v.info), CHECK_INFO_MAX - 1);
	assert_int_equal(strncmp(v.info, "bad xxx", 7), 0);
	check_rig_fini(&r);
}

/* Rules on variables see the bytes that the expect rule before them has read. */
static void
set_var_sees_the_bytes(void **state)
{
	static const char lines[] = E "string +OK\n"
		" tcp-check set-var-fmt(check.a) \"%[res.payload(0,3)] %[res.len] %[status]\"\n";

	(void)state;
	check_rig_sets(lines, (struct str)S("+OK x"), "+OK 5 ");
	check_rig_sets(lines, (struct str)S(""), " 0 ");
}

static void
variables_of_scope_sess_live_as_long_as_a_check(void **state)
{
	struct check_verdict v;
	struct check_rule *rule = NULL;
	struct check_rig r;
	struct sample s;

	(void)state;
	check_rig_load(&r, E "string +OK\n tcp-check set-var(sess.q) str(a)\n"
		" tcp-check set-var(check.q) str(b)\n"
		" tcp-check set-var-fmt(check.a) \"%[var(sess.q)]%[var(check.q)]\"\n");
	for (int i = 0; i < 3; i++) {
		rule = check_rig_rule(&r, CHECK_RULE_SET_VAR, i);
		assert_int_equal(check_rig_eval(&r, rule, (struct str)S(""), 0, &v),
			CHECK_STEP_NEXT);
	}
	assert_int_equal(var_find(&r.cx, rule->u.var.name, &s), 1);
	assert_true(str_is(s.u.str, STR("ab")));
	check_rig_fini(&r);
}

/* A pattern, or hexadecimal digits of all bytes, for which there is no memory. */
static void
test_no_memory(void **state)
{
	struct check_verdict v;
	struct check_rig r;
	struct check_rule *rule;

	(void)state;
	check_rig_load(&r, E "rbinary 4F\n tcp-check expect binary-lf 4%[str(f)]\n");
	r.cx.arena->cap = 2;
	rule = check_rig_rule(&r, CHECK_RULE_EXPECT, 0);
	assert_int_equal(check_rig_eval(&r, rule, (struct str)S("OK"), 1, &v), CHECK_STEP_NEXT);
	assert_int_equal(check_rig_eval(&r, rule, (struct str)S("KO"), 1, &v), CHECK_STEP_FAIL);
	rule = check_rig_rule(&r, CHECK_RULE_EXPECT, 1);
	assert_int_equal(check_rig_eval(&r, rule, (struct str)S("OK"), 1, &v), CHECK_STEP_FAIL);
	check_rig_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_min_recv),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_long_text),
		cmocka_unit_test(set_var_sees_the_bytes),
		cmocka_unit_test(variables_of_scope_sess_live_as_long_as_a_check),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
