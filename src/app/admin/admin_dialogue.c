/* Commands about the dialogue itself: prompt, timeout, severity, level and modes. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "cfg/value.h"

void
admin_cmd_prompt(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	c->prompt = !c->prompt;
}

void
admin_cmd_quit(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	c->quit = 1;
}

void
admin_cmd_echo(struct admin_conn *c, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		sbuf_addf(&c->out, "%s%s", i ? " " : "", argv[i]);
	sbuf_addc(&c->out, '\n');
}

void
admin_cmd_set_timeout(struct admin_conn *c, int argc, char **argv)
{
	uint64_t ms;

	if (argc < 1 || strcmp(argv[0], "cli") != 0)
		admin_msg(c, ADMIN_ERR, "'set timeout' only supports 'cli'.");
	else if (argc < 2)
		admin_msg(c, ADMIN_ERR, "Expects an integer value.");
	else if (argc > 2 ||
		cfg_value_time(argv[1], CFG_UNIT_S, 1, CFG_TIME_MAX_MS, &ms, NULL) < 0)
		admin_msg(c, ADMIN_ERR, "Invalid timeout value.");
	else
		c->timeout_ms = (uint32_t)ms;
}

void
admin_cmd_set_severity_output(struct admin_conn *c, int argc, char **argv)
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
	c->modes = 0;
}

void
admin_cmd_user(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	lower_level(c, BIND_USER);
}

void
admin_cmd_operator(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	lower_level(c, BIND_OPERATOR);
}

const char *
admin_level_name(enum bind_level level)
{
	static const char *const names[] = { "user", "operator", "admin" };

	return names[level];
}

void
admin_cmd_show_cli_level(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	admin_msg(c, ADMIN_INFO, "%s", admin_level_name(c->level));
}

/* Without an argument it is shown; other words than on and off change nothing, as in HAProxy. */
static void
toggle_mode(struct admin_conn *c, enum admin_mode mode, const char *name, int argc, char **argv)
{
	if (argc == 0)
		admin_msg(c, ADMIN_INFO, "%s is %s", name, c->modes & (1u << mode) ? "ON" : "OFF");
	else if (strcmp(argv[0], "on") == 0)
		c->modes |= 1u << mode;
	else if (strcmp(argv[0], "off") == 0)
		c->modes &= ~(1u << mode);
}

void
admin_cmd_expert_mode(struct admin_conn *c, int argc, char **argv)
{
	toggle_mode(c, ADMIN_MODE_EXPERT, "expert-mode", argc, argv);
}

void
admin_cmd_experimental_mode(struct admin_conn *c, int argc, char **argv)
{
	toggle_mode(c, ADMIN_MODE_EXPERIMENTAL, "experimental-mode", argc, argv);
}
