/* Servers with a name: the options for resolving it, and their first address. Main
 * thread, while the configuration is read. */
#include "proxy/config/server_name_cfg.h"

#include <ctype.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "dns/resolvers.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/model/proxies.h"

/* --- options --- */

static struct resolve_conf *
resolve_of(void *obj)
{
	return &((struct server_target *)obj)->conf->resolve;
}

static int
opt_resolvers(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_dup(ctx, 0, &resolve_of(obj)->section);
}

static const struct cfg_enum resolve_families[] = {
	{ "ipv4", AF_INET, "An IPv4 address, else an IPv6 one." },
	{ "ipv6", AF_INET6, "An IPv6 address, else an IPv4 one." },
	{ 0 },
};

static int
opt_resolve_prefer(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_enum(ctx, 0, resolve_families, &resolve_of(obj)->prefer);
}

/* Calls fn for each word of a list with commas: 0, or what fn returned. */
static int
each_word(struct cfg_ctx *ctx, struct resolve_conf *c,
	int (*fn)(struct cfg_ctx *ctx, struct resolve_conf *c, const char *word))
{
	const char *p = cfg_arg(ctx, 0);
	char word[ADDR_TEXT];

	for (;;) {
		size_t n = strcspn(p, ",");

		if (n >= sizeof(word))
			return cfg_error(ctx, 0, "'%s' : '%.60s' is too long.", ctx->opt->name, p);
		memcpy(word, p, n);
		word[n] = '\0';
		if (fn(ctx, c, word))
			return -1;
		if (!p[n])
			return 0;
		p += n + 1;
	}
}

static int
take_resolve_net(struct cfg_ctx *ctx, struct resolve_conf *c, const char *word)
{
	if (c->n_nets == RESOLVE_NETS_MAX)
		return cfg_error(ctx, 0, "'%s' exceed %d networks.", ctx->opt->name,
			RESOLVE_NETS_MAX);
	if (forward_net_parse(word, &c->net[c->n_nets]) < 0)
		return cfg_error(ctx, 0, "'%s' invalid network '%s'.", ctx->opt->name, word);
	c->n_nets++;
	return 0;
}

static int
opt_resolve_net(struct cfg_ctx *ctx, void *obj)
{
	struct resolve_conf *c = resolve_of(obj);

	c->n_nets = 0;
	return each_word(ctx, c, take_resolve_net);
}

static const struct cfg_enum resolve_words[] = {
	{ "allow-dup-ip", RESOLVE_ALLOW_DUP,
		"Several servers of a backend may have one address of their name." },
	{ "prevent-dup-ip", 0, "They may not." },
	{ "ignore-weight", RESOLVE_IGNORE_WEIGHT, "The weights of SRV records are ignored." },
	{ 0 },
};

static int
take_resolve_opt(struct cfg_ctx *ctx, struct resolve_conf *c, const char *word)
{
	const struct cfg_enum *e = cfg_enum_find(resolve_words, word, strlen(word));

	if (!e)
		return cfg_error(ctx, 0,
			"'%s' : unknown resolve-opts option '%s', supported methods are "
			"'allow-dup-ip', 'ignore-weight', and 'prevent-dup-ip'.",
			ctx->opt->name, word);
	if (e->value)
		c->opts |= e->value;
	else
		c->opts &= ~RESOLVE_ALLOW_DUP;
	return 0;
}

static int
opt_resolve_opts(struct cfg_ctx *ctx, void *obj)
{
	return each_word(ctx, resolve_of(obj), take_resolve_opt);
}

static const struct cfg_enum init_methods[] = {
	{ "last", INIT_ADDR_LAST, "The address before a reload (tune.reload.keep), or of a "
		"state file." },
	{ "libc", INIT_ADDR_LIBC, "The address that the C library finds." },
	{ "none", INIT_ADDR_NONE, "The server starts without an address, in maintenance. With "
		"resolvers the address before a reload is used, too." },
	{ 0 },
};

