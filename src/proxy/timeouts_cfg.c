#include "cfg/ctx.h"
#include "proxy/proxy.h"
#include "proxy/proxy_cfg.h"

static int
parse_timeout(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	unsigned int *field = (unsigned int *)(void *)((char *)&p->to + ctx->kw->arg);

	return cfg_arg_timeout(ctx, 0, field);
}

#define TIMEOUT(n, where, field, text)                                                 \
	{                                                                              \
		.name = "timeout " n, .sections = where, .min = 1, .max = 1,           \
		.parse = parse_timeout, .arg = offsetof(struct proxy_timeouts, field), \
		.syntax = "<time>", .doc = text                                        \
	}
#define HTTP_ONLY(n, where)                                                                     \
	{                                                                                       \
		.name = "timeout " n, .sections = where, .min = 1, .max = 1, .class = CFG_HINT, \
		.syntax = "<time>", .doc = "it is about HTTP, and all proxies are in mode tcp"  \
	}

static const struct cfg_kw kws[] = {
	TIMEOUT("client", CFG_FE, client, "How long a client may be silent."),
	TIMEOUT("client-fin", CFG_FE, client_fin,
		"As timeout client, once one direction has ended."),
	TIMEOUT("connect", CFG_BE, connect, "How long connecting to a server may take."),
	TIMEOUT("check", CFG_BE, check, "How long a health check may take, once connected."),
	TIMEOUT("queue", CFG_BE, queue,
		"How long a connection may wait for a server; the connect timeout by default."),
	TIMEOUT("server", CFG_BE, server, "How long a server may be silent."),
	TIMEOUT("server-fin", CFG_BE, server_fin,
		"As timeout server, once one direction has ended."),
	HTTP_ONLY("http-keep-alive", CFG_PROXIES),
	HTTP_ONLY("http-request", CFG_PROXIES),
	HTTP_ONLY("tarpit", CFG_PROXIES),
	{ 0 },
};

const struct cfg_module timeouts_cfg_module = {
	.name = "timeouts",
	.kws = kws,
};
