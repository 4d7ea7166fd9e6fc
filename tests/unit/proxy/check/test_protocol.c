/* The built-in methods: what they send, and the messages about answers. Compared with HAProxy 2.6;
 * it reads beyond packets that are too short, and takes fewer forms of LDAP lengths. */
#include "proxy/check/check_send.h"
#include "proxy/check/protocol.h"
#include "unit/proxy/proxies_rig.h"

#define S(text) { text, sizeof(text) - 1 }
#define WAIT CHECK_STEP_WAIT, CHECK_UNK, -1, ""
#define PASS(text) CHECK_STEP_NEXT, CHECK_L7OK, 0, text
#define RSP(text) CHECK_STEP_FAIL, CHECK_L7RSP, -1, text
#define STS(code, text) CHECK_STEP_FAIL, CHECK_L7STS, code, text

static void
run_cases(const struct check_case *c, size_t n, int nth)
{
	for (size_t i = 0; i < n; i++)
		check_rig_run(&c[i], nth);
}

static void
sends(const char *lines, int n, struct str expected)
{
	struct check_rig r;
	struct sbuf out;

	check_rig_load(&r, lines);
	sbuf_init(&out, 4096);
	assert_int_equal(check_send_build(&check_rig_rule(&r, CHECK_RULE_SEND, n)->u.send, &r.cx,
				 STR(""), 0, &out),
		0);
	assert_int_equal(out.len, expected.len);
	assert_memory_equal(out.p, expected.p, expected.len);
	sbuf_fini(&out);
	check_rig_fini(&r);
}

/* --- MySQL --- */

#define M " option mysql-check\n"
#define MU " option mysql-check user bob\n"
#define VERSION "5.7.30-log"
#define BODY "\x0a" VERSION "\0\x01\0\0\0abcdefgh\0\xff\xf7"
#define GREETING "\x1b\0\0\0" BODY
#define RESULT "\x07\0\0\x02\0\0\0\x02\0\0\0"
#define DENIED "\x23\0\0\x02\xff\x15\x04#28000Access denied for user bob"

static void
test_mysql(void **state)
{
	static const struct check_case greetings[] = {
		{ M, S(GREETING), 0, PASS(VERSION) },
		{ M, S(GREETING), 1, PASS(VERSION) },
		{ M, S("\x1b\0\0\x01" BODY), 0, PASS(VERSION) },
		{ M, S("\x05\0\0\0\x0a" "abc"), 0, WAIT },
		{ M, S("\x04\0\0\0\x0a" "abc"), 0, PASS("abc") },
		{ M, S("\x02\0\0\0\x0a\0"), 0, PASS("") },
		{ M, S("\x25\0\0\0\xff\x6a\x04Host 'x' is not allowed to connect"), 0,
			STS(1130, "Host 'x' is not allowed to connect") },
		{ M, S("\x01\0\0\0\xff"), 0, STS(0, "") },
		{ M, S("\x02\0\0\0\xff\x01"), 0, STS(0, "") },
		{ M, S("\x03\0\0\0\xff\x01\x02"), 0, STS(513, "") },
		{ M, S("\0\0\0\0"), 0, RSP("") },
		{ M, S("\x1b\0\0"), 1, RSP("") },
		{ M, S("\x1b\0\0\0\x0a" "5.7"), 1, RSP("") },
		{ M, S("HTTP/1.1 400 Bad\r\n\r\n"), 0, WAIT },
		{ M, S("\xff\xff\xff\0" BODY), 0, WAIT },
		{ M, S(""), 1, RSP("TCPCHK got an empty response at step 2") },
	};
	static const struct check_case results[] = {
		{ MU, S(GREETING RESULT), 0, PASS(VERSION) },
		{ MU, S(GREETING), 0, WAIT },
		{ MU, S(GREETING), 1, RSP("") },
		{ MU, S(GREETING "\x07\0\0\x02\0"), 0, WAIT },
		{ MU, S(GREETING "\0\0\0\x02"), 0, PASS(VERSION) },
		{ MU, S(GREETING "\x01\0\0\x02\xfe"), 0, PASS(VERSION) },
		{ MU, S(GREETING DENIED), 0, STS(1045, "#28000Access denied for user bob") },
		{ MU, S(GREETING "\x03\0\0\x02\xff\x15\x04"), 1, STS(1045, "") },
	};

	(void)state;
	run_cases(greetings, ARRAY_LEN(greetings), 0);
	run_cases(results, ARRAY_LEN(results), 1);
	sends(MU, 0,
		(struct str)S(
			"\x25\0\0\x01\0\x82\0\0\0\x80\0\x01\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
			"\0\0\0\0\0\0\0"
			"bob\0\0"
			"\x01\0\0\0\x01"));
	sends(" option mysql-check user bob pre-41\n", 0,
		(struct str)S("\x0a\0\0\x01\0\x80\0\0\x01" "bob\0\0" "\x01\0\0\0\x01"));
}

