#include "proxy/log/stream_log.c"

#include "unit/proxy/log_rig.h"

#include <unistd.h>

#include "event/poller.h"
#include "net/proxy_header.h"
#include "proxy/model/http_txn.h"
#include "proxy/sample/eval.h"

/* The session of log_rig.h with a loop, logging to a socketpair. */
struct world {
	struct log_world log;
	struct sys sys;
	struct loop *loop;
	struct log_sink sink;
	struct log_line line;
	int to, from;
};

static void
world_init(struct world *w, unsigned int options, const char *format)
{
	const struct loop_config conf = { .poller = &poller_epoll,
		.mode = INTEREST_MERGED,
		.max_fd = 64,
		.max_events = 8,
		.lazy = 1 };
	struct rule_vocab vocab;
	struct rule_err why;
	struct stream *s = &w->log.s;
	int sv[2], reason;

	memset(w, 0, sizeof(*w));
	log_world_init(&w->log);
	sys_init(&w->sys, &sys_linux, NULL);
	w->loop = loop_new(&w->sys, &conf, &reason);
	assert_non_null(w->loop);
	w->log.id.tag = "tacit";
	log_sink_init(&w->sink, &w->sys, &w->log.id);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, sv), 0);
	w->to = sv[0];
	w->from = sv[1];
	log_line_init(&w->line);
	w->line.dest.kind = LOG_DEST_FD;
	w->line.dest.fd = w->to;
	w->line.form = LOG_FORM_SHORT;
	list_init(&w->log.fe.logs);
	list_append(&w->log.fe.logs, &w->line.link);
	w->log.fe.options = options;
	proxy_vocab_init(&vocab);
	if (format)
		assert_int_equal(
			log_format_compile(&vocab, format, 0, &w->log.fe.log.format, &why), 0);
	w->log.engine.loop = w->loop;
	w->log.engine.sys = &w->sys;
	w->log.engine.log = &w->sink;
	/* Accepted five seconds ago. */
	s->sess->accept_ms = loop_now_ms(w->loop) - 5007;
	s->queued_ms = s->sess->accept_ms + 11;
	s->connected_ms = s->queued_ms + 22;
}

static void
world_fini(struct world *w)
{
	rule_fmt_free(&w->log.fe.log.format);
	log_sink_fini(&w->sink);
	loop_free(&w->loop);
	close(w->to);
	close(w->from);
}

static const char *
got(struct world *w)
{
	static char buf[4096];
	ssize_t n;

	log_flush(&w->sink);
	n = recv(w->from, buf, sizeof(buf) - 1, MSG_DONTWAIT);
	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

#define TCP_LINE(times, bytes)                                                                     \
	"<6>10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 " times " " bytes               \
	" -- 5/4/3/2/1 6/7\n"

static void
test_one_line_at_the_end(void **state)
{
	static struct world w;

	(void)state;
	world_init(&w, 0, LOG_FORMAT_TCP);
	stream_log_early(&w.log.s);
	assert_string_equal(got(&w), "");
	stream_log(&w.log.s);
	stream_log(&w.log.s);
	stream_log_early(&w.log.s);
	assert_string_equal(got(&w), TCP_LINE("11/22/5007", "212"));
	assert_string_equal(got(&w), "");
	assert_int_equal(w.log.fe.log.count, 9);
	world_fini(&w);
}

/* A value is cut, as the line is. */
static void
test_a_value_may_be_longer_than_any_line(void **state)
{
	static char name[LOG_LEN_MAX + 100];
	static struct world w;
	const char *line;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	world_init(&w, 0, "a %f b");
	w.log.fe.name = name;
	stream_log(&w.log.s);
	line = got(&w);
	assert_int_equal(strlen(line), LOG_LEN_DEFAULT + 1);
	assert_int_equal(strncmp(line, "<6>a nnn", 8), 0);
	world_fini(&w);
}

static void
compile(struct rule_fmt **out, const char *format)
{
	struct rule_vocab vocab;
	struct rule_err why;

	proxy_vocab_init(&vocab);
	assert_int_equal(log_format_compile(&vocab, format, 1, out, &why), 0);
}

/* Only sessions without a valid request use error-log-format. */
static void
test_error_format(void **state)
{
	static struct world w;
	static struct http_txn txn;

	(void)state;
	world_init(&w, 0, "%f");
	compile(&w.log.fe.log.error.fmt, "bad %f");
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "<6>fnt\n");
	w.log.fe.mode = PROXY_HTTP;
	w.log.s.is_http = 1;
	w.log.s.txn = &txn;
	txn.status = 400;
	w.log.s.own_line = STREAM_LINE_DUE;
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "<6>bad fnt\n");
	txn.head_ms = 1;
	txn.status = 503;
	w.log.s.own_line = STREAM_LINE_DUE;
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "<6>fnt\n");
	w.log.s.txn = NULL;
	rule_fmt_free(&w.log.fe.log.error.fmt);
	world_fini(&w);
}

