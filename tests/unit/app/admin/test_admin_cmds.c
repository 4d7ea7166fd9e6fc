/* Admin commands: splitting of lines, permissions, help, and the commands that concern the
 * connection itself. */
#include "unit/app/app_rig.h"

/* The next command after cmd that is supported; NULL: the first. */
static const struct admin_cmd *
next_cmd(const struct admin_cmd *cmd)
{
	cmd = cmd ? cmd + 1 : admin_cmds;
	while (cmd->words && !cmd->run)
		cmd++;
	return cmd->words ? cmd : NULL;
}

#define each_cmd(c) (const struct admin_cmd *c = next_cmd(NULL); c; c = next_cmd(c))

static void
the_table_is_sorted_and_complete(void **st)
{
	(void)st;
	for (const struct admin_cmd *c = admin_cmds; c->words; c++) {
		const struct admin_cmd *next = c + 1;

		if (!*c->help || strchr(c->words, '\n') || strchr(c->help, '\n') ||
			c->words[strlen(c->words) - 1] == ' ')
			fail_msg("%s: %s", c->words, c->help);
		if (next->words && !c->run == !next->run && strcmp(c->words, next->words) >= 0)
			fail_msg("%s follows %s", next->words, c->words);
		/* No command hides another one. */
		for (const struct admin_cmd *d = admin_cmds; d->words; d++)
			assert_true(c == d || strcmp(c->words, d->words) != 0);
	}
}

static void
levels_are_enforced(void **st)
{
	(void)st;
	for each_cmd (c)
		for (int level = BIND_USER; level <= BIND_ADMIN; level++) {
			const char *a = rig_run((enum bind_level)level, c->words);
			int denied = strcmp(a, "Permission denied\n\n") == 0;
			int wants_mode = c->mode > ADMIN_MODE_HIDDEN;

			if (wants_mode && !strstr(a, "This command is restricted to "))
				fail_msg("%s without its mode: %s", c->words, a);
			if (strstr(a, "Unknown command") || strstr(a, "not supported") ||
				(!wants_mode && denied != (level < (int)c->level)))
				fail_msg("%s at level %d: %s", c->words, level, a);
			if (!rig_conn.prompt && !rig_conn.quit)
				rig_check_shape(a);
		}
}

/* True if it ends or blocks this program where it is permitted. */
static int
is_fatal(const struct admin_cmd *c)
{
	return strncmp(c->words, "debug dev ", strlen("debug dev ")) == 0;
}

/* With the mode that it needs. */
static void
levels_are_enforced_in_other_modes_too(void **st)
{
	(void)st;
	for each_cmd (c)
		for (int level = BIND_USER; level <= BIND_ADMIN; level++) {
			char line[80];
			const char *a;

			if (is_fatal(c) && level >= (int)c->level)
				continue;
			snprintf(line, sizeof(line), "%s", c->words);
			(void)rig_run((enum bind_level)level, "");
			rig_conn.modes = 1u << ADMIN_MODE_EXPERT | 1u << ADMIN_MODE_EXPERIMENTAL;
			a = rig_run_line(line, NULL);
			if ((strcmp(a, "Permission denied\n\n") == 0) != (level < (int)c->level))
				fail_msg("%s at level %d: %s", c->words, level, a);
		}
}

static void
commands_without_support_say_why(void **st)
{
	unsigned int n = 0;
	char want[200];

	(void)st;
	for (const struct admin_cmd *c = admin_cmds; c->words; c++) {
		if (c->run)
			continue;
		snprintf(want, sizeof(want), "'%s' is not supported: %s.\n\n", c->words, c->help);
		assert_string_equal(rig_command(c->words), want);
		assert_null(strstr(rig_command("help"), c->words));
		n++;
	}
	assert_true(n > 5);
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

		for each_cmd (c) {
			int shown = c->mode == ADMIN_MODE_NONE && level >= (int)c->level;

			n += (unsigned int)shown;
			if (is_listed(help, c->words) != shown)
				fail_msg("%s at level %d", c->words, level);
		}
		assert_int_equal(rig_lines(help), n + 1);
		free(help);
	}
}

static void
help_takes_the_start_of_a_command(void **st)
{
	static const char dialogue[] =
		"  help [<command>]                        : list matching or all commands\n"
		"  prompt                                  : toggle interactive mode with prompt\n"
		"  quit                                    : disconnect\n\n";
	char want[1000];

	(void)st;
	snprintf(want, sizeof(want),
		"The following commands are valid at this level:\n"
		"  show servers conn [<backend>]           : dump server connections status (all "
		"or for a single backend)\n"
		"  show servers state [<backend>]          : dump volatile server information (all "
		"or for a single backend)\n%s",
		dialogue);
	assert_string_equal(rig_command("help show servers"), want);
	snprintf(want, sizeof(want), "The following commands are valid at this level:\n%s",
		 dialogue);
	assert_string_equal(rig_command("help no such command"), want);
	assert_string_equal(rig_run(BIND_USER, "help enable server"), want);
}

