/* Counters of TLS connections, and maxsslconn. */
#include "tls/tls_counts.h"

#include "base/counter.h"
#include "unit/tls/tls_rig.h"

static struct rig g;
static struct tls_shared shared;

static int
setup(void **st)
{
	(void)st;
	rig_open(&g, 0);
	memset(&shared, 0, sizeof(shared));
	tls_io_share(g.io, &shared);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	rig_close(&g);
	return 0;
}

/* Request and answer, and the connection stays open. */
static void
talk(enum tls_role role)
{
	struct dialogue d = { .role = role, .request = 100, .answer = 5000, .read_len = 16384,
			      .write_len = 16384 };

	dialogue_run(&g, &d, 200);
	dialogue_must_be_whole(&d);
}

static uint32_t
rate_of(const struct freq *f)
{
	return freq_read(f, loop_now_ms(g.loop));
}

static void
handshakes_are_counted_by_their_side(void **st)
{
	const struct tls_counts *c = tls_io_counts(g.io);

	(void)st;
	talk(TLS_ACCEPTS);
	assert_int_equal(counter_read(&c->live), 1);
	assert_int_equal(counter_read(&c->cum), 1);
	assert_int_equal(rate_of(&c->accepted), 1);
	assert_int_equal(rate_of(&c->client_keys), 1);
	assert_int_equal(rate_of(&c->server_keys), 0);
	rig_disconnect(&g);
	assert_int_equal(counter_read(&c->live), 0);
	talk(TLS_CONNECTS_ANEW);
	assert_int_equal(counter_read(&c->cum), 2);
	assert_int_equal(c->accepted.max, 1);
	assert_int_equal(c->client_keys.max, 1);
	assert_int_equal(c->server_keys.max, 1);
}

static void
clearing_the_highest_rates_keeps_the_rest(void **st)
{
	const struct tls_counts *c = tls_io_counts(g.io);

	(void)st;
	talk(TLS_ACCEPTS);
	rig_disconnect(&g);
	talk(TLS_CONNECTS_ANEW);
	tls_io_clear_maxima(g.io);
	assert_int_equal(c->accepted.max, 0);
	assert_int_equal(c->client_keys.max, 0);
	assert_int_equal(c->server_keys.max, 0);
	assert_int_equal(rate_of(&c->accepted), 1);
	assert_int_equal(counter_read(&c->live), 1);
	assert_int_equal(counter_read(&c->cum), 2);
}

static void
one_beyond_the_limit_is_not_made(void **st)
{
	int reason = 0;

	(void)st;
	shared.max = 1;
	talk(TLS_ACCEPTS);
	assert_int_equal(shared.n, 1);
	assert_null(g.maker.maker.make(&g.maker.maker, &g.c, &reason));
	assert_int_equal(reason, -ERR_FULL);
	assert_int_equal(shared.n, 1);
	assert_int_equal(counter_read(&tls_io_counts(g.io)->live), 1);
	/* Another worker's connection has ended, and so has ours. */
	rig_disconnect(&g);
	assert_int_equal(shared.n, 0);
	talk(TLS_CONNECTS);
	assert_int_equal(shared.n, 1);
}

static void
their_memory_is_estimated(void **st)
{
	(void)st;
	assert_int_equal(tls_io_memory(g.io), 0);
	talk(TLS_ACCEPTS);
	assert_in_range(tls_io_memory(g.io), 8000, 40000);
	rig_disconnect(&g);
	assert_int_equal(tls_io_memory(g.io), 0);
}

static void
shake_hands(void)
{
	assert_int_equal(rig_connect(&g, TLS_ACCEPTS, NULL), 0);
	for (int i = 0; i < 100 && conn_awaits_handshake(&g.c); i++) {
		rig_peer_move(&g);
		(void)SSL_do_handshake(g.peer);
		ERR_clear_error();
		rig_peer_move(&g);
		conn_want(&g.c, EV_R);
		rig_turn(&g);
		(void)conn_handshake(&g.c);
	}
	assert_false(conn_awaits_handshake(&g.c));
}

/* The peer reads nothing: records wait. */
static void
records_waiting_for_the_socket_are_counted(void **st)
{
	const struct tls_counts *c;
	static char data[65536];
	size_t put;

	(void)st;
	rig_close(&g);
	rig_open(&g, 2048);
	c = tls_io_counts(g.io);
	shake_hands();
	while (conn_send(&g.c, data, sizeof(data), 0, &put) == IO_OK)
		continue;
	assert_true(counter_read(&c->kept) > 1000);
	assert_true(tls_io_memory(g.io) > counter_read(&c->kept));
	rig_disconnect(&g);
	assert_int_equal(counter_read(&c->kept), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(handshakes_are_counted_by_their_side),
		CASE(clearing_the_highest_rates_keeps_the_rest),
		CASE(one_beyond_the_limit_is_not_made),
		CASE(their_memory_is_estimated),
		CASE(records_waiting_for_the_socket_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
