/* Keywords of logs. Main thread, while the configuration is read. */
#include "proxy/config/log_cfg.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/config/log_dest_cfg.h"
#include "proxy/config/log_profile_cfg.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/log/log_conf.h"
#include "proxy/log/log_format.h"
#include "proxy/model/proxies.h"

static struct log_global *
global_of(struct cfg_ctx *ctx)
{
	return &((struct proxies *)ctx->root)->log;
}

static int
is_global(const struct cfg_ctx *ctx)
{
	return (ctx->section->bit & CFG_GLOBAL) != 0;
}

/* --- log ----------------------------------------------------------------------------------- */

/* [len <n>] [format <f>] [sample <ranges>:<size>] [profile <name>], from argument *i on. */
static int
parse_settings(struct cfg_ctx *ctx, int *i, struct log_line *l)
{
	for (;; *i += 2) {
		const char *word = cfg_arg(ctx, *i), *value = cfg_arg(ctx, *i + 1), *why;
		int n;

		if (strcmp(word, "len") == 0) {
			if (cfg_arg_int(ctx, *i + 1, LOG_LEN_MIN, LOG_LEN_MAX, &n) < 0)
				return -1;
			l->max_len = (unsigned int)n;
		} else if (strcmp(word, "format") == 0) {
			n = log_form_parse(value);
			if (n < 0)
				return cfg_error(ctx, *i + 1,
					"'log' : unknown format '%s'; the formats are local, "
					"rfc3164, "
					"rfc5424, priority, short, timed, iso, raw and json",
					value);
			l->form = (enum log_form)n;
			l->form_set = 1;
		} else if (strcmp(word, "sample") == 0) {
			if (log_sample_parse(value, &l->sample, &why) < 0)
				return cfg_error(
					ctx, *i + 1, "'log' : sample '%s': %s.", value, why);
		} else if (strcmp(word, "profile") == 0) {
			if (log_profile_cfg_name(ctx, *i + 1, l) < 0)
				return -1;
		} else {
			return 0;
		}
	}
}

static int
parse_level(struct cfg_ctx *ctx, int i, enum log_level *out)
{
	int n;

	if (i >= ctx->argc)
		return 0;
	n = log_level_parse(cfg_arg(ctx, i));
	if (n < 0)
		return cfg_error(ctx, i,
			"'log' : unknown level '%s'; the levels are emerg, alert, crit, err, "
			"warning, "
			"notice, info and debug",
			cfg_arg(ctx, i));
	*out = (enum log_level)n;
	return 0;
}

static int
parse_line(struct cfg_ctx *ctx, struct log_line *l)
{
	int i = 1;

	if (ctx->argc < 2)
		return cfg_error(ctx, -1, "'log' expects an address and a facility%s.",
				 is_global(ctx) ? "" : ", or 'global'");
	if (parse_settings(ctx, &i, l) < 0)
		return -1;
	l->facility = log_facility_parse(cfg_arg(ctx, i));
	if (l->facility < 0 && i >= ctx->argc)
		return cfg_error(ctx, -1, "'log' expects a facility, such as local0 or daemon.");
	if (l->facility < 0)
		return cfg_error(ctx, i, "'log' : unknown facility '%s'.", cfg_arg(ctx, i));
	if (parse_level(ctx, i + 1, &l->level) < 0 || parse_level(ctx, i + 2, &l->minlevel) < 0)
		return -1;
	if (i + 3 < ctx->argc)
		return cfg_error(ctx, i + 3,
			"'log' cannot handle unexpected argument '%s'.", cfg_arg(ctx, i + 3));
	return log_dest_parse(ctx, l);
}

static unsigned int
list_count(const struct list *l)
{
	unsigned int n = 0;

	list_each(it, (struct list *)(uintptr_t)l)
		n++;
	return n;
}

static int
add_line(struct cfg_ctx *ctx, struct list *to)
{
	struct log_line *l;

	if (list_count(to) == LOG_LINES_MAX)
		return cfg_error(ctx, -1,
			"too many 'log' lines in one section; the limit is %d.", LOG_LINES_MAX);
	l = mem_alloc(sizeof(*l));
	if (!l)
		return cfg_nomem(ctx);
	log_line_init(l);
	if (parse_line(ctx, l) < 0) {
		mem_free(l);
		return -1;
	}
	list_append(to, &l->link);
	return 0;
}

