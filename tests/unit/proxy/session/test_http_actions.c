/* The transition from one request to the next, and the counters of requests. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/http_count.h"

#define ORIGIN AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE
#define ANSWER OK2 "\r\nok"

static const struct http_dialogue kept[] = {
	{ .name = "three requests",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"), AWAIT("ok"),
			{ STEP_PAUSE, 50 }, SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { ORIGIN },
		.to_client = ANSWER ANSWER ANSWER,
		.terms = "-- -- --",
		.served = 3 },
	{ .name = "pipelined",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET "\r\n" GET "\r\n" GET "Connection: close\r\n\r\n"), EOF_CLOSE },
		.origin = { ORIGIN },
		.to_server = GET "Connection: close\r\n\r\n",
		.to_client = ANSWER ANSWER OK2 "Connection: close\r\n\r\nok",
		.terms = "-- -- --",
		.served = 3 },
	{ .name = "pipelined after a body",
		.cfg = { HTTP_WORLD },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\n"
				"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n"),
			{ STEP_PAUSE, 10 }, SAY("0\r\n\r\n" GET), { STEP_PAUSE, 10 }, SAY("\r\n"),
			AWAIT("ok"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { { STEP_PAUSE, 50 }, SAY(ANSWER), EOF_CLOSE },
		.to_client = ANSWER ANSWER,
		.terms = "-- --",
		.served = 2 },
	{ .name = "pipelined, then closed",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET "\r\n" GET "\r\n"), { STEP_SHUT, 0 }, EOF_CLOSE },
		.origin = { ORIGIN },
		.to_client = ANSWER ANSWER,
		.terms = "-- --",
		.served = 2 },
	{ .name = "an invalid request",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET "\r\n"), AWAIT("</html>"), SAY("XX\r\n\r\n"), EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } },
		.terms = "SH PR",
		.served = 1 },
};

/* A request that gets no response must not cost the client the response before it (RFC 9112,
 * 9.6). */
#define LAST OK2 "Connection: close\r\n\r\nok"
#define LATE_READER { STEP_PAUSE, 200 }, { STEP_READ, 0 }, EOF_CLOSE

static const struct http_dialogue overheard[] = {
	{ .name = "sent while the server processes",
		.cfg = { HTTP_WORLD, .persistence = HTTP_CLOSE },
		.client = { { STEP_STALL, 0 }, SAY(GET "\r\n"), { STEP_PAUSE, 10 },
			SAY(GET "\r\n"), LATE_READER },
		.origin = { AWAIT("\r\n\r\n"), { STEP_PAUSE, 50 }, SAY(LAST), { STEP_CLOSE, 0 } },
		.to_client = LAST,
		.terms = "--",
		.served = 1 },
	{ .name = "sent at once, with more data",
		.cfg = { HTTP_WORLD },
		.client = { { STEP_STALL, 0 }, SAY(GET_CLOSE GET "\r\n"), { STEP_PAUSE, 100 },
			SAY(GET "\r\n"), LATE_READER },
		.origin = { AWAIT("\r\n\r\n"), { STEP_PAUSE, 50 }, SAY(LAST), { STEP_CLOSE, 0 } },
		.to_client = LAST,
		.terms = "--",
		.served = 1 },
	{ .name = "after a local reply",
		.cfg = { HTTP_WORLD },
		.client = { { STEP_STALL, 0 }, SAY(GET_CLOSE GET "\r\n"), { STEP_PAUSE, 100 },
			SAY(GET "\r\n"), LATE_READER },
		.origin = { AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } },
		.terms = "SH",
		.served = 1 },
};

static void
unanswered_requests_are_discarded(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(overheard); i++) {
		http_play(&overheard[i]);
		if (w.client[0].err || !strstr(w.client[0].text, "\r\n\r\n"))
			fail_msg("%s: reset", overheard[i].name);
	}
}

static void
requests_follow_one_another(void **st)
{
	(void)st;
	http_play_all(kept, ARRAY_LEN(kept));
}

