/* Keywords of the statistics page. Main thread, while the configuration is read. */
#include "proxy/config/stats_cfg.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "cfg/ctx.h"
#include "http/head.h"
#include "proxy/model/proxies.h"
#include "proxy/model/stats_conf.h"
#include "rule/action/action.h"
#include "rule/match/cond.h"

#define REALM_MAX 512
#define DESC_MAX 1024

/* The settings that the section's first line begins: those of the defaults section no longer apply,
 * as in HAProxy. */
static struct stats_conf *
own_stats(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	if (p->stats && p->has_own_stats)
		return p->stats;
	stats_conf_free(&p->stats);
	p->has_own_stats = 1;
	p->stats = stats_conf_new();
	if (!p->stats)
		(void)cfg_nomem(ctx);
	return p->stats;
}

static int
parse_stats_enable(struct cfg_ctx *ctx)
{
	return own_stats(ctx) ? 0 : -1;
}

static int
parse_stats_uri(struct cfg_ctx *ctx)
{
	struct stats_conf *c = own_stats(ctx);

	if (!c)
		return -1;
	if (cfg_arg(ctx, 0)[0] != '/')
		return cfg_error(ctx, 0,
			"'stats uri' : '%s' does not begin with '/', as each request does.",
			cfg_arg(ctx, 0));
	return cfg_arg_dup(ctx, 0, &c->uri);
}

static int
parse_stats_realm(struct cfg_ctx *ctx)
{
	struct stats_conf *c = own_stats(ctx);

	if (!c)
		return -1;
	if (!http_value_is_valid(str_of(cfg_arg(ctx, 0))))
		return cfg_error(ctx, 0,
			"'stats realm' : control characters are not allowed in a header.");
	if (strlen(cfg_arg(ctx, 0)) > REALM_MAX)
		return cfg_error(ctx, 0, "'stats realm' : more than %d bytes.", REALM_MAX);
	if (ctx->argc > 1)
		cfg_warn(ctx, 1,
			"'stats realm' : only '%.60s' is shown: a blank in the text needs a "
			"backslash before it, or quotes around the text.",
			cfg_arg(ctx, 0));
	return cfg_arg_dup(ctx, 0, &c->realm);
}

static int
parse_stats_auth(struct cfg_ctx *ctx)
{
	struct stats_conf *c = own_stats(ctx);
	const char *text = cfg_arg(ctx, 0), *colon = strchr(text, ':');

	if (!c)
		return -1;
	if (!colon)
		return cfg_error(ctx, 0, "'stats auth' expects <user>:<password>.");
	if (stats_conf_add_user(c, (struct str){ text, (size_t)(colon - text) }, colon + 1) < 0)
		return cfg_nomem(ctx);
	return 0;
}

static int
parse_stats_scope(struct cfg_ctx *ctx)
{
	struct stats_conf *c = own_stats(ctx);

	if (!c)
		return -1;
	return stats_conf_add_scope(c, cfg_arg(ctx, 0)) < 0 ? cfg_nomem(ctx) : 0;
}

/* The keyword's arg is an enum stats_flag. */
static int
parse_stats_flag(struct cfg_ctx *ctx)
{
	struct stats_conf *c = own_stats(ctx);

	if (!c)
		return -1;
	c->flags |= (unsigned int)ctx->kw->arg;
	return 0;
}

static int
parse_stats_refresh(struct cfg_ctx *ctx)
{
	struct stats_conf *c = own_stats(ctx);
	uint64_t ms;

	if (!c || cfg_arg_time(ctx, 0, CFG_UNIT_S, 0, CFG_TIME_MAX_MS, &ms) < 0)
		return -1;
	c->refresh_s = (unsigned int)((ms + 999) / 1000);
	return 0;
}

static int
parse_stats_node(struct cfg_ctx *ctx)
{
	struct stats_conf *c = own_stats(ctx);

	if (!c)
		return -1;
	c->flags |= STATS_NODE;
	return ctx->argc ? cfg_arg_dup(ctx, 0, &c->node) : 0;
}

/* All words of the line, joined. */
static int
parse_stats_desc(struct cfg_ctx *ctx)
{
	struct stats_conf *c = own_stats(ctx);
	struct sbuf text;

	if (!c)
		return -1;
	c->flags |= STATS_DESC;
	mem_free(c->desc);
	c->desc = NULL;
	if (!ctx->argc)
		return 0;
	sbuf_init(&text, DESC_MAX);
	for (int i = 0; i < ctx->argc; i++)
		sbuf_addf(&text, "%s%s", i ? " " : "", cfg_arg(ctx, i));
	if (!text.failed)
		c->desc = mem_strdup(text.p);
	sbuf_fini(&text);
	return c->desc ? 0
		       : cfg_error(ctx, 0, "'stats show-desc' : too long; the limit is %d bytes.",
				 DESC_MAX);
}

/* --- conditions --- */

