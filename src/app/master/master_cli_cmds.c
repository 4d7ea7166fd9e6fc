/* Lines of the master's socket: who takes a command, and what is about the dialogue itself. Master
 * process, one thread. */
#include <stdio.h>
#include <string.h>

#include "app/master/master.h"
#include "app/master/master_cli.h"
#include "app/process/cli_mode.h"
#include "base/err.h"

#define SEVERITY "set severity-output "

/* The fate of a command. */
enum master_outcome {
	OUTCOME_SILENT,   /* it was about the dialogue: there is no answer */
	OUTCOME_ANSWERED,
	OUTCOME_RELAYED   /* another process answers */
};

void
master_cli_msg(struct master_conn *c, enum cli_severity severity, const char *fmt, ...)
{
	va_list ap;

	cli_add_severity(&c->out, c->severity, severity);
	va_start(ap, fmt);
	sbuf_vaddf(&c->out, fmt, ap);
	va_end(ap);
}

/* For worker processes; without an argument it is shown, as there. */
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

/* A prefix alone selects who takes the commands that follow. Returns the command behind it, or
 * NULL when there is no more to do. */
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
