#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/master/master.h"
#include "app/master/master_cli.h"
#include "unit/test.h"

static struct master_cli cli;
static char why[160];

static int
parse(const char *value)
{
	bind_conf_free(&cli.bind);
	why[0] = '\0';
	return master_cli_parse(&cli, value, why, sizeof(why));
}

static void
an_address_and_options(void **st)
{
	(void)st;
	assert_int_equal(parse("/run/m"), 0);
	assert_string_equal(cli.listener.addr.u.un.sun_path, "/run/m");
	assert_int_equal(cli.bind->mode, 0600);
	assert_int_equal(cli.bind->level, BIND_ADMIN);
	assert_int_equal(parse("unix@/run/m,mode,660,uid,7,gid,8,level,operator"), 0);
	assert_int_equal(cli.bind->mode, 0660);
	assert_int_equal(cli.bind->uid, 7);
	assert_int_equal(cli.bind->gid, 8);
	assert_int_equal(cli.bind->level, BIND_OPERATOR);
	assert_int_equal(parse("/run/m,user,root,group,root"), 0);
	assert_int_equal(cli.bind->uid, 0);
	assert_int_equal(parse("127.0.0.1:99"), 0);
	assert_int_equal(addr_port(&cli.listener.addr), 99);
	assert_int_equal(parse("fd@3"), 0);
	assert_int_equal(cli.listener.inherit_fd, 3);
	bind_conf_free(&cli.bind);
}

static void
what_is_refused(void **st)
{
	static const char *const t[][2] = {
		{ "", "" }, { "192.0.2.1:99", "loopback" }, { "127.0.0.1", "port" },
		{ "/m,mode,8", "'8'" }, { "/m,mode,0", "mode" }, { "/m,mode,7x", "mode" },
		{ "/m,uid,x", "uid" }, { "/m,gid,", "gid" }, { "/m,user,nobody at all", "user" },
		{ "/m,group,nobody at all", "group" }, { "/m,level,root", "level" },
		{ "/m,level", "level" }, { "/m,ssl,crt,x", "'ssl' is not supported" },
	};
	char much[2000];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_true(parse(t[i][0]) < 0);
		assert_non_null(strstr(why, t[i][1]));
	}
	memset(much, 'x', sizeof(much) - 1);
	much[0] = '/';
	much[sizeof(much) - 1] = '\0';
	assert_true(parse(much) < 0);
	bind_conf_free(&cli.bind);
}

/* Answers of a master that has no processes. */
static void
lines_have_commands(void **st)
{
	static const struct { const char *line; int prompt; const char *answer; } t[] = {
		{ "", 0, "" },
		{ " ; ;", 0, "" },
		{ "show cli level", 0, "operator\n\n" },
		{ "  show\tcli  level ; @ ; @master show cli level", 0,
			"operator\n\n\noperator\n\n" },
		{ "user;show cli level", 0, "\nuser\n\n" },
		{ "user;reload", 0, "\nPermission denied\n\n" },
		{ "reload", 0, "Success=0\n--\nThe master is starting or stopping.\n\n" },
		{ "prompt", 0, "\nmaster> " },
		{ "prompt", 1, "\n" },
		{ "", 1, "master> " },
		{ "@1 show info", 0,
			"Can't find the target PID matching the prefix '@1'\n\n" },
		{ "@", 1, "\nmaster> " },
		{ "@!4000000000 x;@x y;@-1;@1x z;@!;show cli level", 0,
			"Can't find the target PID matching the prefix '@!4000000000'\n\n"
			"Can't find the target PID matching the prefix '@x'\n\n"
			"Can't find the target PID matching the prefix '@-1'\n\n"
			"Can't find the target PID matching the prefix '@1x'\n\n"
			"Can't find the target PID matching the prefix '@!'\n\noperator\n\n" },
		{ "show cli level;quit;show cli level", 1, "operator\n\n" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct master m = { .state = MASTER_STOPPING };
		struct master_conn c = { .master = &m, .prompt = t[i].prompt,
			.level = BIND_OPERATOR };
		char line[100];

		sbuf_init(&c.out, 0);
		snprintf(line, sizeof(line), "%s", t[i].line);
		list_init(&m.workers);
		master_cli_begin(&c, line, NULL);
		master_cli_go_on(&c);
		assert_null(c.at);
		assert_string_equal(c.out.p ? c.out.p : "", t[i].answer);
		sbuf_fini(&c.out);
	}
}

/* Half-closed it still reads. */
static void
a_client_that_left_is_noticed(void **st)
{
	struct master m = { .state = MASTER_STOPPING };
	struct master_conn c = { .master = &m };
	struct sys sys;
	int ends[2];

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	m.sys = &sys;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	c.conn.fd = ends[0];
	assert_true(master_cli_has_client(&c));
	assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
	assert_true(master_cli_has_client(&c));
	assert_int_equal(close(ends[1]), 0);
	assert_false(master_cli_has_client(&c));
	assert_int_equal(close(ends[0]), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_and_options),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(lines_have_commands),
		cmocka_unit_test(a_client_that_left_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
