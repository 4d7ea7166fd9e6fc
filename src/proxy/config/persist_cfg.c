/* Keywords of persistence (manual 4.2): cookie, force-persist, ignore-persist, use-server. */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/sbuf.h"
#include "cfg/ctx.h"
#include "http/head.h"
#include "proxy/model/proxies.h"
#include "proxy/config/proxy_cfg.h"

/* Maximum length of a cookie's attributes, which have to fit into a head. */
#define ATTRS_MAX 1024
#define AGE_MAX_MS (UINT64_C(1000) * INT_MAX)

/* --- cookie --- */

/* A `cookie` line while it is parsed. Attributes are sent in a fixed order. */
struct line {
	struct persist_conf *conf;
	struct sbuf domains, attrs;
	int ways; /* number of rewrite, insert and prefix */
	int httponly, secure;
	int at;   /* the current argument */
};

static int
take_way(struct cfg_ctx *ctx, struct line *l, enum persist_way way)
{
	if (l->ways++ && l->conf->way != way)
		return cfg_error(ctx, l->at,
			"cookie 'rewrite', 'insert' and 'prefix' modes are incompatible.");
	l->conf->way = way;
	return 0;
}

static int
take_age(struct cfg_ctx *ctx, struct line *l, unsigned int *out)
{
	const char *what = cfg_arg(ctx, l->at);
	uint64_t ms;

	if (++l->at == ctx->argc)
		return cfg_error(ctx, l->at - 1,
			"'cookie' : '%s' expects a time in seconds.", what);
	if (cfg_arg_time(ctx, l->at, CFG_UNIT_S, 0, AGE_MAX_MS, &ms))
		return -1;
	*out = (unsigned int)((ms + 999) / 1000);
	return 0;
}

