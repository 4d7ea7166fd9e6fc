/* Helpers of parse functions. Main thread, while the configuration is read; a helper that fails has
 * reported why. */
#include "cfg/ctx.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "cfg/known.h"
#include "cfg/lexer.h"
#include "cfg/suggest.h"

const char *
cfg_arg(const struct cfg_ctx *ctx, int i)
{
	return i >= 0 && i < ctx->argc ? ctx->word[ctx->base + (unsigned int)i].text : "";
}

int
cfg_opt_parens(const struct cfg_ctx *ctx, const char **text, size_t *len)
{
	const char *word = ctx->word[ctx->base - 1].text + strlen(ctx->opt->name);
	size_t n = strlen(word);

	if (n < 2 || word[0] != '(' || word[n - 1] != ')')
		return -1;
	*text = word + 1;
	*len = n - 2;
	return 0;
}

/* Column of argument i; a missing one is after the last word. */
static unsigned int
arg_col(const struct cfg_ctx *ctx, int i)
{
	const struct cfg_word *w;
	unsigned int past, col;
	size_t len;

	if (ctx->nword == 0)
		return 0;
	if (i < 0)
		return ctx->word[ctx->opt ? ctx->base - 1 : ctx->kwpos].col;
	if (i < ctx->argc)
		return ctx->word[ctx->base + (unsigned int)i].col;
	past = ctx->base + (unsigned int)ctx->argc;
	w = &ctx->word[past > 0 ? past - 1 : 0];
	col = w->col + (unsigned int)strlen(w->text);
	/* quotes and variables change the length of a word */
	if (ctx->where.file) {
		cfg_file_line(ctx->where.file, ctx->where.line, &len);
		if (col > len + 1)
			col = (unsigned int)len + 1;
	}
	return col;
}

struct cfg_where
cfg_arg_where(const struct cfg_ctx *ctx, int i)
{
	struct cfg_where w = ctx->where;

	w.col = arg_col(ctx, i);
	return w;
}

unsigned int
cfg_section_errors(const struct cfg_ctx *ctx)
{
	return ctx->diag->count[CFG_ALERT] - ctx->errors_before;
}

const char *
cfg_kw_name(const struct cfg_ctx *ctx)
{
	if (ctx->kw)
		return ctx->kw->name;
	return ctx->section ? ctx->section->name : "";
}

static void
report_arg(struct cfg_ctx *ctx, enum cfg_sev sev, int i, const char *fmt, va_list ap)
{
	struct cfg_where w = cfg_arg_where(ctx, i);

	cfg_diag_vadd(ctx->diag, sev, &w, fmt, ap);
}

int
cfg_error(struct cfg_ctx *ctx, int i, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_arg(ctx, CFG_ALERT, i, fmt, ap);
	va_end(ap);
	return -1;
}

void
cfg_warn(struct cfg_ctx *ctx, int i, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_arg(ctx, CFG_WARNING, i, fmt, ap);
	va_end(ap);
}

void
cfg_note(struct cfg_ctx *ctx, int i, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_arg(ctx, CFG_NOTICE, i, fmt, ap);
	va_end(ap);
}

int
cfg_nomem(struct cfg_ctx *ctx)
{
	return cfg_error(ctx, -1, "out of memory.");
}

/* Common end of the typed helpers: adds the keyword to the message. */
static int
report_value(struct cfg_ctx *ctx, int i, const struct cfg_value_err *err)
{
	if (ctx->opt && i >= ctx->argc)
		return cfg_error(ctx, i, "'%s' option '%s' expects %s.", cfg_kw_name(ctx),
			ctx->opt->name, ctx->opt->syntax ? ctx->opt->syntax : "an argument");
	if (i >= ctx->argc)
		return cfg_error(ctx, i, "'%s' expects %s.", cfg_kw_name(ctx),
				 ctx->kw && ctx->kw->syntax ? ctx->kw->syntax : "an argument");
	if (err->odd && isprint((unsigned char)err->odd))
		return cfg_error(ctx, i, "unexpected character '%c' in '%s': %s.", err->odd,
			ctx->opt ? ctx->opt->name : cfg_kw_name(ctx), err->text);
	if (ctx->opt)
		return cfg_error(ctx, i, "'%s' option '%s': %s.", cfg_kw_name(ctx), ctx->opt->name,
				 err->text);
	return cfg_error(ctx, i, "'%s': %s.", cfg_kw_name(ctx), err->text);
}

int
cfg_arg_int64(struct cfg_ctx *ctx, int i, int64_t min, int64_t max, int64_t *out)
{
	struct cfg_value_err err;

	return cfg_value_int(cfg_arg(ctx, i), min, max, out, &err) ? report_value(ctx, i, &err) : 0;
}

