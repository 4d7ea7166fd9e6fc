/* disable, enable and shutdown frontend; set maxconn and set rate-limit. */
#include "unit/app/app_rig.h"

static int
setup(void **st)
{
	(void)st;
	rig_open("", "frontend f\n bind \"abns@tacit-unit-f-${UNIT_PID}\"\n"
		     "frontend off\n disabled\n bind \"abns@tacit-unit-off-${UNIT_PID}\"\n"
		     "frontend none\n id 70\n");
	return 0;
}

#define IS(line, want) assert_string_equal(rig_command(line), want)

static void
names_are_checked(void **st)
{
	static const char *const verbs[] = { "disable", "enable", "shutdown" };
	char line[80];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		snprintf(line, sizeof(line), "%s frontend", verbs[i]);
		IS(line, "A frontend name is expected.\n\n");
		snprintf(line, sizeof(line), "%s frontend nof", verbs[i]);
		IS(line, "No such frontend.\n\n");
		assert_string_equal(rig_run(BIND_OPERATOR, line), "Permission denied\n\n");
		snprintf(line, sizeof(line), "%s frontend 70", verbs[i]);
		IS(line, "No such frontend.\n\n");
	}
}

static void
one_can_be_disabled_and_enabled(void **st)
{
	(void)st;
	IS("enable frontend f", "All sockets are already enabled.\n\n");
	IS("disable frontend f", "\n");
	IS("disable frontend f", "All sockets are already disabled.\n\n");
	assert_non_null(strstr(rig_command("show stat f 1 -1"), ",PAUSED,"));
	IS("enable frontend f", "\n");
	assert_non_null(strstr(rig_command("show stat f 1 -1"), ",OPEN,"));
}

static void
one_without_sockets_is_both(void **st)
{
	(void)st;
	IS("disable frontend #70", "All sockets are already disabled.\n\n");
	IS("enable frontend #70", "All sockets are already enabled.\n\n");
}

static void
rules_pass_over_a_backend(void **st)
{
	(void)st;
	IS("unpublish backend", "A backend name is expected.\n\n");
	IS("unpublish backend f", "No such backend.\n\n");
	IS("unpublish backend l", "\n");
	IS("unpublish backend l", "\n");
	IS("publish backend l", "\n");
}

static void
a_shut_down_one_stays_so(void **st)
{
	(void)st;
	IS("get weight l/s", "1 (initial 1)\n\n");
	IS("shutdown frontend l", "\n");
	IS("shutdown frontend l", "Frontend was already shut down.\n\n");
	IS("enable frontend l", "Frontend was previously shut down, cannot enable.\n\n");
	IS("disable frontend l", "Frontend was previously shut down, cannot disable.\n\n");
	assert_non_null(strstr(rig_command("show stat l 1 -1"), ",STOP,"));
	IS("get weight l/s", "1 (initial 1)\n\n");
	IS("set weight l/s 5", "Proxy is disabled.\n\n");
	IS("set server l/s state maint", "Proxy is disabled.\n\n");
	IS("shutdown sessions server l/s", "Proxy is disabled.\n\n");
	IS("enable frontend off", "Frontend was previously shut down, cannot enable.\n\n");
}

static int
has_line(const char *answer, const char *line)
{
	const char *at = strstr(answer, line);

	return at && at > answer && at[-1] == '\n' && at[strlen(line)] == '\n';
}