static int
take_init_addr(struct cfg_ctx *ctx, struct resolve_conf *c, const char *word)
{
	struct addr a;
	int method;

	if (!*word)
		return 0;
	if (c->n_init == INIT_ADDR_MAX)
		return cfg_error(ctx, 0,
			"'%s' : too many initialization methods (%d allowed at most).",
			ctx->opt->name, INIT_ADDR_MAX);
	if (cfg_value_enum(word, init_methods, &method, NULL) == 0) {
		c->init[c->n_init++] = (enum init_addr)method;
		return 0;
	}
	if (addr_parse_ip(word, &a) < 0)
		return cfg_error(ctx, 0,
			"'%s' : unknown init-addr method '%s', supported methods are 'libc', "
			"'last', 'none'.",
			ctx->opt->name, word);
	if (c->init_ip.len)
		return cfg_error(ctx, 0, "'%s' : initial address already specified, cannot add "
			"'%s'.", ctx->opt->name, word);
	c->init_ip = a;
	c->init[c->n_init++] = INIT_ADDR_IP;
	return 0;
}

static int
opt_init_addr(struct cfg_ctx *ctx, void *obj)
{
	struct resolve_conf *c = resolve_of(obj);

	c->n_init = 0;
	c->init_ip.len = 0;
	cfg_take(ctx, ctx->argc > 0);
	if (!cfg_arg(ctx, 0)[0]) {
		cfg_warn(ctx, -1, "'init-addr' names no method: its default applies.");
		return 0;
	}
	return each_word(ctx, c, take_init_addr);
}

#define OPT(n, fn, syn, text, ...)                                                      \
	{                                                                               \
		.name = n, .min = 1, .max = 1, .parse = fn, .syntax = syn, .doc = text, \
		.only_at_start = 1, __VA_ARGS__                                         \
	}

static const struct cfg_opt opts[] = {
	{ .name = "init-addr", .min = 0, .max = 1, .parse = opt_init_addr, .only_at_start = 1,
		.syntax = "<method>[,<method>]...",
		.dflt = "last,libc,none with resolvers, and libc,last without",
		.values = init_methods,
		.doc = "Methods that find the address of a name at start, in order; an address "
		       "among them is used as it is. If none of them finds one, tacit does not "
		       "start. Without a method the default applies, with a warning." },
	OPT("resolve-net", opt_resolve_net, "<network>[,<network>]...",
		"Networks whose addresses are preferred, at most five.",
		.dflt = "none"),
	OPT("resolve-opts", opt_resolve_opts, "<option>[,<option>]...",
		"How the addresses of a name are used.",
		.dflt = "prevent-dup-ip",
		.values = resolve_words),
	OPT("resolve-prefer", opt_resolve_prefer, "ipv4|ipv6",
		"The type of address that is asked for first.",
		.dflt = "ipv6",
		.values = resolve_families),
	OPT("resolvers", opt_resolvers, "<id>",
		"The section whose name servers resolve the server's name while tacit runs. A name "
		"that begins with an underscore stands for SRV records.",
		.dflt = "none"),
	{ 0 },
};

const struct cfg_module server_name_cfg_module = {
	.name = "server-name",
	.opts = { [CFG_OPT_SERVER] = opts },
};

/* --- names and addresses --- */

int
server_cfg_check_name(struct cfg_ctx *ctx, const char *name)
{
	for (const char *p = name; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("_-.:", *p))
			return cfg_error(ctx, 0,
				"character '%c' is not permitted in server name '%.60s'.",
				isprint((unsigned char)*p) ? *p : '?', name);
	}
	return 0;
}

int
server_cfg_address(struct cfg_ctx *ctx, int i, struct server *s)
{
	const char *why = "", *text;
	char buf[CFG_ADDRESS_MAX];

	text = cfg_arg_address(ctx, i, buf);
	if (!text)
		return -1;
	if (addr_parse(text,
		    ADDR_ALLOW_OFFSET | ADDR_ALLOW_UNIX | ADDR_KEEP_NAME | ADDR_ALLOW_MPTCP,
		    &s->spec, &why) < 0)
		return cfg_error(ctx, i, "'server %s/%s' : '%.200s' : %s", s->be->name, s->name,
			text, why);
	if (s->spec.name) {
		s->fqdn = mem_strndup(s->spec.name, s->spec.name_len);
		s->spec.name = NULL;
		if (!s->fqdn)
			return cfg_nomem(ctx);
	}
	addr_cell_set(&s->addr, &s->spec.addr);
	return 0;
}

