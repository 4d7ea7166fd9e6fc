/* Outcomes of rules besides a decision, and what is counted. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/http_txn.h"
#include "proxy/model/shard.h"

static const struct step asks[] = { SAY(GET_CLOSE), EOF_CLOSE };
static const struct step leaves[] = { SAY(GET_CLOSE), { STEP_PAUSE, 20 }, { STEP_RESET, 0 } };
static const struct step answers[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };

static void
play(const char *rules)
{
	struct world_config cfg = { HTTP_WORLD, .rules = rules,
		.persistence = HTTP_SERVER_CLOSE };

	rig_play(&cfg, asks, answers);
}

/* The frontend, its listener, the backend and the server count the same. */
static void
denied_requests_are_counted(void **st)
{
	static const struct {
		const char *rules;
		unsigned int req, res, rewrites, intercepted;
	} t[] = {
		{ "http-request deny", 1, 0, 0, 0 },
		{ "http-request reject", 1, 0, 0, 0 },
		{ "http-request return status 200", 0, 0, 0, 1 },
		{ "http-response deny", 0, 1, 0, 0 },
		{ "http-response return status 200", 0, 0, 0, 0 },
		{ "http-request set-path x", 0, 0, 1, 0 },
		{ "http-request strict-mode off\n"
		  "http-request set-path x\n"
		  "http-request set-path x", 0, 0, 2, 0 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const struct proxy_stat *fe, *be;
		const struct server_stat *srv;
		const struct listener_stat *ln;

		play(t[i].rules);
		ln = &w.ln->stat;
		fe = &w.px->shard[0].fe;
		be = &w.px->shard[0].be;
		srv = &w.srv[0]->shard[0].stat;
		if (fe->denied_req != t[i].req || ln->denied_req != t[i].req ||
			fe->denied_resp != t[i].res || ln->denied_resp != t[i].res ||
			be->denied_resp != t[i].res || srv->denied_resp != t[i].res ||
			fe->failed_rewrites != t[i].rewrites ||
			ln->failed_rewrites != t[i].rewrites ||
			fe->intercepted != t[i].intercepted)
			fail_msg("%s: %u %u %u %u", t[i].rules, (unsigned int)fe->denied_req,
				(unsigned int)fe->denied_resp, (unsigned int)fe->failed_rewrites,
				(unsigned int)fe->intercepted);
		rig_close();
	}
}

/* As in HAProxy: the response of a server counts that a rule of http-response drops, though its
 * client gets nothing, and none that a rule of tcp-response drops. */
static void
dropped_responses_have_a_status(void **st)
{
	static const struct {
		const char *rules;
		unsigned int class;
	} t[] = {
		{ "http-response silent-drop", 2 },
		{ "tcp-response content silent-drop", 0 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct world_config cfg = { HTTP_WORLD, .rules = t[i].rules };
		const struct proxy_stat *fe, *be;

		rig_play(&cfg, leaves, answers);
		fe = &w.px->shard[0].fe;
		be = &w.px->shard[0].be;
		assert_int_equal(w.client[0].got, 0);
		assert_int_equal(fe->hrsp[t[i].class], 1);
		assert_int_equal(be->hrsp[t[i].class], 1);
		/* counted as of a request, and not of the server */
		assert_int_equal(fe->denied_req, 1);
		assert_int_equal(be->denied_req, 1);
		assert_int_equal(fe->denied_resp + be->denied_resp, 0);
		assert_int_equal(w.srv[0]->shard[0].stat.denied_resp, 0);
		assert_string_equal(rig_terms(), "PR");
		rig_close();
	}
}

/* set-timeout overrides the backend's timeout for one request. */
static void
timeouts_are_set(void **st)
{
	static const struct step slow[] = { AWAIT("\r\n\r\n"), { STEP_PAUSE, 900 },
		SAY(OK2 "\r\nok"), EOF_CLOSE };
	static const struct {
		const char *rules, *terms;
	} t[] = { { "http-request set-timeout server 500ms", "sH" },
		{ "http-request set-timeout server 1s", "--" },
		{ "http-request set-timeout tunnel 1ms", "--" },
		{ "http-request set-timeout server int(600)", "sH" },
		{ "http-response set-timeout server 500ms", "--" } };
	/* Its body is late. */
	static const struct step late[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\no"),
		{ STEP_PAUSE, 900 }, SAY("k"), EOF_CLOSE };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct world_config cfg = { HTTP_WORLD, .rules = t[i].rules,
			.persistence = HTTP_SERVER_CLOSE };

		rig_play(&cfg, asks, slow);
		assert_string_equal(rig_terms(), t[i].terms);
		rig_close();
	}
	for (int i = 0; i < 2; i++) {
		struct world_config cfg = { HTTP_WORLD, .persistence = HTTP_SERVER_CLOSE,
			.rules = i ? "http-response set-timeout server int(500)"
				   : "http-response set-timeout tunnel 500ms" };

		rig_play(&cfg, asks, late);
		assert_string_equal(rig_terms(), i ? "sD" : "--");
		rig_close();
	}
}

/* The value in the session before its request ended. */
static int seen;

static void
watch(struct world *x)
{
	list_each(it, &x->engine.streams) {
		const struct stream *s = list_entry(it, const struct stream, link);

		if (s->state == STREAM_RELAY)
			seen = s->log_level;
	}
}

static void
a_log_level_is_set(void **st)
{
	static const struct {
		const char *rules;
		int level;
	} t[] = { { "http-request set-log-level silent", -1 },
		{ "http-request set-log-level err", 3 + 1 },
		{ "http-request set-log-level err\nhttp-request set-log-level debug", 7 + 1 },
		{ "http-request set-header X-A b", 0 } };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct world_config cfg = { HTTP_WORLD, .rules = t[i].rules,
			.persistence = HTTP_SERVER_CLOSE };

		seen = -99;
		rig_open(&cfg, answers);
		w.meddle = watch;
		(void)world_client(&w, asks, 0);
		world_run(&w, RIG_LIMIT);
		assert_int_equal(seen, t[i].level);
		rig_close();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(denied_requests_are_counted),
		cmocka_unit_test(dropped_responses_have_a_status),
		cmocka_unit_test(timeouts_are_set),
		cmocka_unit_test(a_log_level_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
