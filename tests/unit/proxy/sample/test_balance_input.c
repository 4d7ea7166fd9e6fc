#include "unit/proxy/proxies_rig.h"

#include "http/h1_parse.h"
#include "proxy/backend/balance.h"
#include "proxy/model/http_txn.h"

#define SERVERS " server s1 127.0.0.1:1\n"

static struct world w;
static struct engine e;
static struct session sess;
static struct stream s;
static struct http_txn txn;
static struct http_field field[16];
static char text[1024];

/* Computes the key of a session: `request` is all that the client sent, NULL in mode tcp. */
static void
look(const char *lines, const char *request)
{
	struct h1_parser p = { 0 };
	char conf[2048];
	size_t used;

	snprintf(conf, sizeof(conf), WORLD_DEFAULTS "listen b\n bind :1\n mode %s\n %s\n" SERVERS,
		request ? "http" : "tcp", lines);
	world_good(&w, conf);
	memset(&e, 0, sizeof(e));
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	stream_join(&s, &sess, &sess.conn);
	memset(&txn, 0, sizeof(txn));
	e.shared = &e.alone;
	assert_int_equal(eval_scratch_init(&e.eval, 1024, NULL), 0);
	s.engine = &e;
	s.sess->fe = s.be = world_proxy(&w, "b");
	s.sess->peer.len = sizeof(s.sess->peer.u.in);
	s.sess->peer.u.in.sin_family = AF_INET;
	s.sess->peer.u.in.sin_addr.s_addr = htonl(0x0a000709);
	s.has_key = 1;
	if (request) {
		s.txn = &txn;
		snprintf(text, sizeof(text), "%s", request);
		http_head_init(&txn.req, HTTP_REQUEST, field, ARRAY_LEN(field));
		assert_int_equal(h1_parse_request(
					 &p, text, strlen(text), &txn.req, &used),
			HTTP_COMPLETE);
		vars_init(&txn.vars);
		txn.head_ms = 1;
		txn.head_end = (uint32_t)used;
		s.dir[CLIENT].buf = text;
		s.dir[CLIENT].tail = (uint32_t)strlen(text);
	}
	balance_take_key(&s);
	assert_int_equal(e.eval.arena.used, 0);
	eval_scratch_fini(&e.eval);
}

/* The key is the hash of these bytes, or there is none. */
static void
expect(const char *lines, const char *request, const void *bytes, size_t n)
{
	look(lines, request);
	if (s.has_key != (bytes != NULL) ||
		(bytes && s.key != balance_key_of_text(&s.be->hash_type, bytes, n)))
		fail_msg("%s: %s: has %d, %x", lines, request, s.has_key, s.key);
	world_fini(&w);
}

#define GET(fields) "GET /x?id=abc HTTP/1.1\r\nHost: h\r\n" fields "\r\n"