/* --- PostgreSQL, Redis --- */

#define P " option pgsql-check user bob\n"
#define R " option redis-check\n"
#define PG_OK "PostgreSQL server is ok"

static void
test_pgsql(void **state)
{
	static const struct check_case all[] = {
		{ P, S("R\0\0\0\x08\0\0\0\0"), 0, PASS(PG_OK) },
		{ P, S("R\0\0\0\x0c\0\0\0\x05" "abcd"), 0, PASS(PG_OK) },
		{ P, S("E\0\0\0\x60SFATAL\0C28000\0Mno entry\0\0"), 0, RSP("FATAL") },
		{ P, S("E"), 1, RSP("") },
		{ P, S("R"), 0, WAIT },
		{ P, S("R\0\0\0\x08\0\0\0"), 0, WAIT },
		{ P, S("R\0\0\0\x08\0\0\0"), 1, STS(0, "PostgreSQL unknown error") },
		{ P, S("N"), 0, WAIT },
		{ P, S("X\0\0\0\x08\0\0\0\0"), 1, STS(0, "PostgreSQL unknown error") },
		{ P, S(""), 1, RSP("TCPCHK got an empty response at step 3") },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct check_verdict v;
		struct check_rig r;

		/* An error is one from its first byte on, and its text grows: it is not cut. */
		check_rig_load(&r, all[i].lines);
		assert_int_equal(check_rig_eval(&r, check_rig_rule(&r, CHECK_RULE_EXPECT, 0),
					 all[i].bytes, all[i].ended, &v),
			all[i].step);
		assert_string_equal(v.info, all[i].info);
		if (all[i].step != CHECK_STEP_WAIT)
			assert_int_equal(v.status, all[i].status);
		check_rig_fini(&r);
	}
	sends(P, 0, (struct str)S("\0\0\0\x12\0\x03\0\0user\0bob\0\0"));
}

static void
test_redis(void **state)
{
	static const struct check_case all[] = {
		{ R, S("+PONG\r\n"), 0, PASS("Redis server is ok") },
		{ R, S("x+PONG\r\nmore"), 0, PASS("Redis server is ok") },
		{ R, S("+PON"), 0, WAIT },
		{ R, S("+PON"), 1, STS(0, "+PON") },
		{ R, S("-NOAUTH Authentication required.\r\n"), 0, WAIT },
		{ R, S("-NOAUTH Authentication required.\r\nx"), 1,
			STS(0, "-NOAUTH Authentication required.") },
		{ R, S("+PONG\n"), 0, WAIT },
		{ R, S(""), 1, STS(0, "TCPCHK got an empty response at step 2") },
	};

	(void)state;
	run_cases(all, ARRAY_LEN(all), 0);
	sends(R, 0, (struct str)S("*1\r\n$4\r\nPING\r\n"));
}

/* --- SMTP --- */

#define M3 " option smtpchk\n"

