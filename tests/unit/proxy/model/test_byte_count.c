/* The byte counters after a dialogue: the same sums in every place where they are shown. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/byte_count.h"

#define POST4 "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"
#define SERVE2 AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok")

/* Plays a dialogue and leaves the world open. */
static void
play(const struct step *client, const struct step *origin)
{
	static const struct world_config cfg = { HTTP_WORLD };

	rig_play(&cfg, client, origin);
}

static void
every_row_counts(uint64_t in, uint64_t out)
{
	const struct proxy_shard *px = &w.px->shard[0];
	const struct server_stat *srv = &w.srv[0]->shard[0].stat;

	assert_int_equal(px->fe.bytes_in, in);
	assert_int_equal(px->be.bytes_in, in);
	assert_int_equal(srv->bytes_in, in);
	assert_int_equal(w.ln->stat.bytes_in, in);
	assert_int_equal(px->fe.bytes_out, out);
	assert_int_equal(px->be.bytes_out, out);
	assert_int_equal(srv->bytes_out, out);
	assert_int_equal(w.ln->stat.bytes_out, out);
}

/* The backend is not known when the head is read, and a body may arrive in several reads. */
static void
a_request_counts_once_everywhere(void **st)
{
	static const struct step client[] = { SAY("POST / HTTP/1.1\r\nHost: a\r\n"),
		{ STEP_PAUSE, 5 }, SAY("Content-Length: 4\r\n\r\nbo"), { STEP_PAUSE, 5 }, SAY("dy"),
		AWAIT("ok"), { STEP_CLOSE, 0 } };
	static const struct step origin[] = { AWAIT("body"), SAY(OK2 "\r\nok"), EOF_CLOSE };

	(void)st;
	play(client, origin);
	every_row_counts(strlen(POST4), strlen(OK2 "\r\nok"));
	assert_int_equal(w.px->shard[0].fe.h1.in, strlen(POST4));
	assert_int_equal(w.px->shard[0].fe.h1.out, strlen(OK2 "\r\nok"));
	assert_int_equal(w.px->shard[0].be.h1.in, strlen(OK2 "\r\nok"));
	assert_int_equal(w.px->shard[0].be.h1.out, strlen(POST4));
	assert_int_equal(w.px->shard[0].fe.h1.streams, 1);
	assert_int_equal(w.engine.stat.bytes_sent, strlen(POST4) + strlen(OK2 "\r\nok"));
	rig_close();
}

/* Bytes read with a request may belong to the next one. */
static void
pipelined_requests_count_once(void **st)
{
	static const struct step client[] = { SAY(GET "\r\n" GET "\r\n" GET "\r\n"),
		AWAIT("ok"), AWAIT("ok"), AWAIT("ok"), { STEP_CLOSE, 0 } };
	static const struct step origin[] = { SERVE2, SERVE2, SERVE2, EOF_CLOSE };

	(void)st;
	play(client, origin);
	every_row_counts(3 * strlen(GET "\r\n"), 3 * strlen(OK2 "\r\nok"));
	assert_int_equal(w.px->shard[0].fe.h1.streams, 3);
	assert_int_equal(w.px->shard[0].fe.h1.streams_over, 3);
	rig_close();
}

/* The bytes were read and answered, but there is no request to count them for. */
static void
an_invalid_request_counts_as_bytes_only(void **st)
{
	static const struct step client[] = { SAY("GET\r\n\r\n"), EOF_CLOSE };
	static const struct step origin[] = { { STEP_END, 0 } };

	(void)st;
	play(client, origin);
	every_row_counts(0, 0);
	assert_int_equal(w.px->shard[0].fe.h1.in, 7);
	assert_true(w.px->shard[0].fe.h1.out > 100);
	assert_int_equal(w.px->shard[0].be.h1.out, 0);
	rig_close();
}

/* An invalid response is replaced by a local reply, which is counted in its place. */
static void
a_local_reply_counts_for_the_response(void **st)
{
	static const struct step client[] = { SAY(GET "\r\n"), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), SAY("nonsense\r\n\r\n"),
		EOF_CLOSE };

	(void)st;
	play(client, origin);
	every_row_counts(strlen(GET "\r\n"), strlen(w.client[0].text));
	assert_int_equal(w.px->shard[0].be.h1.in, strlen("nonsense\r\n\r\n"));
	assert_int_equal(w.px->shard[0].be.eresp, 1);
	assert_int_equal(w.srv[0]->shard[0].stat.eresp, 1);
	rig_close();
}

/* The rate counts pieces: what is left of one is part of the next. */
static void
no_byte_of_the_rate_is_lost(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD };

	(void)st;
	rig_open(&cfg, NULL);
	for (int i = 0; i < 4; i++)
		engine_count_sent(&w.engine, SENT_PIECE - SENT_PIECE / 4);
	assert_int_equal(w.engine.stat.bytes_sent, 3 * SENT_PIECE);
	assert_int_equal(freq_read(&w.engine.stat.sent_rate, loop_now_ms(w.loop)), 3);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_counts_once_everywhere),
		cmocka_unit_test(pipelined_requests_count_once),
		cmocka_unit_test(an_invalid_request_counts_as_bytes_only),
		cmocka_unit_test(a_local_reply_counts_for_the_response),
		cmocka_unit_test(no_byte_of_the_rate_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
