/* Clients that are rejected before anything is allocated for them. */
#include "unit/proxy/session_rig.h"

#define HELLO { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 }

static const struct step asks[] = { HELLO };
static const struct step says_nothing[] = { { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };
static const struct step drops[] = { { STEP_SEND, 100 }, { STEP_PAUSE, 20 }, { STEP_RESET, 0 } };
static const struct step answers[] = { { STEP_WAIT, 100 }, { STEP_SEND, 10 }, { STEP_CLOSE, 0 } };

static const struct proxy_stat *
stat_of(void)
{
	return &w.px->shard[0].fe;
}

static void
play(const char *lines, const struct step *client)
{
	struct world_config cfg = { RIG_WORLD, .rules = lines };

	rig_play(&cfg, client, answers);
}

/* Counted as a connection in any case, and as a session only if it is accepted. */
static void
counts(uint64_t dcon, uint64_t dses, uint64_t dreq, uint64_t sessions)
{
	assert_int_equal(stat_of()->cum_conn, 1);
	assert_int_equal(stat_of()->conn_rate.max, 1);
	assert_int_equal(stat_of()->cum_sess, sessions);
	assert_int_equal(stat_of()->sess_rate.max, sessions);
	assert_int_equal(stat_of()->denied_conn, dcon);
	assert_int_equal(stat_of()->denied_sess, dses);
	assert_int_equal(stat_of()->denied_req, dreq);
	assert_int_equal(w.ln->stat.cum_conn, 1);
	assert_int_equal(w.ln->stat.denied_conn, dcon);
	assert_int_equal(w.ln->stat.denied_sess, dses);
	assert_int_equal(w.ln->stat.denied_req, dreq);
	assert_int_equal(w.engine.stat.cum_conns, 1);
	assert_int_equal(w.engine.stat.cum_sess, sessions);
	assert_int_equal(w.n_ends, sessions);
}

static void
a_rejected_connection_costs_three_calls(void **st)
{
	(void)st;
	play("tcp-request connection reject", asks);
	counts(1, 0, 0, 0);
	assert_int_equal(ledger_sum(&w.sys.ledger, SYS_CALL_accept4), 1);
	/* the wait before it, accept4, SO_LINGER and close */
	assert_true(world_calls(&w) <= 5);
	rig_close();
}

/* A rejected connection leaves nothing; a rejected session ends like any other. */
static void
a_rejected_connection_is_reset(void **st)
{
	(void)st;
	play("tcp-request connection reject", says_nothing);
	assert_int_equal(w.client[0].err, ECONNRESET);
	rig_close();
	play("tcp-request session reject", says_nothing);
	assert_int_equal(w.client[0].err, 0);
	rig_close();
}

/* A world with harden.reject-privileged-ports.tcp, whose first client has this port. */
static uint64_t
play_port(unsigned int port, int denies, const char *lines)
{
	struct world_config cfg = { RIG_WORLD, .rules = lines };

	rig_open(&cfg, answers);
	fake_clients_from(w.k, port);
	w.engine.shared->denies_low_ports = denies;
	(void)world_client(&w, asks, 0);
	world_run(&w, RIG_LIMIT);
	return world_calls(&w);
}

static void
privileged_ports_are_denied(void **st)
{
	(void)st;
	/* As above: no call asks for the port. The rules are not run. */
	assert_true(play_port(1023, 1, "tcp-request connection accept") <= 5);
	counts(1, 0, 0, 0);
	assert_int_equal(w.client[0].err, ECONNRESET);
	rig_close();
	(void)play_port(1, 1, NULL);
	counts(1, 0, 0, 0);
	rig_close();
}

static void
other_ports_cost_nothing_more(void **st)
{
	uint64_t calls = play_port(1024, 0, NULL);

	(void)st;
	rig_close();
	assert_int_equal(play_port(1024, 1, NULL), calls);
	counts(0, 0, 0, 1);
	rig_close();
	assert_int_equal(play_port(1023, 0, NULL), calls);
	counts(0, 0, 0, 1);
	rig_close();
	(void)play_port(1024, 1, "tcp-request connection reject");
	counts(1, 0, 0, 0);
	rig_close();
}

static void
a_rejected_session_is_counted_as_that(void **st)
{
	(void)st;
	play("tcp-request connection accept\ntcp-request session reject", asks);
	counts(0, 1, 0, 0);
	rig_close();
}

static void
silent_drop_sends_nothing(void **st)
{
	(void)st;
	for (int i = 0; i < 2; i++) {
		play(i ? "tcp-request session silent-drop" : "tcp-request connection silent-drop",
			drops);
		counts(0, 0, 1, 0);
		assert_false(w.client[0].eof);
		rig_close();
	}
}

static void
accepted_connections_are_sessions(void **st)
{
	(void)st;
	play("tcp-request connection reject if { src 127.0.0.1 }\n"
	     "tcp-request connection reject if { dst_port 7 }\n"
	     "tcp-request session reject if FALSE", asks);
	counts(0, 0, 0, 1);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* Variables of the session are available later; those of a rejected one are freed (rig_close). */
static void
variables_stay(void **st)
{
	(void)st;
	play("tcp-request connection set-var(sess.port) dst_port\n"
	     "tcp-request session accept if { var(sess.port) -m int 1000 }\n"
	     "tcp-request session reject", asks);
	counts(0, 0, 0, 1);
	rig_close();
	play("tcp-request connection set-var(sess.port) dst_port\n"
	     "tcp-request session reject if { var(sess.port) -m int 1000 }", asks);
	counts(0, 1, 0, 0);
	rig_close();
}

/* A frontend at its limit has a free place again. */
static void
the_place_is_released(void **st)
{
	struct world_config cfg = { RIG_WORLD, .rules = "tcp-request connection reject",
		.maxconn = 1 };

	(void)st;
	rig_open(&cfg, answers);
	for (int i = 0; i < 5; i++)
		(void)world_client(&w, asks, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(stat_of()->denied_conn, 5);
	rig_close();
}

/* The addresses that its rules have set are freed as well. */
static void
overrides_of_a_rejected_connection_are_freed(void **st)
{
	(void)st;
	play("tcp-request connection set-src ipv4(1.2.3.4)\ntcp-request connection reject", asks);
	counts(1, 0, 0, 0);
	assert_int_equal(w.engine.pools.addr_override.live, 0);
	rig_close();
}

static void
in_mode_http_too(void **st)
{
	struct world_config cfg = { RIG_WORLD, .rules = "tcp-request session reject", .http = 1 };

	(void)st;
	rig_play(&cfg, asks, answers);
	counts(0, 1, 0, 0);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rejected_connection_costs_three_calls),
		cmocka_unit_test(a_rejected_connection_is_reset),
		cmocka_unit_test(privileged_ports_are_denied),
		cmocka_unit_test(other_ports_cost_nothing_more),
		cmocka_unit_test(a_rejected_session_is_counted_as_that),
		cmocka_unit_test(silent_drop_sends_nothing),
		cmocka_unit_test(accepted_connections_are_sessions),
		cmocka_unit_test(variables_stay),
		cmocka_unit_test(the_place_is_released),
		cmocka_unit_test(overrides_of_a_rejected_connection_are_freed),
		cmocka_unit_test(in_mode_http_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