/* True for the characters that HAProxy permits in a cookie's domain. */
static int
is_domain(const char *text)
{
	return !text[strspn(text,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")];
}

static int
take_text(struct cfg_ctx *ctx, struct line *l, const char *prefix, struct sbuf *out)
{
	const char *what = cfg_arg(ctx, l->at), *text;

	if (++l->at == ctx->argc)
		return cfg_error(ctx, l->at - 1, "'cookie' : '%s' expects a value.", what);
	text = cfg_arg(ctx, l->at);
	if (!*text || strchr(text, ';') || !http_value_is_valid(str_of(text)) ||
		(*prefix && !is_domain(text)))
		return cfg_error(ctx, l->at, "'cookie' : '%.60s' cannot be a cookie's %s", text,
			*prefix ? "domain" : "attribute");
	if (*prefix && !strchr(text, '.'))
		cfg_warn(ctx, l->at,
			"domain '%.60s' contains no embedded dot, this configuration may not work "
			"properly (see RFC6265#5.2.3).",
			text);
	sbuf_addf(out, "; %s%s", prefix, text);
	return 0;
}

enum {
	WORD_REWRITE, WORD_INSERT, WORD_PREFIX, WORD_INDIRECT, WORD_NOCACHE, WORD_POSTONLY,
	WORD_PRESERVE, WORD_HTTPONLY, WORD_SECURE, WORD_DOMAIN, WORD_MAXIDLE, WORD_MAXLIFE,
	WORD_DYNAMIC, WORD_ATTR
};

static const struct cfg_enum cookie_words[] = {
	{ "rewrite", WORD_REWRITE,
		"The server sets the cookie; tacit replaces its value in responses by "
		"the server's name. Without any of the three the cookie is only read." },
	{ "insert", WORD_INSERT,
		"tacit adds the cookie to responses of clients that do not have it." },
	{ "prefix", WORD_PREFIX,
		"The server's name is put before the value of the server's own cookie, "
		"and taken off in requests." },
	{ "indirect", WORD_INDIRECT,
		"With insert: the server does not see the cookie, and a client that "
		"has it does not get it again." },
	{ "nocache", WORD_NOCACHE, "A response that sets the cookie is made private." },
	{ "postonly", WORD_POSTONLY, "With insert: only responses to POST get the cookie." },
	{ "preserve", WORD_PRESERVE,
		"With insert or indirect: a cookie of this name that the server "
		"itself sets is left alone, so that the server can end the persistence." },
	{ "httponly", WORD_HTTPONLY,
		"The cookie has the attribute HttpOnly: scripts do not see it." },
	{ "secure", WORD_SECURE,
		"The cookie has the attribute Secure: browsers send it over TLS only." },
	{ "domain <domain>", WORD_DOMAIN,
		"The cookie has this attribute Domain; may be repeated." },
	{ "maxidle <time>", WORD_MAXIDLE,
		"The cookie is ignored, and set again, when it was not used for "
		"this time; the unit is seconds." },
	{ "maxlife <time>", WORD_MAXLIFE,
		"The cookie is ignored, and set again, this time after it was "
		"set first." },
	{ "dynamic", WORD_DYNAMIC,
		"A server without an own cookie gets one made of its address, its port "
		"and the dynamic-cookie-key, the same as in HAProxy." },
	{ "attr <value>", WORD_ATTR, "Another attribute, such as SameSite=Lax; may be repeated." },
	{ 0 },
};

static int
take_word(struct cfg_ctx *ctx, struct line *l)
{
	switch (cfg_arg_word(ctx, l->at, cookie_words)) {
	case WORD_REWRITE:
		return take_way(ctx, l, PERSIST_REWRITE);
	case WORD_INSERT:
		return take_way(ctx, l, PERSIST_INSERT);
	case WORD_PREFIX:
		return take_way(ctx, l, PERSIST_PREFIX);
	case WORD_INDIRECT:
		l->conf->indirect = 1;
		return 0;
	case WORD_NOCACHE:
		l->conf->nocache = 1;
		return 0;
	case WORD_POSTONLY:
		l->conf->postonly = 1;
		return 0;
	case WORD_PRESERVE:
		l->conf->preserve = 1;
		return 0;
	case WORD_HTTPONLY:
		l->httponly = 1;
		return 0;
	case WORD_SECURE:
		l->secure = 1;
		return 0;
	case WORD_DYNAMIC:
		l->conf->dynamic.is_on = 1;
		return 0;
	case WORD_DOMAIN:
		return take_text(ctx, l, "domain=", &l->domains);
	case WORD_ATTR:
		return take_text(ctx, l, "", &l->attrs);
	case WORD_MAXIDLE:
		return take_age(ctx, l, &l->conf->max_idle);
	case WORD_MAXLIFE:
		return take_age(ctx, l, &l->conf->max_life);
	}
	return cfg_error(ctx, l->at,
		"'cookie' supports 'rewrite', 'insert', 'prefix', 'indirect', 'nocache', "
		"'postonly', 'preserve', 'httponly', 'secure', 'domain', 'maxidle', 'maxlife', "
		"'dynamic' and 'attr', not '%.40s'.",
		cfg_arg(ctx, l->at));
}

/* Keeps what `attr` has added so far, for the next line. */
static int
keep_extra(struct cfg_ctx *ctx, struct line *l)
{
	mem_free(l->conf->extra);
	l->conf->extra = NULL;
	if (!l->attrs.len || (l->conf->extra = mem_strdup(l->attrs.p)))
		return 0;
	return cfg_nomem(ctx);
}

static int
put_attrs(struct cfg_ctx *ctx, struct line *l)
{
	struct sbuf all;
	int r = 0;

	sbuf_init(&all, ATTRS_MAX);
	sbuf_addf(&all, "%s%s%s%s", l->domains.p ? l->domains.p : "",
		l->httponly ? "; HttpOnly" : "", l->secure ? "; Secure" : "",
		l->attrs.p ? l->attrs.p : "");
	if (all.failed || l->domains.failed || l->attrs.failed)
		r = cfg_error(ctx, 0,
			"'cookie' : attributes too long; the limit is %d bytes.", ATTRS_MAX);
	else if (all.len && !(l->conf->attrs = mem_strdup(all.p)))
		r = cfg_nomem(ctx);
	else
		r = keep_extra(ctx, l);
	sbuf_fini(&all);
	return r;
}

static int
check_line(struct cfg_ctx *ctx, const struct persist_conf *c)
{
	if (c->way == PERSIST_REWRITE && c->indirect)
		return cfg_error(ctx, 0, "cookie 'rewrite' and 'indirect' modes are incompatible.");
	if (c->preserve && c->way != PERSIST_INSERT && !c->indirect)
		return cfg_error(ctx, 0, "cookie 'preserve' requires at least 'insert' or "
					 "'indirect'.");
	return 0;
}

static int
parse_persist_cookie(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct line l = { .conf = &p->persist, .at = 1 };
	int r = 0;

	persist_conf_drop_cookie(l.conf);
	l.conf->where = cfg_arg_where(ctx, 0);
	if (!http_name_is_valid(str_of(cfg_arg(ctx, 0))))
		return cfg_error(ctx, 0, "'cookie' : '%.60s' is not a valid cookie name.",
			cfg_arg(ctx, 0));
	sbuf_init(&l.domains, ATTRS_MAX);
	sbuf_init(&l.attrs, ATTRS_MAX);
	sbuf_adds(&l.attrs, l.conf->extra ? l.conf->extra : "");
	for (; r == 0 && l.at < ctx->argc; l.at++)
		r = take_word(ctx, &l);
	if (r == 0)
		r = check_line(ctx, l.conf);
	if (r == 0)
		r = put_attrs(ctx, &l);
	if (r == 0)
		r = cfg_arg_dup(ctx, 0, &l.conf->name);
	sbuf_fini(&l.domains);
	sbuf_fini(&l.attrs);
	return r;
}

static int
parse_dynamic_key(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	if (strlen(cfg_arg(ctx, 0)) > DYNAMIC_COOKIE_KEY_MAX)
		return cfg_error(ctx, 0, "'dynamic-cookie-key' : the key is longer than %d bytes.",
			DYNAMIC_COOKIE_KEY_MAX);
	return cfg_arg_dup(ctx, 0, &p->persist.dynamic.key);
}

/* "rdp-cookie[(<name>)]" */
static int
parse_persist(struct cfg_ctx *ctx)
{
	static const char word[] = "rdp-cookie";
	struct proxy *p = ctx->obj;
	const char *paren = cfg_arg(ctx, 0) + sizeof(word) - 1;
	char *name;
	size_t n;

	if (strncmp(cfg_arg(ctx, 0), word, sizeof(word) - 1) != 0 || (*paren && *paren != '('))
		return cfg_error(ctx, 0, "'persist' : unknown method '%.40s'; 'rdp-cookie' is the "
			"only one.", cfg_arg(ctx, 0));
	n = strlen(paren);
	if (n && (n < 3 || paren[n - 1] != ')'))
		return cfg_error(ctx, 0,
			"'persist rdp-cookie' expects the name of a cookie in parentheses.");
	name = n ? mem_strndup(paren + 1, n - 2) : mem_strdup("msts");
	if (!name)
		return cfg_nomem(ctx);
	mem_free(p->persist.rdp_cookie);
	p->persist.rdp_cookie = name;
	p->persist.rdp_where = cfg_arg_where(ctx, 0);
	return 0;
}

/* --- lines with a condition --- */

/* Places where a backend may evaluate it in either mode: persist_conf_finish() knows which one
 * applies. */
#define SCOPES (SAMPLE_AT_CONN | SAMPLE_AT_REQ | SAMPLE_AT_BACK)

/* A name with a '%' is a format. */
static int
take_name(struct cfg_ctx *ctx, const struct rule_vocab *v, struct persist_rule *r)
{
	struct cfg_where where = cfg_arg_where(ctx, 0);
	struct rule_err why;

	if (cfg_arg_dup(ctx, 0, &r->name))
		return -1;
	if (!strchr(r->name, '%') || rule_fmt_compile(v, r->name, 0, SCOPES, &r->fmt, &why) == 0)
		return 0;
	where.col += (unsigned int)why.at;
	cfg_diag_add(ctx->diag, CFG_ALERT, &where, "'use-server' : %s", why.text);
	return -1;
}

static int
parse_rule(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	const struct rule_vocab *v = &((const struct proxies *)ctx->root)->vocab;
	enum persist_what what = (enum persist_what)ctx->kw->arg;
	int first = what == PERSIST_USE;
	struct persist_rule *r = mem_zalloc(sizeof(*r));

	if (!r)
		return cfg_nomem(ctx);
	list_init(&r->link);
	r->what = what;
	r->where = cfg_arg_where(ctx, 0);
	if ((first && take_name(ctx, v, r)) ||
		rule_cond_parse(&p->acls, v, ctx, first, SCOPES, &r->cond)) {
		persist_rule_free(&r);
		return -1;
	}
	list_append(first ? &p->persist.uses : &p->persist.rules, &r->link);
	return 0;
}

/* --- stick --- */

/* Where a `stick` line may be evaluated: persist_conf_finish() knows which part applies. */
#define STICK_SCOPES (SCOPES | SAMPLE_AT_SERVER | SAMPLE_AT_RES)

/* Reads the pattern and what follows it: the next argument, or -1 after an error. */
static int
take_stick(struct cfg_ctx *ctx, struct stick_rule *r)
{
	const struct proxies *ps = ctx->root;
	const struct proxy *p = ctx->obj;
	const char *text = cfg_arg(ctx, 0);
	struct cfg_where where = cfg_arg_where(ctx, 0);
	struct rule_err why;
	size_t used;
	int next = 1;

	if (rule_expr_parse(&ps->vocab, text, strlen(text), STICK_SCOPES, 0, &r->expr, &used,
		    &why) < 0) {
		where.col += (unsigned int)why.at;
		cfg_diag_add(ctx->diag, CFG_ALERT, &where, "'%s' : %s.", cfg_kw_name(ctx),
			why.text);
		return -1;
	}
	if (strcmp(cfg_arg(ctx, 1), "table") == 0) {
		if (ctx->argc < 3)
			return cfg_error(ctx, 1, "'%s' : 'table' expects a name.",
				cfg_kw_name(ctx));
		next = 3;
		return cfg_arg_dup(ctx, 2, &r->table_name) < 0 ? -1 : next;
	}
	r->table_name = mem_strdup(p->name);
	return r->table_name ? next : cfg_nomem(ctx);
}

/* The keyword's arg: STICK_x. */
static int
parse_stick(struct cfg_ctx *ctx)
{
	const struct rule_vocab *v = &((const struct proxies *)ctx->root)->vocab;
	struct proxy *p = ctx->obj;
	struct stick_rule *r = mem_zalloc(sizeof(*r));
	int next;

	if (!r)
		return cfg_nomem(ctx);
	list_init(&r->link);
	r->what = (unsigned int)ctx->kw->arg;
	r->where = cfg_arg_where(ctx, 0);
	next = take_stick(ctx, r);
	if (next < 0 || (next < ctx->argc &&
		rule_cond_parse(&p->acls, v, ctx, next, STICK_SCOPES, &r->cond) < 0)) {
		stick_rule_free(&r);
		return -1;
	}
	list_append(&p->persist.sticks, &r->link);
	p->persist.stick_what |= r->what;
	return 0;
}

#define BACKENDS (CFG_LISTEN | CFG_BACKEND)
#define STICK(n, parts, text)                                                            \
	{                                                                                \
		.name = n, .sections = BACKENDS, .min = 1, .max = CFG_ANY,               \
		.parse = parse_stick, .arg = parts,                                      \
		.syntax = "<pattern> [table <table>] [{if | unless} <condition>]",       \
		.doc = text, .dflt = "none"                                              \
	}

static const struct cfg_kw kws[] = {
	{ .name = "cookie",
		.dflt = "none",
		.values = cookie_words,
		.example = "cookie SRV insert indirect nocache httponly\n"
			"server a 192.0.2.11:80 cookie a\n"
			"server b 192.0.2.12:80 cookie b",
		.once = "cookie",
		.sections = CFG_BE,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_persist_cookie,
		.syntax = "<name> [rewrite|insert|prefix] [indirect] [nocache] [postonly] "
			  "[preserve] [httponly] [secure] [domain <domain>]... [maxidle <time>] "
			  "[maxlife <time>] [dynamic] [attr <value>]...",
		.doc = "Binds clients to a server by a cookie that names it: by the server's "
			"option cookie." },
	{ .name = "dynamic-cookie-key",
		.dflt = "none",
		.once = "dynamic-cookie-key",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_dynamic_key,
		.syntax = "<key>",
		.doc = "The secret key that dynamic cookies are made with (see cookie)." },
	{ .name = "force-persist",
		.dflt = "none",
		.sections = BACKENDS,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_rule,
		.arg = PERSIST_FORCE,
		.syntax = "{if | unless} <condition>",
		.doc = "Keeps persistence even when the server is down." },
	{ .name = "ignore-persist",
		.dflt = "none",
		.example = "ignore-persist if { path_end .css .js .png }",
		.sections = BACKENDS,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_rule,
		.arg = PERSIST_IGNORE,
		.syntax = "{if | unless} <condition>",
		.doc = "Ignores the persistence cookie and sets none. The first line of "
		       "ignore-persist and force-persist whose condition is true applies." },
	{ .name = "persist",
		.dflt = "none",
		.once = "persist",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_persist,
		.syntax = "rdp-cookie[(<name>)]",
		.doc = "Mode tcp: uses the server whose IPv4 address and port are in the cookie "
			"that an RDP client begins with, msts if no name is given. tcp-request "
			"content rules have to wait for it." },
	STICK("stick match", STICK_MATCH,
		"Uses the server that the table has for this pattern, unless it is down or another "
		"rule or a cookie has chosen one. Without a table it is the section's own."),
	STICK("stick on", STICK_MATCH | STICK_STORE, "As stick match and stick store-request."),
	STICK("stick store-request", STICK_STORE,
		"Stores the server for this pattern of the request when it has responded, in mode "
		"tcp when it is connected. One pattern is stored in each table, and 8 at most."),
	STICK("stick store-response", STICK_STORE_RESPONSE,
		"Stores the server for this pattern of its response, such as a cookie that it "
		"sets; in mode tcp of the first bytes that it sends."),
	{ .name = "use-server",
		.dflt = "none",
		.example = "use-server a if { req.hdr(x-debug) -m found }",
		.sections = BACKENDS,
		.flags = CFG_KW_STRICT,
		.min = 3,
		.max = CFG_ANY,
		.parse = parse_rule,
		.arg = PERSIST_USE,
		.syntax = "{<server> | <format>} {if | unless} <condition>",
		.doc = "Uses this server if the condition is true, unless the server is down. It "
		       "takes precedence over cookies." },
	{ 0 },
};

const struct cfg_module persist_cfg_module = {
	.name = "persist",
	.kws = kws,
};
