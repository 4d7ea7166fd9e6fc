/* TLS as a transport, on the fake kernel, with OpenSSL over memory as its peer. */
#include "base/counter.h"
#include "net/conn_err.h"
#include "tls/capture.h"
#include "tls/tls_counts.h"
#include "unit/tls/tls_rig.h"

static struct rig g;

#define SMALL 2048 /* of socket buffers: a record does not fit */

static int
setup(void **st)
{
	(void)st;
	rig_open(&g, 0);
	return 0;
}

static int
setup_small(void **st)
{
	(void)st;
	rig_open(&g, SMALL);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	rig_close(&g);
	return 0;
}

static unsigned long
calls(enum sys_call c)
{
	return (unsigned long)ledger_sum(&g.sys.ledger, c);
}

static void
use_version(int version)
{
	SSL_CTX_set_min_proto_version(g.client_ctx, version);
	SSL_CTX_set_max_proto_version(g.client_ctx, version);
	SSL_CTX_set_min_proto_version(g.connect_ctx, version);
	SSL_CTX_set_max_proto_version(g.connect_ctx, version);
}

static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
static const enum tls_role roles[] = { TLS_ACCEPTS, TLS_CONNECTS };

static void
both_roles_and_versions_work(void **st)
{
	(void)st;
	for (size_t v = 0; v < ARRAY_LEN(versions); v++)
		for (size_t r = 0; r < ARRAY_LEN(roles); r++) {
			struct dialogue d = { .role = roles[r], .request = 100, .answer = 50000,
					      .read_len = 16384, .write_len = 16384 };

			use_version(versions[v]);
			dialogue_run(&g, &d, 200);
			dialogue_must_be_whole(&d);
			rig_disconnect(&g);
		}
}

/* However the bytes are split on the socket, and however little is read at a time. */
static void
records_are_cut_anywhere(void **st)
{
	(void)st;
	for (size_t v = 0; v < ARRAY_LEN(versions); v++)
		for (size_t cut = 1; cut <= 40; cut += cut < 8 ? 1 : 7) {
			struct dialogue d = { .role = roles[cut & 1], .request = 60, .answer = 60,
					      .read_len = cut, .write_len = 13, .uses_more = 1 };

			use_version(versions[v]);
			g.piece = cut;
			dialogue_run(&g, &d, 10000);
			dialogue_must_be_whole(&d);
			rig_disconnect(&g);
		}
}

/* Each record waits for room, in both directions, and what is left of one is in a kept buffer. */
static void
a_slow_peer_gets_all(void **st)
{
	(void)st;
	for (size_t v = 0; v < ARRAY_LEN(versions); v++)
		for (size_t r = 0; r < ARRAY_LEN(roles); r++) {
			struct dialogue d = { .role = roles[r], .request = 150000, .answer = 300000,
					      .read_len = 5000, .write_len = 66000,
					      .uses_more = (int)r };

			use_version(versions[v]);
			dialogue_run(&g, &d, 5000);
			dialogue_must_be_whole(&d);
			rig_disconnect(&g);
		}
}

/* --- calls --- */

/* recv the hello, send the flight, recv the rest with the request, send the answer with the tickets
 * and the closing message, in one. */
static void
a_full_handshake_takes_four_calls(void **st)
{
	struct dialogue d = { .role = TLS_ACCEPTS, .request = 100, .answer = 200,
			      .read_len = 16384, .write_len = 16384, .uses_more = 1 };

	(void)st;
	use_version(TLS1_3_VERSION);
	dialogue_run(&g, &d, 50);
	dialogue_must_be_whole(&d);
	assert_int_equal(calls(SYS_CALL_sendto), 2);
	assert_int_equal(calls(SYS_CALL_recvfrom), 2);
	assert_int_equal(calls(SYS_CALL_shutdown), 1);
}

