/* Servers of rings. Main thread, while the configuration is read; what they name for TLS is read
 * when all of it is known. */
#include "proxy/config/ring_server_cfg.h"

#include <string.h>

#include "base/mem.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "net/addr.h"
#include "proxy/model/eval_scratch.h"
#include "proxy/model/proxies.h"
#include "proxy/model/ring_conf.h"
#include "rule/sample/expr.h"

/* Bytes for the texts of the evaluation. */
#define SNI_TEXTS_MAX 4096

static int
parse_log_proto(struct cfg_ctx *ctx, int i, struct ring_server *s)
{
	static const struct cfg_enum protocols[] = { { "legacy", 0 }, { "octet-count", 1 },
		{ 0 } };

	return cfg_arg_enum(ctx, i + 1, protocols, &s->conf.counts_octets) < 0 ? -1 : 2;
}

/* --- the name that is asked for --- */

/* Nothing of a connection is known: the expression is evaluated now. 1: it has a value, 0: none,
 * -1: memory is out. */
static int
evaluate_sni(const struct rule_expr *e, struct sys *sys, struct ring_server *s)
{
	struct eval_scratch scratch;
	struct sample_ctx cx;
	struct sample name;
	int r = 0;

	if (eval_scratch_init(&scratch, SNI_TEXTS_MAX, sys) < 0)
		return -1;
	memset(&cx, 0, sizeof(cx));
	cx.arena = &scratch.arena;
	cx.regex = scratch.regex;
	cx.random = &scratch.random;
	cx.sys = sys;
	if (rule_expr_eval_as(e, &cx, SAMPLE_STR, &name) == 1) {
		mem_free(s->tls_conf.sni);
		s->tls_conf.sni = mem_strndup(name.u.str.p, name.u.str.len);
		r = s->tls_conf.sni ? 1 : -1;
	}
	eval_scratch_fini(&scratch);
	return r;
}

static int
parse_ring_sni(struct cfg_ctx *ctx, int i, struct ring_server *s)
{
	const struct proxies *ps = ctx->root;
	struct rule_vocab v = ps->vocab;
	const char *text = cfg_arg(ctx, i + 1);
	struct rule_expr *e = NULL;
	struct rule_err why = { 0 };
	size_t used;
	int r;

	if (i + 1 >= ctx->argc || strncmp(text, "str(", 4) != 0)
		return cfg_error(ctx, i + 1,
			"'server %s' : 'sni' : in a ring the name is a constant: str(<name>).",
			s->name);
	/* Tables of a map would outlive its expression. */
	v.files = NULL;
	if (rule_expr_parse(&v, text, strlen(text), 0, 0, &e, &used, &why) < 0)
		return cfg_error(
			ctx, i + 1, "'server %s' : 'sni' : %s.", s->name, why.text);
	r = evaluate_sni(e, ps->files.sys, s);
	rule_expr_free(&e);
	if (r < 0)
		return cfg_nomem(ctx);
	if (!r || !s->tls_conf.sni[0])
		return cfg_error(
			ctx, i + 1, "'server %s' : 'sni' : the name is empty.", s->name);
	return 2;
}

/* --- options --- */

static int
parse_tls_setting(struct cfg_ctx *ctx, int i, struct ring_server *s)
{
	const char *name = cfg_arg(ctx, i);
	int args = tls_settings_args(TLS_AT_SERVER, name);
	char why[TLS_WHY_MAX];

	if (args < 0)
		return cfg_error(ctx, i,
			"'server %s' : '%s' : in a ring a server has the options log-proto, ssl, "
			"sni and those of TLS only.",
			s->name, name);
	if (i + args >= ctx->argc)
		return cfg_error(ctx, i, "'server %s' : '%s' expects an argument.", s->name, name);
	if (tls_settings_set(&s->tls_conf.set, TLS_AT_SERVER, name, cfg_arg(ctx, i + 1), why) < 0)
		return cfg_error(ctx, i + args, "'server %s' : '%s' : %s.", s->name, name, why);
	return 1 + args;
}

/* The option at argument i: its number of words, or -1 after an error. */
static int
parse_ring_server_option(struct cfg_ctx *ctx, int i, struct ring_server *s)
{
	const char *name = cfg_arg(ctx, i);

	if (strcmp(name, "log-proto") == 0)
		return parse_log_proto(ctx, i, s);
	if (!s->tls_conf.where.file)
		s->tls_conf.where = cfg_arg_where(ctx, i);
	if (strcmp(name, "ssl") == 0) {
		s->tls_conf.is_on = 1;
		s->tls_conf.where = cfg_arg_where(ctx, i);
		return 1;
	}
	if (strcmp(name, "sni") == 0)
		return parse_ring_sni(ctx, i, s);
	return parse_tls_setting(ctx, i, s);
}

static int
parse_ring_server_options(struct cfg_ctx *ctx, struct ring_server *s)
{
	int n;

	for (int i = 2; i < ctx->argc; i += n) {
		n = parse_ring_server_option(ctx, i, s);
		if (n < 0)
			return -1;
	}
	if (s->tls_conf.where.file && !s->tls_conf.is_on)
		cfg_diag_add(ctx->diag, CFG_WARNING, &s->tls_conf.where,
			"'server %s' : options of TLS have no effect without 'ssl'.", s->name);
	return 0;
}

int
ring_server_cfg_parse(struct cfg_ctx *ctx)
{
	const unsigned int flags = ADDR_ALLOW_NAME | ADDR_ALLOW_UNIX | ADDR_WANT_PORT;
	struct ring_server *s;
	struct addr_spec spec;
	const char *why, *text;
	char buf[CFG_ADDRESS_MAX];

	text = cfg_arg_address(ctx, 1, buf);
	if (!text)
		return -1;
	if (addr_parse(text, flags, &spec, &why) < 0)
		return cfg_error(ctx, 1, "'server %s' : '%.200s' : %s.", cfg_arg(ctx, 0), text,
			why);
	s = ring_conf_add_server(ctx->obj, cfg_arg(ctx, 0));
	if (!s)
		return cfg_nomem(ctx);
	s->conf.addr = spec.addr;
	return parse_ring_server_options(ctx, s);
}
