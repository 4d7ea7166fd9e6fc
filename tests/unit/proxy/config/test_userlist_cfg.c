#include "unit/proxy/proxies_rig.h"

#define HASH "$1$abcdefgh$JwUHHj6d3iZojViDCToRQ."

static const struct world_line lines[] = {
	{ "user a insecure-password x", NULL },
	{ "user a password " HASH, NULL },
	{ "user a password " HASH " groups G", NULL },
	{ "user a groups G,H password " HASH, NULL },
	{ "group K", NULL },
	{ "group K users b", NULL },
	{ "user a password", "'password' expects a password" },
	{ "user a insecure-password", "'insecure-password' expects a password" },
	{ "user a insecure-password x password " HASH, "only one password is allowed" },
	{ "user a password $9$x$y",
		"t.cfg:9:18] : user 'a' : no password can match this hash: it is no hash" },
	{ "user a password elgato", "no password can match this hash: it is not whole" },
	{ "user a password $6$x", "no password can match this hash: it is not whole" },
	{ "user a", "user 'a' has no password and cannot be authenticated" },
	{ "user b insecure-password x", "t.cfg:9:7] : user 'b' already exists in userlist 'L'" },
	{ "user ''", "'user' expects <name>" },
	{ "user '' x", "'user' expects a name" },
	{ "user", "'user' expects <name>" },
	{ "user a foo", "only supports 'password'" },
	{ "user a insecure-password x groups", "expects names separated by commas" },
	{ "user a insecure-password x groups X",
		"t.cfg:9:36] : userlist 'L': no such group 'X' specified in user 'a'" },
	{ "user a insecure-password x groups G,,H", "contains an empty name" },
	{ "user a insecure-password x groups G,", "contains an empty name" },
	{ "group G", "t.cfg:9:8] : group 'G' already exists in userlist 'L'" },
	{ "group '' users b", "'group' expects a name" },
	{ "group K users", "expects names separated by commas" },
	{ "group K user b", "'group' only supports 'users'" },
	{ "group K users b c", "unexpected argument 'c'" },
	{ "group K users b,z",
		"t.cfg:9:16] : userlist 'L': no such user 'z' specified in group 'K'" },
	{ "bind :80", "'bind'" },
};

static void
lines_load_or_are_refused(void **state)
{
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		char text[2048];

		(void)snprintf(text, sizeof(text),
			WORLD_DEFAULTS "userlist L\n group G\n group H\n"
				       " user b insecure-password y\n %s\n",
			lines[i].line);
		world_load(&w, text);
		if (lines[i].error ? !strstr(w.printed, lines[i].error)
				   : w.result != 0 || w.printed[0])
			fail_msg("%s\n=> %d\n%s\nexpected: %s", text, w.result, w.printed,
				lines[i].error ? lines[i].error : "to load");
		/* A user without a password causes a warning. */
		if (lines[i].error)
			assert_int_equal(w.result, strcmp(lines[i].line, "user a") == 0 ? 0 : -1);
		world_fini(&w);
	}
}

static void
test_sections(void **state)
{
	(void)state;
	world_reports("userlist L\nuserlist L\n", -1, "userlist 'L' already exists");
	world_reports("userlist\n", -1, "'userlist'");
	world_reports(WORLD_DEFAULTS "listen l\n bind :80\n user a\n", -1, "'userlist'");
}

/* Groups may be defined after their members. */
static void
test_membership(void **state)
{
	struct world w;
	const struct user *u;

	(void)state;
	world_good(&w, "userlist L\n user a insecure-password x groups G\n group H users b,a\n"
		       " user b insecure-password 'y z' groups G,H\n group G\n");
	u = userlist_admit(userlists_find(&w.proxies.userlists, "L"), STR("a"), STR("x"));
	assert_non_null(u);
	assert_int_equal(u->n_groups, 2);
	u = userlist_admit(userlists_find(&w.proxies.userlists, "L"), STR("b"), STR("y z"));
	assert_non_null(u);
	assert_int_equal(u->n_groups, 2);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_membership),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