static void
test_smtp(void **state)
{
	static const struct check_case banners[] = {
		{ M3, S("220 hi there\r\n"), 0, CHECK_STEP_NEXT, CHECK_L7OK, 220, "hi there" },
		{ M3, S("220 hi"), 0, CHECK_STEP_NEXT, CHECK_L7OK, 220, "hi" },
		{ M3, S("220\r\n"), 0, CHECK_STEP_NEXT, CHECK_L7OK, 220, "" },
		{ M3, S("554 go away\r\n"), 0, STS(554, "go away") },
		{ M3, S("220-hi\r\n"), 0, RSP("220-hi") },
		{ M3, S("hello\r\n"), 0, RSP("hello") },
		{ M3, S("2209 hi\r\n"), 0, RSP("2209 hi") },
		{ M3, S("1a3 x\r\n"), 0, RSP("1a3 x") },
		{ M3, S("22"), 0, WAIT },
		{ M3, S("22"), 1, RSP("22") },
		{ M3, S("220"), 0, WAIT },
		{ M3, S("220\0x"), 0, RSP("220") },
		{ M3, S(""), 1, RSP("TCPCHK got an empty response at step 2") },
	};
	static const struct check_case hellos[] = {
		{ M3, S("250 ok\r\n"), 0, CHECK_STEP_NEXT, CHECK_L7OK, 250, "ok" },
		{ M3, S("250-a\r\n250-b\r\n250 c\r\n"), 0, CHECK_STEP_NEXT, CHECK_L7OK, 250, "c" },
		{ M3, S("250-a\r\n"), 0, WAIT },
		{ M3, S("250-a\r\n550 b\r\n"), 0, WAIT },
		{ M3, S("550 no way\r\n"), 0, WAIT },
		{ M3, S("550 no way\r\n"), 1, STS(550, "no way") },
		{ M3, S("25"), 1, STS(25, "") },
		{ M3, S(""), 1, STS(0, "TCPCHK got an empty response at step 5") },
	};
	static const struct check_case byes[] = {
		{ M3, S("221 bye\r\n"), 0, CHECK_STEP_NEXT, CHECK_L7OK, 221, "bye" },
		{ M3, S("421 bye\r\n"), 0, STS(421, "bye") },
		{ M3, S("22"), 0, WAIT },
		{ M3, S(""), 1, STS(0, "TCPCHK got an empty response at step 7") },
	};

	(void)state;
	run_cases(banners, ARRAY_LEN(banners), 0);
	run_cases(hellos, ARRAY_LEN(hellos), 1);
	run_cases(byes, ARRAY_LEN(byes), 2);
	sends(M3, 0, (struct str)S("HELO localhost\r\n"));
	sends(" option smtpchk EHLO mx.x\n", 0, (struct str)S("EHLO mx.x\r\n"));
	sends(M3, 1, (struct str)S("QUIT\r\n"));
}

/* --- LDAP, TLS --- */

#define L " option ldap-check\n"
#define K " option ssl-hello-chk\n"
#define NO_LDAP RSP("Not LDAPv3 protocol")

/* As Active Directory answers. */
#define LONG_LDAP "\x30\x84\0\0\0\x10\x02\x01\x01\x61\x84\0\0\0\x07\x0a\x01\0\x04\0\x04\0"
#define LONG_LDAP_RESULT 18 /* up to its resultCode */

/* An answer comes in two parts, wherever it is cut. */
static void
test_ldap_in_parts(void **state)
{
	(void)state;
	for (size_t n = 1; n < LONG_LDAP_RESULT; n++) {
		const struct check_case more = { L, { LONG_LDAP, n }, 0, WAIT };
		const struct check_case cut = { L, { LONG_LDAP, n }, 1, RSP("") };
		const struct check_case whole = { L, { LONG_LDAP, LONG_LDAP_RESULT }, 0,
			PASS("Success") };

		check_rig_run(&more, 0);
		check_rig_run(&cut, 0);
		check_rig_run(&whole, 0);
	}
}

