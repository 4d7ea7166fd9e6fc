/* A connection against frames in words: each script in one piece and a byte at a time, with what it
 * sends and what its user is called with. */
#include "h2/h2_stream_int.h"
#include "unit/h2/h2_script.h"

/* --- scripts --- */

struct script {
	const char *frames, *sent, *log;
};

static void
play_scripts(const struct script *s, size_t n, const char *before, int is_client)
{
	for (; n; n--, s++) {
		static const size_t steps[] = { 1 << 20, 1, 7 };

		for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
			const char *sent;

			rig_prepare(&rig);
			init_table(&peer_table);
			assert_int_equal(rig_begin(&rig, is_client), 0);
			in.n = 0;
			wire_words(&in, before);
			wire_words(&in, s->frames);
			if (is_client)
				(void)open_stream("GET", 0);
			(void)rig_sent(&rig, &peer_table);
			rig_feed(&rig, in.p, in.n, steps[i]);
			sent = rig_sent(&rig, &peer_table);
			if (strcmp(sent, s->sent) != 0 || strcmp(rig.log, s->log) != 0)
				fail_msg("%s\nin steps of %zu sent: %s\nexpected: %s\nlog: %s\n"
					 "expected: %s", s->frames, steps[i], sent, s->sent,
					rig.log, s->log);
			rig_end(&rig);
			h2_hpack_fini(&peer_table);
		}
	}
	assert_int_equal(rig_begin(&rig, is_client), 0);
}

#define GOAWAY(last, code) "A, G " #last " " #code, "goaway\n"

