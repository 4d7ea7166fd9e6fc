/* Requests that are retried. */
#include "unit/proxy/session_rig.h"

#include <errno.h>

#define ASK SAY(GET_CLOSE), EOF_CLOSE
#define HUNDRED TEN("0123456789")
#define RETRY(what) { HTTP_WORLD, .retries = 2, .retry_on = 1u << HTTP_RETRY_##what }

static void
second_answers(struct world *x, unsigned int nth, struct step *steps)
{
	const struct step *first = x->arg;
	static const struct step good[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };

	memcpy(steps, nth ? good : first, sizeof(good));
}

/* retry-on: the first server's response causes a retry, and the second one's is forwarded. */
static void
a_request_is_retried(void **st)
{
	static const struct {
		struct world_config cfg;
		struct step first[4];
	} t[] = {
		{ RETRY(EMPTY_RESPONSE), { AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } } },
		{ RETRY(JUNK_RESPONSE), { AWAIT("\r\n\r\n"), SAY("HTTP\r\n"), EOF_CLOSE } },
		{ RETRY(503), { AWAIT("\r\n\r\n"),
				      SAY("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"),
				      { STEP_CLOSE, 0 } } },
		{ { .mode = INTEREST_EDGE,
			  .retries = 1,
			  .retry_on = 1u << HTTP_RETRY_RESPONSE_TIMEOUT,
			  .to = { .connect = 5000, .client = 5000, .server = 100, .queue = 100 } },
			{ AWAIT("\r\n\r\n"), EOF_CLOSE } },
	};
	static const struct step client[] = { ASK };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct world_config cfg = t[i].cfg;

		cfg.http = 1;
		rig_open(&cfg, NULL);
		w.origin_script = second_answers;
		w.arg = (void *)(uintptr_t)t[i].first;
		(void)world_client(&w, client, 0);
		world_run(&w, RIG_LIMIT);
		if (strcmp(w.client[0].text, OK2 "Connection: close\r\n\r\nok") != 0)
			fail_msg("%zu: the client read \"%s\", %u served", i, w.client[0].text,
				w.n_served);
		assert_int_equal(w.n_served, 2);
		assert_string_equal(w.served[0].text, w.served[1].text);
		assert_string_equal(rig_terms(), "--");
		rig_close();
	}
}

#define ANSWER OK2 "\r\nok"

static void
answers_once(struct world *x, unsigned int nth, struct step *steps)
{
	static const struct step one[] = { AWAIT("\r\n\r\n"), SAY(ANSWER), AWAIT("\r\n\r\n"),
		{ STEP_CLOSE, 0 } };
	static const struct step all[] = { AWAIT("\r\n\r\n"), SAY(ANSWER), AWAIT("\r\n\r\n"),
		SAY(ANSWER), EOF_CLOSE };

	(void)x;
	memcpy(steps, nth ? all : one, nth ? sizeof(all) : sizeof(one));
}

/*
 * The server closes a reused connection without a response. The first request of a client is not
 * retried then: the client gets a 502.
 */
static void
the_first_request_of_a_client_is_answered(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD, .retries = 3,
		.reuse = HTTP_REUSE_ALWAYS };
	static const struct step first[] = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } };
	static const struct step second[] = { { STEP_PAUSE, 50 }, SAY(GET "\r\n"),
		AWAIT("</html>"), { STEP_CLOSE, 0 } };

	(void)st;
	rig_open(&cfg, NULL);
	w.origin_script = answers_once;
	(void)world_client(&w, first, 0);
	(void)world_client(&w, second, 0);
	world_run(&w, RIG_LIMIT);
	assert_non_null(strstr(w.client[1].text, "HTTP/1.1 502 "));
	assert_string_equal(rig_terms(), "-- SH");
	assert_int_equal(w.n_served, 1);
	assert_int_equal(w.px->shard->be.wretr, 0);
	rig_close();
}

/* Nothing of the request was sent: this is a connection failure, and retried as such. */
static void
an_unsent_request_is_a_connection_failure(void **st)
{
	static const struct step client[] = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_PAUSE, 50 },
		SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na"), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), SAY(ANSWER), AWAIT("\r\n\r\n"),
		SAY(ANSWER), EOF_CLOSE };
	static const struct {
		int retries;
		uint32_t retry_on;
		const char *rules, *terms;
		unsigned int served, wretr;
	} row[] = {
		{ 3, 0, NULL, "-- --", 2, 1 },
		{ 3, 0, "http-request disable-l7-retry", "-- --", 2, 1 },
		{ 0, 0, NULL, "-- SH", 1, 0 },
		{ 0, 0, "http-request set-retries 1", "-- --", 2, 1 },
		{ 3, 0, "http-request set-retries 0", "-- SH", 1, 0 },
		{ 3, 1u << HTTP_RETRY_EMPTY_RESPONSE, NULL, "-- SH", 1, 0 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct world_config cfg = { HTTP_WORLD, .retries = row[i].retries,
			.retry_on = row[i].retry_on, .rules = row[i].rules };

		rig_open(&cfg, origin);
		(void)world_client(&w, client, 0);
		/* The third one: the first two belong to the first exchange. */
		w.non_strict = 1;
		fake_fail(w.k, SYS_CALL_sendto, 3, ECONNRESET);
		world_run(&w, RIG_LIMIT);
		if (strcmp(rig_terms(), row[i].terms) != 0)
			fail_msg("%zu: %s", i, rig_terms());
		assert_int_equal(w.n_served, row[i].served);
		assert_int_equal(w.px->shard->be.wretr, row[i].wretr);
		assert_int_equal(w.srv[0]->shard->stat.wretr, row[i].wretr);
		rig_close();
	}
}

/* A part of the request was sent when the server resets: the failure counts as an empty
 * response. */
static void
a_partially_sent_request_is_retried(void **st)
{
	static const char text[] = "PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
				   "Content-Length: 400\r\n\r\n" HUNDRED HUNDRED HUNDRED HUNDRED;
	static const struct step resets[] = { { STEP_STALL, 0 }, { STEP_PAUSE, 50 },
		{ STEP_RESET, 0 }, { STEP_END, 0 } };
	static const struct step client[] = { SAY(text), EOF_CLOSE };
	struct world_config cfg = RETRY(EMPTY_RESPONSE);

	(void)st;
	cfg.http = 1;
	cfg.sndbuf = 50;
	cfg.rcvbuf = 50;
	cfg.rules = "http-request wait-for-body time 10s";
	rig_open(&cfg, NULL);
	w.origin_script = second_answers;
	w.arg = (void *)(uintptr_t)resets;
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	if (strcmp(w.client[0].text, OK2 "Connection: close\r\n\r\nok") != 0)
		fail_msg("the client read \"%s\"", w.client[0].text);
	assert_int_equal(w.n_served, 2);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_retried),
		cmocka_unit_test(the_first_request_of_a_client_is_answered),
		cmocka_unit_test(an_unsent_request_is_a_connection_failure),
		cmocka_unit_test(a_partially_sent_request_is_retried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
