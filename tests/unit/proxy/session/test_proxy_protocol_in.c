/* HEADER: PROXY headers that arrive, are invalid, or are missing. */
#include "unit/proxy/session_rig.h"

#include "base/str.h"
#include "net/proxy_header.h"
#include "proxy/model/shard.h"
#include "proxy/session/session.h"

#define TCP4 "PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n"
#define UNKNOWN "PROXY UNKNOWN\r\n"
#define SESSION "tcp-request session reject unless "
#define ANNOUNCED                                                                         \
	"{ src 1.2.3.4 } { src_port 1111 } { dst 5.6.7.8 } { dst_port 2222 } "             \
	"{ fc_src 10.0.0.0/8 } { fc_dst_port 1000 } { fc_rcvd_proxy }\n"
#define REAL "{ src 10.0.0.0/8 } { dst_port 1000 } "

static const struct step hears_hello[] = { AWAIT("hello"), SAY("there"), { STEP_CLOSE, 0 } };

static const struct proxy_stat *
fe(void)
{
	return &w.px->shard[0].fe;
}

/* Counted as a connection in any case, and as a session after its header has arrived. */
static void
ends(const char *terms, uint64_t sessions, enum conn_err err)
{
	assert_string_equal(rig_terms(), terms);
	assert_int_equal(fe()->cum_conn, 1);
	assert_int_equal(fe()->cum_sess, sessions);
	assert_int_equal(fe()->sess_rate.max, sessions);
	assert_int_equal(w.engine.stat.cum_sess, sessions);
	assert_int_equal(fe()->failed_req, 0);
	if (err) {
		assert_int_equal(w.n_served, 0);
		assert_int_equal(fe()->bytes_in, 0);
	}
}

static void
took(uint64_t ms)
{
	assert_in_range((w.ended - w.opened) / FAKE_MS, ms, ms + 20);
}

/* A client that sends `first` and `then`, and a server that expects hello. */
static void
play(const char *rules, int announced, const char *first, const char *then)
{
	struct world_config cfg = { RIG_WORLD, .texts = 1, .announced = announced, .rules = rules };
	struct step client[] = { SAY(first), { STEP_PAUSE, 20 }, SAY(then), EOF_CLOSE, { 0 } };

	cfg.mode = INTEREST_EDGE;
	rig_play(&cfg, client, hears_hello);
}

static void
is_heard(void)
{
	ends("--", 1, CONN_ERR_NONE);
	assert_int_equal(w.n_served, 1);
	assert_string_equal(w.served[0].text, "hello");
	assert_string_equal(w.client[0].text, "there");
	assert_int_equal(fe()->bytes_in, 5);
	assert_int_equal(w.px->shard[0].be.bytes_in, 5);
	rig_close();
}

/* Wherever the header is split, the bytes after it are the client's data. */
static void
headers_in_two_pieces(void **st)
{
	static const char looks[] = "tcp-request inspect-delay 1s\n"
		"tcp-request content accept if { req.len ge 5 }\ntcp-request content reject";
	static const char *const rules[] = { "", SESSION ANNOUNCED, looks };
	char first[sizeof(TCP4) + 5];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		for (size_t n = 1; n < sizeof(first); n++) {
			memcpy(first, TCP4 "hello", n);
			first[n] = '\0';
			play(rules[i], 1, first, &(TCP4 "hello")[n]);
			is_heard();
		}
	for (size_t n = 1; n < sizeof(UNKNOWN); n++) {
		memcpy(first, UNKNOWN, n);
		first[n] = '\0';
		play(SESSION REAL "{ fc_rcvd_proxy }", 1, first, &(UNKNOWN "hello")[n]);
		is_heard();
	}
}

static void
expect_proxy_rules_select_clients(void **st)
{
	static const char *const for_all = "tcp-request connection expect-proxy layer4\n";
	static const char *const for_some =
		"tcp-request connection expect-proxy layer4 if { src 10.0.0.0/8 }\n"
		"tcp-request connection reject unless { src 10.0.0.0/8 }\n"
		"tcp-request connection set-src ipv4(9.9.9.9)\n"
		SESSION "{ src 1.2.3.4 } { fc_src 9.9.9.9 }";
	static const char *const for_others =
		"tcp-request connection expect-proxy layer4 unless { src 10.0.0.0/8 }\n"
		SESSION REAL "!{ fc_rcvd_proxy }";

	(void)st;
	play(for_all, 0, TCP4 "hel", "lo");
	is_heard();
	play(for_some, 0, TCP4 "hel", "lo");
	is_heard();
	play(for_others, 0, "hel", "lo");
	is_heard();
	/* rules continue after it */
	play("tcp-request connection expect-proxy layer4\ntcp-request connection reject", 0,
		TCP4 "hel", "lo");
	assert_int_equal(fe()->denied_conn, 1);
	assert_int_equal(w.n_ends, 0);
	rig_close();
}