/* Frames of clients, after the preface and SETTINGS. */
static const struct script of_clients[] = {
	{ "H 1 eh GET", "A", "GET http://a/ end\n" },
	{ "H 1 e :method|GET;:scheme|http, C 1 - :path|/, C 1 h :authority|a", "A",
		"GET http://a/ end\n" },
	{ "X 00000c010d00000001 03 82868441 03612e62 000000", "A",
		"GET http://a.b/ end\n" },
	{ "X 000011012d00000001 03 00000000ff 82868441 03612e62 000000", "A",
		"GET http://a.b/ end\n" },
	{ "H 1 h POST, D 1 - hel, D 1 e lo", "A", "POST http://a/\n1 body 5 hello\n" },
	{ "H 1 h POST, D 1 - hello, D 1 e", "A", "POST http://a/\n1 body 5 hello\n" },
	{ "H 1 h POST, X 000008000900000001 02 68656c6c6f 0000", "A",
		"POST http://a/\n1 body 5 hello\n" },
	{ "H 1 h POST5, D 1 e hello", "A", "POST http://a/\n1 body 5 hello\n" },
	{ "H 1 h POST, D 1 - hello, H 1 eh x|y", "A",
		"POST http://a/\n1 trailers x=y end\n" },
	{ "P 12345678, PA 87654321", "A, PA 12345678", "" },
	{ "X 000001 77 ff 00000001 00, W 0 5, X 000005020000000005 0000000000", "A", "" },
	/* Two streams, the second above the first */
	{ "H 3 eh GET, H 1 eh GET", "A, G 3 STREAM_CLOSED",
		"GET http://a/ end\n3 reset STREAM_CLOSED\ngoaway\n" },
	{ "H 1 eh GET, H 5 h POST, D 5 e x", "A",
		"GET http://a/ end\nPOST http://a/\n5 body 1 x\n" },
	/* 5.1, 5.1.1 */
	{ "H 2 eh GET", GOAWAY(0, PROTOCOL_ERROR) },
	{ "D 1 e x", GOAWAY(0, PROTOCOL_ERROR) },
	{ "H 1 eh GET, D 1 e x", "A, R 1 STREAM_CLOSED",
		"GET http://a/ end\n1 reset STREAM_CLOSED\n" },
	{ "H 1 eh GET, H 1 eh x|y", "A, R 1 STREAM_CLOSED",
		"GET http://a/ end\n1 reset STREAM_CLOSED\n" },
	{ "H 1 h POST, R 1 8, D 1 - x", "A, R 1 STREAM_CLOSED",
		"POST http://a/\n1 reset CANCEL\n" },
	{ "H 1 h POST, R 1 8, W 1 5, R 1 8", "A", "POST http://a/\n1 reset CANCEL\n" },
	/* Frames that are on their way when a stream is reset: ignored, the table is right */
	{ "H 1 h POST, H 1 h x|y, D 1 - x, H 1 eh x|y, W 1 5, H 3 eh GET",
		"A, R 1 PROTOCOL_ERROR",
		"POST http://a/\n1 reset PROTOCOL_ERROR\nGET http://a/ end\n" },
	/* 8.1.1: the length at each END_STREAM */
	{ "H 1 h POST5, D 1 e hell", "A, R 1 PROTOCOL_ERROR",
		"POST http://a/\n1 reset PROTOCOL_ERROR\n" },
	{ "H 1 h POST5, D 1 - hello!", "A, R 1 PROTOCOL_ERROR",
		"POST http://a/\n1 reset PROTOCOL_ERROR\n" },
	{ "H 1 h POST5, D 1 - hell, H 1 eh x|y", "A, R 1 PROTOCOL_ERROR",
		"POST http://a/\n1 reset PROTOCOL_ERROR\n" },
	{ "H 1 eh POST5", "A, R 1 PROTOCOL_ERROR", "" },
	{ "H 1 h POST5, D 1 e", "A, R 1 PROTOCOL_ERROR",
		"POST http://a/\n1 reset PROTOCOL_ERROR\n" },
	/* 8.5: DATA alone follows in a tunnel */
	{ "H 1 h :method|CONNECT;:authority|a:443, D 1 - x, H 1 eh x|y", "A, R 1 PROTOCOL_ERROR",
		"CONNECT a:443\n1 reset PROTOCOL_ERROR\n" },
	/* A malformed head, then a good one */
	{ "H 1 eh :method|GET, H 3 eh GET", "A, R 1 PROTOCOL_ERROR", "GET http://a/ end\n" },
	{ "H 1 h POST, H 1 eh :x|y", "A, R 1 PROTOCOL_ERROR",
		"POST http://a/\n1 reset PROTOCOL_ERROR\n" },
	/* A stream that depends on itself: its block counts for the table */
	{ "X 000009012500000001 00000001 00 82868401, H 3 eh GET", GOAWAY(1, COMPRESSION_ERROR) },
	{ "X 000008012500000001 00000001 00 828684, H 3 eh GET", "A, R 1 PROTOCOL_ERROR",
		"GET http://a/ end\n" },
	/* 4.3 */
	{ "X 000001010500000001 be", GOAWAY(1, COMPRESSION_ERROR) },
	/* 6.10 */
	{ "H 1 e :method|GET, P 12345678", GOAWAY(1, PROTOCOL_ERROR) },
	{ "H 1 e :method|GET, C 3 h x|y", GOAWAY(1, PROTOCOL_ERROR) },
	{ "C 1 h x|y", GOAWAY(0, PROTOCOL_ERROR) },
	/* 6.5 */
	{ "S 4=2147483648", GOAWAY(0, FLOW_CONTROL_ERROR) },
	{ "S 5=16383", GOAWAY(0, PROTOCOL_ERROR) },
	{ "S 1=0 2=0 3=5 4=100 5=16384 6=1000 9=1 77=77", "A, A", "" },
	{ "X 000007040000000000 00000000000000", GOAWAY(0, FRAME_SIZE_ERROR) },
	/* 6.9.1, 6.9.2 */
	{ "W 0 2147483647", GOAWAY(0, FLOW_CONTROL_ERROR) },
	{ "W 0 0", GOAWAY(0, PROTOCOL_ERROR) },
	{ "H 1 h POST, W 1 2147483647", "A, R 1 FLOW_CONTROL_ERROR",
		"POST http://a/\n1 reset FLOW_CONTROL_ERROR\n" },
	{ "H 1 h POST, W 1 0", "A, R 1 PROTOCOL_ERROR",
		"POST http://a/\n1 reset PROTOCOL_ERROR\n" },
	{ "H 1 h POST, W 1 2147418112, S 4=65536", "A, G 1 FLOW_CONTROL_ERROR",
		"POST http://a/\n1 reset FLOW_CONTROL_ERROR\ngoaway\n" },
	/* The last of a frame counts (6.5.3) */
	{ "H 1 h POST, W 1 2147418112, S 4=65536 4=65535", "A, A", "POST http://a/\n" },
	/* 6.8, and bytes behind a connection error */
	{ "G 0 0, H 1 eh GET", "A", "goaway\nGET http://a/ end\n" },
	{ "D 0 - x, H 1 eh GET", GOAWAY(0, PROTOCOL_ERROR) },
};

static void
clients_are_answered(void **st)
{
	(void)st;
	play_scripts(of_clients, ARRAY_LEN(of_clients), "PRI, S, ", 0);
}


