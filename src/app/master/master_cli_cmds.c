/* Lines of the master's socket: which process gets a command, commands about the connection itself,
 * and commands that worker processes answer. Master process, one thread. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "app/config/version.h"
#include "app/master/master.h"
#include "app/master/master_cli.h"
#include "app/process/cli_line.h"
#include "app/process/master_link.h"
#include "base/err.h"

/* --- commands that worker processes answer (@1, @!<pid>) --- */

/* One that serves or still has sessions: others do not read commands. */
static struct worker_process *
find_serving(const struct master *m, pid_t pid)
{
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->state != WORKER_STARTING && w->own.pid == pid && w->own.fd >= 0)
			return w;
	}
	return NULL;
}

/* Parses the text behind the @: nothing and "master" are the master, a number is relative, and only
 * the current process has one; ! and a pid is any process. */
static int
master_cli_target(const struct master *m, const char *prefix, pid_t *pid)
{
	const struct worker_process *current;
	char *end;
	long n;

	*pid = 0;
	if (!*prefix || strcmp(prefix, "master") == 0)
		return 0;
	n = strtol(prefix + (*prefix == '!'), &end, 10);
	if (*end || n <= 0 || n > INT32_MAX)
		return -ERR_UNKNOWN;
	if (*prefix != '!') {
		current = n == 1 ? master_find_worker(m, WORKER_CURRENT) : NULL;
		if (current)
			*pid = current->own.pid;
		return *pid ? 0 : -ERR_UNKNOWN;
	}
	if (n == sys_getpid(m->sys))
		return 0;
	*pid = (pid_t)n;
	return find_serving(m, *pid) ? 0 : -ERR_UNKNOWN;
}

/* --- its dialogue: nothing waits for it, and a slow client stops the reading of its answer --- */

void
master_cli_end_relay(struct master_conn *c)
{
	if (c->is_relaying)
		conn_close(&c->relay);
	c->is_relaying = 0;
	sbuf_fini(&c->ask);
	c->asked = 0;
}

/* Sends nothing, which fails only if the other end of a unix socket is closed: a client that has
 * only ended its side still reads. The end of a TCP connection shows when something is sent. */
