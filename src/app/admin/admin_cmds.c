/* Lines into commands: splitting, looking up, permissions and help. On the first worker. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "base/atomic.h"
#include "event/profile.h"
#include "proxy/model/ring_conf.h"

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
		if (c->ask.worker || c->wake_ms || c->walk.ends_turn)
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

/* --- events ---------------------------------------------------------------------------------- */

/*
 * show events: what rings of logs have, and what they get. On the first worker, which owns
 * them.
 */

struct events {
	struct log_ring_reader reader;
	struct log_ring *ring;
	int waits;    /* -w */
	int from_end; /* -n */
	char delimiter; /* NUL with -0 */
	struct admin_conn *conn;
	struct task again;
};

/* A ring may get messages in the middle of anything that logs. */
static void
on_event_news(struct log_ring_reader *rd)
{
	struct events *e = container_of(rd, struct events, reader);

	loop_post_next(e->conn->admin->worker->loop, &e->again);
}

static void
on_events_again(struct task *t)
{
	admin_wake(container_of(t, struct events, again)->conn);
}
PROFILE_NAME(on_events_again, admin_events)

static void
begin_events(struct admin_conn *c, struct events *e)
{
	e->conn = c;
	e->reader.on_news = on_event_news;
	task_init(&e->again, on_events_again);
	log_ring_join(e->ring, &e->reader, e->from_end);
}

static void
end_events(void *state)
{
	struct events *e = state;

	if (!e->conn)
		return;
	log_ring_leave(&e->reader);
	task_cancel(&e->again);
}

static int
next_event(struct admin_conn *c, void *state)
{
	struct events *e = state;
	char text[LOG_LEN_MAX];
	long len;

	if (!e->conn)
		begin_events(c, e);
	if (c->walk.is_stopped)
		return 0;
	len = log_ring_len(e->ring, e->reader.at);
	if (len < 0) {
		c->wake_ms = e->waits ? ADMIN_WAKE_BY_CALL : 0;
		return e->waits;
	}
	(void)log_ring_copy(e->ring, e->reader.at, text);
	log_ring_advance(&e->reader);
	sbuf_add(&c->out, text, (size_t)len);
	sbuf_addc(&c->out, e->delimiter);
	return 1;
}

/* In HAProxy's words. */
static void
list_sinks(struct admin_conn *c)
{
	const struct list *rings = &c->admin->process->cfg->proxies.log.rings;

	sbuf_adds(&c->out,
		"Supported events sinks are listed below. Add -w(wait), -n(new). Any key to stop\n"
		"    stdout     : type=fd, 0 dropped, standard output (fd#1)\n"
		"    stderr     : type=fd, 0 dropped, standard output (fd#2)\n");
	list_each(it, (struct list *)(uintptr_t)rings) {
		struct ring_conf *r = list_entry(it, struct ring_conf, link);

		sbuf_addf(&c->out, "    %-10s : type=buffer, %llu dropped, %s\n", r->name,
			(unsigned long long)atomic_read(&r->ring.unreported),
			r->description ? r->description : r->name);
	}
}

/* Words such as -w, -n, -0 and -nw. 0, or -1. */
static int
take_event_options(int argc, char **argv, struct events *e)
{
	for (int i = 0; i < argc; i++) {
		size_t n = strspn(argv[i] + (argv[i][0] == '-'), "wn0");

		if (argv[i][0] != '-' || !n || argv[i][1 + n])
			return -1;
		e->waits |= strchr(argv[i], 'w') != NULL;
		e->from_end |= strchr(argv[i], 'n') != NULL;
		if (strchr(argv[i], '0'))
			e->delimiter = '\0';
	}
	return 0;
}

void
admin_cmd_show_events(struct admin_conn *c, int argc, char **argv)
{
	struct events e = { .delimiter = '\n' };
	struct ring_conf *r;

	if (argc == 0) {
		list_sinks(c);
		return;
	}
	r = ring_conf_find(&c->admin->process->cfg->proxies.log.rings, argv[0]);
	if (!r && (strcmp(argv[0], "stdout") == 0 || strcmp(argv[0], "stderr") == 0))
		admin_msg(c, ADMIN_NOTICE, "Nothing to report for this sink");
	else if (!r)
		admin_msg(c, ADMIN_ERR, "No such event sink");
	else if (take_event_options(argc - 1, argv + 1, &e) < 0)
		admin_msg(c, ADMIN_ERR, "unknown option");
	else {
		e.ring = &r->ring;
		admin_walk_with_end(c, next_event, end_events, &e, sizeof(e));
		c->walk.stops_on_input = e.waits;
	}
}