/* Errors are failures, retries, and status codes from 500 on, as in HAProxy 2.6. */
static void
test_errors_are_distinguished(void **state)
{
	static const struct {
		const char *term;
		unsigned int retries, redispatched, status;
		int error;
	} rows[] = {
		{ "--", 0, 0, 200, 0 }, { "--", 0, 0, 499, 0 }, { "LR", 0, 0, 200, 0 },
		{ "--", 0, 0, 500, 1 }, { "--", 1, 0, 200, 1 }, { "--", 0, 1, 200, 1 },
		{ "PR", 0, 0, 403, 1 }, { "CD", 0, 0, 200, 1 }, { "sD", 0, 0, 200, 1 },
	};
	static struct world w;
	static struct http_txn txn;

	(void)state;
	txn.head_ms = 1;
	world_init(&w, 0, "x");
	w.log.fe.mode = PROXY_HTTP;
	w.log.s.is_http = 1;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct stream *s = &w.log.s;

		s->txn = &txn;
		txn.status = rows[i].status;
		memcpy(s->term, rows[i].term, 2);
		s->retries = rows[i].retries;
		s->redispatched = (uint8_t)rows[i].redispatched;
		w.log.fe.options = OPT_LOG_ERRORS;
		s->own_line = STREAM_LINE_DUE;
		stream_log_early(s);
		assert_string_equal(got(&w), "");
		stream_log(s);
		assert_string_equal(got(&w), rows[i].error ? "<3>x\n" : "<6>x\n");
		w.log.fe.options = OPT_DONTLOG_NORMAL;
		s->own_line = STREAM_LINE_DUE;
		stream_log(s);
		assert_string_equal(got(&w), rows[i].error ? "<6>x\n" : "");
	}
	w.log.s.txn = NULL;
	world_fini(&w);
}

static void
test_structured_data(void **state)
{
	static struct world w;

	(void)state;
	world_init(&w, 0, "x");
	w.line.form = LOG_FORM_RFC5424;
	compile(&w.log.fe.log.sd.fmt, "[a@1 f=%{+Q}f]");
	stream_log_early(&w.log.s);
	assert_non_null(strstr(got(&w), " tacit 31185 - [a@1 f=\"fnt\"] x\n"));
	rule_fmt_free(&w.log.fe.log.sd.fmt);
	/* The line is not logged before the values in its format are known. */
	compile(&w.log.fe.log.sd.fmt, "[a@1 b=%B]");
	w.log.s.own_line = STREAM_LINE_DUE;
	stream_log_early(&w.log.s);
	assert_string_equal(got(&w), "");
	rule_fmt_free(&w.log.fe.log.sd.fmt);
	stream_log_early(&w.log.s);
	assert_non_null(strstr(got(&w), " tacit 31185 - - x\n"));
	world_fini(&w);
}