/* Frames of servers, behind SETTINGS; a request of stream 1 has no end yet. */
static const struct script of_servers[] = {
	{ "H 1 eh :status|200", "A", "1 status 200 end\n" },
	{ "H 1 h :status|103, H 1 h :status|200, D 1 e hello", "A",
		"1 status 103\n1 status 200\n1 body 5 hello\n" },
	{ "H 1 h :status|200, D 1 - hello, H 1 eh grpc-status|0", "A",
		"1 status 200\n1 trailers grpc-status=0 end\n" },
	{ "H 1 h :status|200;content-length|5, D 1 e hell", "A, R 1 PROTOCOL_ERROR",
		"1 status 200\n1 reset PROTOCOL_ERROR\n" },
	{ "H 1 h :status|204, D 1 e x", "A, R 1 PROTOCOL_ERROR",
		"1 status 204\n1 reset PROTOCOL_ERROR\n" },
	{ "H 1 h :status|101", "A, R 1 PROTOCOL_ERROR", "1 reset PROTOCOL_ERROR\n" },
	{ "D 1 - x", "A, R 1 PROTOCOL_ERROR", "1 reset PROTOCOL_ERROR\n" },
	{ "H 1 h :status|200, H 1 h x|y", "A, R 1 PROTOCOL_ERROR",
		"1 status 200\n1 reset PROTOCOL_ERROR\n" },
	{ "R 1 7", "A", "1 reset REFUSED_STREAM unprocessed\n" },
	{ "R 1 8", "A", "1 reset CANCEL\n" },
	/* The request is not needed any more: its response is complete (8.1) */
	{ "H 1 eh :status|413, R 1 0", "A", "1 status 413 end\n" },
	{ "H 1 h :status|413, R 1 0", "A", "1 status 413\n1 reset NO_ERROR\n" },
	{ "G 0 0", "A", "1 reset REFUSED_STREAM unprocessed\ngoaway\n" },
	{ "G 1 0, H 1 eh :status|200", "A", "goaway\n1 status 200 end\n" },
	{ "S 2=1", "A, G 0 PROTOCOL_ERROR", "1 reset PROTOCOL_ERROR\ngoaway\n" },
	{ "X 000005050400000001 0000000282", "A, G 0 PROTOCOL_ERROR",
		"1 reset PROTOCOL_ERROR\ngoaway\n" },
	{ "H 2 h :status|200", "A, G 0 PROTOCOL_ERROR", "1 reset PROTOCOL_ERROR\ngoaway\n" },
	{ "H 3 h :status|200", "A, G 0 PROTOCOL_ERROR", "1 reset PROTOCOL_ERROR\ngoaway\n" },
};

static void
servers_are_answered(void **st)
{
	(void)st;
	play_scripts(of_servers, ARRAY_LEN(of_servers), "S, ", 1);
}

/* The preface of a client, and no SETTINGS behind it (3.4). */
static void
first_bytes_are_checked(void **st)
{
	(void)st;
	assert_int_equal(rig_begin(&rig, 0), 0);
	assert_int_equal(h2_conn_input(&rig.h, (const uint8_t *)"PRI * HTTP/1.1", 14), -1);
	assert_sent(FIRST ", G 0 PROTOCOL_ERROR");
	assert_int_equal(h2_conn_wants_input(&rig.h), 0);
	rig_end(&rig);
	rig_prepare(&rig);
	assert_int_equal(rig_begin(&rig, 0), 0);
	feed("PRI, P 12345678");
	assert_sent(FIRST ", G 0 PROTOCOL_ERROR");
}

/* --- sending --- */

static void
responses_are_sent(void **st)
{
	struct h2_stream *s;

	(void)st;
	begin_server();
	feed("H 1 eh GET");
	s = rig_find(&rig, 1);
	assert_int_equal(respond(s, 103, 0), 0);
	assert_int_equal(respond(s, 200, 0), 0);
	assert_int_equal(h2_stream_send(s, "hello", 5, 0), 5);
	assert_int_equal(rig.outputs, 1);
	/* The end is a flag of the last frame that has not left. */
	h2_stream_end(s);
	assert_int_equal(rig.h.n_open, 0);
	assert_int_equal(respond(s, 200, 0), -ERR_CLOSED);
	assert_int_equal(h2_stream_send(s, "x", 1, 0), 0);
	assert_sent("H 1 103, H 1 200, D 1 e 5");
	rig_release(s);
	assert_sent("");
	assert_int_equal(rig.h.n_attached, 0);
	/* After the bytes have left it is a frame of its own. */
	feed("H 3 eh GET");
	s = rig_find(&rig, 3);
	assert_int_equal(respond(s, 200, 0), 0);
	assert_sent("H 3 200");
	h2_stream_end(s);
	assert_sent("D 3 e 0");
	/* A head alone, the end with the last bytes, and behind bytes of others. */
	feed("H 5 eh GET, H 7 eh GET");
	assert_int_equal(respond(rig_find(&rig, 5), 200, 1), 0);
	assert_int_equal(respond(rig_find(&rig, 7), 200, 0), 0);
	assert_int_equal(h2_stream_send(rig_find(&rig, 7), "x", 1, 1), 1);
	assert_sent("H 5 e 200, H 7 200, D 7 e 1");
}

