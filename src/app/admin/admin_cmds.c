/* Lines into commands: splitting, looking up, permissions and help. On the first worker. */
#include <string.h>

#include "app/admin/admin_int.h"

const struct admin_cmd admin_cmds[] = {
#define ADMIN_CMD(words, args, help, level, mode, run) \
	{ words, args, help, BIND_##level, ADMIN_MODE_##mode, run },
#define ADMIN_NOT(words, reason) \
	{ words, "", reason, BIND_USER, ADMIN_MODE_HIDDEN, NULL },
#include "app/admin/commands.tbl.h"
#undef ADMIN_CMD
#undef ADMIN_NOT
	{ NULL, NULL, NULL, BIND_USER, ADMIN_MODE_NONE, NULL },
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
	for (const struct admin_cmd *c = admin_cmds; c->words; c++) {
		int n = cmd_matches(c, argc, argv);

		if (n > *words) {
			*words = n;
			best = c;
		}
	}
	return best;
}

static int
has_mode(const struct admin_conn *c, enum admin_mode mode)
{
	return mode <= ADMIN_MODE_HIDDEN || (c->modes & (1u << mode));
}

/* The last ones are listed always. */
static int
is_dialogue(const struct admin_cmd *cmd)
{
	return cmd->run == admin_cmd_help || cmd->run == admin_cmd_prompt ||
		cmd->run == admin_cmd_quit;
}

static int
is_in_help(const struct admin_conn *c, const struct admin_cmd *cmd)
{
	return cmd->run && cmd->level <= c->level && cmd->mode != ADMIN_MODE_HIDDEN &&
		has_mode(c, cmd->mode) && !is_dialogue(cmd);
}

static void
list_cmd(struct admin_conn *c, const struct admin_cmd *cmd)
{
	char left[80];
	struct sbuf b;

	sbuf_init_fixed(&b, left, sizeof(left));
	sbuf_addf(&b, "%s%s%s", cmd->words, *cmd->args ? " " : "", cmd->args);
	sbuf_addf(&c->out, "  %-40s: %s\n", left, cmd->help);
}

/* Lists the commands that begin with this text. Returns their number. */
static unsigned int
list_matches(struct admin_conn *c, const char *prefix)
{
	unsigned int n = 0;

	for (const struct admin_cmd *cmd = admin_cmds; cmd->words; cmd++)
		if (is_in_help(c, cmd) && strncmp(cmd->words, prefix, strlen(prefix)) == 0) {
			list_cmd(c, cmd);
			n++;
		}
	return n;
}

static void
list_dialogue(struct admin_conn *c)
{
	for (const struct admin_cmd *cmd = admin_cmds; cmd->words; cmd++)
		if (is_dialogue(cmd))
			list_cmd(c, cmd);
}

static int
has_matches(const struct admin_conn *c, const char *prefix)
{
	for (const struct admin_cmd *cmd = admin_cmds; cmd->words; cmd++)
		if (is_in_help(c, cmd) && strncmp(cmd->words, prefix, strlen(prefix)) == 0)
			return 1;
	return 0;
}

static void
suggest_commands(struct admin_conn *c, const char *word)
{
	if (has_matches(c, word)) {
		admin_msg(c, ADMIN_INFO,
			"Unknown command, but maybe one of the following ones is a better match:");
		(void)list_matches(c, word);
	} else {
		admin_msg(c, ADMIN_INFO,
			"Unknown command. Please enter one of the following commands only:");
		(void)list_matches(c, "");
	}
	list_dialogue(c);
}

static void
run_one(struct admin_conn *c, int argc, char **argv)
{
	int words;
	const struct admin_cmd *cmd = find_cmd(argc, argv, &words);

	if (!cmd)
		suggest_commands(c, argv[0]);
	else if (!cmd->run)
		admin_msg(c, ADMIN_ERR, "'%s' is not supported: %s.", cmd->words, cmd->help);
	else if (!has_mode(c, cmd->mode))
		admin_msg(c, ADMIN_ERR, "This command is restricted to %s mode only.",
			cmd->mode == ADMIN_MODE_EXPERT ? "expert" : "experimental");
	else if (cmd->level > c->level)
		admin_msg(c, ADMIN_ERR, "Permission denied");
	else
		cmd->run(c, argc - words, argv + words);
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

/* Every response ends with an empty line, and in interactive mode with the prompt. After `quit`
 * nothing follows. */
static void
end_answer(struct admin_conn *c)
{
	if (!c->quit)
		sbuf_adds(&c->out, c->prompt ? "\n> " : "\n");
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
		if (c->ask.worker || c->wake_ms)
			return;
		if (!c->walk.step && (!*c->line || c->quit)) {
			c->line = NULL;
			return;
		}
	}
}

/* The words are one prefix. */
void
admin_cmd_help(struct admin_conn *c, int argc, char **argv)
{
	char prefix[80];
	struct sbuf b;

	sbuf_init_fixed(&b, prefix, sizeof(prefix));
	sbuf_adds(&b, "");
	for (int i = 0; i < argc; i++)
		sbuf_addf(&b, "%s%s", i ? " " : "", argv[i]);
	admin_msg(c, ADMIN_INFO, "The following commands are valid at this level:");
	(void)list_matches(c, prefix);
	list_dialogue(c);
}
