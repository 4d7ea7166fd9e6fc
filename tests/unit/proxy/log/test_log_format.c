#include "proxy/log/log_format.h"

#include "unit/proxy/log_rig.h"

#include "base/err.h"

static void
test_tcplog_is_haproxys(void **state)
{
	static struct log_world w;

	(void)state;
	log_world_init(&w);
	assert_string_equal(log_world_line(&w, LOG_FORMAT_TCP),
		"10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 11/22/5007 212 -- "
		"5/4/3/2/1 6/7");
	/* The example of the manual, byte by byte. */
	w.s.queued_ms = w.s.connected_ms = w.s.sess->accept_ms;
	w.engine.alone.gate.n = w.fe.fe_gate.n = w.be.be_cur = w.srv.cur = 0;
	w.s.retries = 3;
	w.s.queue_before = w.s.be_queue_before = 0;
	assert_string_equal(log_world_line(&w, LOG_FORMAT_TCP),
		"10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- "
		"0/0/0/0/3 0/0");
	/* As HAProxy logs a session without a usable server, and one with option logasap. */
	w.s.srv = NULL;
	w.s.queued_ms = w.s.connected_ms = 0;
	w.s.retries = 0;
	w.s.dir[SERVER].bytes = 0;
	w.cx.now_ms = w.s.sess->accept_ms;
	memcpy(w.s.term, "SC", 2);
	w.engine.alone.gate.n = w.fe.fe_gate.n = 1;
	assert_string_equal(log_world_line(&w, LOG_FORMAT_TCP),
		"10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/<NOSRV> -1/-1/0 0 SC "
		"1/1/0/0/0 0/0");
	w.cx.asap = 1;
	assert_string_equal(log_world_line(&w, LOG_FORMAT_TCP),
		"10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/<NOSRV> -1/-1/+0 +0 SC "
		"1/1/0/0/0 0/0");
}

/* Fetches of requests have no value in mode tcp, and are no error, as in HAProxy. */
static void
test_requests_in_mode_tcp(void **state)
{
	static struct log_world w;

	(void)state;
	log_world_init(&w);
	assert_string_equal(log_world_line(&w, "%[method]|%[capture.req.method]|%[capture.req.uri]|"
					       "%[capture.req.ver]|%[capture.res.ver]|"
					       "%[http_first_req]"),
		"-|-|-|-|-|1");
}

static void
test_default_line(void **state)
{
	struct log_entry e = { .step = LOG_STEP_CLOSE };
	static struct log_world w;
	struct sbuf b;

	(void)state;
	log_world_init(&w);
	e.s = &w.s;
	e.cx = w.cx;
	sbuf_init_fixed(&b, w.line, sizeof(w.line));
	assert_int_equal(log_format_line(&e, 0, &b), 0);
	assert_string_equal(b.p, "Connect from 10.0.1.2:33313 to 10.0.3.31:8012 (fnt/TCP)");
	log_world_addr(&w.s.sess->peer, "::1", 52038);
	log_world_addr(&w.listener.addr, "::1", 43113);
	sbuf_reset(&b);
	assert_int_equal(log_format_line(&e, 0, &b), 0);
	assert_string_equal(b.p, "Connect from ::1:52038 to ::1:43113 (fnt/TCP)");
	log_world_unix(&w.s.sess->peer);
	log_world_unix(&w.listener.addr);
	sbuf_reset(&b);
	assert_int_equal(log_format_line(&e, 0, &b), 0);
	assert_string_equal(b.p, "Connect to unix:2 (fnt/TCP)");
}

