/* Rules of health checks: the words of a line, and the rules that http-check and tcp-check share.
 * Main thread, while the configuration is read. */
#include "proxy/config/check_rule_cfg.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "cfg/arg_address.h"
#include "proxy/check/check_alias.h"
#include "proxy/check/check_send.h"
#include "proxy/model/proxies.h"
#include "tls/settings.h"

/* --- words --- */

/* An empty argument counts as missing. */
static int
is_any_empty(const struct cfg_ctx *ctx, int i, int n)
{
	for (int k = 0; k < n; k++)
		if (!*cfg_arg(ctx, i + k))
			return 1;
	return 0;
}

static int
take_check_word(struct cfg_ctx *ctx, int i, const char *name, const struct check_word *w,
	struct check_rule *r)
{
	int n;

	if (i + w->args >= ctx->argc || is_any_empty(ctx, i + 1, w->args))
		return cfg_error(ctx, MIN(i + 1, ctx->argc), "'%s' : '%s' expects %s.",
			cfg_kw_name(ctx), name, w->args > 1 ? "two arguments" : "an argument");
	n = w->take(ctx, i + 1, r, w->arg);
	return n < 0 ? -1 : 1 + n;
}

/* "!" negates the match that follows, also without a blank between them. */
static const char *
skip_negation(const char *name, struct check_rule *r)
{
	if (*name != '!' || r->kind != CHECK_RULE_EXPECT)
		return name;
	r->u.expect.negate = 1;
	return name + 1;
}

int
check_cfg_words(struct cfg_ctx *ctx, int first, const struct cfg_enum *names,
	const struct check_word *rows, struct check_rule *r)
{
	for (int i = first, n; i < ctx->argc; i += n) {
		const char *name = skip_negation(cfg_arg(ctx, i), r);
		const struct cfg_enum *e;
		int negates = name != cfg_arg(ctx, i), had_match = r->u.expect.has_match;

		n = 1;
		while (negates && !*name && i + 1 < ctx->argc)
			name = skip_negation(cfg_arg(ctx, ++i), r);
		e = cfg_enum_find(names, name, strlen(name));
		if (!e)
			return cfg_error(ctx, i, "'%s' : unknown argument '%.60s'.",
				cfg_kw_name(ctx), cfg_arg(ctx, i));
		n = take_check_word(ctx, i, name, &rows[e->value], r);
		if (n < 0)
			return -1;
		if (negates && r->u.expect.has_match == had_match)
			return cfg_error(ctx, i, "'%s' : '!' is not supported with '%s'.",
				cfg_kw_name(ctx), name);
	}
	return 0;
}

/* The family of the keyword: http-check or tcp-check. */
static enum check_family
check_cfg_family(const struct cfg_ctx *ctx)
{
	return strncmp(cfg_kw_name(ctx), "http-check", 10) == 0 ? CHECK_FAMILY_HTTP
								: CHECK_FAMILY_TCP;
}

/* The last rule of the section itself, without those on variables; NULL: none. */
static const struct check_rule *
last_own_rule(const struct check_conf *c)
{
	return c->own_rules ? check_conf_last_rule(c) : NULL;
}

/* Checks that the rules before this one allow it. A rule of http-check that misses another one
 * before it is noted: that is an error only if the rules are used. -1 after an error. */
static int
check_order(struct cfg_ctx *ctx, struct check_conf *c, enum check_family family,
	enum check_rule_kind kind)
{
	const struct check_rule *last = last_own_rule(c);
	const char *missing = NULL;

	if (!last || c->family != family)
		return 0;
	if (kind == CHECK_RULE_CONNECT && !c->begins_with_connect)
		return cfg_error(ctx, -1,
			"'%s' : the first step must also be a 'connect', optionally preceded by a "
			"'set-var', an 'unset-var' or a 'comment', when there is a 'connect' step.",
			cfg_kw_name(ctx));
	if (family != CHECK_FAMILY_HTTP || c->order.missing)
		return 0;
	if (kind == CHECK_RULE_CONNECT && last->kind != CHECK_RULE_EXPECT)
		missing = "expect";
	if (kind == CHECK_RULE_SEND && last->kind != CHECK_RULE_CONNECT)
		missing = "connect";
	if (kind == CHECK_RULE_EXPECT && last->kind == CHECK_RULE_CONNECT)
		missing = "send";
	if (missing)
		c->order = (struct check_order_error){ .keyword = ctx->kw->name,
			.missing = missing,
			.step = c->steps + 1,
			.where = cfg_arg_where(ctx, -1) };
	return 0;
}