/* Sessions are counted for each connection, requests individually. */
static void
requests_are_counted(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD, .persistence = HTTP_SERVER_CLOSE };
	static const struct step client[] = { SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"),
		AWAIT("ok"), SAY("X\r\n\r\n"), EOF_CLOSE };
	static const struct step origin[] = { ORIGIN };
	struct proxy_stat fe, be;
	struct server_stat srv;

	(void)st;
	rig_play(&cfg, client, origin);
	proxy_stat_sum(w.px, PROXY_FE, &fe);
	proxy_stat_sum(w.px, PROXY_BE, &be);
	server_stat_sum(w.srv[0], &srv);
	assert_int_equal(fe.cum_sess, 1);
	assert_int_equal(fe.req_tot, 3);
	assert_int_equal(fe.req_rate.max, 3);
	assert_int_equal(fe.failed_req, 1);
	assert_int_equal(fe.hrsp[2], 2);
	assert_int_equal(fe.hrsp[4], 1);
	assert_int_equal(be.cum_sess, 2);
	assert_int_equal(be.hrsp[2], 2);
	assert_int_equal(be.hrsp[4], 0);
	assert_int_equal(srv.cum_sess, 2);
	assert_int_equal(srv.hrsp[2], 2);
	assert_int_equal(be.req_tot, 2);
	assert_int_equal(srv.req_tot, 2);
	assert_int_equal(be.connect, 2);
	assert_int_equal(be.reuse, 0);
	assert_int_equal(w.ln->stat.failed_req, 1);
	assert_int_equal(w.engine.stat.requests, 3);
	rig_close();
}

/* The times of a request end with its response, also when the rest of its body is still read. */
static void
a_drained_request_has_its_times(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD };
	static const struct step client[] = {
		SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nsome"),
		AWAIT("ok"), { STEP_PAUSE, 400 }, SAY("more"), { STEP_CLOSE, 0 } };
	static const struct step origin[] = { AWAIT("some"), { STEP_PAUSE, 50 },
		SAY(OK2 "Connection: close\r\n\r\nok"), EOF_CLOSE };
	struct latency l;

	(void)st;
	rig_play(&cfg, client, origin);
	assert_string_equal(w.client[0].text, OK2 "\r\nok");
	latency_sum(&w.srv[0]->latency, &l);
	assert_int_equal(latency_total(&l, LATENCY_TOTAL), 1);
	assert_in_range(l.sum_us[LATENCY_TOTAL], 50 * 1000, 60 * 1000);
	assert_int_equal(latency_total(&l, LATENCY_RESPONSE), 1);
	rig_close();
}

static void
statuses_are_counted_by_their_hundreds(void **st)
{
	static const unsigned int other[] = { 0, 99, 600, 999 };

	(void)st;
	for (unsigned int c = 1; c <= 5; c++) {
		assert_int_equal(http_status_class(100 * c), c);
		assert_int_equal(http_status_class(100 * c + 99), c);
	}
	for (size_t i = 0; i < ARRAY_LEN(other); i++)
		assert_int_equal(http_status_class(other[i]), 0);
}

#define TWICE AWAIT("\r\n\r\n"), SAY(ANSWER), AWAIT("\r\n\r\n"), SAY(ANSWER)
#define ASK3                                                                          \
	SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"), \
		AWAIT("ok"), { STEP_CLOSE, 0 }

#define POST1 "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na"

