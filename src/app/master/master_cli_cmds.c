/* The commands of the master's socket. Master process, one thread; answers are HAProxy's. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/config/version.h"
#include "app/master/master.h"
#include "app/master/master_cli.h"
#include "app/process/cli_mode.h"
#include "base/err.h"

#define ARGS_MAX 8

struct master_cmd {
	const char *words;
	enum bind_level level;
	const char *help;
	void (*fn)(struct master_conn *c);
};

static void
add_process(struct sbuf *out, const struct master *m, pid_t pid, const char *type,
	const char *reloads, uint64_t since_ms, const char *version)
{
	uint64_t up = (loop_now_ms(m->loop) - since_ms) / 1000;
	char uptime[40];

	(void)snprintf(uptime, sizeof(uptime), "%" PRIu64 "d%02uh%02um%02us", up / 86400,
		(unsigned int)(up / 3600 % 24), (unsigned int)(up / 60 % 60),
		(unsigned int)(up % 60));
	sbuf_addf(out, "%-15d %-15s %-15s %-15s %-15s\n", (int)pid, type, reloads, uptime,
		version);
}

static void
add_workers(struct sbuf *out, const struct master *m, int leaving)
{
	list_each(it, &m->workers) {
		const struct worker_process *w = list_entry(it, struct worker_process, link);
		char reloads[16];

		if ((w->state == WORKER_LEAVING) != leaving)
			continue;
		(void)snprintf(reloads, sizeof(reloads), "%u", w->reloads);
		add_process(out, m, w->own.pid, "worker", reloads, w->started_ms, w->version);
	}
}

static void
cmd_show_proc(struct master_conn *c)
{
	const struct master *m = c->master;
	char reloads[48];

	(void)snprintf(reloads, sizeof(reloads), "%u [failed: %u]", m->n_reloads,
		m->n_failed_reloads);
	sbuf_addf(&c->out, "%-15s %-15s %-15s %-15s %-15s\n", "#<PID>", "<type>", "<reloads>",
		"<uptime>", "<version>");
	add_process(&c->out, m, (pid_t)sys_getpid(m->sys), "master", reloads, m->started_ms,
		VERSION_COMPAT);
	sbuf_adds(&c->out, "# workers\n");
	add_workers(&c->out, m, 0);
	if (master_find_worker(m, WORKER_LEAVING)) {
		sbuf_adds(&c->out, "# old workers\n");
		add_workers(&c->out, m, 1);
	}
	sbuf_adds(&c->out, "# programs\n");
}

static void
cmd_show_logs(struct master_conn *c)
{
	if (c->master->startup_log)
		sbuf_adds(&c->out, c->master->startup_log);
}

static void
cmd_show_version(struct master_conn *c)
{
	sbuf_adds(&c->out, VERSION_COMPAT "\n");
}

/* The answer comes from cli.on_reload(), perhaps before this returns. */
static void
cmd_reload(struct master_conn *c)
{
	struct master *m = c->master;

	if (m->state != MASTER_RUNNING) {
		sbuf_adds(&c->out, "Success=0\n--\nThe master is starting or stopping.\n");
		return;
	}
	c->waits_for = m->n_reloads + 1;
	master_reload(m);
}

static void
cmd_hard_reload(struct master_conn *c)
{
	c->master->is_hard = 1;
	cmd_reload(c);
}

static void
cmd_prompt(struct master_conn *c)
{
	c->prompt = !c->prompt;
}

static void
cmd_quit(struct master_conn *c)
{
	c->quit = 1;
}

static void
cmd_operator(struct master_conn *c)
{
	c->level = MIN(c->level, BIND_OPERATOR);
}

static void
cmd_user(struct master_conn *c)
{
	c->level = BIND_USER;
}

static void
cmd_show_level(struct master_conn *c)
{
	static const char *const names[] = { "user\n", "operator\n", "admin\n" };

	sbuf_adds(&c->out, names[c->level]);
}