static void
test_logasap_writes_when_connected(void **state)
{
	static struct world w;
	uint64_t connected;

	(void)state;
	world_init(&w, OPT_LOGASAP, LOG_FORMAT_TCP);
	connected = w.log.s.connected_ms;
	w.log.s.connected_ms = 0;
	stream_log_early(&w.log.s);
	assert_string_equal(got(&w), "");
	w.log.s.connected_ms = connected;
	stream_log_early(&w.log.s);
	stream_log(&w.log.s);
	assert_string_equal(got(&w), TCP_LINE("11/22/+5007", "+212"));
	assert_string_equal(got(&w), "");
	world_fini(&w);
	/* The session was never connected: it is logged at its end, with the same mark. */
	world_init(&w, OPT_LOGASAP, LOG_FORMAT_TCP);
	w.log.s.connected_ms = 0;
	stream_log_early(&w.log.s);
	stream_log(&w.log.s);
	assert_string_equal(got(&w), TCP_LINE("11/-1/+5007", "+212"));
	world_fini(&w);
}

/* set-log-level: another level, or no line. */
static void
test_rules_choose_the_level(void **state)
{
	static struct world w;

	(void)state;
	world_init(&w, 0, "%ci %b");
	w.log.s.log_level = LOG_LEVEL_ERR + 1;
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "<3>10.0.1.2 bck\n");
	world_fini(&w);
	world_init(&w, 0, "%ci %b");
	w.log.s.log_level = -1;
	stream_log_early(&w.log.s);
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "");
	world_fini(&w);
}

static void
test_formats_that_need_little_are_written_early(void **state)
{
	static struct world w;

	(void)state;
	world_init(&w, 0, NULL);
	w.log.s.connected_ms = 0;
	stream_log_early(&w.log.s);
	assert_string_equal(
		got(&w), "<6>Connect from 10.0.1.2:33313 to 10.0.3.31:8012 (fnt/TCP)\n");
	world_fini(&w);
	world_init(&w, OPT_DONTLOGNULL, "%ci %b");
	w.log.s.connected_ms = w.log.s.dir[CLIENT].bytes = 0;
	stream_log_early(&w.log.s);
	assert_string_equal(got(&w), "<6>10.0.1.2 bck\n");
	world_fini(&w);
	world_init(&w, 0, "%ci %s");
	w.log.s.connected_ms = 0;
	stream_log_early(&w.log.s);
	assert_string_equal(got(&w), "");
	w.log.s.connected_ms = w.log.s.queued_ms;
	stream_log_early(&w.log.s);
	assert_string_equal(got(&w), "<6>10.0.1.2 srv1\n");
	world_fini(&w);
}

/* A client that sent no request is logged only if a format is configured. */
static void
test_default_format_needs_a_request(void **state)
{
	static const struct {
		const char *format;
		uint64_t head_ms;
		int logged;
	} rows[] = { { NULL, 0, 0 }, { NULL, 5, 1 }, { "%ST", 0, 1 }, { "%ST", 5, 1 } };
	static struct world w;
	static struct http_txn t;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		world_init(&w, 0, rows[i].format);
		w.log.fe.mode = PROXY_HTTP;
		w.log.s.is_http = 1;
		memset(&t, 0, sizeof(t));
		t.status = 400;
		t.head_ms = rows[i].head_ms;
		w.log.s.txn = &t;
		stream_log(&w.log.s);
		assert_int_equal(*got(&w) != '\0', rows[i].logged);
		/* Nor is it logged later. */
		assert_int_equal(w.log.s.own_line == STREAM_LINE_WRITTEN, rows[i].logged);
		w.log.s.txn = NULL;
		world_fini(&w);
	}
}