static void
set_first_addr(struct server *s, struct addr *a)
{
	addr_set_port(a, s->spec.port_lo);
	addr_cell_set(&s->addr, a);
	s->admin &= ~(unsigned int)SERVER_MAINT_UNRESOLVED;
}

/* The only family of addresses that is accepted (dns-accept-family), or AF_UNSPEC. */
static int
accepted_family(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	unsigned int set = dns_families_now(&ps->families, ctx->sys, 0);

	return set == DNS_IPV4 ? AF_INET : set == DNS_IPV6 ? AF_INET6 : AF_UNSPEC;
}

/* A name of a service is nothing that libc could find. */
static int
ask_libc(struct cfg_ctx *ctx, struct server *s)
{
	int family = accepted_family(ctx);
	struct sockaddr_storage ss;
	struct addr a;

	if (server_names_service(s) ||
		names_host(s->fqdn, s->spec.family ? s->spec.family : family, &ss, &a.len) < 0 ||
		a.len > sizeof(a.u) || (family && ss.ss_family != family))
		return 0;
	memcpy(&a.u, &ss, a.len);
	set_first_addr(s, &a);
	return 1;
}

static int
ask_last(struct cfg_ctx *ctx, struct server *s)
{
	const struct proxies *ps = ctx->root;
	int family = accepted_family(ctx);
	struct addr a;

	if (!ps->last_addr || !ps->last_addr(ps->last_arg, s, &a) ||
		(family && addr_family(&a) != family))
		return 0;
	set_first_addr(s, &a);
	s->has_last_addr = 1;
	return 1;
}

/* 1 when the method has decided. */
static int
try_init_addr(struct cfg_ctx *ctx, struct server *s, enum init_addr method)
{
	struct addr a;

	switch (method) {
	case INIT_ADDR_LAST:
		return ask_last(ctx, s);
	case INIT_ADDR_LIBC:
		return ask_libc(ctx, s);
	case INIT_ADDR_NONE:
		if (s->conf.resolve.section && ask_last(ctx, s))
			return 1;
		s->admin |= SERVER_MAINT_UNRESOLVED;
		return 1;
	case INIT_ADDR_IP:
		a = s->conf.resolve.init_ip;
		set_first_addr(s, &a);
		return 1;
	}
	return 0;
}

int
server_cfg_init_addr(struct cfg_ctx *ctx, int i, struct server *s, const struct server *like)
{
	const struct resolve_conf *c = &s->conf.resolve;
	const struct proxies *ps = ctx->root;
	int done = 0, asked = !c->n_init;
	struct addr a;

	if (!s->fqdn)
		return 0;
	/* SRV records are asked for at run time only. */
	if (server_names_service(s) && c->section) {
		s->admin |= SERVER_MAINT_UNRESOLVED;
		/* Ports come with the records. */
		s->spec.has_offset = 0;
		return 0;
	}
	if (like) {
		(void)addr_cell_get(&like->addr, &a);
		addr_cell_set(&s->addr, &a);
		s->admin |= like->admin & SERVER_MAINT_UNRESOLVED;
		return 0;
	}
	for (unsigned int k = 0; k < c->n_init && !done; k++) {
		done = try_init_addr(ctx, s, c->init[k]);
		asked |= c->init[k] == INIT_ADDR_LIBC;
	}
	/* A name that is looked up at run time need not be waited for, nor be known at the start. A
	 * reload finds the new address of any other. */
	if (!c->n_init && c->section)
		done = ask_last(ctx, s) || ask_libc(ctx, s) ||
			try_init_addr(ctx, s, INIT_ADDR_NONE);
	else if (!c->n_init)
		done = ask_libc(ctx, s) || ask_last(ctx, s);
	if (!done && ps->keep_unresolved) {
		s->admin |= SERVER_MAINT_UNRESOLVED;
		done = 1;
	}
	if (!done)
		return cfg_error(ctx, i, "'server %s/%s' : %s '%s'.", s->be->name, s->name,
			asked && !server_names_service(s) ? "could not resolve address"
						     : "no method found to resolve address",
			s->fqdn);
	if (server_is_unresolved(s) && asked)
		cfg_warn(ctx, i,
			"'server %s/%s' : could not resolve address '%s', disabling server.",
			s->be->name, s->name, s->fqdn);
	return 0;
}