/* For worker processes; without an argument it is shown, as there. */
static void
toggle_modes(struct master_conn *c, enum admin_mode mode, const char *name, const char *arg)
{
	if (!*arg)
		sbuf_addf(&c->out, "%s is %s\n", name, c->modes & (1u << mode) ? "ON" : "OFF");
	else if (strcmp(arg, "on") == 0)
		c->modes |= 1u << mode;
	else if (strcmp(arg, "off") == 0)
		c->modes &= ~(1u << mode);
}

/* 1: it was one of them. */
static int
run_mode_cmd(struct master_conn *c, const char *text)
{
	static const struct { const char *name; enum admin_mode mode; } t[] = {
		{ "expert-mode", ADMIN_MODE_EXPERT },
		{ "experimental-mode", ADMIN_MODE_EXPERIMENTAL },
	};

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		size_t n = strlen(t[i].name);

		if (strncmp(text, t[i].name, n) == 0 && (!text[n] || text[n] == ' ')) {
			toggle_modes(c, t[i].mode, t[i].name, text[n] ? text + n + 1 : "");
			return 1;
		}
	}
	return 0;
}

static void cmd_help(struct master_conn *c);

static const struct master_cmd cmds[] = {
	{ "@!<pid>", BIND_USER, "send a command to the <pid> process", NULL },
	{ "@<relative pid>", BIND_USER, "send a command to the <relative pid> process", NULL },
	{ "@master", BIND_USER, "send a command to the master process", NULL },
	{ "expert-mode [on|off]", BIND_ADMIN, "mode of commands for worker processes", NULL },
	{ "experimental-mode [on|off]", BIND_ADMIN, "mode of commands for worker processes", NULL },
	{ "hard-reload", BIND_OPERATOR, "reload, and end the former worker at once",
		cmd_hard_reload },
	{ "operator", BIND_OPERATOR, "lower the level of the current CLI session to operator",
		cmd_operator },
	{ "reload", BIND_OPERATOR, "reload the configuration, and say whether it succeeded",
		cmd_reload },
	{ "show cli level", BIND_USER, "display the level of the current CLI session",
		cmd_show_level },
	{ "show proc", BIND_USER, "show processes status", cmd_show_proc },
	{ "show startup-logs", BIND_USER, "show the messages of the latest start", cmd_show_logs },
	{ "show version", BIND_USER, "show version of the current process", cmd_show_version },
	{ "user", BIND_USER, "lower the level of the current CLI session to user", cmd_user },
	{ "help", BIND_USER, "list all commands", cmd_help },
	{ "prompt", BIND_USER, "toggle interactive mode with prompt", cmd_prompt },
	{ "quit", BIND_USER, "disconnect", cmd_quit },
};

static void
list_master_cmds(struct master_conn *c)
{
	for (size_t i = 0; i < ARRAY_LEN(cmds); i++)
		if (cmds[i].level <= c->level)
			sbuf_addf(&c->out, "  %-40s: %s\n", cmds[i].words, cmds[i].help);
}

static void
cmd_help(struct master_conn *c)
{
	sbuf_adds(&c->out, "The following commands are valid at this level:\n");
	list_master_cmds(c);
}

/* Words have one blank between them: the text of one command, in place. */
static void
squeeze_blanks(char *s)
{
	char *out = s;

	for (char *in = s; *in; in++) {
		if (*in != ' ' && *in != '\t')
			*out++ = *in;
		else if (out > s && out[-1] != ' ')
			*out++ = ' ';
	}
	if (out > s && out[-1] == ' ')
		out--;
	*out = '\0';
}

/* Those that are about this connection are the master's, whatever takes the others. */
static int
is_about_dialogue(const char *text)
{
	static const char *const words[] = { "operator", "prompt", "quit", "user" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i], text) == 0)
			return 1;
	return 0;
}

static void
run_own_cmd(struct master_conn *c, const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(cmds); i++) {
		if (!cmds[i].fn || strcmp(cmds[i].words, text) != 0)
			continue;
		if (cmds[i].level > c->level)
			sbuf_adds(&c->out, "Permission denied\n");
		else
			cmds[i].fn(c);
		return;
	}
	sbuf_addf(&c->out,
		"Unknown command: '%s', but maybe one of the following ones is a better match:\n",
		text);
	list_master_cmds(c);
}