struct check_rule *
check_cfg_add(struct cfg_ctx *ctx, enum check_rule_kind kind)
{
	enum check_family family = check_cfg_family(ctx);
	struct check_conf *c = &((struct proxy *)ctx->obj)->check;
	struct check_rule *r;

	if (check_order(ctx, c, family, kind))
		return NULL;
	check_conf_set_family(c, family);
	if (!last_own_rule(c) && kind == CHECK_RULE_CONNECT)
		c->begins_with_connect = 1;
	r = check_rule_add(c, kind, cfg_arg_where(ctx, -1));
	if (!r)
		(void)cfg_nomem(ctx);
	return r;
}

/* --- texts, formats, expressions --- */

/* The vocabulary with the variables that formats of checks may use. */
static struct rule_vocab
check_vocab(const struct cfg_ctx *ctx)
{
	struct rule_vocab v = ((const struct proxies *)ctx->root)->vocab;

	v.aliases = check_aliases;
	return v;
}

static int
report_expr_error(struct cfg_ctx *ctx, int i, const struct rule_err *why)
{
	return cfg_error(ctx, i, "'%s' : %s (byte %zu of '%.60s').", cfg_kw_name(ctx), why->text,
		why->at + 1, cfg_arg(ctx, i));
}

int
check_cfg_fmt(struct cfg_ctx *ctx, int i, unsigned int style, struct rule_fmt **out)
{
	struct rule_vocab v = check_vocab(ctx);
	struct rule_err why = { 0 };

	rule_fmt_free(out);
	if (rule_fmt_compile(&v, cfg_arg(ctx, i), style, CHECK_SCOPE, out, &why) < 0)
		return report_expr_error(ctx, i, &why);
	return 0;
}

static int
check_cfg_expr(struct cfg_ctx *ctx, int i, struct rule_expr **out)
{
	struct rule_vocab v = check_vocab(ctx);
	const char *text = cfg_arg(ctx, i);
	struct rule_err why = { 0 };
	size_t used;

	rule_expr_free(out);
	if (rule_expr_parse(&v, text, strlen(text), CHECK_SCOPE, 0, out, &used, &why) < 0)
		return report_expr_error(ctx, i, &why);
	return 0;
}

int
check_cfg_regex(struct cfg_ctx *ctx, int i, unsigned int flags, struct regex **out)
{
	struct regex_err why;

	if (regex_new(str_of(cfg_arg(ctx, i)), flags, out, &why) == 0)
		return 0;
	return cfg_error(ctx, i, "'%s' : bad regular expression : %s (byte %zu of '%.60s').",
		cfg_kw_name(ctx), why.text, why.at + 1, cfg_arg(ctx, i));
}

static struct check_text *
text_of(struct check_rule *r, intptr_t offset)
{
	return (struct check_text *)(void *)((char *)r + offset);
}

int
check_cfg_text(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	struct check_text *t = text_of(r, arg);

	rule_fmt_free(&t->fmt);
	if (cfg_arg_dup(ctx, i, &t->p))
		return -1;
	t->len = strlen(t->p);
	return 1;
}

int
check_cfg_text_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	struct check_text *t = text_of(r, arg);

	mem_free(t->p);
	t->p = NULL;
	t->len = 0;
	return check_cfg_fmt(ctx, i, RULE_FMT_RAW, &t->fmt) ? -1 : 1;
}

static int
report_bad_hex(struct cfg_ctx *ctx, int i)
{
	const char *bad = cfg_arg(ctx, i);

	while (isxdigit((unsigned char)*bad))
		bad++;
	if (!*bad)
		return cfg_error(ctx, i, "'%s' : an even number of hexadecimal digits is expected.",
			cfg_kw_name(ctx));
	return cfg_error(ctx, i, "'%s' : '%c' is not a hexadecimal digit.", cfg_kw_name(ctx),
		isprint((unsigned char)*bad) ? *bad : '?');
}

int
check_cfg_text_hex(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	struct check_text *t = text_of(r, arg);
	struct sbuf bytes;

	if (check_cfg_text(ctx, i, r, arg) < 0)
		return -1;
	bytes = (struct sbuf){ .p = t->p, .len = t->len, .cap = t->len + 1 };
	if (check_unhex(&bytes, 0) < 0)
		return report_bad_hex(ctx, i);
	t->len = bytes.len;
	return 1;
}

int
check_cfg_comment(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	return cfg_arg_dup(ctx, i, &r->comment) ? -1 : 1;
}

