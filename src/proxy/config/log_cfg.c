/* Keywords of logs. Main thread, while the configuration is read. */
#include "proxy/config/log_cfg.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "cfg/registry.h"
#include "cfg/suggest.h"
#include "net/addr.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/config/ring_cfg.h"
#include "proxy/log/log_conf.h"
#include "proxy/log/log_format.h"
#include "proxy/model/log_profile.h"
#include "proxy/model/proxies.h"

static int log_profile_cfg_name(struct cfg_ctx *ctx, int i, struct log_line *l);

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

/* --- destinations ---------------------------------------------------------------------------- */

#define FD_MAX 1048576 /* the kernel's maximum per process */

/* If s starts with prefix, sets *rest to the text after it. */
static int
skip_prefix(const char *s, const char *prefix, const char **rest)
{
	size_t n = strlen(prefix);

	if (strncmp(s, prefix, n) != 0)
		return 0;
	*rest = s + n;
	return 1;
}

/* stdout, stderr, fd@N: 1 if it was one of them. */
static int
parse_log_fd(struct cfg_ctx *ctx, const char *s, struct log_dest *out, int *bad)
{
	const char *number;
	int64_t fd;

	if (strcmp(s, "stdout") == 0)
		fd = 1;
	else if (strcmp(s, "stderr") == 0)
		fd = 2;
	else if (!skip_prefix(s, "fd@", &number))
		return 0;
	else if (cfg_value_int(number, 0, FD_MAX, &fd, NULL) < 0) {
		*bad = cfg_error(
			ctx, 0, "'fd@' expects a number (0..%d), not '%s'.", FD_MAX, number);
		return 1;
	}
	out->kind = LOG_DEST_FD;
	out->fd = (int)fd;
	return 1;
}

static const char *
without_prefix(const char *s)
{
	static const char *const dropped[] = { "udp@", "udp4@", "udp6@", "uxdg@", "dgram+",
		"uxst@" };

	for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
		if (skip_prefix(s, dropped[i], &s))
			break;
	return s;
}

static int
is_stream(const char *s)
{
	static const char *const streams[] = { "tcp@", "tcp4@", "tcp6@", "uxst@", "stream+" };
	const char *rest;

	for (size_t i = 0; i < ARRAY_LEN(streams); i++)
		if (skip_prefix(s, streams[i], &rest))
			return 1;
	return 0;
}

/* Argument 0, when the rest of the line is known: an implicit ring has its length. 0, or -1 after
 * cfg_error(). */
static int
log_dest_parse(struct cfg_ctx *ctx, struct log_line *l)
{
	struct log_dest *out = &l->dest;
	char buf[CFG_ADDRESS_MAX];
	const char *s = cfg_arg_address(ctx, 0, buf), *why = NULL, *name;
	struct addr_spec spec;
	int bad = 0;

	if (!s)
		return -1;
	if (parse_log_fd(ctx, s, out, &bad))
		return bad;
	if (skip_prefix(s, "ring@", &name))
		return ring_cfg_name(ctx, name, l);
	if (addr_parse(without_prefix(s), ADDR_ALLOW_UNIX | ADDR_ALLOW_NAME, &spec, &why) < 0)
		return cfg_error(ctx, 0, "'%s': %s", s, why);
	if (spec.kind == ADDR_INET && addr_port(&spec.addr) == 0)
		addr_set_port(&spec.addr, LOG_PORT);
	if (is_stream(s))
		return ring_cfg_implicit(ctx, &spec.addr, l);
	out->kind = LOG_DEST_SOCKET;
	out->len = spec.addr.len;
	memcpy(&out->u, &spec.addr.u, MIN(sizeof(out->u), sizeof(spec.addr.u)));
	return 0;
}

/* --- log ----------------------------------------------------------------------------------- */

enum { WORD_LEN, WORD_FORMAT, WORD_SAMPLE, WORD_PROFILE, WORD_GLOBAL };

#define NAME(name) name
#define SECOND(id, name, ...) name
#define NAME_AND_TEXT(id, name, text) name " (" text ")"

