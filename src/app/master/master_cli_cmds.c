/* The commands of the master's socket. Master process, one thread; answers are HAProxy's. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/config/version.h"
#include "app/master/master.h"
#include "app/master/master_cli.h"

#define ARGS_MAX 8

struct master_cmd {
	const char *words;
	enum bind_level level;
	const char *help;
	void (*fn)(struct master_conn *c);
};

static void
add_process(struct sbuf *out, const struct master *m, pid_t pid, const char *type,
	const char *reloads, uint64_t since_ms)
{
	uint64_t up = (loop_now_ms(m->loop) - since_ms) / 1000;
	char uptime[40];

	(void)snprintf(uptime, sizeof(uptime), "%" PRIu64 "d%02uh%02um%02us", up / 86400,
		(unsigned int)(up / 3600 % 24), (unsigned int)(up / 60 % 60),
		(unsigned int)(up % 60));
	sbuf_addf(out, "%-15d %-15s %-15s %-15s %-15s\n", (int)pid, type, reloads, uptime,
		VERSION_COMPAT);
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
		add_process(out, m, w->own.pid, "worker", reloads, w->started_ms);
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
	add_process(&c->out, m, (pid_t)sys_getpid(m->sys), "master", reloads, m->started_ms);
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

static void
cmd_nothing(struct master_conn *c)
{
	(void)c;
}

static void cmd_help(struct master_conn *c);

static const struct master_cmd cmds[] = {
	{ "@master", BIND_USER, "send a command to the master process", cmd_nothing },
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

static void
run_master_cmd(struct master_conn *c, const char *text)
{
	/* "@" and "@master" before a command of the master's change nothing. */
	if (strcmp(text, "@") == 0)
		return;
	text += strncmp(text, "@master ", 8) == 0 ? 8 : strncmp(text, "@ ", 2) == 0 ? 2 : 0;
	for (size_t i = 0; i < ARRAY_LEN(cmds); i++) {
		if (strcmp(cmds[i].words, text) != 0)
			continue;
		if (cmds[i].level > c->level)
			sbuf_adds(&c->out, "Permission denied\n");
		else
			cmds[i].fn(c);
		return;
	}
	if (*text == '@') {
		sbuf_adds(&c->out, "Commands for worker processes are not supported here; their "
				   "stats socket takes them.\n");
		return;
	}
	sbuf_addf(&c->out,
		"Unknown command: '%s', but maybe one of the following ones is a better match:\n",
		text);
	list_master_cmds(c);
}

/* Commands are separated by semicolons; nothing follows one that waits or quits. */
void
master_cli_run(struct master_conn *c, char *line)
{
	char *next;

	for (char *at = line; at && !c->quit && !c->waits_for; at = next) {
		next = strchr(at, ';');
		if (next)
			*next++ = '\0';
		squeeze_blanks(at);
		if (*at)
			run_master_cmd(c, at);
		if (*at && !c->quit && !c->waits_for)
			sbuf_adds(&c->out, "\n");
	}
	if (c->prompt && !c->quit && !c->waits_for)
		sbuf_addf(&c->out, "master%s> ",
			c->master->reload_failed ? "[ReloadFailed]" : "");
}
