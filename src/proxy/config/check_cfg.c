/* The methods of health checks: option httpchk, tcp-check, mysql-check ... Main thread, while the
 * configuration is read. The last option of a section applies. */
#include "proxy/config/check_cfg.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cfg/ctx.h"
#include "http/head.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/model/proxies.h"

static struct check_conf *
set_method(struct cfg_ctx *ctx, enum check_method method)
{
	struct proxy *p = ctx->obj;

	p->check.method = method;
	p->check.where = cfg_arg_where(ctx, -1);
	return &p->check;
}

/* The keyword's arg is the method. */
static int
parse_method(struct cfg_ctx *ctx)
{
	(void)set_method(ctx, (enum check_method)ctx->kw->arg);
	return 0;
}

/* --- httpchk --- */

/* Every line up to an empty one is a header. */
static int
check_raw_lines(struct cfg_ctx *ctx, int i, const char *raw)
{
	const char *line = raw;

	while (*line && *line != '\r' && *line != '\n') {
		size_t len = strcspn(line, "\n");
		const char *colon = memchr(line, ':', len);

		if (!colon || !http_name_is_valid((struct str){ line, (size_t)(colon - line) }))
			return cfg_error(ctx, i,
				"'%s' : unable to parse the request behind the version.",
				cfg_kw_name(ctx));
		line += len + (line[len] == '\n');
	}
	return 0;
}

/* "HTTP/1.1\r\nHost: a": what follows the version is header lines and a body. */
static int
take_check_version(struct cfg_ctx *ctx, int i, struct check_request *r)
{
	const char *version = cfg_arg(ctx, i), *rest = strstr(version, "\r\n");

	if (!rest)
		return cfg_arg_dup(ctx, i, &r->version);
	cfg_warn(ctx, i,
		"'option httpchk' : hiding headers or body at the end of the version string is "
		"deprecated. Please, consider to use 'http-check send' directive instead.");
	if (check_raw_lines(ctx, i, rest + 2))
		return -1;
	r->version = mem_strndup(version, (size_t)(rest - version));
	r->raw = mem_strdup(rest + 2);
	return r->version && r->raw ? 0 : cfg_nomem(ctx);
}

/* As in HAProxy the section does not inherit rules then: they belong to the request of the defaults
 * section. */
static int
parse_httpchk(struct cfg_ctx *ctx)
{
	struct check_conf *c = set_method(ctx, CHECK_HTTP);
	struct check_request *r = &c->request;
	int uri = ctx->argc > 1;

	if (!c->own_rules)
		check_conf_drop_rules(c);
	check_request_fini(r);
	if (ctx->argc > 1 && cfg_arg_dup(ctx, 0, &r->method))
		return -1;
	if (ctx->argc > 0 && cfg_arg_dup(ctx, uri, &r->uri))
		return -1;
	return ctx->argc > 2 ? take_check_version(ctx, 2, r) : 0;
}

/* --- with a user --- */

static int
parse_mysql_check(struct cfg_ctx *ctx)
{
	struct check_conf *c = set_method(ctx, CHECK_MYSQL);

	mem_free(c->user);
	c->user = NULL;
	c->pre_41 = 0;
	if (ctx->argc == 0)
		return 0;
	if (strcmp(cfg_arg(ctx, 0), "user") != 0 || !*cfg_arg(ctx, 1))
		return cfg_error(ctx, 0, "'%s' : 'user <name>' is expected.", cfg_kw_name(ctx));
	if (ctx->argc > 2) {
		c->pre_41 = strcmp(cfg_arg(ctx, 2), "pre-41") == 0;
		if (!c->pre_41 && strcmp(cfg_arg(ctx, 2), "post-41") != 0)
			return cfg_error(ctx, 2,
				"'%s' : keyword '%.40s' is unknown; 'post-41' and 'pre-41' are "
				"supported.",
				cfg_kw_name(ctx), cfg_arg(ctx, 2));
	}
	return cfg_arg_dup(ctx, 1, &c->user);
}

static int
parse_pgsql_check(struct cfg_ctx *ctx)
{
	struct check_conf *c = set_method(ctx, CHECK_PGSQL);

	if (strcmp(cfg_arg(ctx, 0), "user") != 0 || !*cfg_arg(ctx, 1))
		return cfg_error(ctx, 0, "'%s' : 'user <name>' is expected.", cfg_kw_name(ctx));
	return cfg_arg_dup(ctx, 1, &c->user);
}

/* The hello of smtpchk, a command and a domain; others are ignored, as in HAProxy. */
static int
parse_smtpchk(struct cfg_ctx *ctx)
{
	struct check_conf *c = set_method(ctx, CHECK_SMTP);
	const char *hello = cfg_arg(ctx, 0), *domain = cfg_arg(ctx, 1);
	size_t len = strlen(hello) + strlen(domain) + 2;

	mem_free(c->user);
	c->user = NULL;
	if (ctx->argc == 0)
		return 0;
	if (!*domain || (strcmp(hello, "EHLO") != 0 && strcmp(hello, "HELO") != 0)) {
		cfg_warn(ctx, 0, "'%s' : 'EHLO <domain>' or 'HELO <domain>' is expected; 'HELO "
			"localhost' is sent.", cfg_kw_name(ctx));
		return 0;
	}
	c->user = mem_alloc(len);
	if (!c->user)
		return cfg_nomem(ctx);
	(void)snprintf(c->user, len, "%s %s", hello, domain);
	return 0;
}

/* --- external --- */