/* Header and first data are read by one call, and no other call is added. */
static void
a_header_adds_no_call(void **st)
{
	static const struct step with[] = { SAY(TCP4 "hello"), EOF_CLOSE };
	static const struct step without[] = { SAY("hello"), EOF_CLOSE };
	static const struct step with_get[] = { SAY(TCP4 GET_CLOSE), EOF_CLOSE };
	static const struct step get[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step answers[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"),
		EOF_CLOSE };
	uint64_t calls[2], reads[2];

	(void)st;
	for (int http = 0; http < 2; http++) {
		for (int i = 0; i < 2; i++) {
			struct world_config cfg = { RIG_WORLD, .texts = 1, .announced = i,
				.http = http };

			cfg.mode = INTEREST_EDGE;
			rig_play(&cfg, http ? i ? with_get : get : i ? with : without,
				http ? answers : hears_hello);
			assert_string_equal(rig_terms(), "--");
			assert_int_equal(w.n_served, 1);
			calls[i] = world_calls(&w);
			reads[i] = ledger_sum(&w.sys.ledger, SYS_CALL_recvfrom);
			rig_close();
		}
		assert_true(calls[1] <= calls[0]);
		assert_true(reads[1] <= reads[0]);
	}
}

static void
headers_that_are_refused(void **st)
{
	static const char *const bad[] = { "GET / HTTP/1.1\r\n\r\n", "PROXY TCP5 a b\r\n",
		"PROXY TCP4 1.2.3.4\r\n", "hello" };

	(void)st;
	for (int http = 0; http < 2; http++)
		for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
			struct world_config cfg = { RIG_WORLD, .texts = 1, .announced = 1,
				.http = http };
			struct step client[] = { SAY(bad[i]), EOF_CLOSE, { 0 } };

			rig_play(&cfg, client, hears_hello);
			ends("PR", 0, CONN_ERR_OTHER);
			assert_int_equal(w.client[0].err, ECONNRESET);
			assert_int_equal(w.client[0].got, 0);
			took(0);
			rig_close();
		}
}

static const struct step is_quiet[] = { EOF_CLOSE };
static const struct step begins[] = { SAY("PROXY TCP4 1."), { STEP_PAUSE, 20 }, SAY("2"),
	EOF_CLOSE };
static const struct step leaves[] = { { STEP_SHUT, 0 }, EOF_CLOSE };
static const struct step begins_and_leaves[] = { SAY("PROXY TC"), { STEP_SHUT, 0 }, EOF_CLOSE };
static const struct step resets[] = { { STEP_PAUSE, 20 }, { STEP_RESET, 0 } };
static const struct step begins_and_resets[] = { SAY("PROXY TC"), { STEP_PAUSE, 20 },
	{ STEP_RESET, 0 } };

