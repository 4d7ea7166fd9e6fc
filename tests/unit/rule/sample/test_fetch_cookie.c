#define MESSAGE \
	"GET /p HTTP/1.1\r\nHost: h\r\n" \
	"Cookie: c1=v1; c2=v 2 ;c3=; c4; dup=1; dup=2\r\n" \
	"Cookie: dup=3; q=\"a;b\"; n=42z\r\n\r\n"
#include "unit/rule/expr_rig.h"

/* The results of HAProxy 2.6. */
static void
cookies_of_requests(void **state)
{
	(void)state;
	IS("cook(c1)", "v1");
	IS("req.cook(c2)", "v 2");
	IS("cook(c3)", "");
	IS("cook(c4)", "(none)");
	IS("cook(nope)", "(none)");
	IS("cook(C1)", "(none)");
	IS("cook", "v1");
	IS("cook()", "v1");
	IS("cook(dup)", "3");
	IS("cook(q)", "\"a;b\"");
	IS("cookie(c1)", "v1");
	IS("cook_cnt(dup)", "3");
	IS("cook_cnt", "8");
	IS("cook_cnt(nope)", "0");
	IS("cook_val(n)", "42");
	IS("cook_val(c1)", "0");
	IS("cook_val(c3)", "0");
	EACH("req.cook(dup)", "3|1|2|");
	EACH("req.cook(c1)", "v1|");
	EACH("req.cook(nope)", "-|");
	EACH("req.cook", "v1|v 2||1|2|3|\"a;b\"|42z|");
	EACH("req.cook_val(dup)", "3|1|2|");
	h.r.cx.req = NULL;
	IS("cook(c1)", "(none)");
	IS("cook_cnt", "(none)");
}

static void
cookies_of_responses(void **state)
{
	(void)state;
	rig_response(&h, "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; path=/\r\nSet-Cookie: b=2\r\n"
			 "Set-Cookie: a=3; secure\r\n\r\n");
	IS("res.cook(a)", "3");
	IS("scook", "1");
	IS("cookie(b)", "2");
	IS("res.cook(path)", "(none)");
	IS("res.cook_cnt", "3");
	IS("scook_cnt(a)", "2");
	IS("res.cook_val(a)", "3");
	EACH("res.cook(a)", "3|1|");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(cookies_of_requests),
		CASE(cookies_of_responses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