int
cfg_arg_int(struct cfg_ctx *ctx, int i, int min, int max, int *out)
{
	int64_t v;

	if (cfg_arg_int64(ctx, i, min, max, &v))
		return -1;
	*out = (int)v;
	return 0;
}

/* Takes "5s" of "5sec" and "5s[" with a warning, as HAProxy does. A time with a digit behind the
 * unit ("1m30s") means something else. 0 or -1. */
static int
take_time_before(struct cfg_ctx *ctx, int i, uint64_t min_ms, uint64_t max_ms, uint64_t *out_ms)
{
	const char *s = cfg_arg(ctx, i);
	size_t n = strspn(s, "0123456789");
	char time[32];

	n += s[n] && s[n + 1] == 's' && strchr("mu", s[n]) ? 2 : s[n] && strchr("smhd", s[n]);
	if (n >= sizeof(time) || strpbrk(s + n, "0123456789"))
		return -1;
	memcpy(time, s, n);
	time[n] = '\0';
	if (!strpbrk(time, "smhd") ||
		cfg_value_time(time, CFG_UNIT_MS, min_ms, max_ms, out_ms, NULL))
		return -1;
	cfg_warn(ctx, i, "unexpected character '%c' in '%s': '%.60s' is taken for '%s'.",
		isprint((unsigned char)s[n]) ? s[n] : '?',
		ctx->opt ? ctx->opt->name : cfg_kw_name(ctx), s, time);
	return 0;
}

int
cfg_arg_time(struct cfg_ctx *ctx, int i, enum cfg_unit unit, uint64_t min_ms, uint64_t max_ms,
	     uint64_t *out_ms)
{
	struct cfg_value_err err;

	if (cfg_value_time(cfg_arg(ctx, i), unit, min_ms, max_ms, out_ms, &err) == 0)
		return 0;
	if (!ctx->at_run_time && take_time_before(ctx, i, min_ms, max_ms, out_ms) == 0)
		return 0;
	return report_value(ctx, i, &err);
}

int
cfg_arg_timeout(struct cfg_ctx *ctx, int i, uint32_t *out_ms)
{
	uint64_t ms;

	if (cfg_arg_time(ctx, i, CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &ms))
		return -1;
	*out_ms = (uint32_t)ms;
	return 0;
}

int
cfg_arg_size(struct cfg_ctx *ctx, int i, uint64_t min, uint64_t max, uint64_t *out)
{
	struct cfg_value_err err;

	return cfg_value_size(cfg_arg(ctx, i), min, max, out, &err) ? report_value(ctx, i, &err)
								    : 0;
}

int
cfg_arg_percent(struct cfg_ctx *ctx, int i, unsigned int max, unsigned int *out)
{
	struct cfg_value_err err;

	return cfg_value_percent(cfg_arg(ctx, i), max, out, &err) ? report_value(ctx, i, &err) : 0;
}

int
cfg_arg_bool(struct cfg_ctx *ctx, int i, int *out)
{
	struct cfg_value_err err;

	return cfg_value_bool(cfg_arg(ctx, i), out, &err) ? report_value(ctx, i, &err) : 0;
}

int
cfg_arg_enum(struct cfg_ctx *ctx, int i, const struct cfg_enum *table, int *out)
{
	struct cfg_value_err err;

	return cfg_value_enum(cfg_arg(ctx, i), table, out, &err) ? report_value(ctx, i, &err) : 0;
}

int
cfg_arg_word(const struct cfg_ctx *ctx, int i, const struct cfg_enum *table)
{
	const char *word = cfg_arg(ctx, i);
	const struct cfg_enum *e = cfg_enum_find(table, word, strlen(word));

	return e ? e->value : -1;
}

int
cfg_arg_dup(struct cfg_ctx *ctx, int i, char **out)
{
	char *copy = mem_strdup(cfg_arg(ctx, i));

	if (!copy)
		return cfg_nomem(ctx);
	mem_free(*out);
	*out = copy;
	return 0;
}

int
cfg_arg_file(struct cfg_ctx *ctx, int i, size_t max, char **text, size_t *len)
{
	long rc = ctx->sys ? file_read(ctx->sys, cfg_arg(ctx, i), max, text, len) : -EPERM;

	if (rc == -EFBIG)
		return cfg_error(ctx, i, "'%s' : file '%s' is larger than %zu bytes.",
			cfg_kw_name(ctx), cfg_arg(ctx, i), max);
	if (rc < 0)
		return cfg_error(ctx, i, "'%s' : cannot read file '%s': %s.", cfg_kw_name(ctx),
			cfg_arg(ctx, i), err_text((int)rc));
	return 0;
}

void
cfg_take(struct cfg_ctx *ctx, int n)
{
	assert(ctx->opt && n >= 0 && n <= ctx->argc);
	ctx->taken = n;
}