static void
headers_that_do_not_arrive(void **st)
{
	static const struct {
		const struct step *client;
		enum conn_err err;
		unsigned int ms;
		int is_reset;
	} t[] = {
		{ is_quiet, CONN_ERR_LATE, 1000, 0 },
		/* further bytes do not extend the timeout */
		{ begins, CONN_ERR_LATE, 1000, 0 },
		{ leaves, CONN_ERR_CLOSED, 0, 0 },
		{ begins_and_leaves, CONN_ERR_CUT, 0, 1 },
		{ resets, CONN_ERR_FAILED, 20, 0 },
		{ begins_and_resets, CONN_ERR_FAILED, 20, 0 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		for (int mode = 0; mode < 2; mode++) {
			struct world_config cfg = { RIG_WORLD, .texts = 1, .announced = 1 };

			cfg.mode = mode ? INTEREST_EDGE : INTEREST_MERGED;
			cfg.to.client = 1000;
			cfg.to.http_request = 50;
			rig_play(&cfg, t[i].client, hears_hello);
			ends("PR", 0, t[i].err);
			took(t[i].ms);
			assert_int_equal(w.client[0].err, t[i].is_reset ? ECONNRESET : 0);
			rig_close();
		}
}

/* The reason is recorded in the session before it ends. */
static enum conn_err why;
static uint32_t came;

static void
look_at_it(struct world *x, const struct world_end *e)
{
	(void)x;
	why = (enum conn_err)e->session->sess->conn_err;
	came = e->session->dir[CLIENT].lookahead;
}

static int
it_is_over(const struct world *x)
{
	return x->n_ends == 1;
}

static void
nobody_serves(struct world *x, unsigned int server, struct fake_sock *s)
{
	(void)x;
	(void)server;
	(void)s;
}

/* The same without memory for a buffer. */
static void
reasons_are_kept(void **st)
{
	static const struct step says_else[] = { { STEP_PAUSE, 20 }, SAY("hello"), EOF_CLOSE };
	static const struct step begins_late[] = { { STEP_PAUSE, 20 }, SAY("PROXY TC"), EOF_CLOSE };
	static const struct {
		const struct step *client;
		enum conn_err err;
		uint32_t came;
	} t[] = { { is_quiet, CONN_ERR_LATE, 0 }, { leaves, CONN_ERR_CLOSED, 0 },
		{ begins_and_leaves, CONN_ERR_CUT, 8 },
		{ resets, CONN_ERR_FAILED, 0 }, { says_else, CONN_ERR_OTHER, 5 },
		{ begins_late, CONN_ERR_LATE, 8 } };

	(void)st;
	for (size_t i = 0; i < 2 * ARRAY_LEN(t); i++) {
		struct world_config cfg = { RIG_WORLD, .texts = 1, .announced = 1 };
		void *kept;

		why = CONN_ERR_NONE;
		rig_open(&cfg, NULL);
		w.session_ended = look_at_it;
		w.ends_are_over = it_is_over;
		w.server_accepted = nobody_serves;
		(void)world_client(&w, t[i / 2].client, 0);
		world_run(&w, 10 * FAKE_MS);
		kept = i % 2 ? rig_exhaust_memory() : NULL;
		world_run(&w, RIG_LIMIT);
		rig_restore_memory(kept);
		assert_int_equal(why, t[i / 2].err);
		assert_int_equal(came, t[i / 2].came);
		rig_close();
	}
}

static void
session_rules_see_its_addresses(void **st)
{
	(void)st;
	play("tcp-request session reject if { src 1.2.3.4 }", 1, TCP4, "hello");
	ends("--", 0, CONN_ERR_NONE);
	assert_int_equal(fe()->denied_sess, 1);
	assert_int_equal(w.n_served, 0);
	rig_close();
	/* and may override the addresses */
	play("tcp-request session set-src ipv4(9.9.9.9)\n" SESSION "{ src 9.9.9.9 }", 1, TCP4,
		"hello");
	is_heard();
}

static const struct step answers_twice[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"),
	AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };

/* In mode http it applies to all requests of the connection. */
static void
in_mode_http(void **st)
{
	static const char rules[] = "http-request deny unless " ANNOUNCED;
	struct http_dialogue t[] = {
		{ .name = "in one piece", .client = { SAY(TCP4 GET_CLOSE), EOF_CLOSE } },
		{ .name = "only the header",
			.client = { SAY(TCP4), { STEP_PAUSE, 20 }, SAY(GET_CLOSE), EOF_CLOSE } },
		{ .name = "in pieces",
			.client = { SAY("PRO"), { STEP_PAUSE, 20 },
				SAY("XY TCP4 1.2.3.4 5.6.7.8 1111 2222\r"), { STEP_PAUSE, 20 },
				SAY("\nGET / HT"), { STEP_PAUSE, 20 },
				SAY("TP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
				EOF_CLOSE } },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		t[i].cfg = (struct world_config){ RIG_WORLD, .announced = 1, .rules = rules };
		memcpy(t[i].origin, answers_twice, sizeof(answers_twice));
		t[i].to_client = OK2 "Connection: close\r\n\r\nok";
		t[i].terms = "--";
		t[i].served = 1;
		http_play(&t[i]);
	}
	http_play(&(struct http_dialogue){
		.name = "two requests after it",
		.cfg = { RIG_WORLD, .announced = 1, .rules = rules },
		.client = { SAY(TCP4 GET "\r\n" GET_CLOSE), EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), AWAIT("\r\n\r\n"),
			SAY(OK2 "\r\nok"), { STEP_WAIT_EOF, 0 } },
		.to_client = OK2 "\r\nok" OK2 "Connection: close\r\n\r\nok",
		.terms = "-- --",
		.served = 1,
		.reuses = 1 });
}

/* The header does not reduce the space for a head. */
static void
a_head_may_fill_its_room(void **st)
{
	static char text[700];
	struct http_dialogue d = { .name = "a long head",
		.cfg = { RIG_WORLD, .announced = 1, .bufsize = 1024 },
		.client = { SAY(text), EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), { STEP_WAIT_EOF, 0 } },
		.to_client = OK2 "Connection: close\r\n\r\nok", .terms = "--", .served = 1 };
	const char *behind = "\r\nConnection: close\r\n\r\n";
	size_t n = strlen(TCP4 GET) + 3;

	(void)st;
	(void)strcpy(text, TCP4 GET "A: ");
	memset(text + n, 'a', 512 + strlen(TCP4) - n - strlen(behind));
	(void)strcpy(text + 512 + strlen(TCP4) - strlen(behind), behind);
	http_play(&d);
}

/* timeout http-request begins at the end of the header. */
static void
requests_are_timed_from_the_header_on(void **st)
{
	static const struct step client[] = { { STEP_PAUSE, 200 }, SAY(TCP4), { STEP_PAUSE, 200 },
		SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step late[] = { SAY(TCP4), EOF_CLOSE };
	struct world_config cfg = { RIG_WORLD, .announced = 1, .http = 1 };

	(void)st;
	cfg.to.http_request = 300;
	rig_play(&cfg, client, answers_twice);
	assert_string_equal(rig_terms(), "--");
	rig_close();
	rig_play(&cfg, late, answers_twice);
	assert_string_equal(rig_terms(), "cR");
	took(300);
	rig_close();
}

/* The same for a client that sends nothing after it. */
static void
clients_are_timed_from_the_header_on(void **st)
{
	static const struct step asks[] = { { STEP_PAUSE, 200 }, SAY(TCP4), { STEP_PAUSE, 200 },
		SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step says[] = { { STEP_PAUSE, 200 }, SAY(TCP4), { STEP_PAUSE, 200 },
		SAY("hello"), EOF_CLOSE };
	static const struct step late[] = { { STEP_PAUSE, 200 }, SAY(TCP4), EOF_CLOSE };
	struct world_config cfg = { RIG_WORLD, .announced = 1, .texts = 1 };

	(void)st;
	for (int http = 0; http < 2; http++) {
		cfg.http = http;
		cfg.to.client = 300;
		cfg.rules = http ? NULL : "tcp-request inspect-delay 1s\n"
			"tcp-request content accept if { req.len ge 5 }";
		rig_play(&cfg, http ? asks : says, http ? answers_twice : hears_hello);
		assert_string_equal(rig_terms(), "--");
		rig_close();
		rig_play(&cfg, late, http ? answers_twice : hears_hello);
		assert_string_equal(rig_terms(), "cR");
		took(500);
		rig_close();
	}
}

/* A frontend at its limit has a free place again, however the session ended. */
static void
its_place_is_released(void **st)
{
	struct world_config cfg = { RIG_WORLD, .announced = 1, .texts = 1, .maxconn = 1 };

	(void)st;
	cfg.to.client = 100;
	rig_open(&cfg, hears_hello);
	(void)world_client(&w, is_quiet, 0);
	(void)world_client(&w, leaves, 0);
	(void)world_client(&w, begins_and_leaves, 0);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "PR PR PR");
	assert_int_equal(fe()->cum_sess, 0);
	assert_int_equal(fe()->cur_max, 1);
	assert_int_equal(w.ln->stat.cur, 0);
	rig_close();
}

static void
kill_it(struct world *x)
{
	struct stream *s;

	if (list_is_empty(&x->engine.streams))
		return;
	s = list_entry(x->engine.streams.next, struct stream, link);
	assert_int_equal(s->state, STREAM_NEW);
	assert_int_equal(s->sess->state, SESSION_PROXY_HEADER);
	assert_null(s->dir[CLIENT].buf);
	stream_kill(s, 'K');
}

/* A client that has sent nothing owns no buffer, and can be killed. */
static void
a_session_waiting_for_the_header_can_be_killed(void **st)
{
	struct world_config cfg = { RIG_WORLD, .announced = 1, .texts = 1 };

	(void)st;
	rig_open(&cfg, hears_hello);
	w.meddle = kill_it;
	(void)world_client(&w, is_quiet, 0);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "KR");
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_in_two_pieces),
		cmocka_unit_test(expect_proxy_rules_select_clients),
		cmocka_unit_test(a_header_adds_no_call),
		cmocka_unit_test(headers_that_are_refused),
		cmocka_unit_test(headers_that_do_not_arrive),
		cmocka_unit_test(reasons_are_kept),
		cmocka_unit_test(session_rules_see_its_addresses),
		cmocka_unit_test(in_mode_http),
		cmocka_unit_test(a_head_may_fill_its_room),
		cmocka_unit_test(requests_are_timed_from_the_header_on),
		cmocka_unit_test(clients_are_timed_from_the_header_on),
		cmocka_unit_test(its_place_is_released),
		cmocka_unit_test(a_session_waiting_for_the_header_can_be_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
