/* REPLY: local replies, and requests whose rest is discarded. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/memory.h"

#define REFUSED .n_servers = 1, .server = { { .absent = 1 } }
/* The Connection field comes after the fields of the reply. */
#define UNAVAILABLE(more) \
	"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 107\r\nCache-Control: no-cache\r\n" \
	"Content-Type: text/html\r\n" more "\r\n"
#define BODY                                                   \
	"<html><body><h1>503 Service Unavailable</h1>\n"       \
	"No server is available to handle this request.\n</body></html>\n"

static const struct http_dialogue answers[] = {
	/* The request was parsed completely, so the client's connection is kept. */
	{ .name = "two requests", .cfg = { HTTP_WORLD, REFUSED },
	  .client = { SAY(GET "\r\n"), AWAIT("</html>\n"), SAY(GET "\r\n"), AWAIT("</html>\n"),
		  { STEP_CLOSE, 0 } },
	  .origin = { EOF_CLOSE }, .to_client = UNAVAILABLE("") BODY UNAVAILABLE("") BODY,
	  .terms = "SC SC" },
	{ .name = "close", .cfg = { HTTP_WORLD, REFUSED }, .client = { SAY(GET_CLOSE), EOF_CLOSE },
	  .origin = { EOF_CLOSE }, .to_client = UNAVAILABLE("Connection: close\r\n") BODY,
	  .terms = "SC" },
	{ .name = "HEAD", .cfg = { HTTP_WORLD, REFUSED },
	  .client = { SAY("HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), AWAIT("\r\n\r\n"),
		  { STEP_CLOSE, 0 } },
	  .origin = { EOF_CLOSE }, .to_client = UNAVAILABLE("Connection: keep-alive\r\n"),
	  .terms = "SC" },
	{ .name = "a body that has arrived", .cfg = { HTTP_WORLD, REFUSED },
	  .client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" GET "\r\n"),
		  AWAIT("</html>\n"), AWAIT("</html>\n"), { STEP_CLOSE, 0 } },
	  .origin = { EOF_CLOSE }, .to_client = UNAVAILABLE("") BODY UNAVAILABLE("") BODY,
	  .terms = "SC SC" },
	/* The rest of the request is read and discarded: a reset would destroy the reply. */
	{ .name = "a body that still arrives", .cfg = { HTTP_WORLD, REFUSED },
	  .client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"),
		  AWAIT("</html>\n"), SAY("defghi"), EOF_CLOSE },
	  .origin = { EOF_CLOSE }, .to_client = UNAVAILABLE("Connection: close\r\n") BODY,
	  .terms = "SC" },
};

static void
local_replies_are_sent(void **st)
{
	(void)st;
	http_play_all(answers, ARRAY_LEN(answers));
}

/* A request that never ends is abandoned after a while. */
static void
the_rest_of_a_request_is_read_for_a_limited_time(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD, REFUSED };
	static const struct step client[] = {
		SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"), AWAIT("</html>\n"),
		SAY("a"), { STEP_PAUSE, 5000 }, { STEP_CLOSE, 0 } };
	static const struct step origin[] = { { STEP_END, 0 } };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 900 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 1);
	assert_int_equal(rig_session(0)->state, STREAM_REPLY);
	world_run(&w, 200 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 0);
	world_run(&w, RIG_LIMIT);
	rig_close();
}

/* A reply that the client does not read ends with timeout client. */
static void
a_deaf_client_is_not_waited_for(void **st)
{
	static const struct world_config cfg = { .mode = INTEREST_EDGE, REFUSED, .http = 1,
		.sndbuf = 64, .rcvbuf = 64,
		.to = { .connect = 5000, .client = 300, .server = 5000, .queue = 5000 } };
	static const struct step client[] = { { STEP_STALL, 0 }, SAY(GET "\r\n"),
		{ STEP_PAUSE, 5000 }, { STEP_CLOSE, 0 } };
	static const struct step origin[] = { { STEP_END, 0 } };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 250 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 1);
	assert_int_equal(rig_session(0)->state, STREAM_REPLY);
	world_run(&w, 100 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 0);
	world_run(&w, RIG_LIMIT);
	rig_close();
}

/* Limits the memory: room for so many transactions and buffers besides the sessions. */
static void
bound(unsigned int txns, unsigned int bufs)
{
	struct engine *e = &w.engine;

	w.cfg.memory = 16 * e->pools.session.size + txns * e->pools.txn.size + bufs * e->bufsize;
	memory_bound(e, w.cfg.memory);
}

/* The request's buffer is reused for the reply if there is no other. */
static void
a_reply_needs_no_more_memory(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD, REFUSED, .sndbuf = 64, .rcvbuf = 64 };
	static const struct step client[] = { { STEP_STALL, 0 }, SAY(GET_CLOSE),
		{ STEP_PAUSE, 50 }, { STEP_READ, 0 }, EOF_CLOSE };
	static const struct step origin[] = { { STEP_END, 0 } };

	(void)st;
	rig_open(&cfg, origin);
	bound(1, 1);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(w.client[0].text, UNAVAILABLE("Connection: close\r\n") BODY);
	rig_close();
}

/* When many silent clients time out at once, they are closed without a reply: there is not enough
 * memory for all replies. */
static void
many_silent_clients_stay_within_the_memory(void **st)
{
	static const struct world_config cfg = { .mode = INTEREST_EDGE, .http = 1,
		.to = { .connect = 5000, .client = 300, .server = 5000, .queue = 5000 } };
	static const struct step client[] = { EOF_CLOSE };
	static const struct step origin[] = { { STEP_END, 0 } };

	unsigned int told = 0;

	(void)st;
	rig_open(&cfg, origin);
	bound(2, 2);
	for (int i = 0; i < 8; i++)
		(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.n_ends, 8);
	for (int i = 0; i < 8; i++)
		told += strstr(w.client[i].text, " 408 ") != NULL;
	assert_in_range(told, 1, 7);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_replies_are_sent),
		cmocka_unit_test(the_rest_of_a_request_is_read_for_a_limited_time),
		cmocka_unit_test(a_deaf_client_is_not_waited_for),
		cmocka_unit_test(a_reply_needs_no_more_memory),
		cmocka_unit_test(many_silent_clients_stay_within_the_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