/* A prefix alone says who takes the commands that follow. Returns the command behind it, or NULL
 * when there is no more to do. */
static char *
take_prefix_word(struct master_conn *c, char *text, pid_t *target)
{
	size_t n = strcspn(text, " \t");
	char *rest = text + n + strspn(text + n, " \t");

	text[n] = '\0';
	if (master_cli_target(c->master, text + 1, target)) {
		sbuf_addf(&c->out, "Can't find the target PID matching the prefix '%s'\n", text);
		return NULL;
	}
	if (*rest)
		return rest;
	c->target = *target;
	return NULL;
}

/* 1: another process answers. */
static int
run_master_cmd(struct master_conn *c, char *text, const char *payload)
{
	char plain[64];
	pid_t target = c->target;
	int r;

	if (*text == '@')
		text = take_prefix_word(c, text, &target);
	if (!text)
		return 0;
	(void)snprintf(plain, sizeof(plain), "%s", text);
	squeeze_blanks(plain);
	if (c->level == BIND_ADMIN && run_mode_cmd(c, plain))
		return 0;
	if (!target || is_about_dialogue(plain)) {
		squeeze_blanks(text);
		run_own_cmd(c, text);
		return 0;
	}
	r = master_cli_relay(c, target, text, payload);
	if (r)
		sbuf_addf(&c->out, "Process %ld does not take commands: %s\n", (long)target,
			r == -ERR_UNKNOWN ? "it has ended" : err_text(r));
	return !r;
}

/* The end of the first command: a semicolon without a backslash. */
static char *
command_end(char *s)
{
	while (*s && *s != ';')
		s += *s == '\\' && s[1] ? 2 : 1;
	return s;
}

static void
say_master_prompt(struct master_conn *c)
{
	const char *x = c->modes & (1u << ADMIN_MODE_EXPERIMENTAL) ? "x" : "";
	const char *e = c->modes & (1u << ADMIN_MODE_EXPERT) ? "e" : "";

	if (c->target)
		sbuf_addf(&c->out, "%ld", (long)c->target);
	else
		sbuf_addf(&c->out, "master%s",
			c->master->reload_failed ? "[ReloadFailed]" : "");
	if (c->modes)
		sbuf_addf(&c->out, "(%s%s)", x, e);
	sbuf_adds(&c->out, "> ");
}

void
master_cli_begin(struct master_conn *c, size_t len)
{
	(void)cli_line_begin(c->in.p, len, c->scan.payload);
	c->has_line = 1;
	c->at = 0;
	c->line_len = len;
}

static int
has_much_to_send(const struct master_conn *c)
{
	return c->out.len - c->sent >= MASTER_CLI_AHEAD;
}

/* Nothing of a line follows a command that waits or quits. */
static int
is_line_over(const struct master_conn *c)
{
	return !c->in.p[c->at] || c->quit || c->waits_for;
}

/* The next of the commands that semicolons separate. 1: another process answers it. */
static int
run_next_cmd(struct master_conn *c)
{
	char *text = c->in.p + c->at, *end;
	int is_last;

	text += strspn(text, " \t");
	end = command_end(text);
	is_last = !*end;
	c->at = (size_t)(end - c->in.p) + !is_last;
	*end = '\0';
	if (!*text)
		return 0;
	if (run_master_cmd(c, text, is_last && c->scan.payload ? c->in.p + c->scan.payload : NULL))
		return 1;
	if (!c->quit && !c->waits_for)
		sbuf_adds(&c->out, "\n");
	return 0;
}

void
master_cli_go_on(struct master_conn *c)
{
	while (!is_line_over(c))
		if (has_much_to_send(c) || run_next_cmd(c))
			return;
	c->has_line = 0;
	if (c->prompt && !c->quit && !c->waits_for)
		say_master_prompt(c);
}
