/* Tickets of TLS 1.3: how many a client gets, and when. */
#include "unit/tls/tls_rig.h"

static struct rig g;
static unsigned int tickets;

static unsigned long
calls(enum sys_call c)
{
	return (unsigned long)ledger_sum(&g.sys.ledger, c);
}

static int
count_ticket(SSL *ssl, SSL_SESSION *session)
{
	(void)ssl;
	tickets += SSL_SESSION_is_resumable(session) != 0;
	return 0;
}

/* One exchange: the number of tickets that the client has got in it. */
static unsigned int
tickets_of_exchange(void)
{
	unsigned int before = tickets;
	char buf[100];
	size_t got = 0, put = 0;

	while (!SSL_is_init_finished(g.peer)) {
		(void)SSL_do_handshake(g.peer);
		rig_peer_move(&g);
		if (conn_is_ready(&g.c, DIR_R))
			(void)conn_recv(&g.c, buf, sizeof(buf), &got);
		conn_want(&g.c, EV_R);
		rig_turn(&g);
		rig_peer_move(&g);
	}
	assert_int_equal(SSL_write(g.peer, "ping", 4), 4);
	for (int i = 0; i < 10 && got != 4; i++) {
		rig_peer_move(&g);
		conn_want(&g.c, EV_R);
		rig_turn(&g);
		if (conn_is_ready(&g.c, DIR_R))
			(void)conn_recv(&g.c, buf, sizeof(buf), &got);
	}
	assert_int_equal(got, 4);
	assert_int_equal(conn_send(&g.c, "pong", 4, 0, &put), IO_OK);
	assert_int_equal(put, 4);
	rig_peer_move(&g);
	assert_int_equal(SSL_read(g.peer, buf, sizeof(buf)), 4);
	return tickets - before;
}

static void
the_second_ticket_goes_with_the_second_answer(void **st)
{
	(void)st;
	assert_int_equal(rig_connect(&g, TLS_ACCEPTS, NULL), 0);
	for (unsigned int i = 0; i < 4; i++) {
		unsigned long sends = calls(SYS_CALL_sendto);

		assert_int_equal(tickets_of_exchange(), i < 2);
		if (i)
			assert_int_equal(calls(SYS_CALL_sendto), sends + 1);
	}
	rig_disconnect(&g);
}

static void
a_resumed_session_gets_one_ticket(void **st)
{
	SSL_SESSION *kept;

	(void)st;
	SSL_CTX_set_session_id_context(g.server_ctx, (const uint8_t *)"t", 1);
	g.keeps_maker = 1;
	assert_int_equal(rig_connect(&g, TLS_ACCEPTS, NULL), 0);
	assert_int_equal(tickets_of_exchange(), 1);
	/* OpenSSL would not resume that of a connection without an end. */
	kept = SSL_SESSION_dup(SSL_get_session(g.peer));
	rig_disconnect(&g);
	assert_int_equal(rig_connect(&g, TLS_ACCEPTS, NULL), 0);
	assert_int_equal(SSL_set_session(g.peer, kept), 1);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(tickets_of_exchange(), !i);
	assert_int_equal(SSL_session_reused(g.peer), 1);
	SSL_SESSION_free(kept);
	rig_disconnect(&g);
}

/* In TLS 1.2 the ticket is part of the handshake. */
static void
there_is_no_second_ticket_before_tls_1_3(void **st)
{
	(void)st;
	SSL_CTX_set_max_proto_version(g.client_ctx, TLS1_2_VERSION);
	assert_int_equal(rig_connect(&g, TLS_ACCEPTS, NULL), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(tickets_of_exchange(), !i);
	rig_disconnect(&g);
}

static int
setup(void **st)
{
	(void)st;
	rig_open(&g, 0);
	SSL_CTX_set_session_cache_mode(g.client_ctx, SSL_SESS_CACHE_CLIENT);
	SSL_CTX_sess_set_new_cb(g.client_ctx, count_ticket);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	rig_close(&g);
	return 0;
}

#define TICKET_CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TICKET_CASE(the_second_ticket_goes_with_the_second_answer),
		TICKET_CASE(a_resumed_session_gets_one_ticket),
		TICKET_CASE(there_is_no_second_ticket_before_tls_1_3),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