static void
test_dontlognull(void **state)
{
	static const struct {
		unsigned int options;
		const char *term;
		uint64_t sent, answered;
		int connected, logged;
	} rows[] = {
		{ 0, "--", 0, 0, 1, 1 },
		{ OPT_DONTLOGNULL, "--", 0, 0, 1, 0 },
		{ OPT_DONTLOGNULL, "--", 1, 0, 1, 1 },
		/* Data that the server sent by itself is not data from the client. */
		{ OPT_DONTLOGNULL, "CD", 0, 2, 1, 0 },
		{ OPT_DONTLOGNULL, "cD", 0, 0, 1, 0 },
		{ OPT_DONTLOGNULL, "SD", 0, 0, 1, 0 },
		/* Before a server is chosen the client is not read. */
		{ OPT_DONTLOGNULL, "CC", 0, 0, 0, 0 },
		{ OPT_DONTLOGNULL, "cC", 0, 0, 0, 0 },
		{ OPT_DONTLOGNULL, "SC", 0, 0, 0, 1 },
		{ OPT_DONTLOGNULL, "sQ", 0, 0, 0, 1 },
		{ OPT_DONTLOGNULL, "--", 0, 0, 0, 0 },
	};
	static struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		world_init(&w, rows[i].options, "%ts");
		memcpy(w.log.s.term, rows[i].term, 2);
		w.log.s.dir[CLIENT].bytes = rows[i].sent;
		w.log.s.dir[SERVER].bytes = rows[i].answered;
		if (!rows[i].connected)
			w.log.s.connected_ms = 0;
		stream_log(&w.log.s);
		assert_int_equal(*got(&w) != '\0', rows[i].logged);
		assert_int_equal(w.log.fe.log.count, 8 + rows[i].logged);
		world_fini(&w);
	}
}

/* A connection whose PROXY header did not arrive, or was invalid. */
static void
test_refused_headers(void **state)
{
	static const struct {
		unsigned int options;
		uint32_t came;
		const char *want;
	} rows[] = {
		{ 0, 0, "<6>10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt/2: Truncated PROXY "
			"protocol header received\n" },
		{ OPT_LOG_ERRORS | OPT_DONTLOG_NORMAL, 0, "<3>10.0.1.2:33313 "
			"[06/Feb/2009:12:12:51.443] fnt/2: Truncated PROXY protocol header "
			"received\n" },
		{ OPT_DONTLOGNULL, 0, "" },
		{ OPT_DONTLOGNULL, 1, "<6>10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt/2: "
			"Truncated PROXY protocol header received\n" },
	};
	static char name[] = "web";
	static struct world w;
	struct rule_vocab vocab;
	struct rule_err why;

	(void)state;
	for (size_t i = 0; i <= ARRAY_LEN(rows); i++) {
		world_init(&w, i < ARRAY_LEN(rows) ? rows[i].options : 0, "%ci");
		memcpy(w.log.s.term, "PR", 2);
		w.log.s.sess->conn_err = CONN_ERR_CUT;
		w.log.s.connected_ms = w.log.s.dir[CLIENT].bytes = 0;
		if (i < ARRAY_LEN(rows)) {
			w.log.s.dir[CLIENT].lookahead = rows[i].came;
			stream_log(&w.log.s);
			assert_string_equal(got(&w), rows[i].want);
			world_fini(&w);
			continue;
		}
		proxy_vocab_init(&vocab);
		assert_int_equal(log_format_compile(&vocab, "%ci %[fc_err]/%ts", 0,
			&w.log.fe.log.error.fmt, &why), 0);
		stream_log(&w.log.s);
		assert_string_equal(got(&w), "<6>10.0.1.2 14/PR\n");
		rule_fmt_free(&w.log.fe.log.error.fmt);
		w.log.s.own_line = STREAM_LINE_DUE;
		w.log.bind.name = name;
		stream_log(&w.log.s);
		assert_string_equal(got(&w), "<6>10.0.1.2:33313 [06/Feb/2009:12:12:51.443] "
			"fnt/web: Truncated PROXY protocol header received\n");
		world_fini(&w);
	}
}

static void
test_tag_and_no_target(void **state)
{
	char tag[] = "customer7";
	static struct world w;

	(void)state;
	world_init(&w, 0, "x");
	w.log.fe.log.tag = tag;
	w.line.form = LOG_FORM_RFC5424;
	stream_log(&w.log.s);
	assert_non_null(strstr(got(&w), " - customer7 31185 - - x\n"));
	w.log.s.own_line = STREAM_LINE_DUE;
	w.log.engine.log = NULL;
	stream_log(&w.log.s);
	w.log.engine.log = &w.sink;
	list_remove(&w.line.link);
	stream_log_early(&w.log.s);
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "");
	assert_int_equal(w.log.s.own_line, STREAM_LINE_DUE);
	world_fini(&w);
}

