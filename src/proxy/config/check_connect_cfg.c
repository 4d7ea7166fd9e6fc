/* The rule connect of http-check and tcp-check. Main thread, while the configuration is read. */
#include <ctype.h>
#include <string.h>

#include "cfg/arg_address.h"
#include "proxy/config/check_rule_cfg.h"
#include "tls/settings.h"

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

/* Only the family's default protocol is supported: h1 in http-check, none in tcp-check. */
static int
take_connect_proto(struct cfg_ctx *ctx, int i, struct check_rule *r unused, intptr_t arg unused)
{
	const char *only = check_cfg_family(ctx) == CHECK_FAMILY_HTTP ? "h1" : "none";

	if (strcmp(cfg_arg(ctx, i), only) != 0)
		return cfg_error(ctx, i, "'%s' : protocol '%.40s' is not supported here ('%s' is).",
			cfg_kw_name(ctx), cfg_arg(ctx, i), only);
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
	/* Requests of http-check are HTTP/1. */
	if (check_cfg_family(ctx) == CHECK_FAMILY_HTTP && tls_alpn_drop_http2(&r->u.connect.alpn))
		cfg_warn(ctx, i, "'%s' : there is no HTTP/2: 'h2' is not offered to the server.",
			cfg_kw_name(ctx));
	return 1;
}

int
check_cfg_parse_connect(struct cfg_ctx *ctx)
{
	static const struct check_word words[] = {
		{ "addr", 1, take_connect_addr, 0, NULL },
		{ "alpn", 1, take_connect_alpn, 0, NULL },
		{ "comment", 1, check_cfg_comment, 0, NULL },
		{ "default", 0, take_connect_flag, offsetof(struct check_rule, u.connect.defaults),
			NULL },
		{ "linger", 0, take_connect_flag, offsetof(struct check_rule, u.connect.linger),
			NULL },
		{ "port", 1, take_connect_port, 0, NULL },
		{ "proto", 1, take_connect_proto, 0, NULL },
		{ "send-proxy", 0, take_connect_flag,
			offsetof(struct check_rule, u.connect.send_proxy), NULL },
		{ "sni", 1, take_connect_sni, 0, NULL },
		{ "ssl", 0, take_connect_flag, offsetof(struct check_rule, u.connect.ssl), NULL },
		{ "via-socks4", 0, take_connect_flag,
			offsetof(struct check_rule, u.connect.via_socks4), NULL },
		{ NULL, 0, NULL, 0, NULL },
	};
	struct check_rule *r = check_cfg_add(ctx, CHECK_RULE_CONNECT);

	return r ? check_cfg_words(ctx, 0, words, r) : -1;
}
