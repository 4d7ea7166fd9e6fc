/* The target of connections that nothing binds to a server: a server of its own that is in no list.
 * Main thread, while the configuration is read. */
#include "proxy/config/dispatch_cfg.h"

#include "base/err.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "proxy/config/proxies_finish.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/config/server_name_cfg.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server.h"

/* The name in logs. */
#define DISPATCH_NAME "<NOSRV>"

static struct server *
make_dispatch(struct proxy *p, const struct addr_spec *spec)
{
	struct server_conf defaults;
	struct server *s;

	/* Options of default-server are those of server lines. */
	server_conf_init(&defaults);
	defaults.pool_purge_ms = 0;
	s = server_new(p, DISPATCH_NAME, &defaults);
	server_conf_fini(&defaults);
	if (!s)
		return NULL;
	s->is_dispatch = 1;
	s->spec = *spec;
	s->spec.name = NULL;
	addr_cell_set(&s->addr, &spec->addr);
	return s;
}

static int
parse_dispatch(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct addr_spec spec;
	const char *why = "", *text;
	char buf[CFG_ADDRESS_MAX];

	text = cfg_arg_address(ctx, 0, buf);
	if (!text)
		return -1;
	if (addr_parse(text, ADDR_WANT_PORT | ADDR_ALLOW_UNIX | ADDR_ALLOW_NAME, &spec, &why) < 0)
		return cfg_error(ctx, 0, "'dispatch' : '%.200s' : %s", text, why);
	if (addr_is_any(&spec.addr))
		return cfg_error(ctx, 0, "'dispatch' : '%.200s' is not an address to connect to.",
			text);
	server_free(&p->dispatch);
	p->dispatch = make_dispatch(p, &spec);
	if (!p->dispatch)
		return cfg_nomem(ctx);
	p->dispatch->where = cfg_arg_where(ctx, 0);
	return 0;
}

/* A wildcard address with the client's port: the destination of the client. */
static int
make_transparent(struct proxy *p)
{
	struct addr_spec spec = { .fd = -1, .has_offset = 1 };
	const char *why = "";
	int r = addr_parse("0.0.0.0", ADDR_ALLOW_OFFSET, &spec, &why);

	assert(r == 0);
	(void)r;
	p->dispatch = make_dispatch(p, &spec);
	return p->dispatch ? 0 : -ERR_NOMEM;
}

int
dispatch_cfg_finish(struct proxy *p, const struct proxies *ps, struct cfg_diag *d)
{
	int transparent = (p->options & OPT_TRANSPARENT) != 0;

	if (!(p->caps & PROXY_BE))
		return 0;
	if (p->has_balance && p->dispatch) {
		cfg_diag_add(d, CFG_WARNING, &p->dispatch->where,
			"dispatch address of %s '%s' will be ignored in balance mode.",
			proxy_kind(p), p->name);
		server_free(&p->dispatch);
	} else if (p->has_balance && transparent) {
		cfg_diag_add(d, CFG_ALERT, &p->where,
			"%s '%s' cannot use both transparent and balance mode.", proxy_kind(p),
			p->name);
	} else if (transparent && !p->dispatch && make_transparent(p) < 0) {
		return -ERR_NOMEM;
	}
	if (p->dispatch)
		proxies_finish_server(p->dispatch, ps, d);
	return 0;
}

static const struct cfg_kw kws[] = {
	{ .name = "dispatch",
		.sections = CFG_BACKEND | CFG_LISTEN,
		.min = 1,
		.max = 1,
		.parse = parse_dispatch,
		.syntax = "<address>:<port>",
		.doc = "Where connections go that a cookie, persistence or a rule binds to no "
		       "server. It is checked, counted and shown nowhere; without 'balance' only. "
		       "A server line does more." },
	{ .name = "option transparent",
		.sections = CFG_BE,
		.flags = CFG_KW_NO,
		.parse = proxy_cfg_option,
		.arg = OPT_TRANSPARENT,
		.doc = "The same with the address and port that the client connected to, before "
		       "the kernel redirected it (NAT, or 'bind ... transparent'). Cannot be "
		       "combined with 'balance'." },
	{ .name = "transparent",
		.sections = CFG_BE,
		.parse = proxy_cfg_option,
		.arg = OPT_TRANSPARENT,
		.doc = "The same as 'option transparent'; an old form." },
	{ 0 },
};

const struct cfg_module dispatch_cfg_module = { .name = "dispatch", .kws = kws };
