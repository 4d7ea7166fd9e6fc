#define MESSAGE \
	"POST /p HTTP/1.1\r\nHost: h.example:8080\r\nX-A: 1, 2\r\nX-B: z\r\n" \
	"X-A: 3,\r\nx-a: \"q,r\" \r\nX-E: \r\nX-E2: ,\r\nX-Q: \"a\\\",b\",c\r\n" \
	"X-IP: 1.2.3.4, 5.6.7.8:80, [1::2], 1::3, bad\r\nX-N: 12x, 7\r\n" \
	"Content-Length: 0\r\n\r\n"
#include "unit/rule/expr_rig.h"

/* The results of HAProxy 2.6. */
static void
occurrences(void **state)
{
	(void)state;
	IS("hdr(x-a)", "\"q,r\"");
	IS("req.hdr(X-A)", "\"q,r\"");
	IS("hdr(x-a,0)", "\"q,r\"");
	IS("hdr(x-a,1)", "1");
	IS("hdr(x-a,2)", "2");
	IS("hdr(x-a,3)", "3");
	IS("hdr(x-a,4)", "");
	IS("hdr(x-a,5)", "\"q,r\"");
	IS("hdr(x-a,6)", "(none)");
	IS("hdr(x-a,-1)", "\"q,r\"");
	IS("hdr(x-a,-2)", "");
	IS("hdr(x-a,-4)", "2");
	IS("hdr(x-a,-5)", "1");
	IS("hdr(x-a,-6)", "(none)");
	IS("hdr(nope)", "(none)");
	IS("hdr(nope,-1)", "(none)");
	IS("hdr(x-e)", "");
	IS("hdr(x-e2)", "");
	IS("hdr(x-q,1)", "\"a\\\",b\"");
	IS("hdr(x-q,2)", "c");
	IS("hdr(host)", "h.example:8080");
	IS("hdr()", "0");
	IS("req.fhdr(x-a)", "\"q,r\"");
	IS("req.fhdr(x-a,1)", "1, 2");
	IS("req.fhdr(x-a,-2)", "3,");
	IS("req.fhdr(x-e)", "");
}

static void
counts(void **state)
{
	(void)state;
	IS("hdr_cnt(x-a)", "5");
	IS("hdr_cnt(x-e)", "1");
	IS("hdr_cnt(x-e2)", "2");
	IS("hdr_cnt(nope)", "0");
	IS("hdr_cnt", "20");
	IS("req.fhdr_cnt(x-a)", "3");
	IS("req.fhdr_cnt(x-e)", "1");
	IS("req.fhdr_cnt", "11");
}

static void
other_types(void **state)
{
	(void)state;
	IS("hdr_ip(x-ip,1)", "1.2.3.4");
	IS("hdr_ip(x-ip,2)", "5.6.7.8");
	IS("hdr_ip(x-ip,3)", "(none)");
	IS("hdr_ip(x-ip,4)", "1::3");
	IS("hdr_ip(x-ip)", "(none)");
	IS("hdr_val(x-n)", "7");
	IS("hdr_val(x-n,1)", "12");
	IS("hdr_val(x-e)", "0");
	IS("hdr_val(nope)", "(none)");
}

static void
in_acls(void **state)
{
	(void)state;
	EACH("req.hdr(x-a)", "\"q,r\"|1|2|3||");
	EACH("hdr(x-n),add(0)", "7|12|");
	EACH("req.hdr(x-b)", "z|");
	EACH("req.hdr(nope)", "-|");
	EACH("req.hdr(x-a,2)", "2|");
	EACH("req.fhdr(x-a)", "\"q,r\"|1, 2|3,|");
	EACH("hdr_ip(x-ip)", "-|1.2.3.4|5.6.7.8|-|1::3|");
}

static void
start_lines(void **state)
{
	(void)state;
	IS("method", "POST");
	IS("req.ver", "1.1");
	IS("req.proto_http", "1");
	h.r.cx.status = 203;
	IS("status", "203");
	h.r.cx.at &= ~(unsigned int)SAMPLE_AT_END;
	IS("status",
		"0: 'status' cannot be used here: it needs a response, which is not available");
	h.r.cx.status = 0;
	rig_response(&h, "HTTP/1.0 302 Found\r\nX: a\r\nX: b\r\n\r\n");
	IS("status", "302");
	IS("res.ver", "1.0");
	IS("res.hdr(x)", "b");
	IS("shdr(x,1)", "a");
	/* if there is a response, its fields are used */
	IS("hdr(x)", "b");
	IS("hdr(x-b)", "(none)");
	IS("hdr_cnt", "2");
	IS("req.hdr(x-b)", "z");
}

static void
all_fields(void **state)
{
	(void)state;
	rig_request(&h, "GET / HTTP/1.1\r\nHost: h\r\nX-Aa: 1\r\nX-Gone: 2\r\n\r\n");
	assert_int_equal(http_drop_all(&h.req, STR("x-gone")), 1);
	IS("req.hdr_names", "host,x-aa");
	IS("req.hdr_names(::)", "host:x-aa");
	IS("req.hdrs", "Host: h\r\nX-Aa: 1\r\n\r\n");
	IS("req.hdrs_bin", "04686F73740168" "04782D61610131" "0000");
	IS("hdr_cnt", "2");
	IS("hdr(x-gone)", "(none)");
	h.r.arena.cap = 8;
	IS("req.hdrs", "(none)");
	IS("req.hdr_names", "(none)");
	h.r.arena.cap = RIG_ARENA;
}

static void
before_there_is_one(void **state)
{
	struct rule_expr *e;
	struct sample s;
	size_t used;

	(void)state;
	h.r.cx.req = NULL;
	h.r.cx.req_ended = 0;
	assert_int_equal(rule_expr_parse(&h.r.vocab, "hdr(x)", 6, h.r.cx.at, 0, &e, &used,
				 &h.r.why), 0);
	assert_int_equal(rule_expr_eval(e, &h.r.cx, &s), 0);
	assert_int_equal(s.may_change, 1);
	/* bytes that cannot be HTTP */
	h.r.cx.req_not_http = 1;
	assert_int_equal(rule_expr_eval(e, &h.r.cx, &s), 0);
	assert_int_equal(s.may_change, 0);
	h.r.cx.req_not_http = 0;
	h.r.cx.req_ended = 1;
	assert_int_equal(rule_expr_eval(e, &h.r.cx, &s), 0);
	assert_int_equal(s.may_change, 0);
	rule_expr_free(&e);
	IS("req.proto_http", "0");
	IS("method", "(none)");
	IS("req.ver", "(none)");
	IS("req.hdrs", "(none)");
	IS("req.hdr_names", "(none)");
	IS("hdr_cnt", "(none)");
	h.r.cx.at = RIG_EVERYWHERE;
	IS("status", "(none)");
	IS("res.hdr(x)", "(none)");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(occurrences),
		CASE(counts),
		CASE(other_types),
		CASE(in_acls),
		CASE(start_lines),
		CASE(all_fields),
		CASE(before_there_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