/* Each pair: a format, and the line that HAProxy 2.6 logs. */
static void
test_text_and_flags(void **state)
{
	static const struct {
		const char *format, *want;
	} rows[] = {
		{ "x", "x" },
		{ "a  b   c %ci   %cp    d", "a b c 10.0.1.2 33313 d" },
		{ " %ci ", "10.0.1.2 " },
		{ "  a  ", "a " },
		{ "%ci %{+Q}o %f %b", "10.0.1.2 \"fnt\" \"bck\"" },
		{ "a\tb\t\tc", "a\tb\t\tc" },
		{ "%ci  %%  %f", "10.0.1.2 % fnt" },
		{ "a %% b %%%% c", "a % b %% c" },
		{ "%{+Q}o%ci %f", "\"10.0.1.2\" \"fnt\"" },
		{ "%{+Q,-Q}ci %{-Q,+Q}ci %{+Q,+X}ci %{+Q}cp",
			"10.0.1.2 \"10.0.1.2\" 0A000102 33313" },
		{ "%{+Q+X}ci %{}f", "0A000102 fnt" },
		{ "%{+X}o %{-X}cp %cp", "33313 8221" },
		{ "%{+Q}f %f", "\"fnt\" fnt" },
		{ "a#b%fc{x}|~", "a#b4{x}|~" },
		{ "%{+Q}ts|%{+Q}rc|%{+E}f", "--|1|fnt" },
		{ "%[int(1)]|%[var(sess.x)]|%{+Q}[var(sess.x)]|%{+Q}[int(2)]", "1|-|\"\"|\"2\"" },
	};
	static struct log_world w;

	(void)state;
	log_world_init(&w);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(log_world_line(&w, rows[i].format), rows[i].want);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *format;
		size_t at;
		int reason;
		const char *says;
	} rows[] = {
		{ "%", 1, ERR_SYNTAX, "the name of a variable is missing after '%'" },
		{ "ab%", 3, ERR_SYNTAX, "the name of a variable is missing after '%'" },
		{ "%ci%", 4, ERR_SYNTAX, "the name of a variable is missing after '%'" },
		{ "%{+Q}", 5, ERR_SYNTAX, "the name of a variable is missing after '%'" },
		{ "%{+Q}%f", 5, ERR_SYNTAX, "the name of a variable is missing after '%'" },
		{ "%{", 2, ERR_SYNTAX, "'}' is missing" },
		{ "%{+Q", 4, ERR_SYNTAX, "'}' is missing" },
		{ "%{+", 3, ERR_UNKNOWN, "unknown flag; there are Q, X and E" },
		{ "%{+Z}f", 3, ERR_UNKNOWN, "unknown flag; there are Q, X and E" },
		{ "%{Q}f", 2, ERR_SYNTAX, "'+' or '-' is expected before a flag" },
		{ "%fxx", 1, ERR_UNKNOWN,
		  "no variable is called '%fxx'; a '%' itself is written as '%%'" },
		{ "%[int(1),nope]", 9, ERR_UNKNOWN, "nope" },
		{ "%ci %TR", 5, ERR_INVAL, "variable '%TR' is reserved for mode http" },
	};
	struct rule_vocab vocab;
	struct rule_err why;
	struct rule_fmt *f;

	(void)state;
	proxy_vocab_init(&vocab);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(log_format_compile(&vocab, rows[i].format, 0, &f, &why),
			-rows[i].reason);
		assert_null(f);
		if (!strstr(why.text, rows[i].says))
			fail_msg("%s: %s", rows[i].format, why.text);
		assert_int_equal(why.at, rows[i].at);
	}
}

static void
test_stages(void **state)
{
	static const struct {
		const char *format;
		enum log_stage stage;
	} rows[] = {
		{ "x", LOG_STAGE_ACCEPT },
		{ "%ci %f %b %ft %t %pid %lc", LOG_STAGE_ACCEPT },
		{ "%ci %s", LOG_STAGE_CONNECT },
		{ "%bi %ci", LOG_STAGE_CONNECT },
		{ "%s %Tw %f", LOG_STAGE_END },
		{ "%ci %[int(1)]", LOG_STAGE_END },
		{ LOG_FORMAT_TCP, LOG_STAGE_END },
	};
	struct rule_vocab vocab;
	struct rule_err why;
	struct rule_fmt *f;

	(void)state;
	proxy_vocab_init(&vocab);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(log_format_compile(&vocab, rows[i].format, 0, &f, &why), 0);
		assert_int_equal(log_format_stage(f), rows[i].stage);
		rule_fmt_free(&f);
	}
}

/* A line that does not fit is truncated, and nothing is written beyond the buffer. */
static void
test_small_buffer(void **state)
{
	struct rule_vocab vocab;
	struct rule_err why;
	struct rule_fmt *f;
	static struct log_world w;
	struct sbuf b;
	char small[16];

	(void)state;
	log_world_init(&w);
	proxy_vocab_init(&vocab);
	assert_int_equal(log_format_compile(&vocab, LOG_FORMAT_TCP, 0, &f, &why), 0);
	sbuf_init_fixed(&b, small, sizeof(small));
	log_format_render(f, NULL, &w.s, &w.cx, &b);
	assert_true(b.failed);
	assert_string_equal(small, "10.0.1.2:33313 ");
	rule_fmt_free(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcplog_is_haproxys), cmocka_unit_test(test_default_line),
		cmocka_unit_test(test_text_and_flags),	   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_small_buffer),
		cmocka_unit_test(test_requests_in_mode_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
