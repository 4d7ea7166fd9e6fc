/* Admin commands: splitting of lines, permissions, help, and the commands that concern the
 * connection itself. */
#include "unit/app/admin_rig.h"

/* Every command and the level it needs; a new command needs a line here. */
static const struct {
	const char *words;
	enum bind_level level;
} commands[] = {
	{ "show info", BIND_USER },
	{ "show schema json", BIND_USER },
	{ "show version", BIND_USER },
	{ "show stat", BIND_USER },
	{ "show stats", BIND_USER },
	{ "show servers conn", BIND_USER },
	{ "show sess", BIND_OPERATOR },
	{ "show errors", BIND_OPERATOR },
	{ "show servers state", BIND_USER },
	{ "show backend", BIND_USER },
	{ "clear counters", BIND_OPERATOR },
	{ "show syscalls", BIND_USER },
	{ "show fd", BIND_OPERATOR },
	{ "show pools", BIND_OPERATOR },
	{ "trace", BIND_ADMIN },
	{ "show trace", BIND_OPERATOR },
	{ "enable server", BIND_ADMIN },
	{ "disable server", BIND_ADMIN },
	{ "add server", BIND_ADMIN },
	{ "del server", BIND_ADMIN },
	{ "disable dynamic-cookie backend", BIND_ADMIN },
	{ "enable dynamic-cookie backend", BIND_ADMIN },
	{ "set dynamic-cookie-key backend", BIND_ADMIN },
	{ "get weight", BIND_USER },
	{ "set weight", BIND_ADMIN },
	{ "set server", BIND_ADMIN },
	{ "set maxconn server", BIND_ADMIN },
	{ "enable health", BIND_ADMIN },
	{ "disable health", BIND_ADMIN },
	{ "enable agent", BIND_ADMIN },
	{ "disable agent", BIND_ADMIN },
	{ "show activity", BIND_OPERATOR },
	{ "show resolvers", BIND_USER },
	{ "enable frontend", BIND_ADMIN },
	{ "disable frontend", BIND_ADMIN },
	{ "shutdown frontend", BIND_ADMIN },
	{ "set maxconn frontend", BIND_ADMIN },
	{ "set maxconn global", BIND_ADMIN },
	{ "set rate-limit", BIND_ADMIN },
	{ "shutdown session", BIND_ADMIN },
	{ "shutdown sessions server", BIND_ADMIN },
	{ "show map", BIND_USER },
	{ "show acl", BIND_USER },
	{ "get map", BIND_USER },
	{ "get acl", BIND_USER },
	{ "add map", BIND_ADMIN },
	{ "add acl", BIND_ADMIN },
	{ "set map", BIND_ADMIN },
	{ "del map", BIND_ADMIN },
	{ "del acl", BIND_ADMIN },
	{ "clear map", BIND_ADMIN },
	{ "clear acl", BIND_ADMIN },
	{ "prepare map", BIND_ADMIN },
	{ "prepare acl", BIND_ADMIN },
	{ "commit map", BIND_ADMIN },
	{ "commit acl", BIND_ADMIN },
	{ "set timeout cli", BIND_USER },
	{ "set severity-output", BIND_USER },
	{ "show cli level", BIND_USER },
	{ "operator", BIND_OPERATOR },
	{ "user", BIND_USER },
	{ "help", BIND_USER },
	{ "prompt", BIND_USER },
	{ "quit", BIND_USER },
};

static const struct admin_cmd *const tables[] = {
	admin_session_cmds, admin_info_cmds,  admin_stat_cmds,	admin_sess_cmds,
	admin_kernel_cmds,  admin_trace_cmds, admin_server_cmds,
	admin_activity_cmds, admin_shutdown_cmds, admin_map_cmds, admin_resolve_cmds,
	admin_set_server_cmds, admin_states_cmds, admin_cookie_cmds, admin_frontend_cmds,
	admin_add_server_cmds,
};

static int
setup(void **st)
{
	(void)st;
	rig_open("", "");
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	rig_close();
	return 0;
}

static void
every_command_is_in_the_table_above(void **st)
{
	size_t n = 0;

	(void)st;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (const struct admin_cmd *c = tables[t]; c->words; c++, n++)
			for (size_t u = 0; u < ARRAY_LEN(tables); u++)
				for (const struct admin_cmd *d = tables[u]; d->words; d++)
					assert_true(c == d || strcmp(c->words, d->words) != 0);
	assert_int_equal(n, ARRAY_LEN(commands));
}

static void
levels_are_enforced(void **st)
{
	(void)st;
	for (int level = BIND_USER; level <= BIND_ADMIN; level++)
		for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
			const char *a = rig_run((enum bind_level)level, commands[i].words);
			int denied = strcmp(a, "Permission denied\n\n") == 0;

			if (strstr(a, "Unknown command") ||
				denied != (level < (int)commands[i].level))
				fail_msg("%s at level %d: %s", commands[i].words, level, a);
			if (!rig_conn.prompt)
				rig_check_shape(a);
		}
}

/* True if the help lists this command, whatever its arguments. */
static int
is_listed(const char *help, const char *words)
{
	char line[80];
	size_t len = (size_t)snprintf(line, sizeof(line), "\n  %s", words);

	for (const char *at = help; (at = strstr(at, line)) != NULL; at += len)
		if (at[len] == ' ')
			return 1;
	return 0;
}