int
check_cfg_parse_comment(struct cfg_ctx *ctx)
{
	struct check_conf *c = &((struct proxy *)ctx->obj)->check;

	check_conf_set_family(c, check_cfg_family(ctx));
	c->steps++;
	if (ctx->argc > 1)
		cfg_warn(ctx, 1, "'%s' : only the first word is the comment; quotes make it one.",
			cfg_kw_name(ctx));
	return cfg_arg_dup(ctx, 0, &c->comment);
}

/* --- variables --- */

/* "check.name,ifexists": the text is split in place. */
static int
parse_check_var_name(struct cfg_ctx *ctx, char *text, int may_have_conds, struct check_set_var *out)
{
	const char *why = NULL;
	char *rest = text, *word = strsep(&rest, ",");

	if (var_name_parse(str_of(word), &out->name, &why) < 0)
		return cfg_error(
			ctx, 0, "'%s' : variable '%.60s': %s.", cfg_kw_name(ctx), word, why);
	if (out->name.scope != VAR_PROC && out->name.scope != VAR_SESS &&
		out->name.scope != VAR_CHECK)
		return cfg_error(ctx, 0,
			"'%s' : variable '%.60s': the scopes proc, sess and check are allowed "
			"here.",
			cfg_kw_name(ctx), word);
	while ((word = strsep(&rest, ",")) != NULL) {
		unsigned int bit = may_have_conds ? var_cond_parse(str_of(word)) : 0;

		if (!bit)
			return cfg_error(ctx, 0, "'%s' : unexpected '%.60s'%s.", cfg_kw_name(ctx),
				word,
				may_have_conds ? "; there are " VAR_COND_WORDS : "");
		out->conds |= bit;
	}
	return 0;
}

/* The name in brackets of "set-var(name)". */
static int
parse_check_var_brackets(struct cfg_ctx *ctx, size_t open, int may_have_conds,
	struct check_set_var *out)
{
	const char *word = cfg_arg(ctx, 0);
	size_t len = strlen(word);
	char *text;
	int rc;

	if (len < open + 2 || word[len - 1] != ')')
		return cfg_error(ctx, 0, "'%s' : ')' is missing at the end of '%.60s'.",
			cfg_kw_name(ctx), word);
	text = mem_strndup(word + open + 1, len - open - 2);
	if (!text)
		return cfg_nomem(ctx);
	rc = parse_check_var_name(ctx, text, may_have_conds, out);
	mem_free(text);
	return rc;
}

int
check_cfg_parse_var(struct cfg_ctx *ctx)
{
	const char *word = cfg_arg(ctx, 0);
	size_t n = strcspn(word, "(");
	struct str name = { word, n };
	int is_set = str_is(name, STR("set-var")), is_fmt = str_is(name, STR("set-var-fmt"));
	int is_unset = str_is(name, STR("unset-var"));
	struct check_rule *r;

	if (word[n] != '(' || (!is_set && !is_fmt && !is_unset))
		return cfg_error(ctx, 0, "'%s' : unknown rule '%.60s'.", cfg_kw_name(ctx), word);
	if (ctx->argc < 2 && !is_unset)
		return cfg_error(ctx, ctx->argc, "'%s %.*s' expects %s.", cfg_kw_name(ctx), (int)n,
			word, is_set ? "an expression" : "a format");
	if (ctx->argc > (is_unset ? 1 : 2))
		return cfg_error(ctx, is_unset ? 1 : 2,
			"'%s %.*s' cannot handle unexpected argument '%.60s'.", cfg_kw_name(ctx),
			(int)n, word, cfg_arg(ctx, is_unset ? 1 : 2));
	r = check_cfg_add(ctx, is_unset ? CHECK_RULE_UNSET_VAR : CHECK_RULE_SET_VAR);
	if (!r || parse_check_var_brackets(ctx, n, !is_unset, &r->u.var))
		return -1;
	if (is_unset)
		return 0;
	return is_fmt ? check_cfg_fmt(ctx, 1, RULE_FMT_RAW, &r->u.var.fmt)
		      : check_cfg_expr(ctx, 1, &r->u.var.expr);
}

/* --- expect ---------------------------------------------------------------------------------- */

/*
 * The rule expect of http-check and tcp-check: what both have in common. Main thread, while the
 * configuration is read.
 */

int
check_cfg_expect_min_recv(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	return cfg_arg_int(ctx, i, -1, INT_MAX, &r->u.expect.min_recv) ? -1 : 1;
}

