/* The keyword and server option `source`. Main thread, while the configuration is read. */
#include "proxy/config/source_cfg.h"

#include <string.h>

#include "cfg/arg_address.h"
#include "cfg/value.h"
#include "http/head.h"
#include "proxy/config/server_name_cfg.h"
#include "proxy/model/proxy.h"

/* The limits of HAProxy. */
#define OCCURRENCE_MIN (-10)
#define OCCURRENCE_MAX 65535

static int
parse_interface(struct cfg_ctx *ctx, int i, struct source_conf *out)
{
	const char *name = cfg_arg(ctx, i);

	if (!*name || strlen(name) >= sizeof(out->interface))
		return cfg_error(ctx, i,
			"'source' : 'interface' expects a name of 1 to %d bytes.", IFACE_MAX - 1);
	memcpy(out->interface, name, strlen(name) + 1);
	return 0;
}

/* "hdr_ip(<name>[,<occurrence>])" from the parenthesis on. Occurrence 0 disables it. */
static int
usesrc_header(struct cfg_ctx *ctx, int i, const char *paren, struct source_conf *out)
{
	size_t n = strlen(paren), len = strcspn(paren, ",)");
	struct cfg_value_err err;
	int64_t nth = -1;
	char number[16];

	if (n < 3 || paren[n - 1] != ')' || len < 2 || len > sizeof(out->header) ||
		!http_name_is_valid((struct str){ paren + 1, len - 1 }))
		return cfg_error(ctx, i,
			"'source' : 'hdr_ip' expects the name of a header of at most %zu bytes in "
			"parentheses.",
			sizeof(out->header) - 1);
	if (paren[len] == ',') {
		size_t digits = n - len - 2;

		if (digits >= sizeof(number))
			digits = sizeof(number) - 1;
		memcpy(number, paren + len + 1, digits);
		number[digits] = '\0';
		if (cfg_value_int(number, OCCURRENCE_MIN, OCCURRENCE_MAX, &nth, &err) < 0)
			return cfg_error(
				ctx, i, "'source' : occurrence of 'hdr_ip' : %s", err.text);
	}
	memcpy(out->header, paren + 1, len - 1);
	out->header[len - 1] = '\0';
	out->occurrence = (int)nth;
	out->as = nth ? SOURCE_AS_HEADER : SOURCE_AS_SELF;
	return 0;
}

static int
parse_usesrc(struct cfg_ctx *ctx, int i, struct source_conf *out)
{
	const char *arg = cfg_arg(ctx, i), *why = "";
	struct addr_spec spec;

	if (!*arg)
		return cfg_error(ctx, i,
			"'source' : 'usesrc' expects an address, 'client', 'clientip' or "
			"'hdr_ip(<name>)'.");
	if (strncmp(arg, "hdr_ip(", 7) == 0)
		return usesrc_header(ctx, i, arg + 6, out);
	out->as = strcmp(arg, "client") == 0 ? SOURCE_AS_CLIENT
		: strcmp(arg, "clientip") == 0 ? SOURCE_AS_CLIENT_IP
					       : SOURCE_AS_ADDR;
	if (out->as != SOURCE_AS_ADDR)
		return 0;
	if (addr_parse(arg, server_cfg_name_flag(ctx), &spec, &why) < 0)
		return cfg_error(ctx, i, "'source' : 'usesrc' : '%.200s' : %s", arg, why);
	out->as_addr = spec.addr;
	return 0;
}

/*
 * <address>[:<port>[-<port>]] and keywords from argument 0 on. *taken is the number of arguments
 * that it used, also after an error.
 */
static int
parse_source_args(struct cfg_ctx *ctx, unsigned int flags, struct source_conf *out, int *taken)
{
	struct addr_spec spec;
	const char *why = "", *text;
	char buf[CFG_ADDRESS_MAX];
	int r = 0;

	*taken = 1;
	text = cfg_arg_address(ctx, 0, buf);
	if (!text)
		return -1;
	if (addr_parse(text, flags | server_cfg_name_flag(ctx), &spec, &why) < 0)
		return cfg_error(ctx, 0, "'source' : '%.200s' : %s", text, why);
	memset(out, 0, sizeof(*out));
	out->addr = spec.addr;
	out->port_lo = spec.port_lo;
	out->port_hi = spec.port_hi;
	while (r == 0 && *taken < ctx->argc) {
		int i = *taken, use = strcmp(cfg_arg(ctx, i), "usesrc") == 0;

		if (!use && strcmp(cfg_arg(ctx, i), "interface") != 0)
			break;
		*taken = MIN(i + 2, ctx->argc);
		r = use ? parse_usesrc(ctx, i + 1, out) : parse_interface(ctx, i + 1, out);
	}
	return r;
}

int
source_cfg_line(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	int n;

	if (parse_source_args(ctx, 0, &p->source, &n))
		return -1;
	if (n < ctx->argc)
		return cfg_error(ctx, n, "'source' cannot handle unexpected argument '%.60s'.",
			cfg_arg(ctx, n));
	return 0;
}

int
source_cfg_option(struct cfg_ctx *ctx, struct source_conf *out)
{
	int n, rc = parse_source_args(ctx, ADDR_ALLOW_RANGE, out, &n);

	cfg_take(ctx, n);
	return rc;
}

static void
check_family(const struct server *s, const struct addr *a, struct cfg_diag *d)
{
	struct addr to;

	(void)addr_cell_get(&s->addr, &to);
	if (s->conf.socks4.len)
		to = s->conf.socks4;
	if (a->len && to.len && addr_family(&to) != AF_UNIX && addr_family(a) != addr_family(&to))
		cfg_diag_add(d, CFG_WARNING, &s->where,
			"server '%s/%s' : the source and the address are of different families; "
			"connections will fail.",
			s->be->name, s->name);
}

void
source_cfg_finish(struct server *s, const struct proxy *be, struct cfg_diag *d)
{
	struct source_conf *src = &s->conf.source;

	if (!src->addr.len && !src->interface[0] && src->as == SOURCE_AS_SELF)
		*src = be->source;
	/* Binding to any address and port has no effect: skipping it saves two calls per
	 * connection. */
	if (addr_is_any(&src->addr) && !src->port_lo)
		src->addr.len = 0;
	check_family(s, src->as == SOURCE_AS_ADDR ? &src->as_addr : &src->addr, d);
	if (src->as == SOURCE_AS_HEADER && be->mode != PROXY_HTTP)
		cfg_diag_add(d, CFG_WARNING, &s->where,
			"backend '%s' : server '%s' cannot use header %s as source IP in non-HTTP "
			"mode.",
			be->name, s->name, src->header);
}
