/* Lines into commands: splitting, looking up, permissions, and the commands about the dialogue
 * itself. */
#include <string.h>
#include <strings.h>

#include "app/admin/admin_int.h"
#include "cfg/value.h"

static const struct admin_cmd *const tables[] = {
	admin_info_cmds, admin_stat_cmds, admin_sess_cmds,  admin_kernel_cmds,
	admin_activity_cmds, admin_trace_cmds, admin_server_cmds, admin_set_server_cmds,
	admin_map_cmds, admin_add_server_cmds, admin_resolve_cmds, admin_states_cmds,
	admin_cookie_cmds,
	admin_frontend_cmds, admin_shutdown_cmds, admin_session_cmds,
};

/* Number of words of the command at the start of argv, 0: none. */
static int
cmd_matches(const struct admin_cmd *cmd, int argc, char **argv)
{
	const char *w = cmd->words;
	int n = 0;

	while (*w) {
		size_t len = strcspn(w, " ");

		if (n >= argc || strlen(argv[n]) != len || strncmp(argv[n], w, len) != 0)
			return 0;
		n++;
		w += len;
		w += strspn(w, " ");
	}
	return n;
}

/* The longest command that matches, so that "show stat" does not hide "show stat x". */
static const struct admin_cmd *
find_cmd(int argc, char **argv, int *words)
{
	const struct admin_cmd *best = NULL;

	*words = 0;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (const struct admin_cmd *c = tables[t]; c->words; c++) {
			int n = cmd_matches(c, argc, argv);

			if (n > *words) {
				*words = n;
				best = c;
			}
		}
	return best;
}

static void
list_commands(struct admin_conn *c, const char *prefix)
{
	size_t len = prefix ? strlen(prefix) : 0;

	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (const struct admin_cmd *cmd = tables[t]; cmd->words; cmd++) {
			char left[80];
			struct sbuf b;

			if (cmd->level > c->level || (len && strncmp(cmd->words, prefix, len) != 0))
				continue;
			sbuf_init_fixed(&b, left, sizeof(left));
			sbuf_addf(&b, "%s%s%s", cmd->words, *cmd->args ? " " : "", cmd->args);
			sbuf_addf(&c->out, "  %-40s: %s\n", left, cmd->help);
		}
}

static void
run_one(struct admin_conn *c, int argc, char **argv)
{
	int words;
	const struct admin_cmd *cmd = find_cmd(argc, argv, &words);

	if (!cmd) {
		admin_msg(c, ADMIN_ERR,
			"Unknown command: '%s', but maybe one of the following ones is a better "
			"match:",
			argv[0]);
		list_commands(c, argv[0]);
		sbuf_addf(&c->out, "  %-40s: %s\n", "help [<command>]",
			"list matching or all commands");
	} else if (cmd->level > c->level) {
		admin_msg(c, ADMIN_ERR, "Permission denied");
	} else {
		cmd->run(c, argc - words, argv + words);
	}
}

/* Splits at blanks, up to an unescaped `;`: arguments, or -1 when there are too many. */
static int
split_words(char **line, char **argv)
{
	char *in = *line, *out = *line;
	int argc = 0, in_word = 0;

	for (; *in && *in != ';'; in++) {
		if (*in == ' ' || *in == '\t') {
			if (in_word)
				*out++ = '\0';
			in_word = 0;
			continue;
		}
		if (!in_word) {
			if (argc == ADMIN_ARGS_MAX)
				return -1;
			argv[argc++] = out;
			in_word = 1;
		}
		if (*in == '\\' && in[1])
			in++;
		*out++ = *in;
	}
	*line = *in ? in + 1 : in;
	*out = '\0';
	return argc;
}

/* Every response ends with an empty line, and in interactive mode with the prompt. */
static void
end_answer(struct admin_conn *c)
{
	sbuf_adds(&c->out, c->prompt && !c->quit ? "\n> " : "\n");
}