/* arg: 0 ok-status, 1 error-status, 2 tout-status. */
int
check_cfg_expect_status(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	static const struct cfg_enum ok[] = { { "L7OK", CHECK_L7OK, NULL },
		{ "L7OKC", CHECK_L7OKC, NULL }, { "L6OK", CHECK_L6OK, NULL },
		{ "L4OK", CHECK_L4OK, NULL }, { 0 } };
	static const struct cfg_enum error[] = { { "L7OKC", CHECK_L7OKC, NULL },
		{ "L7RSP", CHECK_L7RSP, NULL }, { "L7STS", CHECK_L7STS, NULL },
		{ "L6RSP", CHECK_L6RSP, NULL }, { "L4CON", CHECK_L4CON, NULL }, { 0 } };
	static const struct cfg_enum tout[] = { { "L7TOUT", CHECK_L7TOUT, NULL },
		{ "L6TOUT", CHECK_L6TOUT, NULL }, { "L4TOUT", CHECK_L4TOUT, NULL }, { 0 } };
	static const struct cfg_enum *const tables[] = { ok, error, tout };
	struct check_expect *e = &r->u.expect;
	enum check_status *const fields[] = { &e->ok_status, &e->error_status, &e->tout_status };
	int status;

	if (cfg_arg_enum(ctx, i, tables[arg], &status))
		return -1;
	*fields[arg] = (enum check_status)status;
	return 1;
}

/* arg: 0 on-success, 1 on-error. */
int
check_cfg_expect_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	return check_cfg_fmt(ctx, i, 0, arg ? &r->u.expect.on_error : &r->u.expect.on_success) ? -1
											       : 1;
}

int
check_cfg_expect_code(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	return check_cfg_expr(ctx, i, &r->u.expect.status_code) ? -1 : 1;
}

/* --- patterns --- */

int
check_cfg_expect_match(struct cfg_ctx *ctx, int i, struct check_rule *r, enum check_match m)
{
	struct check_expect *e = &r->u.expect;

	if (e->has_match)
		return cfg_error(ctx, i - 1, "'%s' : only one match pattern is allowed.",
			cfg_kw_name(ctx));
	e->has_match = 1;
	e->match = m;
	return 0;
}

#define PATTERN offsetof(struct check_rule, u.expect.pattern.text)

int
check_cfg_expect_text(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	if (check_cfg_expect_match(ctx, i, r, (enum check_match)arg))
		return -1;
	return arg == CHECK_MATCH_BINARY ? check_cfg_text_hex(ctx, i, r, PATTERN)
					 : check_cfg_text(ctx, i, r, PATTERN);
}

int
check_cfg_expect_text_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	if (check_cfg_expect_match(ctx, i, r, (enum check_match)arg))
		return -1;
	return check_cfg_text_fmt(ctx, i, r, PATTERN);
}

/* The text is kept for messages. */
int
check_cfg_expect_regex(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	if (check_cfg_expect_match(ctx, i, r, (enum check_match)arg) ||
		check_cfg_regex(ctx, i, 0, &r->u.expect.pattern.regex))
		return -1;
	return check_cfg_text(ctx, i, r, PATTERN);
}

int
check_cfg_parse_expect(struct cfg_ctx *ctx, const struct cfg_enum *names,
	const struct check_word *rows, int is_http)
{
	struct check_rule *r = check_cfg_add(ctx, CHECK_RULE_EXPECT);

	if (!r)
		return -1;
	r->u.expect.is_http = (uint8_t)is_http;
	if (check_cfg_words(ctx, 0, names, rows, r))
		return -1;
	if (!r->u.expect.has_match)
		return cfg_error(ctx, ctx->argc, "'%s' : a match with its pattern is missing.",
			cfg_kw_name(ctx));
	return 0;
}

/* --- connect --------------------------------------------------------------------------------- */

/*
 * The rule connect of http-check and tcp-check. Main thread, while the configuration is read.
 */

/* The keyword's arg is the offset of a flag. */
static int
take_connect_flag(struct cfg_ctx *ctx unused, int i unused, struct check_rule *r, intptr_t arg)
{
	*((uint8_t *)r + arg) = 1;
	return 0;
}

/* A number, or an expression. */
static int
take_connect_port(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	struct check_connect *c = &r->u.connect;
	int port;

	rule_expr_free(&c->port_expr);
	c->port = 0;
	if (!isdigit((unsigned char)cfg_arg(ctx, i)[0]))
		return check_cfg_expr(ctx, i, &c->port_expr) ? -1 : 1;
	if (cfg_arg_int(ctx, i, 1, 65535, &port))
		return -1;
	c->port = (unsigned int)port;
	return 1;
}