/* The daemon waits for an acknowledgement of the end of its handshake, and tickets bring that. */
static void
a_client_that_sends_nothing_gets_tickets(void **st)
{
	struct dialogue d = { .role = TLS_ACCEPTS, .request = 100, .read_len = 16384 };

	(void)st;
	use_version(TLS1_3_VERSION);
	assert_int_equal(rig_connect(&g, d.role, NULL), 0);
	for (int i = 0; i < 10; i++) {
		rig_peer_move(&g);
		(void)SSL_do_handshake(g.peer);
		rig_peer_move(&g);
		dialogue_read(&g, &d);
		conn_want(&g.c, EV_R);
		rig_turn(&g);
	}
	assert_true(SSL_is_init_finished(g.peer));
	assert_int_equal(calls(SYS_CALL_sendto), 2);
	rig_peer_move(&g);
	assert_true(BIO_pending(g.to_peer) > 0);
	rig_disconnect(&g);
}

/* --- ends --- */

static void
greet(enum tls_role role)
{
	struct dialogue d = { .role = role, .request = 10, .answer = 10, .read_len = 100,
			      .write_len = 100 };

	assert_int_equal(rig_connect(&g, role, NULL), 0);
	for (int i = 0; i < 20 && d.heard < 10; i++) {
		d.peer_said_end = 1;
		dialogue_peer(&g, &d);
		dialogue_read(&g, &d);
		conn_want(&g.c, EV_R);
		rig_turn(&g);
	}
	assert_int_equal(d.heard, 10);
}

static enum io_result
read_until_end(void)
{
	enum io_result r = IO_AGAIN;
	char buf[100];
	size_t got;

	for (int i = 0; i < 10 && (r == IO_AGAIN || r == IO_OK); i++) {
		if (conn_is_ready(&g.c, DIR_R))
			r = conn_recv(&g.c, buf, sizeof(buf), &got);
		conn_want(&g.c, EV_R);
		rig_turn(&g);
	}
	return r;
}

/* A FIN without the closing message may be an attacker's. */
static void
a_truncated_stream_is_an_error(void **st)
{
	(void)st;
	for (size_t v = 0; v < ARRAY_LEN(versions); v++) {
		use_version(versions[v]);
		greet(TLS_ACCEPTS);
		fake_peer_shut(g.sock);
		assert_int_equal(read_until_end(), IO_ERR);
		assert_int_equal(g.c.err, ECONNABORTED);
		rig_disconnect(&g);
	}
}

static void
a_closing_message_is_an_end(void **st)
{
	(void)st;
	for (size_t v = 0; v < ARRAY_LEN(versions); v++) {
		use_version(versions[v]);
		greet(TLS_ACCEPTS);
		(void)SSL_shutdown(g.peer);
		rig_peer_move(&g);
		fake_peer_shut(g.sock);
		assert_int_equal(read_until_end(), IO_EOF);
		assert_int_equal(g.c.err, 0);
		rig_disconnect(&g);
	}
}

static void
a_reset_ends_without_closing_message(void **st)
{
	char raw[256];

	(void)st;
	use_version(TLS1_3_VERSION);
	greet(TLS_ACCEPTS);
	(void)fake_peer_recv(g.sock, raw, sizeof(raw));
	conn_reset_on_close(&g.c);
	conn_close(&g.c);
	assert_int_equal(fake_peer_recv(g.sock, raw, sizeof(raw)), -ECONNRESET);
}

/* --- a peer that asks and does not listen --- */

/* Reads what can be read, without sending: bytes of the user. */
static size_t
hear(void)
{
	char buf[100];
	size_t got, all = 0;

	while (conn_is_ready(&g.c, DIR_R) &&
		conn_recv(&g.c, buf, sizeof(buf), &got) == IO_OK)
		all += got;
	conn_want(&g.c, EV_R);
	rig_turn(&g);
	return all;
}

#define KEPT_MAX 200000 /* bytes in memory */

/* The peer asks for new keys, each of which has to be answered (RFC 8446, 4.6.3), and each time
 * takes so many bytes of the answers, until its socket takes no more: the daemon's side does not
 * read then. */
