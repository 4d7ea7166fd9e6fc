/* wait, on the admin socket. */
#include "proxy/model/proxies.h"
#include "unit/app/app_rig.h"

static struct server *
server_one(void)
{
	const struct proxy *be = proxies_find(&proc.cfg->proxies, "origins", PROXY_BE);

	assert_non_null(be);
	return list_first(&be->servers, struct server, link);
}

static int
setup(void **st)
{
	(void)st;
	rig_open("", "backend origins\n mode tcp\n server one 127.0.0.1:1\n"
		" server two 127.0.0.1:2 disabled\nfrontend only\n mode http\n"
		" bind \"abns@tacit-unit-only-${UNIT_PID}\"\n log 127.0.0.1:1 local0\n");
	return 0;
}

/* Ask a server of any kind, or a counter, and compare. */
static const struct {
	const char *line, *answer;
} wrong[] = {
	{ "server", "'server' expects <backend>/<server> and 'state', 'cur', 'queue' or 'idle'." },
	{ "server origins/one cur",
		"'server origins/one cur' expects a comparison such as 'eq 0'." },
	{ "server none/one cur eq 0", "No such backend." },
	{ "server origins/x cur eq 0", "No such server." },
	{ "server origins/one size eq 0",
		"Unknown value 'size' of a server: it may be 'state', 'cur', 'queue' or 'idle'." },
	{ "server origins/one cur = 0",
		"Unknown comparison '=': it may be 'eq', 'ne', 'lt', 'le', 'gt' or 'ge'." },
	{ "server origins/one cur eq", "'server origins/one cur eq' expects a value." },
	{ "server origins/one cur eq 0 1", "Unexpected word '1' behind the condition." },
	{ "server origins/one state ge UP",
		"A text can be compared with 'eq' or 'ne', not with 'ge'." },
	{ "server origins/one state eq up",
		"Unknown state 'up': it may be 'UP', 'DOWN', 'MAINT', 'DRAIN' or 'NOLB'." },
	{ "counter",
		"'counter' expects a field of 'show info', <proxy>/<column> or "
		"<backend>/<server>/<column>." },
	{ "counter Curconns eq 0",
		"'show info' has no field 'Curconns'; did you mean 'CurrConns'?" },
	{ "counter nonsense eq 0", "'show info' has no field 'nonsense'." },
	{ "counter CurrConns eq none", NULL },
	{ "counter l/stot ge 1",
		"'l' is a frontend and a backend: expects l/FRONTEND/<column> or "
		"l/BACKEND/<column>." },
	{ "counter origins/FRONTEND/stot ge 1", "No such frontend." },
	{ "counter only/BACKEND/stot ge 1", "No such backend." },
	{ "counter x/stot ge 1", "No such proxy." },
	{ "counter only/stotal ge 1", "'show stat' has no column 'stotal'; did you mean 'stot'?" },
	{ "counter only/econ eq 0", "'counter only/econ' has no value." },
	{ "counter origins/nobody/stot ge 1", "No such server." },
	{ "sessions eq -", NULL },
	{ "sessions x eq 0",
		"Unknown filter 'x': it may be frontend/<name>, backend/<name>, "
		"server/<backend>/<server>, state/<state> or id/<session>." },
	{ "sessions frontend/origins", "No such frontend: 'origins'." },
	{ "sessions backend/only", "No such backend: 'only'." },
	{ "sessions server/origins/x", "No such server." },
	{ "sessions state/relay", "Unknown state 'relay': expects one that 'show sess' shows." },
	{ "sessions id/x", "Invalid session 'x': expects an identifier such as 0x1f." },
	{ "idle now", "Unexpected word 'now' behind the condition." },
};

static void
a_wrong_condition_is_named(void **st)
{
	char line[200], answer[300];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		snprintf(line, sizeof(line), "wait 1d %s", wrong[i].line);
		if (!wrong[i].answer) {
			rig_check_start(rig_command(line), "Invalid number: '");
			continue;
		}
		snprintf(answer, sizeof(answer), "%s\n\n", wrong[i].answer);
		assert_string_equal(rig_command(line), answer);
	}
}

