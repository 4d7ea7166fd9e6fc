/* The section resolvers. Main thread, while the configuration is read. */
#include "proxy/config/resolvers_cfg.h"

#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "dns/nameserver.h"
#include "dns/resolvers.h"
#include "proxy/model/proxies.h"

#define RESOLV_CONF_MAX 65536
/* The least accepted_payload_size: a header alone. */
#define PAYLOAD_LEAST 12

/* --- the section --- */

static int
begin_resolvers(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct resolvers *res = proxies_find_resolvers(ps, ctx->name);

	if (res)
		return cfg_error(ctx, 0,
			"resolvers '%s' has same name as another resolvers (declared at %s:%u).",
			ctx->name,
			res->where.file ? res->where.file->name : "?", res->where.line);
	res = resolvers_new(ctx->name);
	if (!res)
		return cfg_nomem(ctx);
	res->where = cfg_arg_where(ctx, 0);
	list_append(&ps->resolvers, &res->link);
	ctx->obj = res;
	return 0;
}

static int
end_resolvers(struct cfg_ctx *ctx)
{
	const struct resolvers *res = ctx->obj;

	if (!res->n_nameservers && !cfg_section_errors(ctx))
		cfg_diag_add(ctx->diag, CFG_WARNING, &res->where,
			"resolvers '%s' has no nameservers configured!", res->name);
	return 0;
}

/* --- name servers --- */

static int
add_nameserver(struct cfg_ctx *ctx, struct resolvers *res, const char *name,
	const struct addr_spec *spec)
{
	struct dns_nameserver *ns = dns_nameserver_new(res, name);

	if (!ns)
		return cfg_nomem(ctx);
	ns->where = cfg_arg_where(ctx, 0);
	ns->addr = spec->addr;
	ns->is_stream = spec->is_stream;
	list_append(&res->nameservers, &ns->link);
	res->n_nameservers++;
	return 0;
}

static int
parse_nameserver(struct cfg_ctx *ctx)
{
	struct resolvers *res = ctx->obj;
	const char *name = cfg_arg(ctx, 0), *why = "", *text;
	const struct dns_nameserver *other = resolvers_find_nameserver(res, name);
	const unsigned int flags = ADDR_ALLOW_DGRAM | ADDR_ALLOW_NAME | ADDR_WANT_PORT;
	struct addr_spec spec;
	char buf[CFG_ADDRESS_MAX];

	if (other)
		return cfg_error(ctx, 0,
			"nameserver '%s' has same name as another nameserver (declared at %s:%u).",
			name, other->where.file ? other->where.file->name : "?", other->where.line);
	text = cfg_arg_address(ctx, 1, buf);
	if (!text)
		return -1;
	if (addr_parse(text, flags, &spec, &why) < 0)
		return cfg_error(ctx, 1, "'nameserver %s' : '%.200s' : %s.", name, text, why);
	if (ctx->argc > 2)
		return cfg_error(ctx, 2, "'nameserver' : the option '%.60s' is not supported.",
			cfg_arg(ctx, 2));
	return add_nameserver(ctx, res, name, &spec);
}

static int
read_resolv_conf(struct resolvers *res, struct sys *sys)
{
	char *text;
	size_t len;
	int r;

	if (file_read(sys, RESOLVERS_RESOLV_CONF, RESOLV_CONF_MAX, &text, &len) < 0)
		return -ERR_MISSING;
	r = resolv_conf_add(res, text);
	mem_free(text);
	return r;
}

static int
parse_resolv_conf(struct cfg_ctx *ctx)
{
	int r = read_resolv_conf(ctx->obj, ctx->sys);

	if (r == -ERR_NOMEM)
		return cfg_nomem(ctx);
	if (r < 0)
		return cfg_error(ctx, -1, "'parse-resolv-conf' : failed to open %s.",
			RESOLVERS_RESOLV_CONF);
	if (r == 0)
		cfg_warn(ctx, -1, "'parse-resolv-conf' : no valid nameservers found in %s.",
			RESOLVERS_RESOLV_CONF);
	return 0;
}

/* --- settings --- */

static int
parse_payload(struct cfg_ctx *ctx)
{
	struct resolvers *res = ctx->obj;
	int n;

	if (cfg_arg_int(ctx, 0, PAYLOAD_LEAST, DNS_PAYLOAD_MAX, &n))
		return -1;
	/* RFC 6891, 6.2.3: less is the same as 512. */
	res->payload = MAX(DNS_PAYLOAD_MIN, (unsigned int)n);
	return 0;
}