static void
test_ldap(void **state)
{
	static const struct check_case all[] = {
		{ L, S("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\0\x04\0\x04\0"), 0, PASS("Success") },
		{ L, S(LONG_LDAP), 0, PASS("Success") },
		{ L, S("\x30\x81\x0c\x02\x01\x01\x61\x07\x0a\x01\0\x04\0\x04\0"), 0,
			PASS("Success") },
		{ L, S("\x30\x82\0\x0e\x02\x01\x01\x61\x82\0\x07\x0a\x01\0\x04\0\x04\0"), 0,
			PASS("Success") },
		{ L, S("\x30\x80\x02\x01\x01\x61\x80\x0a\x01\0\x04\0\x04\0\0\0\0\0"), 0,
			NO_LDAP },
		{ L, S("\x30\x85\0\0\0\0\x0c\x02\x01\x01\x61\x07\x0a\x01\0\x04\0\x04\0"), 0,
			NO_LDAP },
		{ L, S("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x31\x04\0\x04\0"), 0,
			STS(49, "See RFC: http://tools.ietf.org/html/rfc4511#section-4.1.9") },
		{ L, S("\x31\x0c\x02\x01\x01\x61\x07\x0a\x01\0\x04\0\x04\0"), 0, NO_LDAP },
		{ L, S("\x30\x0c\x02\x01\x02\x61\x07\x0a\x01\0\x04\0\x04\0"), 0, NO_LDAP },
		{ L, S("\x30\x0c\x02\x01\x01\x62\x07\x0a\x01\0\x04\0\x04\0"), 0, NO_LDAP },
		{ L, S("\x30\x0c\x02\x01\x01\x61\x07\x0b\x01\0\x04\0\x04\0"), 0, NO_LDAP },
		{ L, S("\x30\xff\x02\x01\x01\x61\x07\x0a\x01\0\x04\0\x04\0"), 0, NO_LDAP },
		{ L, S("HTTP/1.0 400 Bad Request\r\n\r\n"), 0, NO_LDAP },
		{ L, S("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\0\x04\0\x04"), 0, WAIT },
		{ L, S("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\0\x04\0\x04"), 1, RSP("") },
		{ L, S(""), 1, RSP("TCPCHK got an empty response at step 2") },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		check_rig_run(&all[i], 0);
	sends(L, 0, (struct str)S("\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\0\x80\0"));
}

static void
test_ssl(void **state)
{
	static const struct check_case all[] = {
		{ K, S("\x16\x03\0\0\x4a\x02\0\0\x46"), 0, CHECK_STEP_NEXT, CHECK_L6OK, -1, "" },
		{ K, S("\x15\x03\0\0\x02\x02"), 0, CHECK_STEP_NEXT, CHECK_L6OK, -1, "" },
		{ K, S("\x16\x03"), 0, WAIT },
		{ K, S("\x16"), 1, CHECK_STEP_NEXT, CHECK_L6OK, -1, "" },
		{ K, S("HTTP/1.1 400\r\n\r\n"), 0, CHECK_STEP_FAIL, CHECK_L6RSP, -1, "" },
		{ K, S("\x17\x03\0\0\x02\x02\x28"), 0, CHECK_STEP_FAIL, CHECK_L6RSP, -1, "" },
		{ K, S(""), 1, CHECK_STEP_FAIL, CHECK_L6RSP, -1,
			"TCPCHK got an empty response at step 2" },
	};
	struct check_rig r;
	const struct check_send *s;

	(void)state;
	run_cases(all, ARRAY_LEN(all), 0);
	check_rig_load(&r, K);
	s = &check_rig_rule(&r, CHECK_RULE_SEND, 0)->u.send;
	assert_int_equal(s->data.len, 126);
	assert_memory_equal(s->data.p, "\x16\x03\0\0\x79\x01\0\0\x75\x03\0", 11);
	assert_memory_equal(s->data.p + 43, "\0\0\x4e\0\x01\0\x02", 7);
	assert_memory_equal(s->data.p + 120, "\0\x39\0\x3a\x01\0", 6);
	assert_int_equal(check_rig_rule(&r, CHECK_RULE_EXPECT, 0)->u.expect.tout_status,
		CHECK_L6TOUT);
	check_rig_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mysql),
		cmocka_unit_test(test_pgsql),
		cmocka_unit_test(test_redis),
		cmocka_unit_test(test_smtp),
		cmocka_unit_test(test_ldap),
		cmocka_unit_test(test_ldap_in_parts),
		cmocka_unit_test(test_ssl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