/* A byte that the user has seen is not changed: it may be in a record of TLS already. */
static void
seen_output_is_not_changed(void **st)
{
	struct h2_stream *s;

	(void)st;
	begin_server();
	feed("H 1 eh GET");
	s = rig_find(&rig, 1);
	assert_int_equal(respond(s, 200, 0), 0);
	assert_true(h2_conn_output(&rig.h).len > 0);
	h2_stream_end(s);
	assert_sent("H 1 200, D 1 e 0");
}

static void
windows_bound_what_is_sent(void **st)
{
	static char bytes[100000];
	struct h2_stream *a, *b;

	(void)st;
	begin_server();
	feed("S 4=10, H 1 eh GET, H 3 eh GET");
	a = rig_find(&rig, 1);
	b = rig_find(&rig, 3);
	assert_int_equal(respond(a, 200, 0), 0);
	assert_int_equal(h2_stream_may_send(a), 10);
	assert_int_equal(h2_stream_send(a, bytes, 100, 1), 10);
	assert_int_equal(h2_stream_may_send(a), 0);
	assert_sent("A, H 1 200, D 1 10");
	feed("W 1 5");
	assert_int_equal(rig.rooms, 1);
	assert_int_equal(h2_stream_send(a, bytes, 100, 1), 5);
	/* A smaller initial window makes it negative (6.9.2). */
	feed("S 4=0, W 1 9");
	assert_int_equal(h2_stream_may_send(a), 0);
	feed("W 1 2");
	assert_int_equal(h2_stream_may_send(a), 1);
	feed("S 4=65535");
	assert_sent("D 1 5, A, A");
	/* The window of the connection is shared: 65535 less 15. */
	assert_int_equal(respond(b, 200, 0), 0);
	assert_sent("H 3 200");
	assert_int_equal(h2_stream_send(b, bytes, 65535, 0), 60 * 1024 - 9);
	assert_int_equal(h2_stream_may_send(b), 0);
	assert_int_equal(h2_stream_may_send(a), 0);
	rig.rooms = 0;
	assert_sent("D 3 16384, D 3 16384, D 3 16384, D 3 12279");
	assert_int_equal(rig.rooms, 2);
	assert_int_equal(h2_stream_send(b, bytes, 65535, 0), 65535 - 15 - (60 * 1024 - 9));
	assert_int_equal(h2_stream_may_send(a), 0);
	assert_int_equal(h2_stream_may_send(b), 0);
	rig.rooms = 0;
	assert_sent("D 3 4089");
	assert_int_equal(rig.rooms, 0);
	feed("W 0 100");
	assert_int_equal(rig.rooms, 2);
}

/* A setting that makes the window of a stream too large is no error if its response is complete:
 * the window is not used any more (6.9.2). */
static void
windows_of_ended_streams_do_not_count(void **st)
{
	(void)st;
	begin_server();
	feed("H 1 h POST, W 1 2147418112");
	assert_int_equal(respond(rig_find(&rig, 1), 413, 1), 0);
	feed("S 4=65536");
	assert_sent("H 1 e 413, A");
}

/* Streams that always have more to send than there is room for, and send one after the other when
 * they are notified of some: each has its turn. */
static void
streams_take_turns(void **st)
{
	static char bytes[100000];
	uint32_t expected = 1;

	(void)st;
	begin_server();
	feed("H 1 eh GET, H 3 eh GET, H 5 eh GET, W 0 9000000, W 1 900000, W 3 900000, W 5 900000");
	for (uint32_t id = 1; id < 7; id += 2) {
		rig.order[id / 2] = rig_find(&rig, id);
		assert_int_equal(respond(rig.order[id / 2], 200, 0), 0);
	}
	(void)rig_sent(&rig, &peer_table);
	for (unsigned int round = 0; round < 9; round++) {
		for (unsigned int i = 0; i < 3; i++) {
			struct h2_stream *s = rig.order[i];
			size_t n = h2_stream_send(s, bytes, sizeof(bytes), 0);

			assert_int_equal(n > 0, s->id == expected);
			assert_int_equal(h2_stream_may_send(s), 0);
		}
		expected = expected % 6 + 2;
		expected = expected > 5 ? 1 : expected;
		rig.rooms = 0;
		(void)rig_sent(&rig, &peer_table);
		assert_int_equal(rig.rooms, 3);
	}
}