/* `log-steps`: a line for each step that it names, whatever the formats need; errors always. */
static void
test_listed_steps(void **state)
{
	static struct world w;
	static struct http_txn txn;

	(void)state;
	world_init(&w, 0, "%OG %B");
	w.log.fe.log.steps = 1u << LOG_STEP_ACCEPT | 1u << LOG_STEP_CLOSE;
	stream_log_step(&w.log.s, LOG_STEP_ACCEPT);
	assert_string_equal(got(&w), "<6>accept 212\n");
	stream_log_step(&w.log.s, LOG_STEP_CONNECT);
	stream_log_early(&w.log.s);
	assert_string_equal(got(&w), "");
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "<6>close 212\n");
	/* Logged: nothing follows. */
	stream_log_step(&w.log.s, LOG_STEP_ACCEPT);
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "");
	w.log.s.own_line = STREAM_LINE_DUE;
	w.log.fe.log.steps = 1u << LOG_STEP_RESPONSE;
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "");
	assert_int_equal(w.log.s.own_line, STREAM_LINE_WRITTEN);
	w.log.s.own_line = STREAM_LINE_DUE;
	w.log.s.is_http = 1;
	w.log.s.txn = &txn;
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "<6>error 0\n");
	/* Silent is silent at all steps. */
	w.log.s.own_line = STREAM_LINE_DUE;
	w.log.s.log_level = -1;
	stream_log_step(&w.log.s, LOG_STEP_RESPONSE);
	assert_string_equal(got(&w), "");
	w.log.s.txn = NULL;
	world_fini(&w);
}

/* `do-log` writes its line besides the session's own. */
static void
test_lines_of_rules(void **state)
{
	static struct world w;
	struct sample_ctx cx;
	struct eval eval;

	(void)state;
	world_init(&w, 0, "%OG %B");
	eval_init(&eval, &w.log.s, 0);
	cx = eval.cx;
	stream_log_by_rule(&w.log.s, LOG_STEP_TCP_REQ_SESS, &cx, 0);
	assert_string_equal(got(&w), "<6>tcp-req-sess 212\n");
	assert_int_equal(w.log.s.own_line, STREAM_LINE_DUE);
	stream_log_by_rule(&w.log.s, LOG_STEP_HTTP_REQ, &cx, LOG_LEVEL_ERR + 1);
	assert_string_equal(got(&w), "<3>http-req 212\n");
	stream_log_by_rule(&w.log.s, LOG_STEP_HTTP_REQ, &cx, -1);
	/* The rules that are running have the last word. */
	w.log.s.log_level = -1;
	stream_log_by_rule(&w.log.s, LOG_STEP_HTTP_REQ, &cx, 0);
	assert_string_equal(got(&w), "");
	stream_log_by_rule(&w.log.s, LOG_STEP_HTTP_REQ, &cx, LOG_LEVEL_ALERT + 1);
	assert_string_equal(got(&w), "<1>http-req 212\n");
	w.log.s.log_level = 0;
	stream_log(&w.log.s);
	assert_string_equal(got(&w), "<6>close 212\n");
	stream_log_by_rule(&w.log.s, LOG_STEP_HTTP_RES, &cx, 0);
	assert_string_equal(got(&w), "<6>http-res 212\n");
	w.log.engine.log = NULL;
	stream_log_by_rule(&w.log.s, LOG_STEP_HTTP_RES, &cx, 0);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_line_at_the_end),
		cmocka_unit_test(test_a_value_may_be_longer_than_any_line),
		cmocka_unit_test(test_error_format),
		cmocka_unit_test(test_errors_are_distinguished),
		cmocka_unit_test(test_structured_data),
		cmocka_unit_test(test_logasap_writes_when_connected),
		cmocka_unit_test(test_rules_choose_the_level),
		cmocka_unit_test(test_formats_that_need_little_are_written_early),
		cmocka_unit_test(test_default_format_needs_a_request),
		cmocka_unit_test(test_dontlognull),
		cmocka_unit_test(test_refused_headers),
		cmocka_unit_test(test_tag_and_no_target),
		cmocka_unit_test(test_listed_steps),
		cmocka_unit_test(test_lines_of_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