static const struct cfg_enum log_words[] = {
	{ "global", WORD_GLOBAL, "In a proxy: the targets of the section global." },
	{ "len <length>", WORD_LEN, "Longest line in bytes, 80 to 65535; longer ones are cut. "
		"It is 1024 if it is not given." },
	{ "format <format>", WORD_FORMAT, "Header of a line: "
		LOG_FORM_WORDS(NAME_AND_TEXT, ", ") ". It is local if it is not given, rfc3164 "
		"with log-send-hostname." },
	{ "sample <ranges>:<size>", WORD_SAMPLE, "Sends only these of each <size> lines, such "
		"as 1-2,5:10." },
	{ "profile <name>", WORD_PROFILE, "The section log-profile that says what lines look "
		"like." },
	{ "<facility>", -1, "One of " LOG_FACILITY_WORDS(NAME, ", ") "." },
	{ "<level>", -1, "The least severe level that is sent: one of "
		LOG_LEVEL_WORDS(SECOND, ", ") ". It is debug if it is not given." },
	{ "<minlevel>", -1, "The most severe level that lines have: more severe ones are sent "
		"with it. It is emerg if it is not given." },
	{ 0 },
};

/* [len <n>] [format <f>] [sample <ranges>:<size>] [profile <name>], from argument *i on. */
static int
parse_settings(struct cfg_ctx *ctx, int *i, struct log_line *l)
{
	for (;; *i += 2) {
		const char *value = cfg_arg(ctx, *i + 1), *why;
		int word = cfg_arg_word(ctx, *i, log_words), n;

		if (word == WORD_LEN) {
			if (cfg_arg_int(ctx, *i + 1, LOG_LEN_MIN, LOG_LEN_MAX, &n) < 0)
				return -1;
			l->max_len = (unsigned int)n;
		} else if (word == WORD_FORMAT) {
			n = log_form_parse(value);
			if (n < 0)
				return cfg_error(ctx, *i + 1,
					"'log' : unknown format '%s'; the formats are "
					LOG_FORM_WORDS(SECOND, ", ") ".", value);
			l->form = (enum log_form)n;
			l->form_set = 1;
		} else if (word == WORD_SAMPLE) {
			if (log_sample_parse(value, &l->sample, &why) < 0)
				return cfg_error(
					ctx, *i + 1, "'log' : sample '%s': %s.", value, why);
		} else if (word == WORD_PROFILE) {
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
			"'log' : unknown level '%s'; the levels are "
			LOG_LEVEL_WORDS(SECOND, ", ") ".", cfg_arg(ctx, i));
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
	if (cfg_arg_word(ctx, 0, log_words) != WORD_GLOBAL)
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

/* Argument 0 as a word of the syslog header: short, and without control bytes. 0, or -1 after
 * cfg_error(). */
static int
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

static const struct cfg_enum preset_forms[] = {
	{ "clf", LOG_PRESET_CLF, "The common log format of web servers, with more fields "
		"behind it." },
	{ "json", LOG_PRESET_JSON, "Each line is an object: see Logs in JSON." },
	{ 0 },
};

static int
parse_preset(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	int preset = (int)ctx->kw->arg;

	if (ctx->argc > 0 && cfg_arg_enum(ctx, 0, preset_forms, &preset) < 0)
		return -1;
	mem_free(p->log.format_text);
	p->log.format_text = NULL;
	p->log.preset = (enum log_preset)preset;
	p->log.format_where = cfg_arg_where(ctx, -1);
	return 0;
}

static const struct cfg_kw kws[] = {
	{ .name = "log",
		.dflt = "none: nothing is logged",
		.values = log_words,
		.example = "log /dev/log local0\n"
			"log 192.0.2.9:514 format rfc5424 local1 notice\n"
			"log stdout format raw daemon",
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
			"says what its lines look like. In a pipe that is nearly full, lines of "
			"more than 4096 bytes may mix with those of other threads and processes." },
	{ .name = "log-tag",
		.sections = CFG_GLOBAL | CFG_PROXIES,
		.min = 1,
		.max = 1,
		.parse = parse_tag,
		.syntax = "<tag>",
		.doc = "Tag in the header of syslog messages.",
		.dflt = "the program's name" },
	{ .name = "log-send-hostname",
		.dflt = "off; without a name it is the host's",
		.sections = CFG_GLOBAL,
		.min = 0,
		.max = 1,
		.parse = parse_hostname,
		.syntax = "[<name>]",
		.doc = "Adds the host's name to the header of syslog messages." },
	{ .name = "log-format",
		.dflt = "a line with the addresses and the frontend, as soon as the session has "
			"a server",
		.example = "log-format \"%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B "
			"%{+Q}r\"",
		.once = "log format",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_format,
		.syntax = "<format>",
		.doc = "Format of the log line of a session." },
	{ .name = "error-log-format",
		.dflt = "the usual line for an invalid request; for a PROXY header or a "
			"handshake one with the address, the frontend and the reason",
		.once = "error-log-format",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_error_format,
		.syntax = "<format>",
		.doc = "Format of the log line of a connection that sent no valid request or no "
			"valid PROXY header." },
	{ .name = "log-format-sd",
		.dflt = "none",
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
		.example = "log-format '" LOG_FORMAT_TCP "'",
		.once = "log format",
		.sections = CFG_FE,
		.min = 0,
		.max = 0,
		.parse = parse_preset,
		.arg = LOG_PRESET_TCP,
		.doc = "Logs sessions with timers, termination state and counters; the example "
			"is the same line by log-format." },
	{ .name = "option httplog",
		.example = "log-format '" LOG_FORMAT_HTTP "'",
		.dflt = "off",
		.values = preset_forms,
		.once = "log format",
		.sections = CFG_FE,
		.min = 0,
		.max = 1,
		.parse = parse_preset,
		.arg = LOG_PRESET_HTTP,
		.syntax = "[clf|json]",
		.doc = "Logs requests with timers, termination state and counters; the example "
			"is the same line by log-format." },
	{ .name = "option httpslog",
		.example = "log-format '" LOG_FORMAT_HTTPS "'",
		.once = "log format",
		.sections = CFG_FE,
		.min = 0,
		.max = 0,
		.parse = parse_preset,
		.arg = LOG_PRESET_HTTPS,
		.doc = "As httplog, with what is known of TLS with the client behind it; the "
			"example is the same line by log-format." },
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

/* --- profiles -------------------------------------------------------------------------------- */

static struct list *
profiles_of(struct cfg_ctx *ctx)
{
	return &((struct proxies *)ctx->root)->log.profiles;
}

/* Returns the profile of this name. It is made if it does not exist, since sections and lines come
 * in any order. NULL after an error. */
static struct log_profile *
profile_named(struct cfg_ctx *ctx, int i, const char *name)
{
	struct log_profile *p = log_profile_find(profiles_of(ctx), name);

	if (p)
		return p;
	p = log_profile_add(profiles_of(ctx), name);
	if (!p)
		(void)cfg_nomem(ctx);
	else
		p->where = cfg_arg_where(ctx, i);
	return p;
}

/* Argument i names the profile of a `log` line; its section may follow. 0, or -1 after
 * cfg_error(). */
static int
log_profile_cfg_name(struct cfg_ctx *ctx, int i, struct log_line *l)
{
	const char *name = cfg_arg(ctx, i);

	if (!*name)
		return cfg_error(ctx, i, "'log' : 'profile' expects the name of a log-profile.");
	l->profile = profile_named(ctx, i, name);
	return l->profile ? 0 : -1;
}

/* --- the section ---------------------------------------------------------------------------- */

static int
begin_log_profile(struct cfg_ctx *ctx)
{
	struct log_profile *p = profile_named(ctx, 0, ctx->name);

	if (!p)
		return -1;
	if (p->is_declared)
		return cfg_error(ctx, 0, "log-profile '%s' exists already, at %s:%u.", p->name,
			p->where.file ? p->where.file->name : "?", p->where.line);
	p->is_declared = 1;
	p->where = cfg_arg_where(ctx, 0);
	ctx->obj = p;
	return 0;
}

static int
parse_profile_tag(struct cfg_ctx *ctx)
{
	return log_cfg_word(ctx, &((struct log_profile *)ctx->obj)->tag);
}

static const struct cfg_enum step_words[] = {
#define LOG_STEP(id, name, at, http, auto, text) { name, LOG_STEP_##id, text },
#include "proxy/model/log_step.tbl.h"
#undef LOG_STEP
	{ "any", LOG_STEP_ANY, "All steps that have no line of their own." },
	{ 0 },
};

enum { ALL_STEPS = -1 };

/* Steps that log-steps may name. */
static const struct cfg_enum automatic_words[] = {
	{ "all", ALL_STEPS, "Each of them; no other may stand beside it." },
#define WORD_IF_0(...)
#define WORD_IF_1(...) { __VA_ARGS__ },
#define LOG_STEP(id, name, at, http, auto, text) WORD_IF_##auto(name, LOG_STEP_##id, text)
#include "proxy/model/log_step.tbl.h"
#undef LOG_STEP
	{ 0 },
};

/* The step of a name in argument i, of those of a table. -1 after an error. */
static int
parse_step_name(struct cfg_ctx *ctx, int i, const char *name, const struct cfg_enum *table)
{
	const struct cfg_enum *e = cfg_enum_find(table, name, strlen(name));
	struct cfg_suggest near;

	if (e && e->value != ALL_STEPS)
		return e->value;
	if (strcmp(name, "quic-init") == 0)
		return cfg_error(ctx, i,
			"'%s' : the step 'quic-init' is not supported: there is no QUIC.",
			cfg_kw_name(ctx));
	if (e || cfg_enum_find(step_words, name, strlen(name)))
		return cfg_error(ctx, i, "'%s' : the step '%s' cannot be in log-steps; "
			"the steps are accept, request, connect, response and close, "
			"and 'all'.", cfg_kw_name(ctx), name);
	cfg_suggest_init(&near, name);
	for (e = table; e->name; e++)
		cfg_suggest_offer(&near, e->name);
	return cfg_error(ctx, i, "'%s' : unknown step '%s'%s%s%s", cfg_kw_name(ctx), name,
		near.best ? "; did you mean '" : "", near.best ? near.best : "",
		near.best ? "'?" : ".");
}

/* The mode of the proxies that use it is not known yet: it is checked again at the end. */
static int
parse_step_format(struct cfg_ctx *ctx, int i, enum log_step step, struct log_profile_fmt *f)
{
	const struct rule_vocab *v = &((struct proxies *)ctx->root)->vocab;
	const char *word = cfg_arg(ctx, i - 1);
	struct rule_err why = { 0 };
	struct rule_fmt *fmt;

	if (!*cfg_arg(ctx, i))
		return cfg_error(ctx, i, "'on %s %s' expects a format; without '%s' it is the "
			"frontend's.", log_steps[step].name, word, word);
	if (f->text)
		return cfg_error(ctx, i - 1, "'on %s %s' is given twice: see line %u.",
			log_steps[step].name, word, f->where.line);
	if (log_format_compile_at(v, cfg_arg(ctx, i), log_steps[step].at | SAMPLE_AT_TXN, &fmt,
		&why) < 0)
		return cfg_error(ctx, i, "failed to parse 'on %s %s' : %s (byte %zu)",
			log_steps[step].name, word, why.text, why.at + 1);
	rule_fmt_free(&fmt);
	f->where = cfg_arg_where(ctx, i);
	return cfg_arg_dup(ctx, i, &f->text);
}

static int
parse_on(struct cfg_ctx *ctx)
{
	struct log_profile *p = ctx->obj;
	int step = parse_step_name(ctx, 0, cfg_arg(ctx, 0), step_words);
	struct log_profile_step *on;
	int i = 1, r = 0;

	if (step < 0)
		return -1;
	on = &p->on[step];
	on->is_set = 1;
	if (ctx->argc == 1)
		return cfg_error(ctx, ctx->argc, "'on %s' expects drop, format or sd.",
			log_steps[step].name);
	while (i < ctx->argc && r == 0) {
		const char *word = cfg_arg(ctx, i);

		if (strcmp(word, "drop") == 0) {
			on->drop = 1;
			i++;
			continue;
		}
		if (strcmp(word, "format") == 0)
			r = parse_step_format(ctx, i + 1, (enum log_step)step, &on->format);
		else if (strcmp(word, "sd") == 0)
			r = parse_step_format(ctx, i + 1, (enum log_step)step, &on->sd);
		else
			return cfg_error(ctx, i, "'on %s' : unknown word '%s'; there are drop, "
				"format and sd.", log_steps[step].name, word);
		i += 2;
	}
	if (r == 0 && on->drop && (on->format.text || on->sd.text))
		cfg_warn(ctx, -1,
			"'on %s' : its format has no effect, since 'drop' takes precedence.",
			log_steps[step].name);
	return r;
}

/* --- log-steps ------------------------------------------------------------------------------ */

static int
parse_log_steps(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	const char *rest = cfg_arg(ctx, 0);
	const struct cfg_enum *e;
	unsigned int bits = 0;

	e = cfg_enum_find(automatic_words, rest, strlen(rest));
	if (e && e->value == ALL_STEPS) {
		for (e = automatic_words; e->name; e++)
			bits |= e->value == ALL_STEPS ? 0 : 1u << e->value;
		p->log.steps = bits;
		return 0;
	}
	for (;;) {
		size_t n = strcspn(rest, ",");
		char name[32];
		int step;

		if (n >= sizeof(name))
			return cfg_error(
				ctx, 0, "'log-steps' : unknown step '%.*s'.", (int)n, rest);
		memcpy(name, rest, n);
		name[n] = '\0';
		step = parse_step_name(ctx, 0, name, automatic_words);
		if (step < 0)
			return -1;
		bits |= 1u << step;
		if (!rest[n])
			break;
		rest += n + 1;
	}
	p->log.steps = bits;
	return 0;
}

static const struct cfg_kw profile_kws[] = {
	{ .name = "log-tag",
		.once = "log-tag",
		.sections = CFG_LOG_PROFILE,
		.min = 1,
		.max = 1,
		.parse = parse_profile_tag,
		.syntax = "<tag>",
		.doc = "Tag of all lines for targets with this profile, also of messages about "
			"servers and the process.",
		.dflt = "the log-tag of the proxy" },
	{ .name = "on",
		.dflt = "none: the line is the frontend's",
		.values = step_words,
		.sections = CFG_LOG_PROFILE,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_on,
		.syntax = "<step> [drop] [format <format>] [sd <format>]",
		.doc = "The form of a line that is written at this step: a format instead of "
			"the frontend's log-format or error-log-format, and structured data "
			"instead of its log-format-sd. Without one of them that of the frontend "
			"is used. 'drop' writes no line. A frontend with a profile that has "
			"'on close' writes its line at the end, whatever its log-format shows." },
	{ .name = "log-steps",
		.dflt = "one line, as soon as all that it shows is known",
		.values = automatic_words,
		.once = "log-steps",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_log_steps,
		.syntax = "all|<step>[,<step>...]",
		.doc = "Writes a log line at each of these steps." },
	{ 0 },
};

static const struct cfg_section sections[] = {
	{ .name = "log-profile",
		.bit = CFG_LOG_PROFILE,
		.flags = CFG_SEC_NAMED,
		.begin = begin_log_profile,
		.doc = "The form of log lines for the targets whose 'log' line has 'profile "
			"<name>'; the section may stand behind these lines." },
	{ 0 },
};

const struct cfg_module log_profile_cfg_module = {
	.name = "log-profile",
	.kws = profile_kws,
	.sections = sections,
};