static int
parse_log(struct cfg_ctx *ctx)
{
	struct proxy *p = is_global(ctx) ? NULL : ctx->obj;
	struct list *lines = p ? &p->logs : &global_of(ctx)->lines;

	if (ctx->form != CFG_FORM_SET) {
		if (ctx->argc > 0)
			return cfg_error(ctx, 0, "'no log' expects no arguments.");
		log_lines_free(lines);
		if (p)
			p->options &= ~(unsigned int)OPT_LOG_GLOBAL;
		return 0;
	}
	if (strcmp(cfg_arg(ctx, 0), "global") != 0)
		return add_line(ctx, lines);
	if (!p)
		return cfg_error(
			ctx, 0, "'log global' is not allowed in the 'global' section.");
	if (ctx->argc > 1)
		return cfg_error(ctx, 1,
			"'log' cannot handle unexpected argument '%s'.", cfg_arg(ctx, 1));
	p->options |= OPT_LOG_GLOBAL;
	return 0;
}

/* --- names --------------------------------------------------------------------------------- */

int
log_cfg_word(struct cfg_ctx *ctx, char **out)
{
	const char *s = cfg_arg(ctx, 0);

	if (strlen(s) > LOG_TAG_MAX)
		return cfg_error(
			ctx, 0, "'%s' : too long; the limit is %d characters.", cfg_kw_name(ctx),
				LOG_TAG_MAX);
	for (const char *p = s; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return cfg_error(
				ctx, 0, "'%s' : control characters are not allowed.",
					cfg_kw_name(ctx));
	return cfg_arg_dup(ctx, 0, out);
}

static int
parse_tag(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	return log_cfg_word(ctx, is_global(ctx) ? &global_of(ctx)->tag : &p->log.tag);
}

static int
parse_hostname(struct cfg_ctx *ctx)
{
	return log_cfg_word(ctx, &global_of(ctx)->hostname);
}

/* --- formats and options ------------------------------------------------------------------- */

/* The mode may be set later in the section: it is checked at the end. */
static int
check_format(struct cfg_ctx *ctx)
{
	const struct rule_vocab *v = &((struct proxies *)ctx->root)->vocab;
	struct rule_err why = { 0 };
	struct rule_fmt *f;

	if (log_format_compile(v, cfg_arg(ctx, 0), 1, &f, &why) < 0)
		return cfg_error(ctx, 0, "failed to parse %s : %s (byte %zu)", cfg_kw_name(ctx),
			why.text, why.at + 1);
	rule_fmt_free(&f);
	return 0;
}

static int
parse_text(struct cfg_ctx *ctx, struct log_text *t)
{
	t->where = cfg_arg_where(ctx, 0);
	return check_format(ctx) < 0 ? -1 : cfg_arg_dup(ctx, 0, &t->text);
}

static int
parse_error_format(struct cfg_ctx *ctx)
{
	return parse_text(ctx, &((struct proxy *)ctx->obj)->log.error);
}

static int
parse_sd(struct cfg_ctx *ctx)
{
	return parse_text(ctx, &((struct proxy *)ctx->obj)->log.sd);
}

static int
parse_format(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	if (check_format(ctx) < 0)
		return -1;
	if (cfg_arg_dup(ctx, 0, &p->log.format_text) < 0)
		return -1;
	p->log.format_where = cfg_arg_where(ctx, 0);
	p->log.preset = LOG_PRESET_NONE;
	return 0;
}

static int
parse_preset(struct cfg_ctx *ctx)
{
	static const struct cfg_enum forms[] = { { "clf", LOG_PRESET_CLF },
		{ "json", LOG_PRESET_JSON }, { 0 } };
	struct proxy *p = ctx->obj;
	int preset = (int)ctx->kw->arg;

	if (ctx->argc > 0 && cfg_arg_enum(ctx, 0, forms, &preset) < 0)
		return -1;
	mem_free(p->log.format_text);
	p->log.format_text = NULL;
	p->log.preset = (enum log_preset)preset;
	p->log.format_where = cfg_arg_where(ctx, -1);
	return 0;
}

static const struct cfg_kw kws[] = {
	{ .name = "log",
		.sections = CFG_GLOBAL | CFG_PROXIES,
		.flags = CFG_KW_NO,
		.min = 0,
		.max = CFG_ANY,
		.parse = parse_log,
		.syntax =
			"global | <target> [len <length>] [format <format>] "
			"[sample <ranges>:<size>] [profile <name>] <facility> "
			"[<level> [<minlevel>]]",
		.doc = "Target of logs: an address of a syslog daemon (UDP), a unix datagram "
			"socket, stdout, stderr, fd@<n>, or ring@<name>. With the prefix tcp@, "
			"tcp4@, tcp6@ or uxst@ an own ring sends over a stream. A 'log-profile' "
			"says what its lines look like." },
	{ .name = "log-tag",
		.sections = CFG_GLOBAL | CFG_PROXIES,
		.min = 1,
		.max = 1,
		.parse = parse_tag,
		.syntax = "<tag>",
		.doc = "Tag in the header of syslog messages; the default is the program's name." },
	{ .name = "log-send-hostname",
		.sections = CFG_GLOBAL,
		.min = 0,
		.max = 1,
		.parse = parse_hostname,
		.syntax = "[<name>]",
		.doc = "Adds the host's name to the header of syslog messages." },
	{ .name = "log-format",
		.once = "log format",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_format,
		.syntax = "<format>",
		.doc = "Format of the log line of a session." },
	{ .name = "error-log-format",
		.once = "error-log-format",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_error_format,
		.syntax = "<format>",
		.doc = "Format of the log line of a connection that sent no valid request or no "
			"valid PROXY header." },
	{ .name = "log-format-sd",
		.once = "log-format-sd",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_sd,
		.syntax = "<format>",
		.doc = "Structured data of log lines in the format rfc5424." },
	{ .name = "option dontlog-normal",
		.sections = CFG_FE,
		.flags = CFG_KW_NO,
		.min = 0,
		.max = 0,
		.parse = proxy_cfg_option,
		.arg = OPT_DONTLOG_NORMAL,
		.doc = "Logs only sessions that failed or were retried." },
	{ .name = "option log-separate-errors",
		.sections = CFG_FE,
		.flags = CFG_KW_NO,
		.min = 0,
		.max = 0,
		.parse = proxy_cfg_option,
		.arg = OPT_LOG_ERRORS,
		.doc = "Logs sessions that failed or were retried at the level err." },
	{ .name = "option tcplog",
		.once = "log format",
		.sections = CFG_FE,
		.min = 0,
		.max = 0,
		.parse = parse_preset,
		.arg = LOG_PRESET_TCP,
		.doc = "Logs sessions with timers, termination state and counters." },
	{ .name = "option httplog",
		.once = "log format",
		.sections = CFG_FE,
		.min = 0,
		.max = 1,
		.parse = parse_preset,
		.arg = LOG_PRESET_HTTP,
		.syntax = "[clf|json]",
		.doc = "Logs requests with timers, termination state and counters." },
	{ .name = "option httpslog",
		.once = "log format",
		.sections = CFG_FE,
		.min = 0,
		.max = 0,
		.parse = parse_preset,
		.arg = LOG_PRESET_HTTPS,
		.doc = "As httplog, with what is known of TLS with the client behind it." },
	{ .name = "option dontlognull",
		.sections = CFG_FE,
		.flags = CFG_KW_NO,
		.min = 0,
		.max = 0,
		.parse = proxy_cfg_option,
		.arg = OPT_DONTLOGNULL,
		.doc = "Does not log sessions in which the client sent nothing." },
	{ .name = "option logasap",
		.sections = CFG_FE,
		.flags = CFG_KW_NO,
		.min = 0,
		.max = 0,
		.parse = proxy_cfg_option,
		.arg = OPT_LOGASAP,
		.doc = "Logs a session as soon as its server is connected." },
	{ 0 }
};

const struct cfg_module log_cfg_module = {
	.name = "log",
	.kws = kws,
};
