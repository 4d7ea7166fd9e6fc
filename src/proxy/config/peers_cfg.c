/* Sections `peers`. Nothing is sent to peers, so such a section has no effect; generators write one
 * for the process itself. Main thread, while the configuration is read. */
#include "proxy/config/peers_cfg.h"

#include "base/mem.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "net/addr.h"
#include "proxy/model/proxies.h"

static int
begin_peers(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct peers_conf *p = mem_zalloc(sizeof(*p));

	if (!p)
		return cfg_nomem(ctx);
	list_append(&ps->peers, &p->link);
	p->where = cfg_arg_where(ctx, -1);
	ctx->obj = p;
	p->name = mem_strdup(ctx->name);
	return p->name ? 0 : cfg_nomem(ctx);
}

static int
end_peers(struct cfg_ctx *ctx)
{
	struct peers_conf *p = ctx->obj;

	if (p->n > 1)
		cfg_diag_add(ctx->diag, CFG_WARNING, &p->where,
			"section 'peers %s' has no effect: nothing is sent to its peers, and no "
			"address of it is listened on.",
			ctx->name);
	else
		cfg_diag_add(ctx->diag, CFG_NOTICE, &p->where,
			"section 'peers %s' has no effect: the process needs none to pass the "
			"entries of stick tables on at a reload.",
			ctx->name);
	return 0;
}

/* A peer without an address is the process itself, which `bind` gives one. */
static int
parse_peer(struct cfg_ctx *ctx)
{
	struct peers_conf *p = ctx->obj;
	char buf[CFG_ADDRESS_MAX];
	const char *why = "", *text;
	struct addr_spec spec;

	p->n++;
	if (ctx->argc < 2)
		return 0;
	text = cfg_arg_address(ctx, 1, buf);
	if (!text)
		return -1;
	if (addr_parse(text, ADDR_ALLOW_NAME | ADDR_WANT_PORT, &spec, &why) == 0)
		return 0;
	return cfg_error(ctx, 1, "'%s' : '%.200s' : %s.", cfg_kw_name(ctx), text, why);
}

static int
take_any(struct cfg_ctx *ctx)
{
	(void)ctx;
	return 0;
}

#define ANY(n, most, syn, text)                                                             \
	{ .name = n, .sections = CFG_PEERS, .max = most, .parse = take_any, .syntax = syn, \
	  .doc = text }
#define PEER(n, text)                                                                 \
	{ .name = n, .sections = CFG_PEERS, .min = 1, .max = CFG_ANY, .parse = parse_peer, \
	  .syntax = "<name> [<address>:<port> [<option>...]]", .doc = text }

static const struct cfg_kw kws[] = {
	PEER("peer", "A process that would share the tables. Without effect."),
	PEER("server", "The same as peer. Without effect."),
	ANY("bind", CFG_ANY, "[<address>] [<option>...]", "Without effect: no address is bound."),
	ANY("default-bind", CFG_ANY, "<option>...", "Without effect."),
	ANY("default-server", CFG_ANY, "<option>...", "Without effect."),
	ANY("disabled", 0, NULL, "Without effect."),
	ANY("enabled", 0, NULL, "Without effect."),
	ANY("log", CFG_ANY, "<target> ...", "Without effect."),
	ANY("shards", 1, "<number>", "Without effect."),
	{ .name = "table",
		.sections = CFG_PEERS,
		.max = CFG_ANY,
		.class = CFG_UNSUPPORTED },
	{ 0 },
};

static const struct cfg_section sections[] = {
	{ .name = "peers",
		.bit = CFG_PEERS,
		.flags = CFG_SEC_NAMED,
		.begin = begin_peers,
		.end = end_peers,
		.doc = "Accepted without effect, with a notice for the process itself, with a "
			"warning for others: a stick table must not name such a section." },
	{ 0 },
};

const struct cfg_module peers_cfg_module = {
	.name = "peers",
	.kws = kws,
	.sections = sections,
};