static void
maxconn_of_a_frontend(void **st)
{
	struct proxy *fe = proxies_find(&cfg.proxies, "l", PROXY_FE);
	int c[3];

	(void)st;
	IS("set maxconn frontend", "A frontend name is expected.\n\n");
	IS("set maxconn frontend nof 1", "No such frontend.\n\n");
	IS("set maxconn frontend l", "Integer value expected.\n\n");
	IS("set maxconn frontend l -1", "Value out of range.\n\n");
	IS("set maxconn frontend l 2147483648", "Value out of range.\n\n");
	assert_int_equal(fe->maxconn, 0);
	IS("set maxconn frontend l 1", "\n");
	for (int i = 0; i < 3; i++)
		c[i] = bench_connect("front");
	bench_turns();
	assert_int_equal(fe->fe_gate.n, 1);
	IS("set maxconn frontend l 2", "\n");
	bench_turns();
	assert_int_equal(fe->fe_gate.n, 2);
	/* 0: nothing is accepted any more, and later everything again */
	IS("set maxconn frontend l 0", "\n");
	for (int i = 0; i < 2; i++)
		close(c[i]);
	for (int i = 0; i < 2; i++)
		close(accept(origin, NULL, NULL));
	bench_turns();
	bench_turns();
	assert_int_equal(fe->fe_gate.n, 0);
	IS("set maxconn frontend l 5", "\n");
	bench_turns();
	assert_int_equal(fe->fe_gate.n, 1);
	close(c[2]);
	close(accept(origin, NULL, NULL));
	bench_turns();
}

static void
maxconn_of_the_process(void **st)
{
	(void)st;
	IS("set maxconn global", "Expects an integer value.\n\n");
	IS("set maxconn global 17", "Value out of range.\n\n");
	IS("set maxconn global 3", "\n");
	assert_true(has_line(rig_command("show info"), "Maxconn: 3"));
	assert_true(has_line(rig_command("show info"), "Hard_maxconn: 16"));
	IS("set maxconn global 0", "\n");
	assert_true(has_line(rig_command("show info"), "Maxconn: 16"));
	IS("set maxconn global 16", "\n");
	IS("set maxconn global -1", "\n");
}

static void
rates_of_the_process(void **st)
{
	const char *usage = "'set rate-limit' only supports :\n";
	struct proxy *fe = proxies_find(&cfg.proxies, "l", PROXY_FE);
	int c[3];

	(void)st;
	IS("set rate-limit connections global", "Expects an integer value.\n\n");
	IS("set rate-limit sessions global -3", "Value out of range.\n\n");
	IS("set rate-limit http-compression global", "Expects an integer value.\n\n");
	IS("set rate-limit http-compression global -1", "Value out of range.\n\n");
	IS("set rate-limit http-compression global 3", "\n");
	assert_int_equal(proc.shared.comp_rate, 3072);
	IS("set rate-limit ssl-sessions global 9", "\n");
	assert_int_equal(proc.shared.tls_limit.max, 9);
	assert_memory_equal(rig_command("set rate-limit"), usage, strlen(usage));
	assert_memory_equal(rig_command("set rate-limit sessions"), usage, strlen(usage));
	assert_memory_equal(rig_command("set rate-limit sessions all 1"), usage, strlen(usage));
	IS("set rate-limit sessions global 7", "\n");
	IS("set rate-limit connections global 2", "\n");
	assert_true(has_line(rig_command("show info"), "ConnRateLimit: 2"));
	assert_true(has_line(rig_command("show info"), "SessRateLimit: 7"));
	for (int i = 0; i < 3; i++)
		c[i] = bench_connect("front");
	bench_turns();
	assert_int_equal(fe->fe_gate.n, 2);
	/* A change is effective at once. */
	IS("set rate-limit connections global 0", "\n");
	bench_turns();
	assert_int_equal(fe->fe_gate.n, 3);
	for (int i = 0; i < 3; i++) {
		close(c[i]);
		close(accept(origin, NULL, NULL));
	}
	bench_turns();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE_SETUP(names_are_checked),
		RIG_CASE_SETUP(one_can_be_disabled_and_enabled),
		RIG_CASE_SETUP(one_without_sockets_is_both),
		RIG_CASE_SETUP(rules_pass_over_a_backend),
		RIG_CASE_SETUP(a_shut_down_one_stays_so),
		RIG_CASE_SETUP(maxconn_of_a_frontend),
		RIG_CASE_SETUP(maxconn_of_the_process),
		RIG_CASE_SETUP(rates_of_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