/* Minimum number of words of an option with this name, 0 if it may be any number. */
static int
opt_words(const struct cfg_ctx *ctx, enum cfg_opt_place place, const char *name)
{
	const struct cfg_opt *o = cfg_registry_opt(ctx->registry, place, name);
	const struct cfg_known_opt *known = cfg_known_opt(place, name);

	if (o)
		return 1 + o->min;
	return known && known->args >= 0 ? 1 + known->args : 0;
}

/* Reports a misspelt option. An argument of an unknown word before it (`lost`) was reported with
 * that word. Returns the number of words to skip, 0 if it is unknown. */
static int
unknown_opt(struct cfg_ctx *ctx, enum cfg_opt_place place, int at, int lost)
{
	const char *name = cfg_arg(ctx, at);
	struct cfg_suggest near;

	cfg_suggest_init(&near, name);
	for (unsigned int i = 0; i < ctx->registry->nmodule; i++)
		for (const struct cfg_opt *o = ctx->registry->module[i]->opts[place]; o && o->name;
			o++)
			cfg_suggest_offer(&near, o->name);
	for (const struct cfg_known_opt *k = cfg_known_opts[place]; k->name; k++)
		cfg_suggest_offer(&near, k->name);
	if (near.best)
		cfg_error(ctx, at, "'%s' : unknown keyword '%s'; did you mean '%s' maybe ?%s",
			  cfg_kw_name(ctx), name, near.best, cfg_word_oddity(name));
	else if (!lost)
		cfg_error(ctx, at, "'%s' : unknown keyword '%s'.%s", cfg_kw_name(ctx), name,
			cfg_word_oddity(name));
	return near.best ? opt_words(ctx, place, near.best) : 0;
}

/* Parses the option at argument `at`. Returns its number of words, 0 if it is unknown; *failed is
 * set on an error. */
static int
run_opt(struct cfg_ctx *ctx, const struct cfg_opt *o, int at, void *obj, int *failed)
{
	struct cfg_ctx saved = *ctx;
	int rest = ctx->argc - at - 1, taken;

	if (rest < o->min) {
		*failed = 1;
		cfg_error(ctx, at, "'%s' : '%s' expects %s.", cfg_kw_name(ctx), o->name,
			  o->syntax ? o->syntax : "an argument");
		return 1 + rest;
	}
	if (o->class == CFG_UNSUPPORTED) {
		*failed = 1;
		cfg_error(ctx, at, "'%s' : keyword '%s' is known but not supported%s%s",
			  cfg_kw_name(ctx), o->name, o->doc ? ": " : ".", o->doc ? o->doc : "");
		return o->max < 0 ? 0 : 1 + o->min;
	}
	if (ctx->at_run_time && o->only_at_start) {
		*failed = 1;
		cfg_error(ctx, at, "'%s' option is not accepted for dynamic server", o->name);
		return o->max < 0 ? 0 : 1 + MIN(rest, o->max);
	}
	if (o->class == CFG_HINT) {
		cfg_note(ctx, at, "'%s' : '%s' has no effect here%s%s", cfg_kw_name(ctx), o->name,
			 o->doc ? ": " : ".", o->doc ? o->doc : "");
		return 1 + o->min;
	}
	ctx->opt = o;
	ctx->base += (unsigned int)at + 1;
	ctx->argc = o->max < 0 || o->max > rest ? rest : o->max;
	ctx->taken = o->min;
	if (o->parse(ctx, obj))
		*failed = 1;
	taken = ctx->taken;
	ctx->opt = saved.opt;
	ctx->base = saved.base;
	ctx->argc = saved.argc;
	ctx->taken = saved.taken;
	return 1 + taken;
}

int
cfg_parse_opts(struct cfg_ctx *ctx, enum cfg_opt_place place, int first, void *obj)
{
	int failed = 0, lost = 0;
	int i = first;

	while (i < ctx->argc) {
		const char *name = cfg_arg(ctx, i);
		const struct cfg_known_opt *known = cfg_known_opt(place, name);
		const struct cfg_opt *o = cfg_registry_opt(ctx->registry, place, name);
		int n = 0;

		/* left by an unset "$VAR" */
		if (!*name) {
			i++;
			continue;
		}
		if (o) {
			n = run_opt(ctx, o, i, obj, &failed);
		} else if (known) {
			const char *why = cfg_known_instead(name);

			failed = 1;
			cfg_error(ctx, i, "'%s' : keyword '%s' is known but not supported%s%s%s",
				cfg_kw_name(ctx), name, why ? " (" : "", why ? why : "",
				why ? ")." : ".");
			n = opt_words(ctx, place, name);
		} else {
			failed = 1;
			n = unknown_opt(ctx, place, i, lost);
		}
		lost = n == 0;
		i += n ? n : 1;
	}
	return failed ? -1 : 0;
}
