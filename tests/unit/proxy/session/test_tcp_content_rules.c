/* tcp-request content and tcp-response content: outcomes, counters, and waiting. */
#include "unit/proxy/session_rig.h"

#include "base/log.h"
#include "proxy/model/shard.h"
#include "proxy/session/session.h"
#include "proxy/config/proxy_life.h"

static const struct step asks[] = { { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };
static const struct step is_quiet[] = { { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };
static const struct step asks_twice[] = { { STEP_SEND, 100 }, { STEP_PAUSE, 20 },
	{ STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };
static const struct step answers[] = { { STEP_WAIT, 100 }, { STEP_SEND, 10 }, { STEP_CLOSE, 0 } };
static const struct step answers_both[] = { { STEP_WAIT, 200 }, { STEP_SEND, 10 },
	{ STEP_CLOSE, 0 } };
static const struct step hears[] = { { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };

static void
play(const char *lines, const struct step *client, const struct step *origin)
{
	struct world_config cfg = { RIG_WORLD, .rules = lines };

	rig_play(&cfg, client, origin);
}

/* True if it took about this long, in ms. */
static void
took(uint64_t ms)
{
	uint64_t got = (w.ended - w.opened) / FAKE_MS;

	if (got < ms || got > ms + 20)
		fail_msg("took %llu ms, not %llu", (unsigned long long)got,
			(unsigned long long)ms);
}

static const struct proxy_stat *
fe(void)
{
	return &w.px->shard[0].fe;
}

static const struct proxy_stat *
be(void)
{
	return &w.px->shard[0].be;
}

#define DELAY "tcp-request inspect-delay 1s\n"

static void
a_rejected_request_is_counted(void **st)
{
	(void)st;
	play(DELAY "tcp-request content reject if { req.len gt 50 }", asks, answers);
	assert_string_equal(rig_terms(), "PR");
	assert_int_equal(fe()->denied_req, 1);
	assert_int_equal(fe()->cum_sess, 1);
	assert_int_equal(fe()->failed_req, 0);
	assert_int_equal(be()->denied_req, 0);
	assert_int_equal(be()->cum_sess, 0);
	assert_int_equal(w.end[0].bytes[CLIENT], 100);
	took(0);
	rig_close();
}

/* All rules run again for each arrival; nothing waits without need. */
static void
rules_run_with_each_arrival(void **st)
{
	(void)st;
	play(DELAY "acl has_n var(sess.n) -m found\n"
		   "tcp-request content set-var(sess.n) var(sess.n),add(1) if has_n\n"
		   "tcp-request content set-var(sess.n) int(1) unless has_n\n"
		   "tcp-request content accept if { req.len gt 150 }\n"
		   "tcp-request content reject unless { var(sess.n) -m int 2 }",
		asks_twice, answers_both);
	assert_string_equal(rig_terms(), "--");
	took(20);
	rig_close();
}

static void
the_end_of_the_delay_decides(void **st)
{
	(void)st;
	play(DELAY "tcp-request content reject if { req.len gt 150 }", asks, answers);
	assert_string_equal(rig_terms(), "--");
	took(1000);
	rig_close();
	/* WAIT_END matches then, and not before */
	play(DELAY "tcp-request content reject if WAIT_END", is_quiet, answers);
	assert_string_equal(rig_terms(), "PR");
	took(1000);
	rig_close();
	/* without a delay the available data is all there is */
	play("tcp-request content reject if WAIT_END", asks, answers);
	assert_string_equal(rig_terms(), "PR");
	took(0);
	rig_close();
}

static void
variables_of_all_scopes_live(void **st)
{
	(void)st;
	play(DELAY "tcp-request content set-var(txn.a) int(3)\n"
		   "tcp-request content set-var(req.a) int(4)\n"
		   "tcp-request content reject unless { var(txn.a) -m int 3 }\n"
		   "tcp-response content reject unless { var(txn.a) -m int 3 }\n"
		   "tcp-response content reject if { var(sess.a) -m found }",
		asks, answers);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* A client that fails is no request: 'C' or 'c', and R. */
static void
clients_that_close(void **st)
{
	static const struct step resets[] = { { STEP_SEND, 100 }, { STEP_PAUSE, 20 },
		{ STEP_RESET, 0 } };
	struct world_config cfg = { RIG_WORLD, .rules = "tcp-request inspect-delay 1h\n"
		"tcp-request content accept if { req.len gt 900 }" };

	(void)st;
	rig_play(&cfg, resets, answers);
	assert_string_equal(rig_terms(), "CR");
	assert_int_equal(fe()->failed_req, 1);
	assert_int_equal(fe()->denied_req, 0);
	took(20);
	rig_close();
	rig_play(&cfg, asks, answers);
	assert_string_equal(rig_terms(), "cR");
	assert_int_equal(fe()->failed_req, 1);
	took(30000);
	rig_close();
}

/* --- a backend of its own --- */

static struct proxy *front;

/* Clients connect to another frontend, whose backend is w.px. */
static void
add_frontend(void)
{
	front = proxy_new("front", PROXY_FE);
	assert_non_null(front);
	front->to = w.px->to;
	front->default_be = w.px;
	assert_int_equal(proxy_make_shards(front, 1), 0);
	w.ln->owner = front;
}

static void
play_backend(const char *lines, const struct step *client)
{
	struct world_config cfg = { RIG_WORLD, .rules = lines };

	rig_open(&cfg, answers);
	add_frontend();
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
}

static void
drop_frontend(void)
{
	rig_close();
	proxy_free(&front);
}

static void
backends_have_content_rules_too(void **st)
{
	static const struct step resets[] = { { STEP_SEND, 100 }, { STEP_PAUSE, 20 },
		{ STEP_RESET, 0 } };

	(void)st;
	play_backend(DELAY "tcp-request content accept if { req.len gt 50 }", asks);
	assert_string_equal(rig_terms(), "--");
	assert_int_equal(be()->cum_sess, 1);
	assert_int_equal(be()->cur_max, 1);
	took(0);
	drop_frontend();
	play_backend(DELAY "tcp-request content accept if { req.len gt 150 }", asks);
	assert_string_equal(rig_terms(), "--");
	assert_int_equal(be()->cum_sess, 1);
	assert_int_equal(be()->cur_max, 1);
	took(1000);
	drop_frontend();
	play_backend(DELAY "tcp-request content reject", asks);
	assert_string_equal(rig_terms(), "PR");
	assert_int_equal(front->shard[0].fe.denied_req, 1);
	assert_int_equal(be()->denied_req, 0);
	assert_int_equal(be()->cum_sess, 1);
	drop_frontend();
	play_backend(DELAY "tcp-request content accept if { req.len gt 150 }", resets);
	assert_string_equal(rig_terms(), "CR");
	assert_int_equal(front->shard[0].fe.failed_req, 1);
	assert_int_equal(be()->cli_abrt, 1);
	drop_frontend();
}

/* --- the server's data --- */

static void
a_rejected_response_is_counted(void **st)
{
	(void)st;
	play("tcp-response inspect-delay 1s\ntcp-response content reject if { res.len gt 5 }", asks,
		answers);
	assert_string_equal(rig_terms(), "PD");
	assert_int_equal(fe()->denied_resp, 1);
	assert_int_equal(be()->denied_resp, 1);
	assert_int_equal(w.srv[0]->shard[0].stat.denied_resp, 1);
	assert_int_equal(fe()->denied_req, 0);
	assert_int_equal(w.client[0].got, 0);
	assert_false(w.client[0].eof);
	rig_close();
	/* nothing is forwarded, in either direction */
	play("tcp-response content reject", asks, hears);
	assert_string_equal(rig_terms(), "PD");
	rig_close();
}

/* `close` ends the server's connection; it is no denial, and the client gets what has come. */
static void
a_server_is_closed(void **st)
{
	static const struct step stays[] = { { STEP_WAIT, 100 }, { STEP_SEND, 10 },
		{ STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };

	(void)st;
	play("tcp-response inspect-delay 1s\ntcp-response content close if { res.len gt 5 }", asks,
		stays);
	assert_string_equal(rig_terms(), "--");
	assert_int_equal(w.client[0].got, 10);
	assert_true(w.client[0].eof);
	assert_int_equal(fe()->denied_resp + be()->denied_resp + fe()->denied_req, 0);
	assert_int_equal(be()->srv_abrt + be()->cli_abrt, 0);
	took(0);
	w.n_ends = 0; /* an end that the server has not sent */
	rig_close();
	/* nothing has come */
	play("tcp-response content close", asks, stays);
	assert_string_equal(rig_terms(), "--");
	assert_int_equal(w.client[0].got, 0);
	assert_true(w.client[0].eof);
	took(0);
	w.n_ends = 0; /* an end that the server has not sent */
	rig_close();
}

static void
a_silent_server_is_waited_for(void **st)
{
	(void)st;
	play("tcp-response inspect-delay 1s\ntcp-response content reject if WAIT_END", asks, hears);
	assert_string_equal(rig_terms(), "PD");
	took(1000);
	rig_close();
	/* without a delay: until its first byte */
	play("tcp-response content accept if { res.len gt 50 }", asks, answers);
	assert_string_equal(rig_terms(), "--");
	assert_int_equal(w.client[0].got, 10);
	took(0);
	rig_close();
}

static void
log_levels_are_kept(void **st)
{
	struct world_config cfg = { RIG_WORLD, .rules = DELAY
			"tcp-request content set-log-level err\n"
			"tcp-request content accept if { req.len gt 500 }\n"
			"tcp-response inspect-delay 1s\n"
			"tcp-response content set-log-level silent if { res.len gt 5 }\n"
			"tcp-response content accept if { res.len gt 50 }" };
	static const struct step slow[] = { { STEP_WAIT, 100 }, { STEP_SEND, 10 },
		{ STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };

	(void)st;
	rig_open(&cfg, slow);
	(void)world_client(&w, asks, 0);
	world_run(&w, 500 * FAKE_MS);
	assert_int_equal(rig_session(0)->state, STREAM_INSPECT);
	assert_int_equal(rig_session(0)->log_level, LOG_LEVEL_ERR + 1);
	world_run(&w, 1000 * FAKE_MS);
	assert_int_equal(rig_session(0)->state, STREAM_RELAY);
	assert_int_equal(rig_session(0)->log_level, -1);
	engine_kill_all(&w.engine);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "KD");
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rejected_request_is_counted),
		cmocka_unit_test(rules_run_with_each_arrival),
		cmocka_unit_test(the_end_of_the_delay_decides),
		cmocka_unit_test(variables_of_all_scopes_live),
		cmocka_unit_test(clients_that_close),
		cmocka_unit_test(backends_have_content_rules_too),
		cmocka_unit_test(a_rejected_response_is_counted),
		cmocka_unit_test(a_server_is_closed),
		cmocka_unit_test(a_silent_server_is_waited_for),
		cmocka_unit_test(log_levels_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
