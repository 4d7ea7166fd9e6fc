#include "unit/proxy/log_rig.h"

#include "proxy/model/http_txn.h"
#include "rule/action/place.h"

#define LINE                                                                                       \
	"%r|%HM|%HU|%HP|%HPO|%HQ|%HV|%ST|%CC|%CS|%tsc|%TR|%Tw|%Tc|%Tr|%Ta|%Ti|%Tq|%Td|%Tt|%Tu|%ID"

static struct log_world w;
/* Room for fields; none is read. */
static struct http_txn room;

static struct http_txn *
transaction(const char *line)
{
	struct http_txn *t = &room;

	log_world_init(&w);
	w.fe.mode = PROXY_HTTP;
	w.s.is_http = 1;
	memset(&room, 0, sizeof(room));
	w.s.txn = t;
	log_rig_line_keep(t, line);
	t->version = strstr(line, "HTTP/1.0") ? HTTP_1_0 : HTTP_1_1;
	t->began_ms = 1005;
	t->idle_ms = 5;
	t->head_ms = 1009;
	t->res_ms = 1100;
	t->status = 200;
	t->began_wall_ns = w.s.sess->accept_wall_ns + 5000000;
	return t;
}

static const char *
written(const char *format)
{
	return log_world_format(&w, format, 1);
}

static void
test_every_variable(void **state)
{
	(void)state;
	(void)transaction("GET /p/a?x=1&y HTTP/1.1");
	assert_string_equal(written(LINE),
		"GET /p/a?x=1&y HTTP/1.1|GET|/p/a?x=1&y|/p/a|/p/a|?x=1&y|HTTP/1.1|200|-|-|----|"
		"4|2|22|67|5002|5|9|4907|5007|5002|-");
	assert_string_equal(written("%{+Q}o%r %HQ %CC %ID %ST %Ti"),
		"\"GET /p/a?x=1&y HTTP/1.1\" \"?x=1&y\" \"\" \"\" 200 5");
	assert_string_equal(written("%tr|%trg|%trl|%t"),
		"06/Feb/2009:12:12:51.448|06/Feb/2009:12:12:51 +0000|06/Feb/2009:12:12:51 +0000|"
		"06/Feb/2009:12:12:51.443");
	w.cx.asap = 1;
	assert_string_equal(written("%Ta %Tt %B"), "+5002 +5007 +212");
}

/* Only what can write nothing at all, captures and %o, takes one of the blanks around it along. */
static void
test_blanks_around_nothing(void **state)
{
	(void)state;
	(void)transaction("GET /p HTTP/1.1");
	assert_string_equal(written(" a %HQ b %hr c %hs d %hrl e %hsl f %o g"),
		"a  b c d e f g");
	assert_string_equal(written("a %HQ%hr b %hr%HQ c %HQ %HQ d %hr %hs e"), "a  b  c   d e");
	assert_string_equal(written("%hr a %hs"), "a ");
}

/* The times of a connection's first request include waiting for its PROXY header. */
static void
test_handshake(void **state)
{
	(void)state;
	(void)transaction("GET / HTTP/1.1");
	w.s.sess->accept_ms = 900;
	w.s.sess->requests = 1;
	assert_string_equal(written("%Th|%Ti|%TR|%Tq|%Td|%Ta|%Tt|%Tu"),
		"100|5|4|109|4907|5002|5107|5102");
	w.s.sess->requests = 2;
	assert_string_equal(written("%Th|%Ti|%TR|%Tq|%Td|%Ta|%Tt|%Tu"),
		"0|5|4|9|4907|5002|5007|5002");
	w.s.txn = NULL;
	w.s.sess->requests = 0;
	w.s.sess->begun_ms = 0;
	assert_string_equal(written("%Th|%Tt|%Tu"), "-1|5107|5107");
}

/* The results of HAProxy 2.6. */
static void
test_targets(void **state)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{ "GET http://u@h.org/p/a?x=1&y HTTP/1.0",
			"GET|http://u@h.org/p/a?x=1&y|http://u@h.org/p/a|/p/a|?x=1&y|HTTP/1.0" },
		{ "OPTIONS * HTTP/1.1", "OPTIONS|*|*|||HTTP/1.1" },
		{ "CONNECT h:80 HTTP/1.1", "CONNECT|h:80|h:80|||HTTP/1.1" },
		/* Truncated: the version is missing. */
		{ "GET /aaa", "GET|/aaa|/aaa|/aaa||HTTP/1.1" },
		{ "GET", "GET|||||HTTP/1.1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		(void)transaction(rows[i].line);
		assert_string_equal(written("%HM|%HU|%HP|%HPO|%HQ|%HV"), rows[i].want);
	}
}

/* No byte of the request line can end the quotes around it. */
static void
test_quotes(void **state)
{
	(void)state;
	(void)transaction("GET /\"#\x7f HTTP/1.1");
	assert_string_equal(written("%{+Q}r"), "\"GET /#22#23#7F HTTP/1.1\"");
}

