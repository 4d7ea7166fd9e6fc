/* Bytes of health checks: exactly what HAProxy 2.6 was seen to send. */
#include "proxy/check/check_send.h"
#include "base/err.h"
#include "unit/proxy/proxies_rig.h"

#define STATE "UP; address=127.0.0.1; port=80; name=b/s1"

/* The n-th send of these lines. */
static void
sends_as(const char *lines, int n, const char *state, int is_h2, struct str expected)
{
	struct check_rig r;
	struct sbuf out;
	int rc;

	check_rig_load(&r, lines);
	sbuf_init(&out, 4096);
	rc = check_send_build(&check_rig_rule(&r, CHECK_RULE_SEND, n)->u.send, &r.cx,
		str_of(state), is_h2, &out);
	if (rc != 0 || !str_is((struct str){ out.p, out.len }, expected))
		fail_msg("%s=> %d\n%.*s\nnot\n%.*s", lines, rc, (int)out.len, out.p,
			(int)expected.len, expected.p);
	sbuf_fini(&out);
	check_rig_fini(&r);
}

static void
sends_state(const char *lines, int n, const char *state, struct str expected)
{
	sends_as(lines, n, state, 0, expected);
}

static void
sends(const char *lines, const char *expected)
{
	sends_state(lines, 0, "", str_of(expected));
}

#define H " option httpchk"
#define G H " GET /x"
#define G11 H " GET /x HTTP/1.1"
#define SEND "\n http-check send "
#define END " HTTP/1.0\r\n\r\n"
#define CLOSE "connection: close\r\n\r\n"

static void
option_httpchk_makes_the_request_line(void **state)
{
	(void)state;
	sends(H "\n", "OPTIONS /" END);
	sends(H " /x\n", "OPTIONS /x" END);
	sends(G "\n", "GET /x" END);
	sends(G11 "\n", "GET /x HTTP/1.1\r\n" CLOSE);
	sends(H " OPTIONS * HTTP/1.1\n", "OPTIONS * HTTP/1.1\r\n" CLOSE);
	sends(H " GET /x#y\n", "GET /x" END);
	sends(H " GET /x HTTP/2.0\n", "GET /x HTTP/1.1\r\n" CLOSE);
	sends(H " GET /x HTTP/1.2\n", "GET /x HTTP/1.1\r\n" CLOSE);
	sends(H " GET /x FOO\n", "GET /x FOO\r\n\r\n");
	sends(H " GET /x HTTP/1.1x\n", "GET /x HTTP/1.1x\r\n\r\n");
	sends(H SEND "uri /y\n", "OPTIONS /y" END);
	sends(H SEND "uri-lf /%[int(5)]\n", "OPTIONS /5" END);
	sends(G11 SEND "uri /y\n", "GET /y HTTP/1.1\r\n" CLOSE);
	sends(G11 SEND "ver HTTP/1.0\n", "GET /x" END);
	sends(H SEND "ver HTTP/1.1\n", "OPTIONS / HTTP/1.1\r\n" CLOSE);
}

/* The transport makes a request of HTTP/2 from one that its parser knows. */
static void
requests_of_http2_are_written_as_of_http10(void **state)
{
	(void)state;
	sends_as(H SEND "ver HTTP/2\n", 0, "", 1, STR("OPTIONS / HTTP/1.0\r\n\r\n"));
	sends_as(G "\n", 0, "", 1, STR("GET /x HTTP/1.0\r\n\r\n"));
	sends_as(H SEND "meth POST body a\n", 0, "", 1,
		STR("POST / HTTP/1.0\r\ncontent-length: 1\r\n\r\na"));
}