/* A head waits for room, and is sent then. */
static void
heads_wait_for_room(void **st)
{
	static char bytes[100000];
	struct h2_stream *a, *b;

	(void)st;
	begin_server();
	feed("H 1 eh GET, H 3 eh GET, W 0 100000, W 1 100000");
	a = rig_find(&rig, 1);
	b = rig_find(&rig, 3);
	assert_int_equal(respond(a, 200, 0), 0);
	assert_true(h2_stream_send(a, bytes, sizeof(bytes), 0) > 60000);
	assert_int_equal(respond(b, 200, 1), -ERR_FULL);
	(void)rig_sent(&rig, &peer_table);
	assert_int_equal(rig.rooms, 1);
	assert_int_equal(respond(b, 200, 1), 0);
	assert_sent("H 3 e 200");
}

/* --- receiving --- */

/* Windows are given back for what the user takes, in steps; another stream is not held up. */
static void
windows_return_when_bytes_are_taken(void **st)
{
	struct h2_stream *a;
	char buf[100000];

	(void)st;
	rig.cfg.rxbuf = rig.cfg.window;
	assert_int_equal(rig_begin(&rig, 0), 0);
	feed("PRI, S, A");
	assert_sent("S, W 0 7424293, A");
	rig.holds_data = 1;
	feed("H 1 h POST, Z 1 - 16384, Z 1 - 16384, Z 1 - 16384, Z 1 - 16384, H 3 h POST, Z 3 - 9");
	a = rig_find(&rig, 1);
	assert_int_equal(h2_stream_readable(a), 65536);
	assert_int_equal(h2_stream_readable(rig_find(&rig, 3)), 9);
	assert_sent("");
	assert_int_equal(h2_stream_take(a, buf, 16000), 16000);
	assert_sent("");
	assert_int_equal(h2_stream_take(a, buf, 384), 384);
	assert_sent("W 1 16384");
	assert_int_equal(h2_stream_take(a, buf, sizeof(buf)), 49152);
	assert_sent("W 1 49152");
	/* One byte too many */
	feed("Z 1 - 16384, Z 1 - 16384, Z 1 - 16384, Z 1 - 16384, Z 1 - 1, Z 3 - 1");
	assert_sent("R 1 FLOW_CONTROL_ERROR");
}

/* A smaller window becomes known when more was sent, and taken: the peer would wait for ever. */
static void
windows_return_when_they_become_smaller(void **st)
{
	(void)st;
	rig.cfg.rxbuf = 0;
	rig.cfg.window = 100;
	assert_int_equal(rig_begin(&rig, 0), 0);
	feed("PRI, S, H 1 h POST, Z 1 - 150, H 3 h POST, Z 3 - 99");
	assert_sent("S, A");
	feed("A");
	assert_sent("W 1 150, W 3 99");
	feed("Z 1 - 100, Z 1 - 100");
	assert_sent("W 1 100, W 1 100");
}

/* Bytes of streams that are not read are given back to the connection. */
static void
window_of_the_connection_returns(void **st)
{
	(void)st;
	rig.cfg.rxbuf = 65536;
	rig.cfg.window = 16384;
	rig.cfg.max_streams = 2;
	assert_int_equal(rig_begin(&rig, 0), 0);
	feed("PRI, S, A");
	assert_sent("S, W 0 28087, A");
	rig.holds_data = 1;
	feed("H 1 h POST, Z 1 - 11509, R 1 8");
	assert_sent("");
	/* Padding counts: 1 + 192 bytes. The stream is closed: its bytes are dropped. */
	feed("X 0000c2000800000001 c0");
	for (int i = 0; i < 193; i++)
		feed("X 00");
	assert_sent("R 1 STREAM_CLOSED, W 0 11702");
}

/* All streams together may not send more than the connection allows, before its SETTINGS are
 * acknowledged, too. */
static void
window_of_the_connection_is_enforced(void **st)
{
	(void)st;
	rig.cfg.rxbuf = rig.cfg.window = 1000;
	rig.cfg.max_streams = 2;
	rig.holds_data = 1;
	assert_int_equal(rig_begin(&rig, 0), 0);
	feed("PRI, S, H 1 h POST, Z 1 - 16384, Z 1 - 16384, Z 1 - 16384, Z 1 - 16383");
	assert_sent("S, A");
	feed("H 3 h POST, Z 3 - 1");
	assert_sent("G 3 FLOW_CONTROL_ERROR");
}

