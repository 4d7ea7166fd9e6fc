/* Requests that are sent once more. */
#include "unit/proxy/http_rig.h"

#define ASK SAY(GET_CLOSE), EOF_CLOSE
#define RETRY(what) { HTTP_WORLD, .retries = 2, .retry_on = 1u << HTTP_RETRY_##what }

static void
second_answers(struct world *x, unsigned int nth, struct step *steps)
{
	const struct step *first = x->arg;
	static const struct step good[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };

	memcpy(steps, nth ? good : first, sizeof(good));
}

/* retry-on: the first server's answer is not good enough, and the second one's is passed on. */
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_retried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
