/* Streams to a server that are released with a complete response, before their END_STREAM. */
#include "unit/h2/h2_script.h"

/* Begins a connection whose windows do not grow: our SETTINGS are not acknowledged. */
static void
begin_without_ack(void)
{
	assert_int_equal(rig_begin(&rig, 1), 0);
	feed("S");
	assert_sent(FIRST ", A");
}

/* Opens a stream whose response is complete but for its end, and releases it. */
static uint32_t
release_early(void)
{
	struct h2_stream *s = open_stream("GET", 1);
	uint32_t id = s->id;
	char words[100];

	snprintf(words, sizeof(words), "H %u h :status|200;content-length|5, D %u - hello", id, id);
	feed(words);
	rig_release(s);
	return id;
}

static void
a_complete_response_is_not_cancelled(void **st)
{
	(void)st;
	begin_without_ack();
	(void)rig_sent(&rig, &peer_table);
	release_early();
	assert_int_equal(rig.h.n_open, 0);
	assert_int_equal(rig.h.n_ending, 1);
	assert_sent("H 1 e");
	/* The end, and then no frame may follow. */
	feed("D 1 e");
	assert_int_equal(rig.h.n_ending, 0);
	feed("D 1 - x");
	assert_sent("R 1 STREAM_CLOSED");
	assert_int_equal(rig.h.has_failed, 0);
}

/* The end is on trailers, or is a reset; other frames are ignored until then. */
static void
ends_of_other_kinds(void **st)
{
	(void)st;
	begin_without_ack();
	release_early();
	release_early();
	release_early();
	feed("W 1 5, D 1 - y, H 1 eh x|y");
	assert_int_equal(rig.h.n_ending, 2);
	feed("R 3 2, H 5 e, C 5 h x|y");
	assert_int_equal(rig.h.n_ending, 0);
	(void)rig_sent(&rig, &peer_table);
	/* The table of fields is still the server's. */
	(void)open_stream("GET", 1);
	feed("H 7 eh :status|200");
	assert_int_equal(rig.h.has_failed, 0);
	assert_sent("H 7 e");
}

static void
heads_without_a_body_are_complete(void **st)
{
	struct h2_stream *s;

	(void)st;
	begin_without_ack();
	s = open_stream("HEAD", 1);
	feed("H 1 h :status|200;content-length|5");
	rig_release(s);
	assert_sent("H 1 e");
	feed("D 1 e");
	assert_int_equal(rig.h.n_ending, 0);
}

/* A part of a response, or of a request, is cancelled as before. */
static void
incomplete_exchanges_are_reset(void **st)
{
	struct h2_stream *s;

	(void)st;
	begin_without_ack();
	s = open_stream("GET", 1);
	feed("H 1 h :status|200;content-length|5, D 1 - hell");
	rig_release(s);
	s = open_stream("GET", 1);
	feed("H 3 h :status|200, D 3 - hello");
	rig_release(s);
	s = open_stream("POST", 0);
	feed("H 5 h :status|200;content-length|5, D 5 - hello");
	rig_release(s);
	assert_sent("H 1 e, R 1 CANCEL, H 3 e, R 3 CANCEL, H 5, R 5 CANCEL");
	assert_int_equal(rig.h.n_ending, 0);
}

/* The server counts them as open: one whose place is needed is reset. */
static void
the_place_of_an_end_is_not_used(void **st)
{
	(void)st;
	begin_without_ack();
	feed("S 3=2");
	(void)rig_sent(&rig, &peer_table);
	release_early();
	release_early();
	assert_sent("H 1 e, H 3 e");
	feed("D 3 e");
	release_early();
	assert_sent("H 5 e");
	(void)open_stream("GET", 1);
	assert_sent("R 1 CANCEL, H 7 e");
	feed("D 1 e, D 5 e");
	(void)open_stream("GET", 1);
	assert_sent("H 9 e");
}

static void
a_server_that_ends_nothing_keeps_few(void **st)
{
	(void)st;
	begin_without_ack();
	for (unsigned int i = 0; i < H2_ENDS_AWAITED; i++)
		release_early();
	(void)rig_sent(&rig, &peer_table);
	release_early();
	assert_sent("H 129 e, R 1 CANCEL");
	assert_int_equal(rig.h.n_ending, H2_ENDS_AWAITED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_complete_response_is_not_cancelled),
		CASE(ends_of_other_kinds),
		CASE(heads_without_a_body_are_complete),
		CASE(incomplete_exchanges_are_reset),
		CASE(the_place_of_an_end_is_not_used),
		CASE(a_server_that_ends_nothing_keeps_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
