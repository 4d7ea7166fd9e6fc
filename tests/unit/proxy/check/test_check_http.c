/* Expect rules of http-check. Steps and words are those of HAProxy 2.6 with scripted servers. Other
 * than HAProxy the parser refuses LF alone, an empty line before the response and HTTP/0.9. */
#include "unit/proxy/proxies_rig.h"

#define H " option httpchk\n"
#define E H " http-check expect "
#define S(text) { text, sizeof(text) - 1 }
#define OK S("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
#define STATUS(line, body) S("HTTP/1.1 " line "\r\nContent-Length: 2\r\n\r\n" body)
#define WAIT CHECK_STEP_WAIT, CHECK_UNK, -1, ""
#define PASS CHECK_STEP_NEXT, CHECK_L7OK, 200, ""
#define STS(code, text) CHECK_STEP_FAIL, CHECK_L7STS, code, text
#define RSP(text) CHECK_STEP_FAIL, CHECK_L7RSP, -1, text
#define DIFFERS "HTTP content check did not match"
#define UNWANTED "HTTP check matched unwanted content"
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define NO_BODY "HTTP content check could not find a response body"

static const struct check_case statuses[] = {
	{ H, OK, 0, PASS },
	{ H, STATUS("503 No", "ok"), 0, STS(503, "No") },
	{ H, STATUS("503 ", "ok"), 0, STS(503, "") },
	{ H, STATUS("302 F", "ok"), 0, CHECK_STEP_NEXT, CHECK_L7OK, 302, "" },
	{ H, STATUS("404 NF", "ok"), 0, STS(404, "NF") },
	{ H, S("HTTP/1.1 100 Continue\r\n\r\n"), 0, STS(100, "Continue") },
	{ H, S("HTTP/1.1 101 Sw\r\n\r\n"), 0, STS(101, "Sw") },
	{ H, S("HTTP/1.0 200 OK\r\n\r\n"), 0, PASS },
	{ H, S("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), 0, PASS },
	{ H, S("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), 1, PASS },
	{ H, S(""), 0, WAIT },
	{ H, S(""), 1, RSP("") },
	{ H, S("HTTP/1.1 2"), 0, WAIT },
	{ H, S("HTTP/1.1 2"), 1, RSP("") },
	{ H, S("HTTP/1.1 200 OK\r\nContent-Le"), 1, RSP("") },
	{ H, S("garbage\r\n\r\n"), 0, RSP("") },
	{ H, S("ICY 200 OK\r\n\r\n"), 0, RSP("") },
	{ H, S("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nab"), 0, RSP("") },
	{ E "status 200\n", OK, 0, PASS },
	{ E "! status 200\n", OK, 0, STS(200, "OK") },
	{ E "status 201,300-310 comment hello\n", OK, 0, STS(200, "OK comment: hello") },
	{ E "status 201,300-310\n", STATUS("305 x", ""), 0, CHECK_STEP_NEXT, CHECK_L7OK, 305, "" },
	{ E "status 201 status-code int(55)\n", OK, 0, STS(55, "OK") },
	{ E "rstatus ^2\n", OK, 0, PASS },
	{ E "rstatus ^3 comment hello\n", OK, 0, STS(200, "OK comment: hello") },
	{ E "! rstatus ^2\n", OK, 0, STS(200, "OK") },
	{ E "status 503 on-error \"bad %[status]\" error-status L7RSP\n", OK, 0, RSP("bad 200") },
	{ E "status 200 comment e on-error \"x %[status]\"\n", S(""), 1, RSP("x  comment: e") },
	{ E "status 200 comment e\n", S("x\r\n"), 0, RSP(" comment: e") },
	{ E "status 200 on-success \"%[res.hdr(content-length)] %[status]\"\n", OK, 0,
		CHECK_STEP_NEXT, CHECK_L7OK, 200, "2 200" },
	{ E "status 200 on-success \"%[hdr(content-length)] %[srv_name]\"\n", OK, 0,
		CHECK_STEP_NEXT, CHECK_L7OK, 200, "2 s1" },
	{ E "status 200 status-code res.hdr_cnt(content-length)\n", OK, 0, CHECK_STEP_NEXT,
		CHECK_L7OK, 1, "" },
	{ E "status 200 min-recv 100\n", OK, 0, PASS },
};

static const struct check_case bodies[] = {
	{ E "string ok\n", OK, 0, PASS },
	{ E "string no\n", OK, 0, RSP(DIFFERS) },
	{ E "string no comment hello\n", OK, 0, RSP(DIFFERS " comment: hello") },
	{ E "! string ok\n", OK, 0, RSP(UNWANTED) },
	{ E "! string no\n", OK, 0, PASS },
	{ E "rstring o.\n", OK, 0, PASS },
	{ E "rstring x.\n", OK, 0, RSP(DIFFERS) },
	{ E "! rstring o.\n", OK, 0, RSP(UNWANTED) },
	{ E "string-lf %[str(ok)]\n", OK, 0, PASS },
	{ E "string-lf %[str(no)]\n", OK, 0, RSP(DIFFERS) },
	{ E "string no error-status L7STS\n", OK, 0, STS(200, DIFFERS) },
	{ E "string ok ok-status L7OKC\n", OK, 0, CHECK_STEP_NEXT, CHECK_L7OKC, 200, "" },
	{ E "string no on-error \"bad %[status] thing\"\n", OK, 0, RSP("bad 200 thing") },
	{ E "string ok status-code int(55)\n", OK, 0, CHECK_STEP_NEXT, CHECK_L7OK, 55, "" },
	/* No body. */
	{ E "string ok\n", S("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 0, RSP(NO_BODY) },
	{ E "! string ok\n", S("HTTP/1.1 204 OK\r\n\r\n"), 0, RSP(NO_BODY) },
	{ E "! string ok\n", S("HTTP/1.1 200 OK\r\n\r\n"), 0, WAIT },
	{ E "! string ok comment e\n", S("HTTP/1.1 200 OK\r\n\r\n"), 1,
		RSP(NO_BODY " comment: e") },
	{ " option httpchk HEAD /\n http-check expect string ok\n",
		S("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), 0, RSP(NO_BODY) },
	/* A match is found at once, a difference when the body is whole. */
	{ E "string ok\n", S("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"), 0, PASS },
	{ E "! string ok\n", S("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"), 0,
		RSP(UNWANTED) },
	{ E "string no\n", S("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"), 0, WAIT },
	{ E "string no\n", S("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"), 1, RSP(DIFFERS) },
	{ E "string ok\n", S("HTTP/1.1 200 OK\r\n\r\nok"), 0, PASS },
	{ E "! string no\n", S("HTTP/1.1 200 OK\r\n\r\nok"), 0, WAIT },
	{ E "! string no\n", S("HTTP/1.1 200 OK\r\n\r\nok"), 1, PASS },
	{ E "string no\n", S("HTTP/1.1 200 OK\r\n\r\nok"), 1, RSP(DIFFERS) },
	/* Behind the body there is nothing of it. */
	{ E "string okx\n", S("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokx"), 0, RSP(DIFFERS) },
	/* Chunks. */
	{ E "string ok\n",
		S(CHUNKED "1\r\no\r\n1\r\nk\r\n0\r\n\r\n"),
		0, PASS },
	{ E "string ok\n",
		S(CHUNKED "1\r\no\r\n1\r\nk\r\n"), 0,
		PASS },
	{ E "string no\n",
		S(CHUNKED "1\r\no\r\n1\r\nk\r\n"), 0,
		WAIT },
	{ E "string no\n",
		S(CHUNKED "1\r\no\r\n0\r\n\r\n"), 0,
		RSP(DIFFERS) },
	{ E "string ok\n", S(CHUNKED "zz\r\n"), 0,
		RSP("") },
};

#define A S("HTTP/1.1 200 OK\r\nA: x, y\r\nA: w\r\nAbc: z\r\nE:\r\nContent-Length: 0\r\n\r\n")

static const struct check_case headers[] = {
	{ E "hdr name content-length\n", OK, 0, PASS },
	{ E "hdr name x comment hello\n", OK, 0, STS(200, "OK comment: hello") },
	{ E "! hdr name content-length\n", OK, 0, STS(200, "OK") },
	{ E "hdr name content-length value 2\n", OK, 0, PASS },
	{ E "hdr name content-length value 3\n", OK, 0, STS(200, "OK") },
	{ E "hdr name a value x\n", A, 0, PASS },
	{ E "hdr name a value y\n", A, 0, PASS },
	{ E "hdr name a value w\n", A, 0, PASS },
	{ E "hdr name a value X\n", A, 0, STS(200, "OK") },
	{ E "hdr name a value \"x, y\"\n", A, 0, STS(200, "OK") },
	{ E "fhdr name a value \"x, y\"\n", A, 0, PASS },
	{ E "fhdr name a value x\n", A, 0, STS(200, "OK") },
	{ E "fhdr name a value -m end w\n", A, 0, PASS },
	{ E "hdr name -m beg AB\n", A, 0, PASS },
	{ E "hdr name -m end c value z\n", A, 0, PASS },
	{ E "hdr name -m sub B value -m reg ^z$\n", A, 0, PASS },
	{ E "hdr name -m reg ^ABC$\n", A, 0, PASS },
	{ E "hdr name -m reg ^[a]$ value -m beg y\n", A, 0, PASS },
	{ E "hdr name -m beg a value w\n", A, 0, PASS },
	{ E "hdr name e\n", A, 0, PASS },
	{ E "! hdr name zz\n", A, 0, PASS },
	{ E "hdr name-lf %[str(a)] value-lf %[str(y)]\n", A, 0, PASS },
};

static void
run_cases(const struct check_case *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_rig_run(&c[i], 0);
}

static void
test_statuses(void **state)
{
	(void)state;
	run_cases(statuses, ARRAY_LEN(statuses));
}

static void
test_bodies(void **state)
{
	(void)state;
	run_cases(bodies, ARRAY_LEN(bodies));
}

static void
test_headers(void **state)
{
	(void)state;
	run_cases(headers, ARRAY_LEN(headers));
}

/* Rules on variables see the response that the expect rule before them has read. */
static void
set_var_sees_the_response(void **state)
{
	static const char lines[] = E "status 200\n"
		" http-check set-var-fmt(check.a) \"%[status] %[res.hdr(content-length)] "
		"%[res.body] %[res.len] %[res.payload(0,4)]\"\n";
	static const struct {
		struct str bytes;
		const char *value;
	} all[] = {
		{ OK, "200 2 ok 40 " },
		{ S(CHUNKED "1\r\no\r\n1\r\nk\r\n0\r\n\r\n"), "200  ok 64 " },
		{ S("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), "200 2  38 " },
		{ S("HTTP/1.1 200 O"), "   0 " },
		{ S("garbage\r\n\r\n"), "   0 " },
		{ S(""), "   0 " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		check_rig_sets(lines, all[i].bytes, all[i].value);
}

/* disable-on-404 has precedence over the rule, whatever it expects. */
static void
test_404(void **state)
{
	static const char *const lines[] = { H, E "status 404\n", E "status 200\n",
		E "string x\n" };
	struct check_input in = { .received = STATUS("404 NF", "ok"), .accepts_404 = 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct check_verdict v;
		struct check_rig r;

		check_rig_load(&r, lines[i]);
		assert_int_equal(check_expect_eval(check_rig_rule(&r, CHECK_RULE_EXPECT, 0), &in,
					 &r.cx, &v),
			CHECK_STEP_FAIL);
		assert_int_equal(v.status, CHECK_L7OKC);
		assert_int_equal(v.code, 404);
		assert_string_equal(v.info, "");
		check_rig_fini(&r);
	}
}

/* A head that does not end within the buffer, a body that does not, and more fields than fit. */
static void
test_limits(void **state)
{
	struct check_input in = { .received = S("HTTP/1.1 200 OK\r\nX: y"), .full = 1 };
	struct check_verdict v;
	struct check_rig r;
	char big[8192];
	size_t n;

	(void)state;
	check_rig_load(&r, E "! string no\n");
	assert_int_equal(check_expect_eval(check_rig_rule(&r, CHECK_RULE_EXPECT, 0), &in, &r.cx,
				 &v),
		CHECK_STEP_FAIL);
	assert_int_equal(v.status, CHECK_L7RSP);
	in.received = (struct str)S("HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\nok");
	assert_int_equal(check_expect_eval(check_rig_rule(&r, CHECK_RULE_EXPECT, 0), &in, &r.cx,
				 &v),
		CHECK_STEP_NEXT);
	n = (size_t)snprintf(big, sizeof(big), "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 200; i++)
		n += (size_t)snprintf(big + n, sizeof(big) - n, "X-%d: y\r\n", i);
	n += (size_t)snprintf(big + n, sizeof(big) - n, "\r\n");
	assert_int_equal(check_rig_eval(&r, check_rig_rule(&r, CHECK_RULE_EXPECT, 0),
				 (struct str){ big, n }, 0, &v),
		CHECK_STEP_FAIL);
	assert_int_equal(v.status, CHECK_L7RSP);
	check_rig_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(set_var_sees_the_response),
		cmocka_unit_test(test_404),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