/* Each is met at once. */
static void
a_condition_that_is_true_ends_it(void **st)
{
	static const char *const t[] = {
		"server origins/one state eq UP",
		"server origins/two state eq MAINT",
		"server origins/two state ne UP",
		"server origins/one cur eq 0",
		"server origins/one queue le 0",
		"server origins/one idle lt 1",
		"counter CurrConns eq 0",
		"counter Name eq HAProxy",
		"counter Name ne tacit",
		"counter Maxconn ge 1",
		"counter only/stot eq 0",
		"counter origins/econ eq 0",
		"counter l/FRONTEND/scur eq 0",
		"counter l/BACKEND/scur gt -1",
		"counter origins/one/stot eq 0",
		"counter origins/one/weight ne 0",
		"counter only/status eq OPEN",
		"sessions",
		"sessions eq 0",
		"sessions frontend/only",
		"sessions backend/origins lt 1",
		"sessions server/origins/one",
		"sessions frontend/only backend/origins",
		"sessions state/RELAY",
		"sessions id/0x1",
	};
	char line[200];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		snprintf(line, sizeof(line), "wait 1d %s", t[i]);
		assert_string_equal(rig_command(line), "Done.\n\n");
	}
}

/* The message names what was seen. */
static void
one_that_stays_false_ends_with_the_delay(void **st)
{
	static const struct {
		const char *line, *seen;
	} t[] = {
		{ "server origins/one state eq DOWN",
			"server origins/one state is 'UP', expected eq DOWN" },
		{ "server origins/one cur ge 1", "server origins/one cur is 0, expected ge 1" },
		{ "server origins/one queue gt 0", "server origins/one queue is 0, expected gt 0" },
		{ "counter CurrConns eq -1", "counter CurrConns is 0, expected eq -1" },
		{ "counter origins/one/check_status eq L4OK",
			"counter origins/one/check_status is not known, expected eq L4OK" },
		{ "sessions ge 2", "sessions is 0, expected ge 2" },
		{ "sessions state/QUEUE ge 2", "sessions state/QUEUE is 0, expected ge 2" },
	};
	char line[200], answer[300];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		uint64_t from = loop_now_ms(w->loop);

		snprintf(line, sizeof(line), "wait 12 %s", t[i].line);
		snprintf(answer, sizeof(answer), "Wait delay expired: %s.\n\n", t[i].seen);
		assert_string_equal(rig_command(line), answer);
		assert_true(loop_now_ms(w->loop) >= from + 12);
	}
}

/* Turns until this many sessions are in RELAY. */
static void
relay_one(int *client, int *server)
{
	*client = bench_connect("front");
	assert_true(*client >= 0);
	assert_string_equal(rig_command("wait 1d sessions state/RELAY ge 1"), "Done.\n\n");
	*server = accept(origin, NULL, NULL);
	assert_true(*server >= 0);
}

static void
sessions_are_counted(void **st)
{
	char line[100];
	int client, server;
	unsigned long long id;

	(void)st;
	relay_one(&client, &server);
	assert_int_equal(sscanf(rig_command("show sess"), "0x%llx", &id), 1);
	assert_string_equal(rig_command("wait 0 sessions eq 1"), "Done.\n\n");
	assert_string_equal(rig_command("wait 0 sessions server/l/s backend/l frontend/l eq 1"),
		"Done.\n\n");
	assert_string_equal(rig_command("wait 0 sessions frontend/only state/RELAY ge 1"),
		"Wait delay expired: sessions frontend/only state/RELAY is 0, expected ge 1.\n\n");
	snprintf(line, sizeof(line), "wait 0 sessions id/0x%llx ge 1", id);
	assert_string_equal(rig_command(line), "Done.\n\n");
	close(client);
	close(server);
	snprintf(line, sizeof(line), "wait 1d sessions id/0x%llx", id);
	assert_string_equal(rig_command(line), "Done.\n\n");
	assert_string_equal(rig_command("wait 1d sessions"), "Done.\n\n");
}

/* All that had reached the socket of a session is relayed, and its end is counted, once the worker
 * is idle. Without that the loop would have had no turn for it. */
