#define MESSAGE "GET /p/a.html?a=12&b=x%20y;s=9&e=&f&a=3 HTTP/1.1\r\nHost: h:80\r\n\r\n"
#include "unit/rule/expr_rig.h"

/* The results of HAProxy 2.6. */
static void
parts(void **state)
{
	(void)state;
	IS("path", "/p/a.html");
	IS("pathq", "/p/a.html?a=12&b=x%20y;s=9&e=&f&a=3");
	IS("query", "a=12&b=x%20y;s=9&e=&f&a=3");
	IS("url", "/p/a.html?a=12&b=x%20y;s=9&e=&f&a=3");
	IS("base", "h:80/p/a.html");
	IS("baseq", "h:80/p/a.html?a=12&b=x%20y;s=9&e=&f&a=3");
	IS("url_ip", "(none)");
	IS("url_port", "(none)");
	h.r.arena.cap = 8;
	IS("base", "(none)");
	IS("base32", "(none)");
	h.r.arena.cap = RIG_ARENA;
}

static void
parameters(void **state)
{
	(void)state;
	IS("urlp(a)", "12");
	IS("url_param(b)", "x%20y");
	IS("urlp(nope)", "(none)");
	IS("urlp", "12");
	IS("urlp()", "12");
	IS("urlp(e)", "");
	IS("urlp(f)", "(none)");
	IS("urlp(s,;)", "9");
	IS("urlp(a,;)", "3");
	IS("urlp(a,ab)", "7: 'urlp': the delimiter is one character");
	IS("urlp(A)", "(none)");
	IS("urlp(A,,i)", "12");
	IS("url_param(S,;,i)", "9");
	IS("urlp_val(A,?,i)", "12");
	IS("urlp(a,?,I)", "9: 'urlp': the only flag is 'i'");
	IS("urlp_val(a)", "12");
	IS("urlp_val(b)", "0");
	IS("urlp_val(e)", "0");
	EACH("urlp(a)", "12|3|");
	EACH("urlp", "12|x%20y|9||3|");
	EACH("urlp_val(a)", "12|3|");
	EACH("urlp(A,,i)", "12|3|");
	EACH("urlp(nope)", "-|");
	rig_request(&h, "GET /p HTTP/1.1\r\nHost: h\r\n\r\n");
	IS("urlp(a)", "(none)");
	IS("query", "(none)");
	rig_request(&h, "GET /p? HTTP/1.1\r\nHost: h\r\n\r\n");
	IS("query", "");
}

static void
other_forms(void **state)
{
	(void)state;
	rig_request(&h, "GET http://1.2.3.4:81/x?q HTTP/1.1\r\nHost: 1.2.3.4:81\r\n\r\n");
	IS("path", "/x");
	IS("pathq", "/x?q");
	IS("url", "http://1.2.3.4:81/x?q");
	IS("url_ip", "1.2.3.4");
	IS("url_port", "81");
	IS("base", "1.2.3.4:81/x");
	rig_request(&h, "GET http://[1::2]/x HTTP/1.1\r\nHost: [1::2]\r\n\r\n");
	IS("url_ip", "1::2");
	IS("url_port", "80");
	rig_request(&h, "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n");
	IS("url", "*");
	IS("path", "(none)");
	IS("url_ip", "(none)");
}

static void
hashes(void **state)
{
	(void)state;
	rig_request(&h, "GET /a/b?c=d HTTP/1.1\r\nHost: h\r\n\r\n");
	IS("base32", "2708352860");
	IS("base,sdbm(1)", "2708352860");
	IS("url32", "2986279158");
	IS("baseq,sdbm(1)", "2986279158");
}

static void
without_a_request(void **state)
{
	(void)state;
	h.r.cx.req = NULL;
	IS("path", "(none)");
	IS("base", "(none)");
	IS("url_ip", "(none)");
	IS("urlp(a)", "(none)");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(parts),
		CASE(parameters),
		CASE(other_forms),
		CASE(hashes),
		CASE(without_a_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