static int
parse_stats_admin(struct cfg_ctx *ctx)
{
	struct stats_conf *c = own_stats(ctx);
	struct proxy *p = ctx->obj;
	const struct rule_vocab *v = &((const struct proxies *)ctx->root)->vocab;
	struct stats_admin_rule *r = c ? mem_zalloc(sizeof(*r)) : NULL;

	if (!c)
		return -1;
	if (!r)
		return cfg_nomem(ctx);
	list_append(&c->admin_rules, &r->link);
	r->where = cfg_arg_where(ctx, 0);
	return rule_cond_parse(
		&p->acls, v, ctx, 0, rule_place_scope(RULE_HTTP_REQUEST), &r->cond);
}

static int
parse_stats_rule(struct cfg_ctx *ctx)
{
	static const struct cfg_enum names[] = {
		{ "allow", 0, NULL }, { "deny", 0, NULL }, { "auth", 0, NULL }, { 0 }
	};
	struct proxy *p = ctx->obj;
	struct proxies *ps = ctx->root;
	int name;

	if (!own_stats(ctx) || cfg_arg_enum(ctx, 0, names, &name) < 0 ||
		rule_parse(&p->rules.own[RULES_STATS], RULE_HTTP_REQUEST, &p->acls, &ps->vocab,
			ctx) < 0)
		return -1;
	p->rules.has |= 1u << RULES_STATS;
	return 0;
}

#define SECTIONS (CFG_FRONTEND | CFG_LISTEN | CFG_BACKEND)
#define STATS(n, lo, hi, fn, args, text, ...)                                      \
	{                                                                          \
		.name = "stats " n, .sections = CFG_PROXIES, .min = lo, .max = hi, \
		.parse = fn, .syntax = args, .doc = text, __VA_ARGS__              \
	}

static const struct cfg_kw kws[] = {
	{ .name = "stats admin",
		.dflt = "none: no user may",
		.example = "stats admin if { src 192.0.2.0/24 }",
		.sections = SECTIONS,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_stats_admin,
		.syntax = "{if | unless} <condition>",
		.doc = "Users for whom the condition is true may change servers on the page. A "
			"browser has to send, in Sec-Fetch-Site, Origin or Referer, that the form "
			"comes from the host that it is sent to; clients that send none of these "
			"fields, such as curl, are permitted, too." },
	STATS("auth", 1, 1, parse_stats_auth, "<user>:<password>",
		"A user who may see the statistics, with a password in clear text.",
		.dflt = "none: all clients may see them"),
	STATS("enable", 0, 0, parse_stats_enable, NULL,
		"Shows statistics at the URI that 'stats uri' names. Any other line 'stats' does "
		"so too."),
	{ .name = "stats hide-version",
		.sections = CFG_PROXIES,
		.parse = parse_stats_flag,
		.arg = STATS_HIDE_VERSION,
		.doc = "The page does not say which version this is." },
	{ .name = "stats http-request",
		.dflt = "none",
		.sections = SECTIONS,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_stats_rule,
		.syntax = "{allow | deny | auth [realm <realm>]} [{if | unless} <condition>]",
		.doc = "Who may see the statistics: the first rule that applies decides. It cannot "
			"be used with 'stats auth' and 'stats realm'." },
	STATS("realm", 1, CFG_ANY, parse_stats_realm, "<text>",
		"The text that a browser shows when it asks for the password.",
		.dflt = "HAProxy Statistics"),
	STATS("refresh", 1, 1, parse_stats_refresh, "<time>",
		"Has browsers ask for the page again after this time, in seconds by default.",
		.dflt = "none: the page is not asked for again"),
	STATS("scope", 1, 1, parse_stats_scope, "{<name> | .}",
		"Shows only the proxies of such lines; '.' is the section itself.",
		.dflt = "all proxies"),
	STATS("show-desc", 0, CFG_ANY, parse_stats_desc, "[<text>]",
		"Shows a description on the page.",
		.dflt = "off; without a text it is that of the section global"),
	{ .name = "stats show-legends",
		.sections = CFG_PROXIES,
		.parse = parse_stats_flag,
		.arg = STATS_LEGENDS,
		.doc = "Shows modes, addresses, cookies and algorithms on the page." },
	{ .name = "stats show-modules",
		.sections = CFG_PROXIES,
		.parse = parse_stats_flag,
		.arg = STATS_MODULES,
		.doc = "Has no effect: the details of a row have the counters of HTTP and TLS." },
	STATS("show-node", 0, 1, parse_stats_node, "[<name>]",
		"Shows the node's name on the page.",
		.dflt = "off; without a name it is 'node' of the section global, or the host's "
			"name"),
	STATS("uri", 1, 1, parse_stats_uri, "<prefix>",
		"Requests whose path and query begin with this text get the statistics. With "
		"';csv' behind it they are a table for programs.",
		.dflt = "/haproxy?stats",
		.example = "stats uri /stats"),
	{ 0 },
};

const struct cfg_module stats_cfg_module = {
	.name = "stats",
	.kws = kws,
};