static void
help_lists_permitted_commands_only(void **st)
{
	(void)st;
	for (int level = BIND_USER; level <= BIND_ADMIN; level++) {
		unsigned int n = 0;
		char *help = strdup(rig_run((enum bind_level)level, "help"));

		for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
			int allowed = level >= (int)commands[i].level;

			n += (unsigned int)allowed;
			if (is_listed(help, commands[i].words) != allowed)
				fail_msg("%s at level %d", commands[i].words, level);
		}
		assert_int_equal(rig_lines(help), n + 1);
		free(help);
	}
	assert_int_equal(rig_lines(rig_command("help show")), 19 + 1);
	assert_int_equal(rig_lines(rig_run(BIND_USER, "help show")), 13 + 1);
}

static void
an_unknown_command_gets_suggestions(void **st)
{
	const char *a;

	(void)st;
	a = rig_command("show nothing of this");
	assert_non_null(strstr(a, "Unknown command: 'show'"));
	assert_non_null(strstr(a, "\n  show info "));
	assert_null(strstr(a, "\n  quit "));
	rig_check_shape(a);
	/* Only whole words match. */
	assert_non_null(strstr(rig_command("show inf"), "Unknown command"));
	assert_non_null(strstr(rig_command("show infos"), "Unknown command"));
	assert_non_null(strstr(rig_command("SHOW INFO"), "Unknown command"));
	/* A command that is not permitted is not suggested either. */
	assert_null(strstr(rig_run(BIND_USER, "set x"), "set server"));
}

static void
lines_are_split_at_blanks_and_semicolons(void **st)
{
	static const struct {
		const char *line, *answer;
	} t[] = {
		{ "", "" },
		{ "   \t ", "" },
		{ ";", "" },
		{ ";;; ;", "" },
		{ "show cli level", "admin\n\n" },
		{ "  show\tcli   level  ", "admin\n\n" },
		{ "show cli level;", "admin\n\n" },
		{ ";show cli level", "admin\n\n" },
		{ "show cli level;show cli level", "admin\n\nadmin\n\n" },
		{ "show cli level ; ;show cli level", "admin\n\nadmin\n\n" },
		{ "user;show cli level", "\nuser\n\n" },
		{ "operator;show cli level;user;show cli level;operator",
			"\noperator\n\n\nuser\n\nPermission denied\n\n" },
		{ "quit;show cli level", "\n" },
		{ "sh\\ow cli level", "admin\n\n" },
		{ "show\\ cli level", NULL },
		{ "show cli level\\;x", NULL },
		{ "show cli level\\", NULL },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const char *a = rig_command(t[i].line);

		if (t[i].answer ? strcmp(a, t[i].answer) != 0 : !strstr(a, "Unknown command"))
			fail_msg("'%s': '%s'", t[i].line, a);
	}
}

static void
the_number_of_arguments_is_limited(void **st)
{
	char line[1000];
	size_t n = 0;

	(void)st;
	n = (size_t)snprintf(line, sizeof(line), "show cli level");
	for (int i = 3; i < ADMIN_ARGS_MAX; i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, " %d", i);
	assert_string_equal(rig_command(line), "admin\n\n");
	snprintf(line + n, sizeof(line) - n, " x;show cli level");
	assert_string_equal(rig_command(line), "Too many arguments\n\n");
}

static void
prompt_mode_prints_a_prompt_after_each_answer(void **st)
{
	(void)st;
	assert_string_equal(rig_command("prompt"), "\n> ");
	assert_int_equal(rig_conn.prompt, 1);
	assert_string_equal(rig_command("prompt;show cli level"), "\n> admin\n\n> ");
	assert_string_equal(rig_command("prompt;prompt"), "\n> \n");
	assert_string_equal(rig_command("prompt;quit"), "\n> \n");
	assert_int_equal(rig_conn.quit, 1);
}

static void
timeouts_are_checked(void **st)
{
	static const struct {
		const char *arg;
		uint32_t ms; /* 0: refused */
	} t[] = {
		{ "60", 60000 }, { "1", 1000 }, { "50ms", 50 }, { "2m", 120000 }, { "0", 0 },
		{ "-1", 0 }, { "", 0 }, { "x", 0 }, { "10x", 0 }, { "1 2", 0 },
		{ "99999999999999999999", 0 }, { "1e99", 0 }, { "2147483648", 0 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char line[80];
		const char *a;

		snprintf(line, sizeof(line), "set timeout cli %s", t[i].arg);
		a = rig_command(line);
		assert_string_equal(a, t[i].ms ? "\n" : "Invalid timeout value.\n\n");
		assert_int_equal(rig_conn.timeout_ms, t[i].ms ? t[i].ms : 10000);
	}
}

static void
severity_output_prefixes_messages(void **st)
{
	(void)st;
	assert_string_equal(rig_command("set severity-output number;get weight x"),
			    "\n[3]: Require 'backend/server'.\n\n");
	assert_string_equal(rig_command("set severity-output string;get weight x"),
			    "\n[err]: Require 'backend/server'.\n\n");
	assert_string_equal(rig_command("set severity-output string;set severity-output none;"
				    "get weight x"),
			    "\n\nRequire 'backend/server'.\n\n");
	assert_non_null(strstr(rig_command("set severity-output loud"), "required argument"));
	assert_non_null(strstr(rig_command("set severity-output"), "required argument"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_command_is_in_the_table_above),
		CASE(levels_are_enforced),
		CASE(help_lists_permitted_commands_only),
		CASE(an_unknown_command_gets_suggestions),
		CASE(lines_are_split_at_blanks_and_semicolons),
		CASE(the_number_of_arguments_is_limited),
		CASE(prompt_mode_prints_a_prompt_after_each_answer),
		CASE(timeouts_are_checked),
		CASE(severity_output_prefixes_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