static void
test_points_not_reached(void **state)
{
	struct http_txn *t = transaction("");

	(void)state;
	t->head_ms = t->res_ms = 0;
	t->status = 400;
	w.s.queued_ms = w.s.connected_ms = 0;
	memcpy(w.s.term, "PR", 2);
	assert_string_equal(written(LINE),
		"<BADREQ>|<BADREQ>|<BADREQ>|<BADREQ>|<BADREQ>|<BADREQ>|<BADREQ>|400|-|-|PR--|"
		"-1|-1|-1|-1|5002|5|-1|-1|5007|5002|-");
	/* A local reply has no server time. */
	t = transaction("GET / HTTP/1.1");
	t->local = 1;
	assert_string_equal(written("%TR/%Tr/%Td"), "4/-1/-1");
	t->status = 0;
	assert_string_equal(written("%ST"), "-1");
	/* Not a single byte was received. */
	w.s.txn = NULL;
	w.s.state_ms = 1000;
	assert_string_equal(written("%{+Q}r %ST %TR/%Tr/%Tq/%Ti/%Ta"),
		"\"<BADREQ>\" -1 -1/-1/-1/0/5007");
}

/* Fetches of a response that are known at the end of a session. */
static void
test_fetches(void **state)
{
	struct http_txn *t = transaction("GET / HTTP/1.1");

	(void)state;
	assert_string_equal(written("%[status]/%ST %[wait_end]"), "200/200 1");
	/* Only a server's. */
	t->local = 1;
	assert_string_equal(written("%[status]/%ST"), "-/200");
	t->local = 0;
	/* An informational one has come. */
	t->res_ms = 0;
	assert_string_equal(written("%[status]"), "-");
	w.s.txn = NULL;
	assert_string_equal(written("%[status]"), "-");
	w.s.is_http = 0;
	assert_string_equal(log_world_format(&w, "%[status] %[wait_end]", 0), "- 1");
}

/* Writes a format of rules, before the response is placed. */
static const char *
written_by_rule(unsigned int at, const char *format)
{
	struct rule_vocab vocab;
	struct rule_fmt *f;
	struct rule_err why;
	struct sbuf b;
	struct eval l;

	proxy_vocab_init(&vocab);
	assert_int_equal(rule_fmt_compile(&vocab, format, 0, at, &f, &why), 0);
	eval_init(&l, &w.s, at);
	l.cx.now_ms = l.log.now_ms = 1153;
	sbuf_init_fixed(&b, w.line, sizeof(w.line));
	rule_fmt_write(f, &l.cx, &b);
	rule_fmt_free(&f);
	return w.line;
}

static void
test_rules_of_responses(void **state)
{
	struct http_txn *t = transaction("GET / HTTP/1.1");
	const unsigned int at = rule_place_scope(RULE_HTTP_RESPONSE);

	(void)state;
	t->res_ms = t->status = 0;
	t->res.status = 201;
	assert_string_equal(written_by_rule(at, "%Tr %ST"), "120 201");
	/* A rule has waited for the body. */
	t->held_ms = 1103;
	assert_string_equal(written_by_rule(at, "%Tr %ST"), "70 201");
	/* No server was asked. */
	w.s.connected_ms = 0;
	assert_string_equal(written_by_rule(at, "%Tr"), "-1");
	/* The page of an error: rules may have changed its status. */
	w.s.connected_ms = 1033;
	t->local = 1;
	t->status = 504;
	t->res.status = 503;
	assert_string_equal(written_by_rule(at, "%Tr %ST"), "-1 503");
	/* Not yet, for rules of a request. */
	t->local = 0;
	t->status = 0;
	assert_string_equal(written_by_rule(SAMPLE_AT_CONN | SAMPLE_AT_TXN, "%Tr %ST"), "-1 -1");
}

static void
test_httplog(void **state)
{
	(void)state;
	(void)transaction("GET /p HTTP/1.1");
	assert_string_equal(written(LOG_FORMAT_HTTP),
		"10.0.1.2:33313 [06/Feb/2009:12:12:51.448] fnt bck/srv1 4/2/22/67/5002 200 212 - - "
		"---- 5/4/3/2/1 6/7 \"GET /p HTTP/1.1\"");
	assert_string_equal(written(LOG_FORMAT_CLF),
		"10.0.1.2 - - [06/Feb/2009:12:12:51 +0000] \"GET /p HTTP/1.1\" 200 212 \"\" \"\" "
		"33313 443 \"fnt\" \"bck\" \"srv1\" 4 2 22 67 5002 ---- 5 4 3 2 1 6 7 \"\" \"\" ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_variable),
		cmocka_unit_test(test_blanks_around_nothing),
		cmocka_unit_test(test_handshake),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_points_not_reached),
		cmocka_unit_test(test_fetches),
		cmocka_unit_test(test_rules_of_responses),
		cmocka_unit_test(test_httplog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
