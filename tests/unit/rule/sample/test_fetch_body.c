#define MESSAGE \
	"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 19\r\n\r\n" \
	"p=1&x=&w&y=2&p=3&z"
#include "unit/rule/expr_rig.h"

static void
bodies(void **state)
{
	(void)state;
	IS("req.body", "703D3126783D26772679" "3D3226703D33267A");
	IS("req.body_len", "18");
	IS("req.body_size", "19");
	IS("req.body_param(p)", "1");
	IS("req.body_param", "1");
	IS("req.body_param(P)", "(none)");
	IS("req.body_param(P,i)", "1");
	IS("req.body_param(p,x)", "17: 'req.body_param': the only flag is 'i'");
	IS("req.body_param(x)", "");
	IS("req.body_param(w)", "(none)");
	IS("req.body_param(z)", "(none)");
	EACH("req.body_param(p)", "1|3|");
	EACH("req.body_param", "1||2|3|");
	assert_string_equal(rig_state(&h.r, "req.body"), "1");
	h.r.cx.req_body.is_whole = 0;
	assert_string_equal(rig_state(&h.r, "req.body"), "1+");
	assert_string_equal(rig_state(&h.r, "req.body_len"), "1+");
	assert_string_equal(rig_state(&h.r, "req.body_param(nope)"), "0+");
	rig_request(&h, "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
	h.r.cx.req_body.content = STR("abc");
	IS("req.body_size", "3");
	h.r.cx.req = NULL;
	IS("req.body_size", "(none)");
}

static void
bytes(void **state)
{
	(void)state;
	h.r.cx.req_bytes = STR("\0\3abcdef");
	IS("req.len", "8");
	assert_string_equal(rig_state(&h.r, "req.len"), "1+");
	IS("req.payload(2,3)", "616263");
	assert_string_equal(rig_state(&h.r, "req.payload(2,3)"), "1");
	IS("req.payload(2,6)", "616263646566");
	IS("req.payload(2,0)", "616263646566");
	assert_string_equal(rig_state(&h.r, "req.payload(2,0)"), "1+");
	assert_string_equal(rig_state(&h.r, "req.payload(2,7)"), "0+");
	assert_string_equal(rig_state(&h.r, "req.payload(8,0)"), "0+");
	assert_string_equal(rig_state(&h.r, "req.payload(9,1)"), "0+");
	assert_string_equal(rig_state(&h.r, "wait_end"), "0+");
	h.r.cx.req_ended = 1;
	assert_string_equal(rig_state(&h.r, "req.payload(2,7)"), "0");
	assert_string_equal(rig_state(&h.r, "req.payload(2,0)"), "1");
	assert_string_equal(rig_state(&h.r, "req.len"), "1");
	IS("wait_end", "1");
	IS("payload(0,1)", "00");
	IS("req_len", "8");
	/* Numbers of 32 bits: nothing is waited for that never comes. */
	h.r.cx.req_ended = 0;
	assert_string_equal(rig_state(&h.r, "req.payload(2,7)"), "0+");
	assert_string_equal(rig_state(&h.r, "req.payload(-1,0)"), "0");
	assert_string_equal(rig_state(&h.r, "req.payload(-1,4)"), "0");
	assert_string_equal(rig_state(&h.r, "req.payload(0,-1)"), "0");
	assert_string_equal(rig_state(&h.r, "req.payload(1,2147483648)"), "0");
	IS("req.payload(4294967298,3)", "616263");
}

/* In mode http the fetch returns the available length, but no bytes. */
static void
messages(void **state)
{
	(void)state;
	h.r.cx.at = RIG_EVERYWHERE;
	h.r.cx.req_len = 65;
	h.r.cx.res_len = 40;
	rig_response(&h, "HTTP/1.1 200 OK\r\n\r\n");
	h.r.cx.res_body.content = STR("abc");
	h.r.cx.req_ended = 1;
	IS("req.len", "65");
	IS("res.len", "40");
	IS("res.body", "616263");
	IS("res.body_len", "3");
	IS("res.body_size", "3");
	assert_string_equal(rig_state(&h.r, "res.body"), "1+");
	rig_response(&h, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
	IS("res.body_size", "9");
	h.r.cx.res = NULL;
	IS("res.body", "(none)");
	IS("res.body_len", "(none)");
	IS("req.payload(0,1)", "(none)");
}

/* The server's bytes, for rules that inspect responses. */
static void
bytes_of_a_response(void **state)
{
	(void)state;
	h.r.cx.at = RIG_EVERYWHERE;
	h.r.cx.req_bytes = STR("request");
	h.r.cx.res_bytes = STR("\2abcd");
	IS("res.len", "5");
	IS("req.len", "7");
	assert_string_equal(rig_state(&h.r, "res.len"), "1+");
	IS("res.payload(1,2)", "6162");
	IS("payload(1,2)", "6162");
	IS("res.payload_lv(0,1)", "6162");
	IS("payload_lv(0,1)", "6162");
	IS("req.payload(1,2)", "6571");
	assert_string_equal(rig_state(&h.r, "res.payload(1,9)"), "0+");
	assert_string_equal(rig_state(&h.r, "wait_end"), "0+");
	h.r.cx.req_ended = 1;
	assert_string_equal(rig_state(&h.r, "res.payload(1,9)"), "0");
	assert_string_equal(rig_state(&h.r, "wait_end"), "1");
	h.r.cx.at = RIG_EVERYWHERE & ~(unsigned int)SAMPLE_AT_RES;
	IS("payload(1,2)", "6571");
}

static void
counted_bytes(void **state)
{
	(void)state;
	h.r.cx.req_bytes = STR("\0\3abcdef");
	IS("req.payload_lv(0,2)", "616263");
	IS("req.payload_lv(0,2,3)", "626364");
	IS("req.payload_lv(0,2,+1)", "626364");
	IS("req.payload_lv(0,2,-1)", "036162");
	IS("payload_lv(1,1)", "616263");
	assert_string_equal(rig_state(&h.r, "req.payload_lv(0,2,+4)"), "0+");
	assert_string_equal(rig_state(&h.r, "req.payload_lv(7,2)"), "0+");
	/* a length of zero, and one that exceeds every buffer */
	IS("req.payload_lv(0,1)", "(none)");
	h.r.cx.req_bytes = STR("\377\377\377\377\377\377\377\377abc");
	IS("req.payload_lv(0,8)", "(none)");
	IS("req.payload_lv(0,9)", "(none)");
	IS("req.payload_lv(0,-2)", "(none)");
	IS("req.payload_lv(0,0)", "17: 'req.payload_lv': a length takes 1 byte or more");
	IS("req.payload_lv(-1,2)", "15: 'req.payload_lv': the offset must not be negative");
	IS("req.payload_lv(0,1,x)", "19: 'req.payload_lv': it is an offset: N, +N or -N");
	IS("req.payload_lv(0,1,-2)", "19: 'req.payload_lv': it is before the first byte");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(bodies),
		CASE(bytes),
		CASE(counted_bytes),
		CASE(messages),
		CASE(bytes_of_a_response),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
