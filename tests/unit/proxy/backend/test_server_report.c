/* Messages about servers whose state changes; the texts are those of HAProxy 2.6 (observed). */
#define CONFIG WORLD_DEFAULTS \
	"backend b\n server s 127.0.0.1:1\n server t 127.0.0.1:1\n"                \
	"backend one\n server x 127.0.0.1:1\n server y 127.0.0.1:1 backup\n"       \
	"backend out\n server z 127.0.0.1:1 disabled\n"                            \
	"listen both\n bind :1\n server q 127.0.0.1:1\n"

#include "proxy/backend/server_state.h"
#include "unit/proxy/proxies_rig.h"

static struct state_rig rig;

static int
setup(void **st)
{
	(void)st;
	state_rig_open(&rig, CONFIG);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	state_rig_close(&rig);
	return 0;
}

/* weight: -1 keeps it. */
static void
change(const char *be, const char *name, unsigned int forced, int weight)
{
	struct server *s = state_rig_server(&rig, be, name);

	server_set_forced(&rig.engine, s, forced);
	if (weight >= 0)
		assert_int_equal(server_set_weight(&rig.engine, s, weight), 0);
}

#define DOWN(sv, left, rest)                                                          \
	"Server " sv " is going DOWN for maintenance. " left " servers left." rest        \
	" 0 sessions active, 0 requeued, 0 remaining in queue."

static void
every_change_is_logged_once(void **st)
{
	static const struct {
		const char *be, *name;
		unsigned int admin;
		int weight;
		const char *log;
	} t[] = {
		{ "b", "s", SERVER_MAINT_FORCED, -1,
			"<1>" DOWN("b/s", "1 active and 0 backup", "") },
		{ "b", "s", SERVER_MAINT_FORCED, -1, "" },
		{ "b", "s", SERVER_READY, -1,
			"<5>Server b/s is UP/READY (leaving forced maintenance)." },
		{ "b", "s", SERVER_READY, -1, "" },
		{ "b", "s", SERVER_DRAIN_FORCED, -1,
			"<5>Server b/s enters drain state. 1 active and 0 backup servers online. "
			"0 sessions requeued, 0 total in queue." },
		{ "b", "s", SERVER_READY, -1, "<5>Server b/s is UP (leaving forced drain)." },
		{ "b", "s", SERVER_MAINT_FORCED, -1,
			"<1>" DOWN("b/s", "1 active and 0 backup", "") },
		{ "b", "s", SERVER_DRAIN_FORCED, -1,
			"<5>Server b/s is UP/DRAIN (leaving forced maintenance).|"
			"<5>Server b/s remains in forced drain mode." },
		{ "b", "s", SERVER_DRAIN_FORCED, 0, "" },
		{ "b", "s", SERVER_DRAIN_FORCED, 10,
			"<5>Server b/s remains in forced drain mode." },
		{ "b", "s", SERVER_MAINT_FORCED, -1,
			"<5>" DOWN("b/s", "1 active and 0 backup", "") },
		{ "b", "t", SERVER_MAINT_FORCED, -1,
			"<1>" DOWN("b/t", "0 active and 0 backup",
				"") "|<0>backend b has no server available!" },
		{ "b", "t", SERVER_READY, -1,
			"<5>Server b/t is UP/READY (leaving forced maintenance)." },
		{ "b", "t", SERVER_READY, 0, "<0>backend b has no server available!" },
		{ "one", "x", SERVER_MAINT_FORCED, -1,
			"<1>" DOWN("one/x", "0 active and 1 backup", " Running on backup.") },
		{ "one", "y", SERVER_MAINT_FORCED, -1,
			"<1>Backup " DOWN("one/y", "0 active and 0 backup",
				"") "|<0>backend one has no server available!" },
		{ "one", "y", SERVER_READY, -1,
			"<5>Backup Server one/y is UP/READY (leaving forced maintenance)." },
		{ "both", "q", SERVER_MAINT_FORCED, -1,
			"<1>" DOWN("both/q", "0 active and 0 backup",
				"") "|<0>proxy both has no server available!" },
		{ "out", "z", SERVER_READY, -1,
			"<5>Server out/z is UP/READY (leaving forced maintenance)." },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		change(t[i].be, t[i].name, t[i].admin, t[i].weight);
		assert_string_equal(state_rig_logged(&rig), t[i].log);
	}
}

/* They are also printed on the terminal, with the backend's name in quotes. */
static void
every_change_is_printed(void **st)
{
	(void)st;
	change("b", "s", SERVER_MAINT_FORCED, -1);
	change("b", "t", SERVER_MAINT_FORCED, -1);
	change("b", "s", SERVER_READY, -1);
	assert_string_equal(rig.noticed, DOWN("b/s", "1 active and 0 backup", "") "\n"
		DOWN("b/t", "0 active and 0 backup", "") "\n"
		"! backend 'b' has no server available!\n"
		"Server b/s is UP/READY (leaving forced maintenance).\n");
	rig.engine.hooks.on_notice = NULL;
	change("b", "s", SERVER_MAINT_FORCED, -1);
	change("b", "s", SERVER_MAINT_FORCED, -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_change_is_logged_once),
		CASE(every_change_is_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