/* A single upload gets all of rxbuf; two share it, once the first has returned its part. */
static void
single_uploads_get_more(void **st)
{
	(void)st;
	begin_server();
	feed("H 1 h POST, Z 1 - 16384");
	assert_sent("W 1 1589248");
	feed("H 3 h POST, Z 3 - 16384, Z 1 - 16384");
	assert_sent("W 3 16384");
	for (int i = 0; i < 48; i++)
		feed("Z 1 - 16384");
	assert_sent("");
	feed("Z 3 - 16384, Z 1 - 16384, Z 1 - 16384");
	assert_sent("W 3 770048, W 1 16384");
	assert_log("POST http://a/\nPOST http://a/\n");
}

/* --- bounds --- */

/* A place is taken until its stream is released, whatever the peer does (rapid reset). */
static void
places_are_held_until_release(void **st)
{
	(void)st;
	rig.cfg.max_streams = 2;
	rig.keeps_reset = 1;
	assert_int_equal(rig_begin(&rig, 0), 0);
	feed("PRI, S, A");
	(void)rig_sent(&rig, &peer_table);
	feed("H 1 eh GET, R 1 8, H 3 eh GET, R 3 8");
	assert_int_equal(rig.h.n_attached, 2);
	assert_int_equal(rig.h.n_open, 0);
	assert_int_equal(h2_conn_wants_input(&rig.h), 1);
	feed("H 5 eh GET, P 12345678");
	assert_int_equal(h2_conn_wants_input(&rig.h), 0);
	assert_sent("");
	rig_release(rig_find(&rig, 1));
	assert_int_equal(rig.asked, 1);
	assert_int_equal(h2_conn_continue(&rig.h), 0);
	assert_int_equal(rig.h.n_attached, 2);
	assert_int_equal(h2_conn_wants_input(&rig.h), 1);
	assert_sent("PA 12345678");
	/* Streams that are open at once are refused. */
	rig_release(rig_find(&rig, 3));
	feed("H 7 eh GET, H 9 eh GET");
	assert_sent("R 9 REFUSED_STREAM");
}

/* Bytes whose answer has no room wait. */
static void
full_output_stops_input(void **st)
{
	(void)st;
	rig.cfg.max_frames = 0;
	begin_server();
	for (unsigned int i = 0; h2_conn_wants_input(&rig.h); i++) {
		assert_true(i < 65536 / 17 + 2);
		feed("P 12345678");
	}
	feed("P last....");
	assert_true(rig.h.out.len >= 65536 && rig.h.out.len < 65536 + 17);
	assert_int_equal(rig.asked, 0);
	h2_conn_sent(&rig.h, 17 * 500);
	assert_int_equal(rig.asked, 1);
	assert_int_equal(h2_conn_continue(&rig.h), 0);
	assert_int_equal(h2_conn_wants_input(&rig.h), 1);
	assert_int_equal(rig.h.rest.len, 0);
}

/* One input has so many frames and resets; the rest is for another turn. */
static void
turns_are_bounded(void **st)
{
	(void)st;
	rig.cfg.max_frames = 3;
	begin_server();
	in.n = 0;
	wire_words(&in, "P 00000001, P 00000002, P 00000003, P 00000004, P 00000005");
	assert_int_equal(h2_conn_input(&rig.h, in.p, in.n), 0);
	assert_sent("PA 00000001, PA 00000002, PA 00000003");
	assert_int_equal(rig.asked, 1);
	assert_int_equal(h2_conn_continue(&rig.h), 0);
	assert_sent("PA 00000004, PA 00000005");
	rig.cfg.max_frames = 0;
	rig.cfg.max_resets = 2;
	rig.asked = 0;
	in.n = 0;
	wire_words(&in, "H 1 eh GET, R 1 8, H 3 eh GET, R 3 8, H 5 eh GET");
	assert_int_equal(h2_conn_input(&rig.h, in.p, in.n), 0);
	assert_int_equal(rig.asked, 1);
	assert_int_equal(rig.h.max_id, 3);
	assert_int_equal(h2_conn_continue(&rig.h), 0);
	assert_int_equal(rig.h.max_id, 5);
}