static unsigned int
ask_for_keys(unsigned int most, size_t takes)
{
	unsigned int n = 0;
	char raw[64];

	assert_true(takes < sizeof(raw));
	for (; n < most && BIO_pending(g.from_peer) < 1000; n++) {
		assert_int_equal(SSL_key_update(g.peer, SSL_KEY_UPDATE_REQUESTED), 1);
		(void)SSL_do_handshake(g.peer);
		rig_peer_say(&g);
		(void)hear();
		if (takes)
			(void)fake_peer_recv(g.sock, raw, takes);
		assert_true(counter_read(&tls_io_counts(g.io)->kept) < KEPT_MAX);
	}
	return n;
}

/* Answers wait in memory up to a bound. When the peer takes them, all continues. */
static void
answers_that_are_not_taken_are_bounded(void **st)
{
	const unsigned int most = 30000;
	size_t heard = 0;
	char byte;

	(void)st;
	use_version(TLS1_3_VERSION);
	greet(TLS_ACCEPTS);
	assert_true(ask_for_keys(most, 0) < most);
	assert_int_equal(SSL_write(g.peer, "x", 1), 1);
	for (int i = 0; i < 1000 && !heard; i++) {
		rig_peer_move(&g);
		(void)SSL_read(g.peer, &byte, 1);
		ERR_clear_error();
		heard = hear();
	}
	assert_int_equal(heard, 1);
	rig_disconnect(&g);
	/* Slow reading makes room for as much. */
	greet(TLS_ACCEPTS);
	assert_true(ask_for_keys(most, 20) > 5000);
	rig_disconnect(&g);
}