static void
an_idle_worker_has_nothing_left_to_do(void **st)
{
	char got[8];
	int client, server;

	(void)st;
	relay_one(&client, &server);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(send(client, "hello", 5, 0), 5);
		assert_string_equal(rig_command("wait 1d idle"), "Done.\n\n");
		assert_int_equal(recv(server, got, sizeof(got), MSG_DONTWAIT), 5);
	}
	close(client);
	close(server);
	assert_string_equal(rig_command("wait 1d idle"), "Done.\n\n");
	assert_string_equal(rig_command("wait 0 counter l/BACKEND/stot eq 1"), "Done.\n\n");
	assert_string_equal(rig_command("wait 0 sessions"), "Done.\n\n");
}

/* A server that is deleted meanwhile. */
static void
a_server_that_is_gone_ends_it(void **st)
{
	(void)st;
	assert_string_equal(rig_command("del server origins/two"), "Server deleted.\n\n");
	assert_string_equal(rig_command("wait 1d server origins/two cur ge 1"),
		"No such server.\n\n");
}

static void
words(void **st)
{
	static const struct {
		const char *line, *answer;
	} t[] = {
		{ "wait x",
			"Invalid delay: 'x' is not a time (a number and one of us, ms, s, m, h, d "
			"expected)\n\n" },
		{ "wait 1 other",
			"Unknown condition 'other': it may be 'counter', 'idle', 'server', "
			"'sessions' or 'srv-removable'.\n\n" },
		{ "wait 1 srv-removable", "'srv-removable' expects <backend>/<server>.\n\n" },
		{ "wait 1 srv-removable a b",
			"'srv-removable' expects <backend>/<server>.\n\n" },
		{ "wait 1s srv-removable origins/none", "No such server.\n\n" },
		{ "wait 1s srv-removable none/one", "No such backend.\n\n" },
		{ "wait 1s srv-removable origins/one",
			"Only servers in maintenance mode can be deleted.\n\n" },
		{ "wait 0", "\n" },
	};

	static const char *const usage[] = { "wait", "wait -h", "wait 1s -h" };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		assert_string_equal(rig_command(t[i].line), t[i].answer);
	for (size_t i = 0; i < ARRAY_LEN(usage); i++)
		assert_memory_equal(rig_command(usage[i]), "Usage: wait ", 12);
}

/* The commands of a line run in their order, the later ones after the delay. */
static void
the_next_command_comes_later(void **st)
{
	uint64_t from = loop_now_ms(w->loop);

	(void)st;
	assert_string_equal(rig_command("get weight origins/one;wait 20ms;get weight origins/two"),
		"1 (initial 1)\n\n\n1 (initial 1)\n\n");
	assert_true(loop_now_ms(w->loop) >= from + 20);
	assert_int_equal(rig_conn.wake_ms, 0);
}

/* A server that is in use may become free; one that is free need not be waited for. */
static void
until_a_server_can_be_removed(void **st)
{
	struct server *s = server_one();
	uint64_t from;

	(void)st;
	assert_string_equal(rig_command("disable server origins/one"), "\n");
	s->cur = 1;
	from = loop_now_ms(w->loop);
	assert_string_equal(rig_command("wait 60 srv-removable origins/one"),
		"Wait delay expired.\n\n");
	assert_true(loop_now_ms(w->loop) >= from + 60);
	s->cur = 0;
	assert_string_equal(rig_command("wait 1d srv-removable origins/one"), "Done.\n\n");
	assert_string_equal(rig_command("del server origins/one"), "Server deleted.\n\n");
	assert_string_equal(rig_command("wait 1d srv-removable origins/one"),
		"No such server.\n\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE_SETUP(words),
		RIG_CASE_SETUP(the_next_command_comes_later),
		RIG_CASE_SETUP(until_a_server_can_be_removed),
		RIG_CASE_SETUP(a_wrong_condition_is_named),
		RIG_CASE_SETUP(a_condition_that_is_true_ends_it),
		RIG_CASE_SETUP(one_that_stays_false_ends_with_the_delay),
		RIG_CASE_SETUP(sessions_are_counted),
		RIG_CASE_SETUP(an_idle_worker_has_nothing_left_to_do),
		RIG_CASE_SETUP(a_server_that_is_gone_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
