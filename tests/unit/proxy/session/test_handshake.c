/* HANDSHAKE: servers that complete their handshake, do not, or leave. The SOCKS4 proxy has its
 * tests in net/test_socks4.c and tests/system. */
#include "unit/proxy/session_rig.h"

#include "fake/xprt.h"
#include "proxy/model/shard.h"
#include "proxy/session/handlers.h"

static struct fake_script script;

static const struct step says_hello[] = { SAY("hello"), EOF_CLOSE };
static const struct step hears_hello[] = { AWAIT("hello"), SAY("there"), { STEP_CLOSE, 0 } };
static const struct step leaves[] = { { STEP_CLOSE, 0 } };
static const struct step is_silent[] = { { STEP_PAUSE, 5000 }, { STEP_CLOSE, 0 } };

static void
play(const struct step *origin, int is_mute)
{
	struct world_config cfg = { RIG_WORLD, .texts = 1, .server_xprt = &script };

	cfg.mode = INTEREST_EDGE;
	cfg.to.connect = 300;
	cfg.to.client = cfg.to.server = 10000;
	script = (struct fake_script)FAKE_SCRIPT(.is_client = 1, .peer_is_mute = is_mute);
	rig_play(&cfg, says_hello, origin);
}

static void
a_complete_handshake_connects(void **st)
{
	(void)st;
	play(hears_hello, 0);
	assert_string_equal(w.served[0].text, "hello");
	assert_string_equal(w.client[0].text, "there");
	assert_string_equal(rig_terms(), "--");
	assert_int_equal(w.srv[0]->shard[0].stat.failed_conns, 0);
	rig_close();
}

/* Counted as a failed connection, like a server that refuses. */
static void
a_failed_handshake_is_a_failed_connection(void **st)
{
	(void)st;
	play(leaves, 1);
	assert_string_equal(rig_terms(), "SC");
	assert_int_equal(w.srv[0]->shard[0].stat.failed_conns, 1);
	rig_close();
}

/* timeout connect is for both. */
static void
a_missing_handshake_times_out(void **st)
{
	(void)st;
	play(is_silent, 1);
	assert_string_equal(rig_terms(), "sC");
	assert_int_equal(w.srv[0]->shard[0].stat.failed_conns, 1);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_complete_handshake_connects),
		cmocka_unit_test(a_failed_handshake_is_a_failed_connection),
		cmocka_unit_test(a_missing_handshake_times_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
