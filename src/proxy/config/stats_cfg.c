/* Keywords of the statistics page. Main thread, while the configuration is read. */
#include "proxy/config/stats_cfg.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "http/head.h"
#include "proxy/model/proxies.h"
#include "proxy/model/stats_conf.h"

#define REALM_MAX 512

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
			"'stats realm' : no control characters can stand in a header.");
	if (strlen(cfg_arg(ctx, 0)) > REALM_MAX)
		return cfg_error(ctx, 0, "'stats realm' : more than %d bytes.", REALM_MAX);
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

#define STATS(n, lo, hi, fn, args, text)                                                   \
	{                                                                                  \
		.name = "stats " n, .sections = CFG_PROXIES, .min = lo, .max = hi,         \
		.parse = fn, .syntax = args, .doc = text                                   \
	}

static const struct cfg_kw kws[] = {
	STATS("auth", 1, 1, parse_stats_auth, "<user>:<password>",
		"A user who may see the statistics, with a password in clear text. Without such a "
		"line anybody may."),
	STATS("enable", 0, 0, parse_stats_enable, NULL,
		"Shows statistics at the URI that 'stats uri' names. Any other line 'stats' does "
		"so too."),
	{ .name = "stats hide-version",
		.sections = CFG_PROXIES,
		.parse = parse_stats_flag,
		.arg = STATS_HIDE_VERSION,
		.doc = "The page does not say which version this is." },
	STATS("realm", 1, 1, parse_stats_realm, "<text>",
		"What a browser shows when it asks for the password; the default is 'HAProxy "
		"Statistics'."),
	STATS("scope", 1, 1, parse_stats_scope, "{<name> | .}",
		"Shows only the proxies of such lines; '.' is the section itself."),
	STATS("uri", 1, 1, parse_stats_uri, "<prefix>",
		"Requests whose path and query begin with this text get the statistics; the "
		"default is /haproxy?stats. With ';csv' behind it they are a table for programs."),
	{ 0 },
};

const struct cfg_module stats_cfg_module = {
	.name = "stats",
	.kws = kws,
};

/* A section that only has the settings of its defaults section is not warned about. */
int
stats_cfg_finish(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	(void)root;
	if (!p->stats || p->disabled)
		return 0;
	if (p->mode != PROXY_HTTP && p->has_own_stats)
		cfg_diag_add(d, CFG_WARNING, &p->where,
			"'stats' statement ignored for proxy '%s' as it requires HTTP mode.",
			p->name);
	return 0;
}