static int
take_connect_addr(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	struct addr_spec spec;
	const char *why = "", *text;
	char buf[CFG_ADDRESS_MAX];

	text = cfg_arg_address(ctx, i, buf);
	if (!text)
		return -1;
	if (addr_parse(text, ADDR_ALLOW_NAME | ADDR_ALLOW_UNIX, &spec, &why) < 0)
		return cfg_error(ctx, i, "'%s' : '%.200s' : %s", cfg_kw_name(ctx), text, why);
	r->u.connect.addr = spec.addr;
	return 1;
}

/* h1 or h2 in http-check, none in tcp-check. */
static int
take_connect_proto(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	int is_http = check_cfg_family(ctx) == CHECK_FAMILY_HTTP;
	const char *name = cfg_arg(ctx, i);

	if (is_http && strcmp(name, "h1") == 0)
		r->u.connect.proto = CHECK_PROTO_H1;
	else if (is_http && strcmp(name, "h2") == 0)
		r->u.connect.proto = CHECK_PROTO_H2;
	else if (is_http || strcmp(name, "none") != 0)
		return cfg_error(ctx, i, "'%s' : protocol '%.40s' is not supported here (%s).",
			cfg_kw_name(ctx), name, is_http ? "'h1' and 'h2' are" : "'none' is");
	return 1;
}

static int
take_connect_sni(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	return cfg_arg_dup(ctx, i, &r->u.connect.sni) ? -1 : 1;
}

static int
take_connect_alpn(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	char why[TLS_WHY_MAX];

	if (tls_alpn_parse(cfg_arg(ctx, i), &r->u.connect.alpn, why) < 0)
		return cfg_error(ctx, i, "'%s' : 'alpn' : %s.", cfg_kw_name(ctx), why);
	return 1;
}

enum {
	CONNECT_DEFAULT,
	CONNECT_PORT,
	CONNECT_ADDR,
	CONNECT_SEND_PROXY,
	CONNECT_VIA_SOCKS4,
	CONNECT_SSL,
	CONNECT_SNI,
	CONNECT_ALPN,
	CONNECT_LINGER,
	CONNECT_PROTO,
	CONNECT_COMMENT
};

const struct cfg_enum check_connect_words[] = {
	{ "default", CONNECT_DEFAULT, "As the server line's options of checks say." },
	{ "port <expr>", CONNECT_PORT, "Another port: a number, or an expression." },
	{ "addr <ip>", CONNECT_ADDR, "Another address." },
	{ "send-proxy", CONNECT_SEND_PROXY, "Begins with a PROXY header." },
	{ "via-socks4", CONNECT_VIA_SOCKS4, "Through the server's SOCKS4 proxy." },
	{ "ssl", CONNECT_SSL, "With TLS." },
	{ "sni <name>", CONNECT_SNI, "The name that TLS asks for." },
	{ "alpn <protocols>", CONNECT_ALPN, "The protocols that TLS offers." },
	{ "linger", CONNECT_LINGER, "Ends the connection by FIN instead of a reset." },
	{ "proto <name>", CONNECT_PROTO, "h1 or h2 in http-check, none in tcp-check." },
	{ "comment <text>", CONNECT_COMMENT, "A comment, for the log." },
	{ 0 },
};

#define CONNECT_FLAG(field) { 0, take_connect_flag, offsetof(struct check_rule, u.connect.field) }

int
check_cfg_parse_connect(struct cfg_ctx *ctx)
{
	static const struct check_word rows[] = {
		[CONNECT_DEFAULT] = CONNECT_FLAG(defaults),
		[CONNECT_PORT] = { 1, take_connect_port, 0 },
		[CONNECT_ADDR] = { 1, take_connect_addr, 0 },
		[CONNECT_SEND_PROXY] = CONNECT_FLAG(send_proxy),
		[CONNECT_VIA_SOCKS4] = CONNECT_FLAG(via_socks4),
		[CONNECT_SSL] = CONNECT_FLAG(ssl),
		[CONNECT_SNI] = { 1, take_connect_sni, 0 },
		[CONNECT_ALPN] = { 1, take_connect_alpn, 0 },
		[CONNECT_LINGER] = CONNECT_FLAG(linger),
		[CONNECT_PROTO] = { 1, take_connect_proto, 0 },
		[CONNECT_COMMENT] = { 1, check_cfg_comment, 0 },
	};
	struct check_rule *r = check_cfg_add(ctx, CHECK_RULE_CONNECT);

	return r ? check_cfg_words(ctx, 0, check_connect_words, rows, r) : -1;
}