/* The keyword's arg is the place of the text in struct check_conf. */
static int
parse_external(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	if (strlen(cfg_arg(ctx, 0)) > CHECK_EXTERNAL_TEXT_MAX)
		return cfg_error(ctx, 0, "'%s' : too long; the limit is %d characters.",
			cfg_kw_name(ctx), CHECK_EXTERNAL_TEXT_MAX);
	return cfg_arg_dup(ctx, 0, (char **)((char *)&p->check + ctx->kw->arg));
}

#define METHOD(n, method, text)                                                           \
	{                                                                                 \
		.name = "option " n, .sections = CFG_BE, .parse = parse_method, .arg = method, \
		.doc = text                                                               \
	}

static const struct cfg_kw kws[] = {
	{ .name = "external-check command",
		.example = "external-check command /usr/local/bin/check-app",
		.dflt = "none",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_external,
		.arg = offsetof(struct check_conf, command),
		.syntax = "<command>",
		.doc = "Command that checks a server, with option external-check: exit code 0 "
			"means that the server is up. Its arguments are the proxy's address and "
			"port, and the server's; one that does not exist is NOT_USED. Its "
			"environment has PATH (external-check path) and HAPROXY_PROXY_NAME, "
			"_ID, _ADDR and _PORT, HAPROXY_SERVER_NAME, _ID, _ADDR, _PORT, "
			"_CURCONN, _MAXCONN, _PROTO (tcp, h1 or h2) and _SSL (1: with "
			"ssl)." },
	{ .name = "external-check path",
		.dflt = "empty",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_external,
		.arg = offsetof(struct check_conf, path),
		.syntax = "<path>",
		.doc = "PATH of the command of external checks." },
	METHOD("external-check", CHECK_EXTERNAL,
		"Checks servers by running a command: 'external-check command'."),
	{ .name = "option httpchk",
		.dflt = "off; without arguments: OPTIONS / HTTP/1.0",
		.example = "option httpchk\n"
			"http-check send meth GET uri /health ver HTTP/1.1 hdr Host "
			"www.example.org\n"
			"http-check expect status 200",
		.sections = CFG_BE,
		.max = 3,
		.parse = parse_httpchk,
		.syntax = "[<uri> | <method> <uri> [<version>]]",
		.doc = "Checks servers by HTTP requests." },
	METHOD("ldap-check", CHECK_LDAP, "Checks servers by an anonymous LDAPv3 bind."),
	{ .name = "option log-health-checks",
		.sections = CFG_BE,
		.flags = CFG_KW_NO,
		.parse = proxy_cfg_option,
		.arg = OPT_LOG_CHECKS,
		.doc = "Logs each change of the result of a server's checks." },
	{ .name = "option mysql-check",
		.dflt = "off",
		.sections = CFG_BE,
		.max = 3,
		.parse = parse_mysql_check,
		.syntax = "[user <name> [post-41 | pre-41]]",
		.doc = "Checks servers by a MySQL handshake." },
	{ .name = "option pgsql-check",
		.dflt = "off",
		.sections = CFG_BE,
		.min = 2,
		.max = 2,
		.parse = parse_pgsql_check,
		.syntax = "user <name>",
		.doc = "Checks servers by the start of a PostgreSQL session." },
	METHOD("redis-check", CHECK_REDIS, "Checks servers by the Redis command PING."),
	{ .name = "option smtpchk",
		.dflt = "off; without arguments: HELO localhost",
		.sections = CFG_BE,
		.max = 2,
		.parse = parse_smtpchk,
		.syntax = "[<hello> <domain>]",
		.doc = "Checks servers by an SMTP greeting." },
	METHOD("spop-check", CHECK_SPOP,
		"Checks servers by the hello of an agent of SPOE: see 'filter spoe'."),
	METHOD("ssl-hello-chk", CHECK_SSL_HELLO, "Checks servers by the hello of an SSLv3 client."),
	METHOD("tcp-check", CHECK_TCP, "Checks servers by the tcp-check rules."),
	{ 0 },
};

const struct cfg_module check_cfg_module = { .name = "checks", .kws = kws };

/* --- global --- */

#define SPREAD_MAX 50

static int
parse_spread(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;

	return cfg_arg_int(ctx, 0, 0, SPREAD_MAX, &ps->spread_checks);
}

static int
parse_max_spread(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;

	return cfg_arg_timeout(ctx, 0, &ps->max_spread_checks_ms);
}

static int
parse_allow_external(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;

	ps->external_checks = 1;
	return 0;
}

static int
parse_never_local(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;

	ps->never_local = 1;
	return 0;
}

static const struct cfg_kw global_kws[] = {
	{ .name = "external-check",
		.sections = CFG_GLOBAL,
		.parse = parse_allow_external,
		.doc = "Allows health checks to run commands; a helper process runs them." },
	{ .name = "max-spread-checks",
		.dflt = "0, which sets no limit",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_max_spread,
		.syntax = "<time>",
		.doc = "Maximum time between the first checks of a backend's first and last "
			"server." },
	{ .name = "pp2-never-send-local",
		.dflt = "off",
		.sections = CFG_GLOBAL,
		.parse = parse_never_local,
		.doc = "The PROXY header of version 2 of a health check has the addresses of the "
		       "check's connection, as HAProxy's before 2.2, for servers that do not "
		       "understand LOCAL." },
	{ .name = "spread-checks",
		.dflt = "0",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_spread,
		.syntax = "<percent>",
		.doc = "Randomness of the interval between checks, 0 to 50 per cent." },
	{ 0 },
};

const struct cfg_module check_global_cfg_module = { .name = "check intervals", .kws = global_kws };
