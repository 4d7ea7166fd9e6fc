/* disable, enable and shutdown frontend. */
#include "unit/app/admin_rig.h"

static int
setup(void **st)
{
	(void)st;
	rig_open("", "frontend f\n bind abns@tacit-unit-f\n"
		     "frontend off\n disabled\n bind abns@tacit-unit-off\n"
		     "frontend none\n id 70\n");
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	rig_close();
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(names_are_checked),
		CASE(one_can_be_disabled_and_enabled),
		CASE(one_without_sockets_is_both),
		CASE(a_shut_down_one_stays_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
