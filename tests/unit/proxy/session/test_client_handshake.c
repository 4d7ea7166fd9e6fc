/* CLIENT_HANDSHAKE: handshakes of clients: slow ones, and none at all. */
#include "unit/proxy/session_rig.h"

#include "fake/xprt.h"
#include "net/conn_err.h"
#include "proxy/model/shard.h"
#include "proxy/session/client_handshake.h"

static struct fake_script script;

static const struct step hears_hello[] = { AWAIT("hello"), SAY("there"), { STEP_CLOSE, 0 } };
static const struct step says_hello[] = { SAY("hello"), EOF_CLOSE };
static const struct step resets[] = { { STEP_PAUSE, 20 }, { STEP_RESET, 0 } };

static enum conn_err why;

static void
look_at_it(struct world *x, const struct world_end *e)
{
	(void)x;
	why = (enum conn_err)e->session->sess->conn_err;
}

static struct world_config
with_handshake(void)
{
	struct world_config cfg = { RIG_WORLD, .texts = 1, .client_xprt = &script };


	cfg.mode = INTEREST_EDGE;
	script = (struct fake_script)FAKE_SCRIPT(.is_client = 0);
	why = CONN_ERR_NONE;
	return cfg;
}

static int
it_is_over(const struct world *x)
{
	return x->n_ends == 1;
}

static void
play(struct world_config *cfg, const struct step *client)
{
	rig_open(cfg, hears_hello);
	w.session_ended = look_at_it;
	w.ends_are_over = it_is_over;
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
}

/* The connection is a session when the handshake is complete, and has a server only then. */
static void
ends(const char *terms, uint64_t sessions, enum conn_err err)
{
	const struct proxy_stat *fe = &w.px->shard[0].fe;

	assert_string_equal(rig_terms(), terms);
	assert_int_equal(fe->cum_conn, 1);
	assert_int_equal(fe->cum_sess, sessions);
	assert_int_equal(fe->failed_req, 0);
	assert_int_equal(why, err);
	assert_int_equal(w.n_served, sessions);
	assert_int_equal(script.live, 0);
}

static void
a_complete_handshake_begins_the_session(void **st)
{
	struct world_config cfg = with_handshake();

	(void)st;
	play(&cfg, says_hello);
	assert_string_equal(w.served[0].text, "hello");
	assert_string_equal(w.client[0].text, "there");
	ends("--", 1, CONN_ERR_NONE);
	assert_int_equal(script.up, 1);
	rig_close();
}

static void
a_missing_handshake_times_out(void **st)
{
	static const struct step silent[] = { { STEP_PAUSE, 5000 }, EOF_CLOSE };

	(void)st;
	for (unsigned int hs = 0; hs <= 300; hs += 300) {
		struct world_config cfg = with_handshake();

		cfg.to.client = 1000;
		cfg.to.client_hs = hs;
		/* The client's hello comes with its first bytes only. */
		script.peer_is_mute = 1;
		play(&cfg, silent);
		ends("PR", 0, CONN_ERR_TLS_LATE);
		assert_in_range(
			(w.ended - w.opened) / FAKE_MS, hs ? hs : 1000, (hs ? hs : 1000) + 20);
		rig_close();
	}
}

static void
a_failed_handshake_ends_the_connection(void **st)
{
	struct world_config cfg = with_handshake();

	(void)st;
	script.peer_is_mute = 1;
	play(&cfg, resets);
	ends("PR", 0, CONN_ERR_TLS_FAILED);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_complete_handshake_begins_the_session),
		cmocka_unit_test(a_missing_handshake_times_out),
		cmocka_unit_test(a_failed_handshake_ends_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