/* The authority of the target is that of Host. */
static void
authority_and_host_agree(void **state)
{
	(void)state;
	sends(H SEND "hdr Host a uri http://z/x ver HTTP/1.1\n",
		"OPTIONS http://a/x HTTP/1.1\r\nhost: a\r\n" CLOSE);
	sends(H SEND "hdr Host a uri http://z:80/x\n",
		"OPTIONS http://a/x HTTP/1.0\r\nhost: a\r\n\r\n");
	sends(H SEND "hdr Host a uri http://z\n", "OPTIONS http://a HTTP/1.0\r\nhost: a\r\n\r\n");
	sends(H SEND "hdr Host a uri /x?y=http://z/\n",
		"OPTIONS /x?y=http://z/ HTTP/1.0\r\nhost: a\r\n\r\n");
	sends(H SEND "uri http://z:80/x ver HTTP/1.1\n",
		"OPTIONS http://z:80/x HTTP/1.1\r\n" CLOSE);
	sends(H SEND "meth CONNECT uri z:80 ver HTTP/1.1 hdr host q\n",
		"CONNECT q HTTP/1.1\r\nhost: q\r\ncontent-length: 0\r\n" CLOSE);
	sends(H SEND "meth CONNECT uri z:80\n",
		"CONNECT z:80 HTTP/1.0\r\ncontent-length: 0\r\n\r\n");
	sends(H " GET http://z/x HTTP/1.0\\r\\nHost:\\ a\n",
		"GET http://a/x HTTP/1.0\r\nhost: a\r\n\r\n");
}

static void
http_check_send_adds_fields(void **state)
{
	(void)state;
	sends(H SEND "hdr Host h\n", "OPTIONS / HTTP/1.0\r\nhost: h\r\n\r\n");
	sends(H SEND "hdr X a hdr X b\n", "OPTIONS / HTTP/1.0\r\nx: a\r\nx: b\r\n\r\n");
	sends(H SEND "hdr X \" a \"\n", "OPTIONS / HTTP/1.0\r\nx:  a \r\n\r\n");
	sends(H SEND "hdr host h hdr a %[srv_name]%[be_name]%[srv_id]\n",
		"OPTIONS / HTTP/1.0\r\nhost: h\r\na: s1b1\r\n\r\n");
	sends(H SEND "hdr a [%H-%b-%s-%pid-%si-%sp]\n",
		"OPTIONS / HTTP/1.0\r\na: [vm-b-s1-77-10.0.0.1-80]\r\n\r\n");
	sends(H SEND "hdr a [%T|%Ts|%ms]\n",
		"OPTIONS / HTTP/1.0\r\na: [23/Nov/2026:14:54:53 +0000|1795445693|036]\r\n\r\n");
	sends(H SEND "hdr a %[be_id],%[be_server_timeout],%[be_tunnel_timeout],%[wait_end]\n",
		"OPTIONS / HTTP/1.0\r\na: 1,3000,0,1\r\n\r\n");
	sends(H "\n stick-table type ip size 10" SEND
		"hdr a %[nbsrv],%[nbsrv(b)],%[srv_weight(s1)],%[srv_is_up(b/s1)],"
		"%[queue],%[table_avl],%[table_cnt(b)],%[stopping],%[str(s1),srv_queue]\n",
		"OPTIONS / HTTP/1.0\r\na: 1,1,1,1,0,10,0,0,0\r\n\r\n");
	/* An empty value is not sent. */
	sends(H SEND "hdr X %[var(check.none)] hdr Y z\n", "OPTIONS / HTTP/1.0\r\ny: z\r\n\r\n");
	/* A value cannot begin a line. */
	sends(H SEND "hdr X %[bin(610d0a62)]\n", "OPTIONS / HTTP/1.0\r\nx: a%0D%0Ab\r\n\r\n");
}