/* Sixteen CONTINUATION frames, empty ones too, and a piece of memory. */
static void
blocks_are_bounded(void **st)
{
	static char value[1000];

	(void)st;
	rig.cfg.max_frames = 0;
	begin_server();
	feed("H 1 e GET");
	for (int i = 0; i < 15; i++)
		feed("C 1 -");
	feed("C 1 h");
	assert_sent("");
	assert_log("GET http://a/ end\n");
	assert_int_equal(rig.h.glitches, 15);
	feed("H 3 e GET");
	for (int i = 0; i < 17; i++)
		feed("C 3 -");
	assert_sent("G 3 ENHANCE_YOUR_CALM");
	rig_end(&rig);
	rig_prepare(&rig);
	h2_hpack_fini(&peer_table);
	begin_server();
	memset(value, 'x', sizeof(value) - 1);
	value[0] = 'C';
	memcpy(value, "C 1 - x|", 8);
	feed("H 1 e GET");
	for (int i = 0; i < 16 && h2_conn_wants_input(&rig.h); i++) {
		in.n = 0;
		wire_frame(&in, H2_CONTINUATION, 0, 1, value, sizeof(value));
		in.p[9] = 0;
		rig_feed(&rig, in.p, in.n, 100);
	}
	feed("C 1 -");
	assert_sent("G 1 ENHANCE_YOUR_CALM");
}

/* A head that does not fit is answered, and the table stays right: one long field, which is
 * indexed, and indexes of it. */
static void
long_heads_are_answered(void **st)
{
	static uint8_t block[4000];
	static char value[3000];

	(void)st;
	begin_server();
	for (uint32_t id = 1; id < 5; id += 2) {
		size_t n = block_of(block, ":method|GET\n:scheme|http\n:path|/\n:authority|a");
		size_t field = n;

		memset(value, 'x', sizeof(value));
		n += block_field(block + n, STR("x"), (struct str){ value, sizeof(value) }, 0);
		block[field] = 0x40;
		for (int i = 0; i < 6; i++)
			block[n++] = 0xbe;
		in.n = 0;
		wire_frame(&in, H2_HEADERS, id == 1 ? H2_END_STREAM | H2_END_HEADERS
						    : H2_END_HEADERS,
			id, block, n);
		rig_feed(&rig, in.p, in.n, in.n);
	}
	feed("D 3 e x, X 000005010500000005 828684be41, H 7 eh GET");
	assert_sent("H 1 e 431, H 3 e 431, R 3 NO_ERROR, G 5 COMPRESSION_ERROR");
	assert_log("goaway\n");
}

static void
glitches_end_a_connection(void **st)
{
	(void)st;
	rig.cfg.max_glitches = 3;
	begin_server();
	feed("S, H 1 h POST, D 1 -");
	assert_sent("A");
	feed("X 000005020000000003 0000000000");
	assert_sent("G 1 ENHANCE_YOUR_CALM");
}

/* --- ends --- */

static void
goaway_has_two_steps(void **st)
{
	(void)st;
	begin_server();
	feed("H 1 eh GET");
	h2_conn_goaway(&rig.h, H2_NO_ERROR, 0);
	assert_sent("G 2147483647 NO_ERROR, P tacitbye");
	feed("H 3 eh GET, PA tacitbye, H 5 eh GET, H 7 h x|y, D 7 e x");
	assert_sent("G 3 NO_ERROR");
	assert_int_equal(rig.h.n_attached, 2);
	assert_log("GET http://a/ end\nGET http://a/ end\n");
	h2_conn_goaway(&rig.h, H2_NO_ERROR, 1);
	assert_sent("");
}

static void
goaway_is_sent_at_once(void **st)
{
	(void)st;
	begin_server();
	feed("H 1 eh GET");
	h2_conn_goaway(&rig.h, H2_NO_ERROR, 0);
	h2_conn_goaway(&rig.h, H2_NO_ERROR, 1);
	assert_sent("G 2147483647 NO_ERROR, P tacitbye, G 1 NO_ERROR");
}

/* The code of a stream that its user leaves; its frames may still arrive. */
static void
leaving_resets_streams(void **st)
{
	(void)st;
	begin_server();
	feed("H 1 h POST, H 3 h POST");
	rig_release(rig_find(&rig, 1));
	assert_int_equal(respond(rig_find(&rig, 3), 413, 1), 0);
	rig_release(rig_find(&rig, 3));
	assert_sent("R 1 CANCEL, H 3 e 413, R 3 NO_ERROR");
	feed("D 1 - x, D 3 - x, H 3 eh x|y, W 1 5, R 1 8");
	assert_sent("");
	assert_int_equal(rig.h.has_failed, 0);
}