static void
run_next(struct admin_conn *c)
{
	char *argv[ADMIN_ARGS_MAX + 1];
	int argc = split_words(&c->line, argv);

	if (argc < 0) {
		admin_msg(c, ADMIN_ERR, "Too many arguments");
		c->line += strlen(c->line);
	} else if (argc > 0) {
		argv[argc] = NULL;
		c->payload = *c->line ? NULL : c->line_payload;
		run_one(c, argc, argv);
	}
	if (!c->walk.step && (argc || c->prompt))
		end_answer(c);
}

void
admin_begin_line(struct admin_conn *c, char *line, char *payload)
{
	c->line = line;
	c->line_payload = payload;
}

void
admin_run_line(struct admin_conn *c)
{
	size_t end = c->out.len + ADMIN_TURN;

	for (unsigned int n = 0; n < ADMIN_STEPS && c->out.len < end; n++) {
		if (!c->walk.step)
			run_next(c);
		else if (!admin_walk_on(c))
			end_answer(c);
		if (c->ask.worker)
			return;
		if (!c->walk.step && (!*c->line || c->quit)) {
			c->line = NULL;
			return;
		}
	}
}

static void
do_help(struct admin_conn *c, int argc, char **argv)
{
	sbuf_adds(&c->out, "The following commands are valid at this level:\n");
	list_commands(c, argc > 0 ? argv[0] : NULL);
}

static void
do_prompt(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	c->prompt = !c->prompt;
}

static void
do_quit(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	c->quit = 1;
}

static void
do_timeout(struct admin_conn *c, int argc, char **argv)
{
	uint64_t ms;

	if (argc != 1 || cfg_value_time(argv[0], CFG_UNIT_S, 1, CFG_TIME_MAX_MS, &ms, NULL) < 0)
		admin_msg(c, ADMIN_ERR, "Invalid timeout value.");
	else
		c->timeout_ms = (uint32_t)ms;
}

static void
do_severity(struct admin_conn *c, int argc, char **argv)
{
	static const char *const names[] = { "none", "number", "string" };

	for (int i = 0; argc == 1 && i < (int)ARRAY_LEN(names); i++)
		if (strcmp(argv[0], names[i]) == 0) {
			c->severity = (enum bind_severity)i;
			return;
		}
	admin_msg(c, ADMIN_ERR, "one of 'none', 'number', 'string' is a required argument");
}

static void
lower_level(struct admin_conn *c, enum bind_level level)
{
	if (c->level < level)
		admin_msg(c, ADMIN_ERR, "Permission denied");
	else
		c->level = level;
}

static void
do_user(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	lower_level(c, BIND_USER);
}

static void
do_operator(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	lower_level(c, BIND_OPERATOR);
}

static void
do_show_level(struct admin_conn *c, int argc, char **argv)
{
	static const char *const names[] = { "user", "operator", "admin" };

	(void)argc;
	(void)argv;
	sbuf_addf(&c->out, "%s\n", names[c->level]);
}

const struct admin_cmd admin_session_cmds[] = {
	{ "set timeout cli", "<delay>", "change the idle timeout of this connection", BIND_USER,
		do_timeout },
	{ "set severity-output", "[none|number|string]", "show the severity of messages", BIND_USER,
		do_severity },
	{ "show cli level", "", "display the level of this connection", BIND_USER, do_show_level },
	{ "operator", "", "lower the level of this connection to operator", BIND_OPERATOR,
		do_operator },
	{ "user", "", "lower the level of this connection to user", BIND_USER, do_user },
	{ "help", "[<command>]", "list matching or all commands", BIND_USER, do_help },
	{ "prompt", "", "toggle the dialogue with a prompt", BIND_USER, do_prompt },
	{ "quit", "", "disconnect", BIND_USER, do_quit },
	{ NULL, NULL, NULL, BIND_USER, NULL },
};