/* The peer sends new keys so many times. Returns true if the connection has not failed. */
static int
send_keys(unsigned int n)
{
	for (; n && !g.c.err; n--) {
		assert_int_equal(SSL_key_update(g.peer, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
		(void)SSL_do_handshake(g.peer);
		rig_peer_say(&g);
		/* The first one has the loop see that there is something to read. */
		(void)hear();
		(void)hear();
	}
	return !g.c.err;
}

/* A second begins on the loop's clock, which reads the kernel's when it has waited. */
static void
await_second(void)
{
	uint64_t now_s = loop_now_ms(g.loop) / 1000;

	fake_advance(g.k, UINT64_C(1000000000));
	for (int i = 0; i < 100 && loop_now_ms(g.loop) / 1000 == now_s; i++)
		rig_turn(&g);
	assert_int_not_equal(loop_now_ms(g.loop) / 1000, now_s);
}

/* tune.ssl.keyupdate-rate-limit 5: five in a second, and the sixth ends the connection. */
static void
key_updates_are_limited(void **st)
{
	static struct tls_conf conf = { .key_updates = 5 };

	(void)st;
	use_version(TLS1_3_VERSION);
	tls_capture_enable(g.server_ctx, &conf, 1);
	tls_capture_enable(g.connect_ctx, &conf, 0);
	for (size_t r = 0; r < ARRAY_LEN(roles); r++) {
		greet(roles[r]);
		for (int second = 0; second < 3; second++) {
			await_second();
			assert_true(send_keys(5));
		}
		assert_false(send_keys(1));
		assert_int_equal(g.c.err, EPROTO);
		rig_disconnect(&g);
	}
}

static void
key_updates_have_no_limit(void **st)
{
	static struct tls_conf conf = { .capture_size = 1 };

	(void)st;
	use_version(TLS1_3_VERSION);
	tls_capture_enable(g.server_ctx, &conf, 1);
	greet(TLS_ACCEPTS);
	assert_true(send_keys(1000));
	rig_disconnect(&g);
}

/* --- bytes that are no handshake --- */

/* The peer sends that and perhaps ends: the handshake fails, and nothing was read. */
static void
must_be_refused(const void *bytes, size_t n, int ends, size_t piece)
{
	enum io_result r = IO_AGAIN;
	char buf[64];
	size_t got, at = 0;

	assert_int_equal(rig_connect(&g, TLS_ACCEPTS, NULL), 0);
	for (int i = 0; i < 2000 && r == IO_AGAIN; i++) {
		if (at < n)
			at += (size_t)fake_peer_send(g.sock, (const char *)bytes + at,
				MIN(piece, n - at));
		else if (ends)
			fake_peer_shut(g.sock);
		if (conn_is_ready(&g.c, DIR_R))
			r = conn_recv(&g.c, buf, sizeof(buf), &got);
		if (r == IO_AGAIN)
			conn_want(&g.c, EV_R);
		rig_turn(&g);
	}
	assert_int_equal(r, IO_ERR);
	assert_int_equal(got, 0);
	assert_true(g.c.err == EPROTO || g.c.err == ECONNABORTED);
	assert_int_equal(conn_send(&g.c, "x", 1, 0, &got), IO_ERR);
	conn_shut(&g.c);
	rig_disconnect(&g);
}

static void
bytes_that_are_no_hello_are_refused(void **st)
{
	static const uint8_t ssl2[] = { 0x80, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10, 1, 0, 0x80, 2,
		0, 0x80, 3, 0, 0x80, 4, 0, 0x80, 5, 0, 0x80, 6, 0, 0x40, 7, 0, 0xc0, 1, 2, 3, 4, 5,
		6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	static const char http[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	static const uint8_t record[] = { 0x16, 3, 1, 0xff, 0xff, 1, 2, 3 };
	static const uint8_t zeros[64];

	(void)st;
	for (size_t piece = 1; piece <= 64; piece += 21) {
		must_be_refused(http, sizeof(http) - 1, 0, piece);
		must_be_refused(ssl2, sizeof(ssl2), 1, piece);
		must_be_refused(record, sizeof(record), 1, piece);
		must_be_refused(zeros, sizeof(zeros), 0, piece);
	}
	must_be_refused("", 0, 1, 1);
	must_be_refused("\x16", 1, 1, 1);
}

/* A peer whose hello is refused gets an alert. */
static void
a_refused_hello_is_answered_by_an_alert(void **st)
{
	static const uint8_t empty_hello[] = { 0x16, 3, 1, 0, 4, 1, 0, 0, 0 };
	unsigned char raw[64];
	char buf[64];
	size_t got;

	(void)st;
	assert_int_equal(rig_connect(&g, TLS_ACCEPTS, NULL), 0);
	(void)fake_peer_send(g.sock, (const char *)empty_hello, sizeof(empty_hello));
	rig_turn(&g);
	assert_int_equal(conn_recv(&g.c, buf, sizeof(buf), &got), IO_ERR);
	rig_turn(&g);
	assert_int_equal(fake_peer_recv(g.sock, (char *)raw, sizeof(raw)), 7);
	assert_int_equal(raw[0], SSL3_RT_ALERT);
	assert_int_equal(raw[5], SSL3_AL_FATAL);
	assert_int_equal(raw[6], SSL_AD_DECODE_ERROR);
}

/* No signature is made for a peer that has sent its hello and left. */
static void
no_signature_for_a_peer_that_has_left(void **st)
{
	char buf[64];
	size_t got;

	(void)st;
	assert_int_equal(rig_connect(&g, TLS_ACCEPTS, NULL), 0);
	(void)SSL_do_handshake(g.peer);
	ERR_clear_error();
	conn_want(&g.c, EV_R);
	assert_int_equal(conn_recv(&g.c, buf, sizeof(buf), &got), IO_AGAIN);
	rig_turn(&g);
	rig_peer_move(&g);
	fake_peer_shut(g.sock);
	rig_turn(&g);
	assert_int_equal(conn_handshake(&g.c), IO_ERR);
	assert_int_equal(g.c.xprt->failure, CONN_ERR_TLS_CLOSED);
	assert_int_equal(calls(SYS_CALL_sendto), 0);
}

/* --- sessions of servers --- */

/* Connects under that name and talks: 1 if the server has resumed the session. */
static int
is_resumed(const char *name, enum tls_role role)
{
	struct dialogue d = { .role = role, .name = name, .request = 100, .answer = 100,
			      .read_len = 100, .write_len = 100 };
	int resumed;

	dialogue_run(&g, &d, 100);
	dialogue_must_be_whole(&d);
	resumed = SSL_session_reused(g.peer);
	if (name && !resumed)
		assert_string_equal(SSL_get_servername(g.peer, TLSEXT_NAMETYPE_host_name), name);
	rig_disconnect(&g);
	return resumed;
}

static void
sessions_of_servers_are_resumed(void **st)
{
	(void)st;
	g.keeps_maker = 1;
	SSL_CTX_set_session_id_context(g.server_ctx, (const uint8_t *)"t", 1);
	for (size_t v = 0; v < ARRAY_LEN(versions); v++) {
		tls_maker_fini(&g.maker);
		use_version(versions[v]);
		assert_false(is_resumed("one", TLS_CONNECTS));
		assert_true(is_resumed("one", TLS_CONNECTS));
		assert_true(is_resumed("one", TLS_CONNECTS));
		/* Not under another name, which may be another server. */
		assert_false(is_resumed("two", TLS_CONNECTS));
		assert_false(is_resumed(NULL, TLS_CONNECTS));
		assert_true(is_resumed(NULL, TLS_CONNECTS));
		/* Each name keeps its own. */
		assert_true(is_resumed("one", TLS_CONNECTS));
		assert_true(is_resumed("two", TLS_CONNECTS));
	}
	tls_maker_fini(&g.maker);
	assert_false(is_resumed("one", TLS_CONNECTS_ANEW));
	assert_false(is_resumed("one", TLS_CONNECTS_ANEW));
}

static void
queries_have_answers(void **st)
{
	struct str out;

	(void)st;
	use_version(TLS1_3_VERSION);
	assert_int_equal(rig_connect(&g, TLS_ACCEPTS, NULL), 0);
	assert_int_equal(conn_query(&g.c, XPRT_QUERY_SERVER_NAME, &out), -ERR_UNKNOWN);
	rig_disconnect(&g);
	greet(TLS_ACCEPTS);
	assert_int_equal(conn_query(&g.c, XPRT_QUERY_NAME, &out), 0);
	assert_true(str_is(out, STR("TLS")));
	assert_int_equal(conn_query(&g.c, XPRT_QUERY_VERSION, &out), 0);
	assert_true(str_is(out, STR("TLSv1.3")));
	assert_int_equal(conn_query(&g.c, XPRT_QUERY_CIPHER, &out), 0);
	assert_true(str_is(out, STR("TLS_AES_256_GCM_SHA384")));
	assert_int_equal(conn_query(&g.c, XPRT_QUERY_PROTOCOL, &out), -ERR_UNKNOWN);
}

#define TLS_CASE(f)	      cmocka_unit_test_setup_teardown(f, setup, teardown)
#define SMALL_CASE(f) { "small buffers: " #f, f, setup_small, teardown, NULL }

static const struct CMUnitTest tests[] = {
	TLS_CASE(both_roles_and_versions_work),
	TLS_CASE(records_are_cut_anywhere),
	SMALL_CASE(both_roles_and_versions_work),
	SMALL_CASE(records_are_cut_anywhere),
	SMALL_CASE(a_slow_peer_gets_all),
	TLS_CASE(a_full_handshake_takes_four_calls),
		TLS_CASE(a_client_that_sends_nothing_gets_tickets),
	TLS_CASE(a_truncated_stream_is_an_error),
	TLS_CASE(a_closing_message_is_an_end),
	TLS_CASE(a_reset_ends_without_closing_message),
	SMALL_CASE(answers_that_are_not_taken_are_bounded),
	TLS_CASE(key_updates_are_limited),
	TLS_CASE(key_updates_have_no_limit),
	TLS_CASE(bytes_that_are_no_hello_are_refused),
	TLS_CASE(a_refused_hello_is_answered_by_an_alert),
	TLS_CASE(no_signature_for_a_peer_that_has_left),
	TLS_CASE(sessions_of_servers_are_resumed),
	TLS_CASE(queries_have_answers),
};

int
main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
