/* set-var and set-var-fmt in `global`: variables of scope proc get their first values. Main thread,
 * while the configuration is read. */
#include <string.h>
#include <time.h>

#include "app/config/config.h"
#include "app/config/global.h"
#include "base/sys.h"
#include "cfg/ctx.h"
#include "proxy/model/eval_scratch.h"
#include "rule/sample/expr.h"
#include "rule/sample/fmt.h"
#include "rule/sample/var.h"

/* Bytes for the texts of one evaluation. */
#define TEXTS_MAX 65536

/* --- log variables that need no session --- */

struct reading {
	struct eval_scratch scratch;
	const struct config *cfg;
};

static struct tm
utc_of(const struct sample_ctx *cx)
{
	time_t sec = (time_t)(cx->wall_ns / 1000000000u);
	struct tm tm = { 0 };

	(void)!gmtime_r(&sec, &tm);
	return tm;
}

static const struct tm *
local_of(const struct sample_ctx *cx)
{
	struct reading *r = (struct reading *)(uintptr_t)cx->log;

	return wall_local(&r->scratch.wall, (int64_t)(cx->wall_ns / 1000000000u));
}

static void
write_start_host(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	const struct config *c = ((const struct reading *)cx->log)->cfg;

	rule_fmt_put(out, flags, str_of(c->global.node ? c->global.node : c->hostname));
}

static void
write_start_pid(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	(void)flags;
	sbuf_addf(out, "%d", ((const struct reading *)cx->log)->cfg->diag.pid);
}

static void
write_start_date(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	(void)flags;
	wall_add_clf(out, local_of(cx));
	sbuf_addf(out, ".%03u", (unsigned int)(cx->wall_ns / 1000000u % 1000u));
}

static void
write_start_utc_date(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	struct tm tm = utc_of(cx);

	(void)flags;
	wall_add_clf(out, &tm);
	sbuf_adds(out, " +0000");
}

static void
write_start_local_date(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	const struct tm *tm = local_of(cx);

	(void)flags;
	wall_add_clf(out, tm);
	sbuf_addc(out, ' ');
	wall_add_zone(out, tm);
}

static void
write_start_seconds(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	(void)flags;
	sbuf_addu(out, cx->wall_ns / 1000000000u);
}

static const struct rule_alias aliases[] = {
	{ "H", 0, write_start_host, NULL, 0 },
	{ "T", 0, write_start_utc_date, NULL, 0 },
	{ "Tl", 0, write_start_local_date, NULL, 0 },
	{ "Ts", 0, write_start_seconds, NULL, 0 },
	{ "pid", 0, write_start_pid, NULL, 0 },
	{ "t", 0, write_start_date, NULL, 0 },
	{ 0 },
};

/* --- values --- */

static void
begin_evaluation(struct reading *r, struct config *c, struct sample_ctx *cx)
{
	struct sys *sys = c->proxies.files.sys;

	memset(cx, 0, sizeof(*cx));
	r->cfg = c;
	cx->proc = &c->vars;
	cx->log = r;
	cx->arena = &r->scratch.arena;
	cx->regex = r->scratch.regex;
	cx->wall_ns = sys_clock_ns(sys, CLOCK_REALTIME);
	cx->random = &r->scratch.random;
	cx->sys = sys;
}

static int
report_bad_text(struct cfg_ctx *ctx, const struct rule_err *why)
{
	return cfg_error(ctx, 1, "'%s' : %s.", ctx->kw->name, why->text);
}

static int
store_value(struct cfg_ctx *ctx, const struct sample_ctx *cx, struct var_name name,
	const struct sample *s)
{
	return var_store(cx, name, s) < 0
		? cfg_error(ctx, 1, "'%s' : not enough memory for the variable.", ctx->kw->name)
		: 0;
}

/* As in HAProxy an expression without a value sets nothing. */
static int
set_expr(struct cfg_ctx *ctx, const struct rule_vocab *v, struct sample_ctx *cx,
	struct var_name name)
{
	const char *text = cfg_arg(ctx, 1);
	struct rule_expr *e = NULL;
	struct rule_err why = { 0 };
	struct sample s;
	size_t used;
	int r = 0;

	if (rule_expr_parse(v, text, strlen(text), 0, 0, &e, &used, &why) < 0)
		return report_bad_text(ctx, &why);
	if (rule_expr_eval(e, cx, &s) == 1)
		r = store_value(ctx, cx, name, &s);
	rule_expr_free(&e);
	return r;
}

static int
set_fmt(struct cfg_ctx *ctx, const struct rule_vocab *v, struct sample_ctx *cx,
	struct var_name name)
{
	struct rule_fmt *f = NULL;
	struct rule_err why = { 0 };
	struct sample s = { .type = SAMPLE_STR };
	int r;

	if (rule_fmt_compile(v, cfg_arg(ctx, 1), 0, 0, &f, &why) < 0)
		return report_bad_text(ctx, &why);
	r = rule_fmt_text(f, cx, &s.u.str) < 0
		? cfg_error(ctx, 1, "'%s' : the text is too long.", ctx->kw->name)
		: store_value(ctx, cx, name, &s);
	rule_fmt_free(&f);
	return r;
}

/* --- the keywords --- */

static int
parse_proc_name(struct cfg_ctx *ctx, struct var_name *name)
{
	const char *text = cfg_arg(ctx, 0), *why;

	if (var_name_parse(str_of(text), name, &why) < 0)
		return cfg_error(ctx, 0, "'%s' : variable '%s': %s.", ctx->kw->name, text, why);
	if (name->scope != VAR_PROC)
		return cfg_error(ctx, 0,
			"'%s' : cannot set variable '%s', only scope 'proc' is permitted in the "
			"global section.",
			ctx->kw->name, text);
	return 0;
}

static int
parse_set_var(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	struct rule_vocab v = c->proxies.vocab;
	struct sample_ctx cx;
	struct var_name name;
	struct reading r;
	int rc;

	if (parse_proc_name(ctx, &name) < 0)
		return -1;
	if (eval_scratch_init(&r.scratch, TEXTS_MAX, c->proxies.files.sys) < 0)
		return cfg_nomem(ctx);
	/* Tables of a map would outlive its expression. */
	v.files = NULL;
	v.aliases = aliases;
	begin_evaluation(&r, c, &cx);
	rc = ctx->kw->arg ? set_fmt(ctx, &v, &cx, name) : set_expr(ctx, &v, &cx, name);
	eval_scratch_fini(&r.scratch);
	return rc;
}

#define KW(n, is_fmt, syn, text, ...)                                              \
	{                                                                          \
		.name = n, .sections = CFG_GLOBAL, .min = 2, .max = 2,             \
		.parse = parse_set_var, .arg = is_fmt, .syntax = syn, .doc = text, \
		__VA_ARGS__                                                        \
	}

static const struct cfg_kw kws[] = {
	KW("set-var", 0, "<name> <expr>",
		"Sets a variable of the process, proc.<name>, when this line is read. The "
		"expression can use variables that were set before, but nothing of a connection.",
		.dflt = "none",
		.example = "set-var proc.site str(north)"),
	KW("set-var-fmt", 1, "<name> <format>",
		"Sets a variable of the process to a formatted text, when this line is read. "
		"The format may use %H, %T, %Tl, %Ts, %pid and %t.",
		.dflt = "none"),
	{ 0 },
};

const struct cfg_module vars_cfg_module = {
	.name = "variables of the process",
	.kws = kws,
};