/* Texts and addresses as they are, numbers in eight bytes, as in HAProxy 2.6. */
static void
hash_keys_are_haproxys(void **state)
{
	static const struct {
		const char *lines, *request, *key;
		size_t n;
	} t[] = {
		{ "balance hash req.hdr(x)", GET("X: aB\r\n"), "aB", 2 },
		{ "balance hash req.hdr(x),lower\n hash-type map-based crc32", GET("X: aB\r\n"),
			"ab", 2 },
		{ "balance hash req.hdr(x)", GET(""), NULL, 0 },
		{ "balance hash req.hdr(x)", GET("X:\r\n"), "", 0 },
		{ "balance hash int(77)", GET(""), "\0\0\0\0\0\0\0M", 8 },
		{ "balance hash req.hdr_ip(x),ipmask(24)", GET("X: 1.2.3.4\r\n"), "\1\2\3\0", 4 },
		{ "balance hash src", NULL, "\12\0\7\11", 4 },
		{ "balance hash be_name", NULL, "b", 1 },
		{ "balance hash var(txn.a)", GET(""), NULL, 0 },
		{ "balance url_param id", GET(""), "abc", 3 },
		{ "balance url_param ix", GET(""), NULL, 0 },
		{ "balance roundrobin", GET(""), NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		expect(t[i].lines, t[i].request, t[i].key, t[i].n);
	look("balance source", NULL);
	assert_int_equal(s.has_key, 1);
	assert_int_equal(s.key, 0x0a000709);
	world_fini(&w);
}

#define POST(fields, body) "POST /x?y=z HTTP/1.1\r\nHost: h\r\n" fields "\r\n\r\n" body
#define CHUNKED "Transfer-Encoding: chunked"

static void
parameters_in_the_body_are_found(void **state)
{
	static const struct {
		const char *request, *key;
	} t[] = {
		{ POST("Content-Length: 6", "id=abc"), "abc" },
		{ POST("Content-Length: 16", "x=1&id=abc d&y=2"), "abc d" },
		{ POST("Content-Length: 10", "id&id=&id="), "" },
		{ POST("Content-Length: 7", "?id=abc"), NULL },
		{ POST("Content-Length: 7", "xid=abc"), NULL },
		/* so much has arrived, and the rule waited for no more */
		{ POST("Content-Length: 99", "id=abc"), "abc" },
		{ POST("Content-Length: 99", "i"), NULL },
		{ POST("Content-Length: 0", ""), NULL },
		{ POST(CHUNKED, "5;x\r\nx=1&i\r\n5\r\nd=abc\r\n0\r\n\r\n"), "abc" },
		{ POST(CHUNKED, "6\r\nid=abc\r\n6"), "abc" },
		{ POST(CHUNKED, "0\r\nid: abc\r\n\r\n"), NULL },
		{ "POST /x?id=hello HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nid=abc",
			"hello" },
		{ "PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nid=abc", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		size_t n = t[i].key ? strlen(t[i].key) : 0;

		expect("balance url_param id check_post", t[i].request, t[i].key, n);
		expect("balance url_param id", t[i].request, t[i].key, n);
	}
}

static void
expressions_are_checked_in_their_mode(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "backend b\n balance hash path\n" SERVERS, -1,
		"request contents are not available in mode tcp");
	world_reports(WORLD_DEFAULTS "backend b\n balance hash nbsrv(none)\n" SERVERS, -1,
		"'balance hash' : ");
	world_reports(WORLD_DEFAULTS
		" mode http\n balance hash path\nfrontend f\n mode tcp\n bind :1\n"
		"backend b\n" SERVERS,
		0, "");
	world_reports(WORLD_DEFAULTS " mode http\n balance uri\nfrontend f\n mode tcp\n bind :1\n"
		"backend b\n" SERVERS, 0, "");
}

/* Sections share the settings of their defaults until they change them. */
static void
sections_share_the_expression_of_their_defaults(void **state)
{
	const struct rule_expr *mine, *other;

	(void)state;
	world_load(&w,
		WORLD_DEFAULTS " mode http\n balance hash path\nbackend a\n" SERVERS
			       "backend b\n balance hash src\n balance hash src\n" SERVERS
			       "backend c\n balance uri\n" SERVERS);
	assert_int_equal(w.result, 0);
	assert_non_null(strstr(w.printed, "'balance' overrides line 10."));
	mine = world_proxy(&w, "a")->balance_by.expr;
	other = world_proxy(&w, "b")->balance_by.expr;
	assert_non_null(mine);
	assert_true(world_proxy(&w, "a")->balance_by.borrowed);
	assert_false(world_proxy(&w, "b")->balance_by.borrowed);
	assert_ptr_not_equal(mine, other);
	assert_null(world_proxy(&w, "c")->balance_by.expr);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hash_keys_are_haproxys),
		cmocka_unit_test(parameters_in_the_body_are_found),
		cmocka_unit_test(expressions_are_checked_in_their_mode),
		cmocka_unit_test(sections_share_the_expression_of_their_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