int
master_cli_has_client(const struct master_conn *c)
{
	return sys_sendto(c->master->sys, c->conn.fd, "", 0, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static void
on_relay(void *owner, int fd, uint32_t ev)
{
	struct master_conn *c = owner;

	(void)ev;
	loop_progress(c->master->loop, fd);
	c->master->cli.serve(c);
}

/* Passes one end of a connection to the worker process, which serves it as its own socket does. */
static int
pass_connection(const struct master_conn *c, const struct worker_process *w, int fd)
{
	char text[64];

	(void)snprintf(text, sizeof(text), MASTER_CLI "%u,%u,%u", (unsigned int)c->level, c->modes,
		(unsigned int)c->severity);
	return (int)master_send_fd(w, text, fd);
}

/* Gives the client's connection to the current worker process, for _getsocks. 0 or a negative
 * reason. */
static int
master_cli_give_away(struct master_conn *c)
{
	const struct worker_process *w = master_find_worker(c->master, WORKER_CURRENT);
	int fd, r = w ? (int)master_send_fd(w, MASTER_GETSOCKS, c->conn.fd) : -ERR_UNKNOWN;

	if (r < 0)
		return r;
	fd = conn_take_fd(&c->conn);
	(void)sys_close(c->master->sys, fd);
	return 0;
}

/* 0 or -ERR_NOMEM. */
static int
make_command(struct master_conn *c, const char *text, const char *payload)
{
	struct sbuf *b = &c->ask;

	sbuf_init_secret(b, 0);
	sbuf_addf(b, "%s%s\n", text, payload ? "<<" : "");
	if (payload) {
		sbuf_adds(b, payload);
		sbuf_adds(b, "\n");
	}
	return b->failed ? -ERR_NOMEM : 0;
}

/* Has a worker process answer a command. 0 or a negative reason. */
static int
master_cli_relay(struct master_conn *c, pid_t pid, const char *text, const char *payload)
{
	const struct worker_process *w = find_serving(c->master, pid);
	struct sys *sys = c->master->sys;
	int ends[2];
	int r;

	if (!w)
		return -ERR_UNKNOWN;
	r = (int)sys_socketpair(sys, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
	if (r < 0)
		return r;
	r = pass_connection(c, w, ends[1]);
	(void)sys_close(sys, ends[1]);
	if (r >= 0)
		r = make_command(c, text, payload);
	if (r >= 0)
		r = conn_open(&c->relay, c->master->loop, ends[0], on_relay, c, CONN_UNIX);
	if (r < 0) {
		(void)sys_close(sys, ends[0]);
		master_cli_end_relay(c);
		return r;
	}
	c->is_relaying = 1;
	return 0;
}

#define SEVERITY "set severity-output "

/* The fate of a command. */
enum master_outcome {
	OUTCOME_SILENT,   /* it was about the dialogue: there is no answer */
	OUTCOME_ANSWERED,
	OUTCOME_RELAYED   /* another process answers */
};

/* A message, with its severity if the client wants that. */
static void
master_cli_msg(struct master_conn *c, enum cli_severity severity, const char *fmt, ...)
{
	va_list ap;

	cli_add_severity(&c->out, c->severity, severity);
	va_start(ap, fmt);
	sbuf_vaddf(&c->out, fmt, ap);
	va_end(ap);
}

/* Sets or shows a mode for commands to worker processes, as their own command does. */
static enum master_outcome
toggle_modes(struct master_conn *c, enum admin_mode mode, const char *name, const char *arg)
{
	if (!*arg) {
		sbuf_addf(&c->out, "%s is %s\n", name, c->modes & (1u << mode) ? "ON" : "OFF");
		return OUTCOME_ANSWERED;
	}
	if (strcmp(arg, "on") == 0)
		c->modes |= 1u << mode;
	else if (strcmp(arg, "off") == 0)
		c->modes &= ~(1u << mode);
	return OUTCOME_SILENT;
}

/* 1: it was one of them. */
static int
run_mode_cmd(struct master_conn *c, const char *text, enum master_outcome *out)
{
	static const struct { const char *name; enum admin_mode mode; } t[] = {
		{ "expert-mode", ADMIN_MODE_EXPERT },
		{ "experimental-mode", ADMIN_MODE_EXPERIMENTAL },
	};

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		size_t n = strlen(t[i].name);

		if (strncmp(text, t[i].name, n) == 0 && (!text[n] || text[n] == ' ')) {
			*out = toggle_modes(c, t[i].mode, t[i].name, text[n] ? text + n + 1 : "");
			return 1;
		}
	}
	return 0;
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

/* True if the command is about this connection: the master runs it, the worker the others. */
static int
is_about_dialogue(const char *text)
{
	static const char *const words[] = { "operator", "prompt", "quit", "user" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i], text) == 0)
			return 1;
	return 0;
}

/* A prefix alone selects the process that gets the following commands. Returns the command behind
 * it, or NULL when there is no more to do. */
static char *
take_prefix_word(struct master_conn *c, char *text, pid_t *target)
{
	size_t n = strcspn(text, " \t");
	char *rest = text + n + strspn(text + n, " \t");

	text[n] = '\0';
	if (master_cli_target(c->master, text + 1, target)) {
		master_cli_msg(c, CLI_ERR,
			"Can't find the target PID matching the prefix '%s'\n", text);
		return NULL;
	}
	if (*rest)
		return rest;
	c->target = *target;
	return NULL;
}

/* --- the master's own ------------------------------------------------------------------------ */

/*
 * The commands that the master's process answers itself. Master process, one thread; answers
 * are HAProxy's.
 */

struct master_cmd {
	const char *words;
	const char *args;
	enum bind_level level;
	const char *help;
	/* args: the rest of the command; NULL: the row is only for help. */
	void (*fn)(struct master_conn *c, const char *args);
	int is_silent; /* it has no answer unless it is refused */
	const char *answer; /* for the manual; NULL: it is not in it */
};

static const char *
level_name(enum bind_level level)
{
	static const char *const names[] = { "user", "operator", "admin" };

	return names[level];
}

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
cmd_show_proc(struct master_conn *c, const char *args)
{
	const struct master *m = c->master;
	char reloads[48];

	(void)args;
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
cmd_show_logs(struct master_conn *c, const char *args)
{
	(void)args;
	if (c->master->startup_log)
		sbuf_adds(&c->out, c->master->startup_log);
}

static void
cmd_show_version(struct master_conn *c, const char *args)
{
	(void)args;
	sbuf_adds(&c->out, VERSION_COMPAT "\n");
}

/* The answer comes from cli.on_reload(), perhaps before this returns. */
static void
cmd_reload(struct master_conn *c, const char *args)
{
	struct master *m = c->master;

	(void)args;
	if (m->state != MASTER_RUNNING) {
		sbuf_adds(&c->out, "Success=0\n--\nThe master is starting or stopping.\n");
		return;
	}
	c->waits_for = m->n_reloads + 1;
	master_reload(m);
}

static void
cmd_hard_reload(struct master_conn *c, const char *args)
{
	c->master->is_hard_next = c->master->state == MASTER_RUNNING;
	cmd_reload(c, args);
}

static void
cmd_prompt(struct master_conn *c, const char *args)
{
	(void)args;
	c->prompt = !c->prompt;
}

static void
cmd_quit(struct master_conn *c, const char *args)
{
	(void)args;
	c->quit = 1;
}

static void
cmd_operator(struct master_conn *c, const char *args)
{
	(void)args;
	c->level = MIN(c->level, BIND_OPERATOR);
}

static void
cmd_user(struct master_conn *c, const char *args)
{
	(void)args;
	c->level = BIND_USER;
}

static void
cmd_show_level(struct master_conn *c, const char *args)
{
	(void)args;
	sbuf_addf(&c->out, "%s\n", level_name(c->level));
}

static void
cmd_echo(struct master_conn *c, const char *args)
{
	sbuf_addf(&c->out, "%s\n", args);
}

/* Sets the severity of worker processes' messages, and of the master's own. */
static void
cmd_set_severity(struct master_conn *c, const char *args)
{
	static const char *const names[] = { "none", "number", "string" };

	for (unsigned int i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(args, names[i]) == 0) {
			c->severity = (enum bind_severity)i;
			return;
		}
	master_cli_msg(c, CLI_ERR, "one of 'none', 'number', 'string' is a required argument\n");
}

/* The socket that the client is on is the only one. */
static void
cmd_show_sockets(struct master_conn *c, const char *args)
{
	const struct addr *a = &c->master->cli.listener.addr;
	char text[ADDR_TEXT];

	(void)args;
	sbuf_addf(&c->out, "# socket lvl processes\n%s%s %s master\n",
		addr_family(a) == AF_INET ? "ipv4@" : addr_family(a) == AF_INET6 ? "ipv6@" : "",
		addr_text(a, text), level_name(c->master->cli.bind->level));
}

/* The environment that each new worker process begins with. */
static void
cmd_show_env(struct master_conn *c, const char *args)
{
	const char *const *env = c->master->spawn.environment;
	size_t n = strcspn(args, " ");
	int found = !n;

	for (; env && *env; env++) {
		if (n && (strncmp(*env, args, n) != 0 || (*env)[n] != '='))
			continue;
		sbuf_addf(&c->out, "%s\n", *env);
		found = 1;
	}
	if (!found)
		master_cli_msg(c, CLI_ERR, "Variable not found\n");
}

/* The connection goes to the worker process, which passes its sockets there. */
static void
cmd_getsocks(struct master_conn *c, const char *args)
{
	int r;

	(void)args;
	r = master_cli_give_away(c);
	if (r) {
		master_cli_msg(c, CLI_ERR, "No process passes its sockets: %s\n",
			r == -ERR_UNKNOWN ? "none serves" : err_text(r));
	} else {
		/* Earlier answers would stand before the descriptors. */
		sbuf_reset(&c->out);
		c->sent = 0;
	}
	c->quit = 1;
}

static void cmd_help(struct master_conn *c, const char *args);

static const struct master_cmd cmds[] = {
	{ "@!<pid>", "", BIND_USER, "send a command to the <pid> process",
		NULL, 0,
		"The answer of the worker process; one that still drains answers, too." },
	{ "@<relative pid>", "", BIND_USER, "send a command to the <relative pid> process",
		NULL, 0,
		"The answer of the worker process; @1 is the current one. Alone it directs all "
		"commands that follow, and so does @!<pid>." },
	{ "@master", "", BIND_USER, "send a command to the master process",
		NULL, 0,
		"The answer of the master. Alone it directs all commands that follow to it." },
	{ "_getsocks", NULL, BIND_ADMIN, "",
		cmd_getsocks, 1,
		NULL },
	{ "echo", "<text>", BIND_USER, "print text",
		cmd_echo, 0,
		"The text." },
	{ "expert-mode", "[on|off]", BIND_ADMIN, "mode of commands for worker processes",
		NULL, 0,
		"An empty line; the prompt shows e." },
	{ "experimental-mode", "[on|off]", BIND_ADMIN, "mode of commands for worker processes",
		NULL, 0,
		"An empty line; the prompt shows x." },
	{ "hard-reload", "", BIND_OPERATOR, "reload, and end the previous worker at once",
		cmd_hard_reload, 0,
		"As of reload." },
	{ "operator", "", BIND_OPERATOR, "lower the level of the current CLI session to operator",
		cmd_operator, 1,
		"None, or an empty line." },
	{ "reload", "", BIND_OPERATOR, "reload the configuration, and say whether it succeeded",
		cmd_reload, 0,
		"When the reload has ended \"Success=1\", or \"Success=0\" if the previous "
		"configuration stays in use; then \"--\" and the messages of the start." },
	{ "set severity-output", "[none|number|string]", BIND_USER,
		"set presence of severity level in feedback information",
		cmd_set_severity, 1,
		"None, or an empty line. It holds for the commands that follow, of the "
		"master and of worker processes." },
	{ "show cli level", "", BIND_USER, "display the level of the current CLI session",
		cmd_show_level, 0,
		"user, operator or admin." },
	{ "show cli sockets", "", BIND_USER, "dump list of cli sockets",
		cmd_show_sockets, 0,
		"\"# socket lvl processes\", then the address and the level of this socket." },
	{ "show env", "[var]", BIND_OPERATOR, "dump environment variables known to the process",
		cmd_show_env, 0,
		"NAME=value, one a line." },
	{ "show proc", "", BIND_USER, "show processes status",
		cmd_show_proc, 0,
		"\"#<PID> <type> <reloads> <uptime> <version>\", then a line with these "
		"columns for the master and for each worker process, old ones behind \"# old "
		"workers\": how many reloads it has survived, and of the master how many have "
		"failed." },
	{ "show startup-logs", "", BIND_USER, "show the messages of the latest start",
		cmd_show_logs, 0,
		"The messages, one a line; an empty line if there were none." },
	{ "show version", "", BIND_USER, "show version of the current process",
		cmd_show_version, 0,
		"The version, as in show info." },
	{ "user", "", BIND_USER, "lower the level of the current CLI session to user",
		cmd_user, 1,
		"None, or an empty line." },
	{ "help", "[<command>]", BIND_USER, "list matching or all commands",
		cmd_help, 0,
		"One line for each command: its words and arguments, a colon, and what it does." },
	{ "prompt", "", BIND_USER, "toggle interactive mode with prompt",
		cmd_prompt, 1,
		"The prompt \"master> \", or \"<pid>> \" of a worker process, before each "
		"further line." },
	{ "quit", "", BIND_USER, "disconnect",
		cmd_quit, 1,
		"None: the connection is closed." },
};

void
master_cli_entries(cfg_entry_fn *fn, void *arg)
{
	char place[32], doc[80];

	for (size_t i = 0; i < ARRAY_LEN(cmds); i++) {
		if (!cmds[i].answer)
			continue;
		(void)snprintf(doc, sizeof(doc), "%c%s.",
			toupper((unsigned char)cmds[i].help[0]), cmds[i].help + 1);
		(void)snprintf(place, sizeof(place), "Level: %s", level_name(cmds[i].level));
		fn(arg, &(struct cfg_entry){ .heading = "COMMANDS OF THE MASTER",
				.intro = "Commands of the socket of the option \\-S, with "
					 "their answers and the level that they need.\n",
				.name = cmds[i].words,
				.syntax = *cmds[i].args ? cmds[i].args : NULL,
				.doc = doc,
				.answer = cmds[i].answer,
				.place = place });
	}
}

static int
is_in_list(const struct master_conn *c, const struct master_cmd *cmd, const char *prefix)
{
	static const char *const always[] = { "help", "prompt", "quit" };

	if (!cmd->args || cmd->level > c->level)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		if (strcmp(always[i], cmd->words) == 0)
			return 1;
	return strncmp(cmd->words, prefix, strlen(prefix)) == 0;
}

static void
list_master_cmds(struct master_conn *c, const char *prefix)
{
	for (size_t i = 0; i < ARRAY_LEN(cmds); i++) {
		char left[80];

		if (!is_in_list(c, &cmds[i], prefix))
			continue;
		(void)snprintf(left, sizeof(left), "%s%s%s", cmds[i].words,
			*cmds[i].args ? " " : "", cmds[i].args);
		sbuf_addf(&c->out, "  %-40s: %s\n", left, cmds[i].help);
	}
}

static void
cmd_help(struct master_conn *c, const char *args)
{
	sbuf_adds(&c->out, "The following commands are valid at this level:\n");
	list_master_cmds(c, args);
}

/* The rest of a command behind these words; NULL: it is another one. */
static const char *
args_behind(const struct master_cmd *cmd, const char *text)
{
	size_t n = strlen(cmd->words);

	if (strncmp(text, cmd->words, n) != 0 || (text[n] && text[n] != ' '))
		return NULL;
	text += n + (text[n] == ' ');
	return *text && !(cmd->args && *cmd->args) ? NULL : text;
}

/* Runs a command of the master's own, with one blank between words. 0: there is no answer. */
static int
master_cli_run_own(struct master_conn *c, const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(cmds); i++) {
		const char *args = cmds[i].fn ? args_behind(&cmds[i], text) : NULL;
		size_t before = c->out.len;

		if (!args)
			continue;
		if (cmds[i].level > c->level)
			master_cli_msg(c, CLI_ERR, "Permission denied\n");
		else
			cmds[i].fn(c, args);
		return !cmds[i].is_silent || c->out.len > before;
	}
	master_cli_msg(c, CLI_INFO,
		"Unknown command: '%s', but maybe one of the following ones is a better match:\n",
		text);
	list_master_cmds(c, "");
	return 1;
}

/* --- the table ------------------------------------------------------------------------------- */

static enum master_outcome
run_master_cmd(struct master_conn *c, char *text, const char *payload)
{
	enum master_outcome out;
	char plain[64];
	pid_t target = c->target;
	int r;

	if (*text == '@') {
		size_t before = c->out.len;

		text = take_prefix_word(c, text, &target);
		if (!text)
			return c->out.len > before ? OUTCOME_ANSWERED : OUTCOME_SILENT;
	}
	(void)snprintf(plain, sizeof(plain), "%s", text);
	squeeze_blanks(plain);
	if (c->level == BIND_ADMIN && run_mode_cmd(c, plain, &out))
		return target ? OUTCOME_ANSWERED : out;
	/* The level holds for the commands that follow, too; a worker process answers an empty
	 * line. */
	if (target && strncmp(plain, SEVERITY, strlen(SEVERITY)) == 0) {
		(void)!master_cli_run_own(c, plain);
		return OUTCOME_ANSWERED;
	}
	if (!target || is_about_dialogue(plain)) {
		squeeze_blanks(text);
		return master_cli_run_own(c, text) ? OUTCOME_ANSWERED : OUTCOME_SILENT;
	}
	r = master_cli_relay(c, target, text, payload);
	if (!r)
		return OUTCOME_RELAYED;
	master_cli_msg(c, CLI_ERR, "Process %ld does not take commands: %s\n", (long)target,
		r == -ERR_UNKNOWN ? "it has ended" : err_text(r));
	return OUTCOME_ANSWERED;
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
send_master_prompt(struct master_conn *c)
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
	enum master_outcome r;
	int is_last;

	text += strspn(text, " \t");
	end = command_end(text);
	is_last = !*end;
	c->at = (size_t)(end - c->in.p) + !is_last;
	*end = '\0';
	if (!*text)
		return 0;
	r = run_master_cmd(
		c, text, is_last && c->scan.payload ? c->in.p + c->scan.payload : NULL);
	if (r == OUTCOME_ANSWERED && !c->quit && !c->waits_for)
		sbuf_adds(&c->out, "\n");
	return r == OUTCOME_RELAYED;
}

void
master_cli_continue(struct master_conn *c)
{
	while (!is_line_over(c))
		if (has_much_to_send(c) || run_next_cmd(c))
			return;
	c->has_line = 0;
	if (c->prompt && !c->quit && !c->waits_for)
		send_master_prompt(c);
}