static void
an_unknown_command_gets_suggestions(void **st)
{
	const char *a;

	(void)st;
	a = rig_command("show nothing of this");
	rig_check_start(a, "Unknown command, but maybe one of the following ones is a better "
			   "match:\n");
	assert_non_null(strstr(a, "\n  show info "));
	assert_null(strstr(a, "\n  user "));
	assert_non_null(strstr(a, "\n  quit "));
	rig_check_shape(a);
	/* Only whole words match. */
	assert_non_null(strstr(rig_command("show inf"), "Unknown command"));
	assert_non_null(strstr(rig_command("show infos"), "Unknown command"));
	assert_non_null(strstr(rig_command("SHOW INFO"), "Unknown command"));
	/* A command that is not permitted is not suggested either. */
	assert_null(strstr(rig_run(BIND_USER, "set x"), "set server"));
	rig_check_start(rig_command("nothing like that"),
		"Unknown command. Please enter one of the following commands only:\n  "
		"abort ssl ca-file ");
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
		{ "quit;show cli level", "" },
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
	assert_string_equal(rig_command("prompt;quit"), "\n> ");
	assert_int_equal(rig_conn.quit, 1);
}

static void
timeouts_are_checked(void **st)
{
	static const struct {
		const char *arg;
		uint32_t ms;          /* 0: refused */
		const char *answer;
	} t[] = {
		{ "cli 60", 60000, "" }, { "cli 1", 1000, "" }, { "cli 50ms", 50, "" },
		{ "cli 2m", 120000, "" }, { "cli 0", 0, "Invalid timeout value.\n" },
		{ "cli -1", 0, "Invalid timeout value.\n" },
		{ "cli x", 0, "Invalid timeout value.\n" },
		{ "cli 10x", 0, "Invalid timeout value.\n" },
		{ "cli 1 2", 0, "Invalid timeout value.\n" },
		{ "cli 99999999999999999999", 0, "Invalid timeout value.\n" },
		{ "cli 1e99", 0, "Invalid timeout value.\n" },
		{ "cli 2147483648", 0, "Invalid timeout value.\n" },
		{ "cli", 0, "Expects an integer value.\n" },
		{ "", 0, "'set timeout' only supports 'cli'.\n" },
		{ "10", 0, "'set timeout' only supports 'cli'.\n" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char line[80], want[80];
		const char *a;

		snprintf(line, sizeof(line), "set timeout %s", t[i].arg);
		snprintf(want, sizeof(want), "%s\n", t[i].answer);
		a = rig_command(line);
		assert_string_equal(a, want);
		assert_int_equal(rig_conn.timeout_ms, t[i].ms ? t[i].ms : 10000);
	}
}

static void
modes_last_until_the_level_is_lowered(void **st)
{
	(void)st;
	assert_string_equal(rig_command("expert-mode"), "expert-mode is OFF\n\n");
	assert_string_equal(rig_command("expert-mode on;expert-mode;experimental-mode"),
			    "\nexpert-mode is ON\n\nexperimental-mode is OFF\n\n");
	assert_string_equal(rig_command("experimental-mode on;experimental-mode;"
				    "experimental-mode off;experimental-mode"),
			    "\nexperimental-mode is ON\n\n\nexperimental-mode is OFF\n\n");
	assert_string_equal(rig_command("expert-mode x;expert-mode"), "\nexpert-mode is OFF\n\n");
	(void)rig_command("expert-mode on;experimental-mode on");
	assert_int_equal(rig_conn.modes,
		1u << ADMIN_MODE_EXPERT | 1u << ADMIN_MODE_EXPERIMENTAL);
	(void)rig_command("expert-mode on;experimental-mode on;operator");
	assert_int_equal(rig_conn.modes, 0);
	(void)rig_command("expert-mode on;user");
	assert_int_equal(rig_conn.modes, 0);
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
	assert_string_equal(rig_command("set severity-output number;show cli level"),
			    "\n[6]: admin\n\n");
	assert_non_null(strstr(rig_command("set severity-output loud"), "required argument"));
	assert_non_null(strstr(rig_command("set severity-output"), "required argument"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(the_table_is_sorted_and_complete),
		RIG_CASE(levels_are_enforced),
		RIG_CASE(levels_are_enforced_in_other_modes_too),
		RIG_CASE(commands_without_support_say_why),
		RIG_CASE(help_lists_permitted_commands_only),
		RIG_CASE(help_takes_the_start_of_a_command),
		RIG_CASE(an_unknown_command_gets_suggestions),
		RIG_CASE(lines_are_split_at_blanks_and_semicolons),
		RIG_CASE(the_number_of_arguments_is_limited),
		RIG_CASE(prompt_mode_prints_a_prompt_after_each_answer),
		RIG_CASE(timeouts_are_checked),
		RIG_CASE(modes_last_until_the_level_is_lowered),
		RIG_CASE(severity_output_prefixes_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