static int
parse_resolve_retries(struct cfg_ctx *ctx)
{
	struct resolvers *res = ctx->obj;
	int n;

	if (cfg_arg_int(ctx, 0, 1, INT_MAX, &n))
		return -1;
	res->retries = (unsigned int)n;
	return 0;
}

static int
parse_hold(struct cfg_ctx *ctx)
{
	struct resolvers *res = ctx->obj;

	return cfg_arg_timeout(ctx, 0, &res->hold_ms[ctx->kw->arg]);
}

static int
parse_dns_timeout(struct cfg_ctx *ctx)
{
	struct resolvers *res = ctx->obj;
	uint64_t ms;

	if (cfg_arg_time(ctx, 0, CFG_UNIT_MS, 1, CFG_TIME_MAX_MS, &ms))
		return -1;
	*(ctx->kw->arg ? &res->retry_ms : &res->resolve_ms) = (uint32_t)ms;
	return 0;
}

#define KW(n, args, fn, a, syn, text, ...)                                      \
	{                                                                       \
		.name = n, .sections = CFG_RESOLVERS, .min = args, .max = args, \
		.parse = fn, .arg = a, .syntax = syn, .doc = text, __VA_ARGS__  \
	}
#define KW_HOLD(n, h, text, ...) \
	KW("hold " n, 1, parse_hold, h, "<time>", text, __VA_ARGS__)

static const struct cfg_kw kws[] = {
	KW("accepted_payload_size", 1, parse_payload, 0, "<bytes>",
		"Longest datagram that is accepted, at most 65535, which queries announce.",
		.dflt = "512"),
	KW_HOLD("nx", HOLD_NX,
		"How long a name stays valid after its last valid response when name servers "
		"say that there is no such name.",
		.dflt = "30 s"),
	KW_HOLD("obsolete", HOLD_OBSOLETE,
		"How long a record is kept that responses no longer have.",
		.dflt = "0"),
	KW_HOLD("other", HOLD_OTHER,
		"How long a name stays valid after its last valid response after errors that "
		"the other keywords do not name.",
		.dflt = "30 s"),
	KW_HOLD("refused", HOLD_REFUSED,
		"How long a name stays valid after its last valid response when name servers "
		"refuse to answer.",
		.dflt = "30 s"),
	KW_HOLD("timeout", HOLD_TIMEOUT,
		"How long a name stays valid after its last valid response when no name server "
		"answers.",
		.dflt = "30 s"),
	KW_HOLD("valid", HOLD_VALID,
		"How long do-resolve uses an answer before it asks again.",
		.dflt = "10 s"),
	{ .name = "nameserver",
		.dflt = "none",
		.sections = CFG_RESOLVERS,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_nameserver,
		.syntax = "<name> <address>:<port>",
		.doc = "A name server, which is asked over UDP, and over TCP for what a response "
		       "over UDP had no room for. With the prefix tcp@ it is asked over TCP "
		       "only." },
	KW("parse-resolv-conf", 0, parse_resolv_conf, 0, NULL,
		"Adds the name servers of /etc/resolv.conf."),
	KW("resolve_retries", 1, parse_resolve_retries, 0, "<number>",
		"Tries before a look-up has failed.",
		.dflt = "3"),
	KW("timeout resolve", 1, parse_dns_timeout, 0, "<time>",
		"Interval at which names are looked up.",
		.dflt = "1 s"),
	KW("timeout retry", 1, parse_dns_timeout, 1, "<time>",
		"Time for a response before the next try.",
		.dflt = "1 s"),
	{ 0 },
};

static const struct cfg_section sections[] = {
	{ .name = "resolvers",
		.bit = CFG_RESOLVERS,
		.flags = CFG_SEC_NAMED,
		.begin = begin_resolvers,
		.end = end_resolvers,
		.doc = "Name servers, for servers whose names are looked up while tacit runs. The "
		       "section 'default' is made from /etc/resolv.conf if there is none." },
	{ 0 },
};

const struct cfg_module resolvers_cfg_module = {
	.name = "resolvers",
	.kws = kws,
	.sections = sections,
};

/* --- the implicit section --- */

int
resolvers_add_default(struct proxies *ps, struct sys *sys)
{
	struct resolvers *res;
	int r;

	if (proxies_find_resolvers(ps, RESOLVERS_DEFAULT))
		return 0;
	res = resolvers_new(RESOLVERS_DEFAULT);
	if (!res)
		return -ERR_NOMEM;
	res->is_implicit = 1;
	r = read_resolv_conf(res, sys);
	if (r > 0)
		list_append(&ps->resolvers, &res->link);
	else
		resolvers_free(&res);
	return r == -ERR_NOMEM ? r : 0;
}
