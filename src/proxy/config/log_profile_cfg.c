/* Sections `log-profile`, the profile of a `log` line, and log-steps. Main thread, while the
 * configuration is read. */
#include "proxy/config/log_profile_cfg.h"

#include <string.h>

#include "base/log.h"
#include "cfg/ctx.h"
#include "cfg/suggest.h"
#include "proxy/config/log_cfg.h"
#include "proxy/log/log_format.h"
#include "proxy/model/log_profile.h"
#include "proxy/model/proxies.h"

static struct list *
profiles_of(struct cfg_ctx *ctx)
{
	return &((struct proxies *)ctx->root)->log.profiles;
}

/* The one of this name, which may have to be made: sections and lines come in any order. NULL after
 * an error. */
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

int
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

/* Argument i as a step, of those that `log-steps` may name if automatic. -1 after an error. */
static int
parse_step_name(struct cfg_ctx *ctx, int i, const char *name, int automatic)
{
	struct cfg_suggest near;
	int step = log_step_find(name);

	if (step >= 0 && (!automatic || log_steps[step].is_automatic))
		return step;
	if (strcmp(name, "quic-init") == 0)
		return cfg_error(ctx, i,
			"'%s' : the step 'quic-init' is not supported: there is no QUIC.",
			cfg_kw_name(ctx));
	if (step >= 0)
		return cfg_error(ctx, i, "'%s' : the step '%s' cannot be in log-steps; "
			"the steps are accept, request, connect, response and close, "
			"and 'all'.", cfg_kw_name(ctx), name);
	cfg_suggest_init(&near, name);
	for (int s = 0; s < LOG_STEP_LINES; s++)
		if (!automatic || log_steps[s].is_automatic)
			cfg_suggest_offer(&near, log_steps[s].name);
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
	int step = parse_step_name(ctx, 0, cfg_arg(ctx, 0), 0);
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

static unsigned int
automatic_steps(void)
{
	unsigned int bits = 0;

	for (int i = 0; i < LOG_STEPS; i++)
		bits |= log_steps[i].is_automatic ? 1u << i : 0;
	return bits;
}

static int
parse_log_steps(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	const char *rest = cfg_arg(ctx, 0);
	unsigned int bits = 0;

	if (strcmp(rest, "all") == 0) {
		p->log.steps = automatic_steps();
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
		step = parse_step_name(ctx, 0, name, 1);
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

static const struct cfg_kw kws[] = {
	{ .name = "log-tag",
		.once = "log-tag",
		.sections = CFG_LOG_PROFILE,
		.min = 1,
		.max = 1,
		.parse = parse_profile_tag,
		.syntax = "<tag>",
		.doc = "Tag of all lines for targets with this profile, also of messages about "
			"servers and the process." },
	{ .name = "on",
		.sections = CFG_LOG_PROFILE,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_on,
		.syntax = "<step> [drop] [format <format>] [sd <format>]",
		.doc = "What a line that is written at this step looks like: another format than "
			"the frontend's log-format or error-log-format, and other structured data "
			"than its log-format-sd. What is missing is the frontend's. 'drop' writes "
			"no line. The steps are accept, request, connect, response, close, error "
			"for connections without a valid request, PROXY header or handshake, those "
			"of the action 'do-log', and any for all that have no 'on' of their own. A "
			"frontend with a profile that has 'on close' writes its line at the end, "
			"whatever its log-format shows." },
	{ .name = "log-steps",
		.once = "log-steps",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_log_steps,
		.syntax = "all|<step>[,<step>...]",
		.doc = "Writes a log line at each of these steps, instead of one as soon as all "
			"that it shows is known: accept, when a connection is accepted; request, "
			"when the head of a request is complete, before its rules; connect, when "
			"there is a connection to the server; response, when the head of its "
			"response has been processed; close, at the end. Request and response "
			"exist in mode http only. Lines of the step error are always written." },
	{ 0 },
};

static const struct cfg_section sections[] = {
	{ .name = "log-profile",
		.bit = CFG_LOG_PROFILE,
		.flags = CFG_SEC_NAMED,
		.begin = begin_log_profile,
		.doc = "What log lines look like for the targets whose 'log' line has 'profile "
			"<name>'; it may stand behind them." },
	{ 0 },
};

const struct cfg_module log_profile_cfg_module = {
	.name = "log-profile",
	.kws = kws,
	.sections = sections,
};
