#include "cfg/ctx.h"
#include "proxy/model/proxy.h"
#include "proxy/config/proxy_cfg.h"

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
		.once = "timeout " n, .syntax = "<time>", .doc = text                  \
	}
static const struct cfg_kw kws[] = {
	TIMEOUT("client", CFG_FE, client, "How long a client may be silent."),
	TIMEOUT("client-fin", CFG_FE, client_fin,
		"As timeout client, once one direction has ended."),
	TIMEOUT("connect", CFG_BE, connect, "How long connecting to a server may take."),
	TIMEOUT("check", CFG_BE, check, "How long a health check may take, once connected."),
	TIMEOUT("http-keep-alive", CFG_PROXIES, http_keep_alive,
		"How long a client may take to begin its next request; http-request by default."),
	TIMEOUT("http-request", CFG_PROXIES, http_request,
		"How long the head of a request may take from its first byte on."),
	TIMEOUT("queue", CFG_BE, queue,
		"How long a connection may wait for a server; the connect timeout by default."),
	TIMEOUT("server", CFG_BE, server, "How long a server may be silent."),
	TIMEOUT("server-fin", CFG_BE, server_fin,
		"As timeout server, once one direction has ended."),
	TIMEOUT("tarpit", CFG_PROXIES, tarpit,
		"How long a request is held that is answered late; the connect timeout by "
		"default."),
	TIMEOUT("tunnel", CFG_BE, tunnel,
		"In the place of timeout client and server once it is connected, in mode tcp and "
		"after an upgrade."),
	{ 0 },
};

const struct cfg_module timeouts_cfg_module = {
	.name = "timeouts",
	.kws = kws,
};