static const struct http_dialogue reused[] = {
	{ .name = "a reused connection",
		.cfg = { HTTP_WORLD },
		.reuses = 1,
		.client = { ASK3 },
		.origin = { TWICE, AWAIT("\r\n\r\n"), SAY(ANSWER), EOF_CLOSE },
		.to_server = GET "\r\n" GET "\r\n" GET "\r\n",
		.to_client = ANSWER ANSWER ANSWER,
		.terms = "-- -- --",
		.served = 1 },
	{ .name = "http-reuse never",
		.cfg = { HTTP_WORLD, .reuse = HTTP_REUSE_NEVER },
		.reuses = 1,
		.client = { ASK3 },
		.origin = { TWICE, AWAIT("\r\n\r\n"), SAY(ANSWER), EOF_CLOSE },
		.to_client = ANSWER ANSWER ANSWER,
		.terms = "-- -- --",
		.served = 1 },
	/* The server closes an idle connection: the client does not notice. */
	{ .name = "the server closes between two requests",
		.cfg = { HTTP_WORLD },
		.reuses = 1,
		.client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_PAUSE, 50 }, SAY(GET "\r\n"),
			AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"), SAY(ANSWER), { STEP_PAUSE, 20 }, { STEP_CLOSE, 0 } },
		.to_client = ANSWER ANSWER,
		.terms = "-- --",
		.served = 2 },
	/* The server closes while the next request is on its way: the client may retry. */
	{ .name = "the server closes during the next request",
		.cfg = { HTTP_WORLD, .retries = 3 },
		.reuses = 1,
		.client = { SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"), EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(ANSWER), AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } },
		.to_server = GET "\r\n" GET "\r\n",
		.to_client = ANSWER,
		.terms = "-- SH",
		.served = 1 },
	{ .name = "the server resets during the next request",
		.cfg = { HTTP_WORLD, .retries = 3 },
		.reuses = 1,
		.client = { SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"), EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(ANSWER), AWAIT("\r\n\r\n"), { STEP_RESET, 0 } },
		.to_client = ANSWER,
		.terms = "-- SH",
		.served = 1 },
	/* A retry must be configured. */
	{ .name = "retry-on empty-response",
		.cfg = { HTTP_WORLD, .retries = 1, .retry_on = 1u << HTTP_RETRY_EMPTY_RESPONSE },
		.reuses = 1,
		.client = { SAY(GET "\r\n"), AWAIT("ok"), SAY(POST1), AWAIT("ok"),
			{ STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"), SAY(ANSWER), AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } },
		.to_client = ANSWER ANSWER,
		.terms = "-- --",
		.served = 2 },
	{ .name = "no retries",
		.cfg = { HTTP_WORLD, .retry_on = 1u << HTTP_RETRY_EMPTY_RESPONSE },
		.reuses = 1,
		.client = { SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"), EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(ANSWER), AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } },
		.to_client = ANSWER,
		.terms = "-- SH",
		.served = 1 },
	{ .name = "disable-l7-retry",
		.cfg = { HTTP_WORLD, .retries = 1, .retry_on = 1u << HTTP_RETRY_EMPTY_RESPONSE,
			.rules = "http-request disable-l7-retry if METH_POST" },
		.reuses = 1,
		.client = { SAY(GET "\r\n"), AWAIT("ok"), SAY(POST1), EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(ANSWER), AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } },
		.to_client = ANSWER,
		.terms = "-- SH",
		.served = 1 },
	/* Nor after a part of a response was sent. */
	{ .name = "a truncated response",
		.cfg = { HTTP_WORLD },
		.reuses = 1,
		.client = { SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"), AWAIT("</html>"),
			{ STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"), SAY(ANSWER), AWAIT("\r\n\r\n"), SAY("HTTP"),
			{ STEP_CLOSE, 0 } },
		.terms = "-- SH",
		.served = 1 },
	/* Bytes after a response belong to no response. */
	{ .name = "bytes after the response",
		.cfg = { HTTP_WORLD },
		.reuses = 1,
		.client = { SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"), AWAIT("ok"),
			{ STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"), SAY(ANSWER ANSWER), EOF_CLOSE },
		.to_client = ANSWER ANSWER,
		.terms = "-- --",
		.served = 2 },
	/* Nor do bytes that arrive while a slow client reads the response. */
	{ .name = "bytes after the response, later",
		.cfg = { .mode = INTEREST_UNMERGED, .eager = 1, .sndbuf = 5, .rcvbuf = 30,
			.to = { .connect = 5000, .client = 30000, .server = 30000 } },
		.reuses = 1,
		.client = { { STEP_STALL, 0 }, SAY(GET "\r\n" GET "\r\n"), { STEP_PAUSE, 500 },
			{ STEP_READ, 0 }, AWAIT("ok"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"), SAY(ANSWER), { STEP_PAUSE, 50 }, SAY("HTTP/1."),
			EOF_CLOSE },
		.to_client = ANSWER ANSWER,
		.terms = "-- --",
		.served = 2 },
};

static void
connections_to_servers_are_reused(void **st)
{
	(void)st;
	http_play_all(reused, ARRAY_LEN(reused));
}

#define DENIED(challenge) \
	"HTTP/1.1 401 No\r\nWWW-Authenticate: " challenge "\r\nContent-Length: 2\r\n\r\nno"

/* The first connection is challenged; its responses differ from those of later ones. */
static void
challenge_first(struct world *x, unsigned int nth, struct step *steps)
{
	const struct step one[] = { AWAIT("\r\n\r\n"), { STEP_SAY, (uintptr_t)x->arg },
		AWAIT("\r\n\r\n"), SAY(OK2 "\r\nme"), AWAIT("\r\n\r\n"), SAY(OK2 "\r\nME"),
		EOF_CLOSE };
	static const struct step other[] = { AWAIT("\r\n\r\n"), SAY(ANSWER), EOF_CLOSE };

	if (nth)
		memcpy(steps, other, sizeof(other));
	else
		memcpy(steps, one, sizeof(one));
}

/*
 * A connection that the server has authenticated is never used for another client, for any
 * http-reuse and however many responses follow, and it belongs to its client as long as that stays
 * connected.
 */
static void
an_authenticated_connection_is_private(void **st)
{
	static const struct step owner[] = { SAY(GET "\r\n"), AWAIT("no"), SAY(GET "\r\n"),
		AWAIT("me"), { STEP_PAUSE, 100 }, SAY(GET "\r\n"), AWAIT("ME"),
		{ STEP_CLOSE, 0 } };
	static const struct step stranger[] = { { STEP_PAUSE, 50 }, SAY(GET_CLOSE), EOF_CLOSE };
	static const struct {
		const char *answer;
		unsigned int served;
		enum http_reuse reuse;
	} row[] = {
		{ DENIED("NTLM"), 2, HTTP_REUSE_ALWAYS },
		{ DENIED("Basic a=b, negotiate"), 2, HTTP_REUSE_AGGRESSIVE },
		{ DENIED("Negotiate"), 2, HTTP_REUSE_SAFE },
		{ DENIED("Negotiate"), 2, HTTP_REUSE_NEVER },
		/* The scheme authenticates each request: the connection is not private. */
		{ DENIED("Basic realm=x"), 1, HTTP_REUSE_ALWAYS },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct world_config cfg = { HTTP_WORLD, .reuse = row[i].reuse };

		rig_open(&cfg, NULL);
		w.origin_script = challenge_first;
		w.arg = (void *)(uintptr_t)row[i].answer;
		(void)world_client(&w, owner, 0);
		(void)world_client(&w, stranger, 0);
		world_run(&w, RIG_LIMIT);
		if (w.n_served != row[i].served)
			fail_msg("%zu: %u connections to the origin", i, w.n_served);
		assert_int_equal(strstr(w.client[1].text, "ME") != NULL, row[i].served == 1);
		assert_int_equal(strstr(w.client[0].text, "ME") != NULL, row[i].served == 2);
		rig_close();
	}
}

/* On persistent connections: recv, send, recv, send, and the waits. */
static void
a_kept_request_costs_four_calls(void **st)
{
	static const struct step client[] = { ASK3 };
	static const struct step origin[] = { TWICE, AWAIT("\r\n\r\n"), SAY(ANSWER), EOF_CLOSE };
	struct world_config cfg = { .mode = INTEREST_EDGE, .http = 1, .defer = 1,
		.to = { .connect = 5000, .client = 30000, .server = 30000, .queue = 5000 } };
	struct step two[] = { SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"), AWAIT("ok"),
		{ STEP_CLOSE, 0 } };
	uint64_t calls, waits;

	(void)st;
	rig_play(&cfg, two, origin);
	calls = world_calls(&w);
	waits = fake_waits(w.k);
	rig_close();
	rig_play(&cfg, client, origin);
	assert_int_equal(world_calls(&w) - calls - (fake_waits(w.k) - waits), 4);
	rig_close();
}

/* One request in one read, one response in one read, a near server: no call fails. */
static void
a_request_makes_ten_calls(void **st)
{
	static const struct world_config cfg = { .mode = INTEREST_EDGE, .http = 1, .defer = 1,
		.persistence = HTTP_SERVER_CLOSE,
		.to = { .connect = 5000, .client = 30000, .server = 30000, .queue = 5000 } };
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"),
		{ STEP_CLOSE, 0 } };

	(void)st;
	rig_play(&cfg, client, origin);
	/* wait, accept, recv, socket, connect, send, wait, recv, send, close_range */
	assert_int_equal(world_calls(&w), 10);
	rig_close();
}

/* option nolinger applies to both sides: connections to servers are reset too, except kept ones. */
static void
nolinger_is_for_servers_too(void **st)
{
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };

	(void)st;
	for (unsigned int n = 0; n < 3; n++) {
		struct world_config cfg = { HTTP_WORLD, .options = n ? OPT_NOLINGER : 0,
			.persistence = n < 2 ? HTTP_SERVER_CLOSE : HTTP_KEEP_ALIVE };

		rig_open(&cfg, origin);
		fake_trace_on(w.k, 1);
		(void)world_client(&w, client, 0);
		world_run(&w, RIG_LIMIT);
		assert_int_equal(
			strstr(fake_trace(w.k), "setsockopt(5, SO_LINGER)") != NULL, n > 0);
		assert_int_equal(
			strstr(fake_trace(w.k), "setsockopt(6, SO_LINGER)") != NULL, n == 1);
		assert_non_null(strstr(w.client[0].text, "\r\n\r\nok"));
		assert_string_equal(rig_terms(), "--");
		rig_close();
	}
}

/* option tcp-smart-connect: the server is known to have closed, and gets one segment. */
static void
a_server_that_has_ended_is_reset(void **st)
{
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step ends[] = { AWAIT("\r\n\r\n"), SAY("HTTP/1.0 200 OK\r\n\r\nok"),
		{ STEP_CLOSE, 0 } };
	static const struct step stays[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };
	static const struct {
		unsigned int options;
		const struct step *origin;
		int resets;
	} rows[] = { { 0, ends, 0 }, { OPT_SMART_CONNECT, ends, 1 },
		{ OPT_SMART_CONNECT, stays, 0 } };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world_config cfg = { HTTP_WORLD, .options = rows[i].options,
			.persistence = HTTP_SERVER_CLOSE };
		const char *trace;

		rig_open(&cfg, rows[i].origin);
		fake_trace_on(w.k, 1);
		(void)world_client(&w, client, 0);
		world_run(&w, RIG_LIMIT);
		trace = fake_trace(w.k);
		assert_int_equal(strstr(trace, "setsockopt(6, SO_LINGER)") != NULL, rows[i].resets);
		assert_null(strstr(trace, "setsockopt(5, SO_LINGER)"));
		assert_string_equal(rig_terms(), "--");
		rig_close();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_follow_one_another),
		cmocka_unit_test(unanswered_requests_are_discarded),
		cmocka_unit_test(requests_are_counted),
		cmocka_unit_test(statuses_are_counted_by_their_hundreds),
		cmocka_unit_test(a_drained_request_has_its_times),
		cmocka_unit_test(nolinger_is_for_servers_too),
		cmocka_unit_test(a_server_that_has_ended_is_reset),
		cmocka_unit_test(a_request_makes_ten_calls),
		cmocka_unit_test(connections_to_servers_are_reused),
		cmocka_unit_test(an_authenticated_connection_is_private),
		cmocka_unit_test(a_kept_request_costs_four_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