/* A stream is left while its trailers arrive: they are no request of the same stream. */
static void
trailers_of_a_stream_that_was_left_are_dropped(void **st)
{
	(void)st;
	begin_server();
	feed("H 1 h POST, H 1 e GET");
	assert_log("POST http://a/\n");
	assert_int_equal(respond(rig_find(&rig, 1), 413, 1), 0);
	rig_release(rig_find(&rig, 1));
	assert_sent("H 1 e 413, R 1 NO_ERROR");
	feed("C 1 h x|y");
	assert_log("");
	feed("H 3 eh GET");
	assert_log("GET http://a/ end\n");
	assert_sent("");
	assert_int_equal(rig.h.glitches, 0);
}

static void
failed_callbacks_reset_streams(void **st)
{
	(void)st;
	begin_server();
	rig.refuses = H2_INADEQUATE_SECURITY;
	feed("H 1 eh GET");
	rig.refuses = 0;
	rig.no_place = 1;
	feed("H 3 eh GET");
	rig.no_place = 0;
	rig.bad_head = 1;
	feed("H 5 h POST, H 5 eh x|y");
	assert_sent("R 1 INADEQUATE_SECURITY, R 3 REFUSED_STREAM, R 5 INTERNAL_ERROR");
}

/* --- client role --- */

static void
requests_are_sent(void **st)
{
	struct h2_stream *a, *b;

	(void)st;
	begin_client();
	feed("S 3=2");
	assert_int_equal(h2_conn_max_streams(&rig.h), 2);
	a = open_stream("GET", 1);
	b = open_stream("POST", 0);
	assert_int_equal(a->id, 1);
	assert_int_equal(b->id, 3);
	assert_int_equal(h2_stream_send(b, "hello", 5, 1), 5);
	assert_sent("A, H 1 e, H 3, D 3 e 5");
	feed("H 1 eh :status|200");
	assert_int_equal(rig.h.n_open, 1);
	/* An upload that the server does not want: what follows is dropped. */
	rig_release(a);
	a = open_stream("POST", 0);
	feed("H 5 eh :status|413, R 5 0");
	assert_int_equal(h2_stream_send(a, "hello", 5, 0), 5);
	assert_int_equal(h2_stream_send(a, "hello", 5, 1), 5);
	assert_sent("H 5");
	rig_release(a);
	rig_release(b);
	assert_sent("R 3 CANCEL");
}

/* More streams are left than are remembered, as when their client closes: what the server has sent
 * for them is dropped, and the others continue. */
static void
late_heads_of_many_streams_are_dropped(void **st)
{
	(void)st;
	begin_client();
	for (unsigned int i = 0; i < 2 * H2_RESETS_KEPT; i++)
		rig_release(open_stream("GET", 1));
	(void)open_stream("GET", 1);
	(void)rig_sent(&rig, &peer_table);
	feed("H 1 h :status|200, D 1 e x, H 3 eh :status|200, H 127 eh :status|200");
	feed("H 129 eh :status|200");
	assert_log("129 status 200 end\n");
	assert_sent("");
}

/* Padding takes from the window of a stream, too, and is given back without a body to be read. */
static void
windows_of_padding_are_given_back(void **st)
{
	char frame[600] = "X 00010000080000000" "1ff";

	(void)st;
	begin_server();
	feed("H 1 h POST");
	memset(frame + strlen(frame), '0', 2 * 255);
	for (int i = 0; i < 300; i++)
		feed(frame);
	assert_non_null(h2_stream_find(&rig.h, 1));
	assert_in_range(h2_stream_find(&rig.h, 1)->recv_window, 16384, 65536);
	feed("D 1 e x");
	assert_int_equal(rig.h.has_failed, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(clients_are_answered),
		CASE(servers_are_answered),
		CASE(first_bytes_are_checked),
		CASE(responses_are_sent),
		CASE(seen_output_is_not_changed),
		CASE(windows_bound_what_is_sent),
		CASE(windows_of_ended_streams_do_not_count),
		CASE(streams_take_turns),
		CASE(heads_wait_for_room),
		CASE(windows_return_when_bytes_are_taken),
		CASE(windows_return_when_they_become_smaller),
		CASE(window_of_the_connection_returns),
		CASE(window_of_the_connection_is_enforced),
		CASE(single_uploads_get_more),
		CASE(places_are_held_until_release),
		CASE(full_output_stops_input),
		CASE(turns_are_bounded),
		CASE(blocks_are_bounded),
		CASE(long_heads_are_answered),
		CASE(glitches_end_a_connection),
		CASE(goaway_has_two_steps),
		CASE(goaway_is_sent_at_once),
		CASE(leaving_resets_streams),
		CASE(trailers_of_a_stream_that_was_left_are_dropped),
		CASE(failed_callbacks_reset_streams),
		CASE(requests_are_sent),
		CASE(late_heads_of_many_streams_are_dropped),
		CASE(windows_of_padding_are_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