static void
bodies_have_a_content_length(void **state)
{
	(void)state;
	sends(H SEND "body hello\n", "OPTIONS / HTTP/1.0\r\ncontent-length: 5\r\n\r\nhello");
	sends(G11 SEND "body-lf z%[be_name]z\n",
		"GET /x HTTP/1.1\r\ncontent-length: 3\r\n" CLOSE "zbz");
	sends(H SEND "hdr Content-Length 7 hdr Transfer-Encoding chunked body abc\n",
		"OPTIONS / HTTP/1.0\r\ncontent-length: 3\r\n\r\nabc");
	sends(H " POST /x\n", "POST /x HTTP/1.0\r\ncontent-length: 0\r\n\r\n");
	sends(H " PATCH /x HTTP/1.1\n", "PATCH /x HTTP/1.1\r\ncontent-length: 0\r\n" CLOSE);
	sends(H " TRACE /x\n", "TRACE /x HTTP/1.0\r\ncontent-length: 0\r\n\r\n");
	sends(H " FOO /x\n", "FOO /x HTTP/1.0\r\ncontent-length: 0\r\n\r\n");
	sends(H " DELETE /x\n", "DELETE /x" END);
	sends(H " HEAD /x\n", "HEAD /x" END);
}

static void
close_is_sent_unless_the_connection_persists(void **state)
{
	(void)state;
	sends(G SEND "hdr Connection close\n", "GET /x" END);
	sends(G SEND "hdr Connection Keep-Alive\n",
		"GET /x HTTP/1.0\r\nconnection: keep-alive\r\n\r\n");
	sends(G SEND "hdr Connection foo\n",
		"GET /x HTTP/1.0\r\nconnection: foo\r\nconnection: keep-alive\r\n\r\n");
	sends(G SEND "hdr Connection close,foo\n", "GET /x HTTP/1.0\r\nconnection: foo\r\n\r\n");
	sends(G11 SEND "hdr Connection close\n", "GET /x HTTP/1.1\r\n" CLOSE);
	sends(G11 SEND "hdr Connection keep-alive\n", "GET /x HTTP/1.1\r\n\r\n");
	sends(G11 SEND "hdr Connection foo\n", "GET /x HTTP/1.1\r\nconnection: foo\r\n\r\n");
	sends(G11 SEND "hdr Connection close,foo,bar\n",
		"GET /x HTTP/1.1\r\nconnection: foo, bar\r\n" CLOSE);
	sends(G11 SEND "hdr connection upgrade hdr Upgrade x\n",
		"GET /x HTTP/1.1\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
	sends(G SEND "hdr connection upgrade hdr Upgrade x\n",
		"GET /x HTTP/1.0\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
}

/* Fields and a body behind the version of option httpchk. */
static void
fields_behind_the_version_are_sent(void **state)
{
	(void)state;
	sends(G11 "\\r\\nHost:\\ a\\r\\nX-Y:\\ \\ z\n",
		"GET /x HTTP/1.1\r\nhost: a\r\nx-y: z\r\n" CLOSE);
	sends(G11 "\\r\\nHost:\\ a\\r\\nX-Y:z\\r\\n\\r\\nbody\n",
		"GET /x HTTP/1.1\r\nhost: a\r\nx-y: z\r\ncontent-length: 4\r\n" CLOSE "body");
	sends(G11 "\\r\\n\n", "GET /x HTTP/1.1\r\n" CLOSE);
	sends(H " GET /x HTTP/1.0\\r\\nConnection:\\ keep-alive\n",
		"GET /x HTTP/1.0\r\nconnection: keep-alive\r\n\r\n");
	/* http-check send replaces them if it has fields, and the body if it has one. */
	sends(G11 "\\r\\nHost:\\ a" SEND "hdr X b\n", "GET /x HTTP/1.1\r\nx: b\r\n" CLOSE);
	sends(G11 "\\r\\nHost:\\ a" SEND "body hello\n",
		"GET /x HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n" CLOSE "hello");
	sends(G11 "\\r\\nHost:\\ a" SEND "meth PUT\n",
		"PUT /x HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n" CLOSE);
}

/* The request of option httpchk is that of the first send. */
static void
a_second_send_does_not_inherit_the_request(void **state)
{
	(void)state;
	sends_state(G11 "\n http-check connect" SEND "hdr A b\n http-check expect status 200\n"
			" http-check connect" SEND "hdr C d\n",
		1, "", str_of("OPTIONS / HTTP/1.0\r\nc: d\r\n\r\n"));
}

static void
the_state_is_sent_in_a_field(void **state)
{
	(void)state;
	sends_state(G11 "\n", 0, STATE,
		str_of("GET /x HTTP/1.1\r\nx-haproxy-server-state: " STATE "\r\n" CLOSE));
	sends_state(G11 SEND "hdr A b body c\n", 0, STATE,
		str_of("GET /x HTTP/1.1\r\na: b\r\nx-haproxy-server-state: " STATE
		       "\r\ncontent-length: 1\r\n" CLOSE "c"));
}

#define T " option tcp-check\n tcp-check "

static void
tcp_check_send_sends_text_format_and_binary(void **state)
{
	(void)state;
	sends(T "send \"a b\\r\\n\"\n", "a b\r\n");
	sends(T "send x%[int(1)]\n", "x%[int(1)]");
	sends(T "send-lf [%H%b%s%pid]\n", "[vmbs177]");
	sends(T "send-lf \"a\\tb\\x01%[str(q)]\"\n", "a\tb\x01q");
	sends(T "send-lf x%%y\n", "x%y");
	sends(T "send-lf \"%[bin(0a0d)]\"\n", "\n\r");
	sends(T "send-lf \"a  b %[int(5)]  c\"\n", "a  b 5  c");
	sends_state(T "send-binary 00ff0A\n", 0, "", (struct str){ "\0\xff\n", 3 });
	sends(T "send-binary-lf 4142%[str(43)]\n", "ABC");
}

static void
test_failures(void **state)
{
	static const struct {
		const char *lines;
		size_t room;
		int rc;
	} all[] = {
		{ T "send-binary-lf zz\n", 100, -ERR_SYNTAX },
		{ T "send-binary-lf 414\n", 100, -ERR_SYNTAX },
		{ T "send abcdefgh\n", 4, -ERR_RANGE },
		{ H SEND "hdr A b body c\n", 30, -ERR_RANGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct check_rig r;
		struct sbuf out;

		check_rig_load(&r, all[i].lines);
		sbuf_init(&out, all[i].room);
		assert_int_equal(check_send_build(&check_rig_rule(&r, CHECK_RULE_SEND, 0)->u.send,
					 &r.cx, STR(""), 0, &out),
			all[i].rc);
		sbuf_fini(&out);
		check_rig_fini(&r);
	}
}

/* No room in the arena for a formatted text. */
static void
test_no_arena(void **state)
{
	static const char *const lines[] = { H SEND "hdr A %[be_name]\n",
		H SEND "hdr Host %[be_name]\n", H SEND "uri-lf %[be_name]\n",
		H SEND "body-lf %[be_name]\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct check_rig r;
		struct sbuf out;

		check_rig_load(&r, lines[i]);
		r.cx.arena->cap = 1;
		sbuf_init(&out, 0);
		assert_int_equal(check_send_build(&check_rig_rule(&r, CHECK_RULE_SEND, 0)->u.send,
					 &r.cx, STR(""), 0, &out),
			-ERR_RANGE);
		sbuf_fini(&out);
		check_rig_fini(&r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(option_httpchk_makes_the_request_line),
		cmocka_unit_test(requests_of_http2_are_written_as_of_http10),
		cmocka_unit_test(authority_and_host_agree),
		cmocka_unit_test(http_check_send_adds_fields),
		cmocka_unit_test(bodies_have_a_content_length),
		cmocka_unit_test(close_is_sent_unless_the_connection_persists),
		cmocka_unit_test(fields_behind_the_version_are_sent),
		cmocka_unit_test(a_second_send_does_not_inherit_the_request),
		cmocka_unit_test(the_state_is_sent_in_a_field),
		cmocka_unit_test(tcp_check_send_sends_text_format_and_binary),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_no_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
