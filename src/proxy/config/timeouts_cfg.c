/* Keywords of timeouts. Main thread, while the configuration is read. */
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
	TIMEOUT("client", CFG_FE, client, "Maximum time without activity on the client's side."),
	TIMEOUT("client-fin", CFG_FE, client_fin,
		"As timeout client, after one direction was closed."),
	TIMEOUT("client-hs", CFG_FE, client_hs,
		"Maximum time of a client's TLS handshake; the default is timeout client."),
	TIMEOUT("connect", CFG_BE, connect, "Maximum time to connect to a server."),
	TIMEOUT("check", CFG_BE, check, "Maximum time for a health check after the connection is "
		"established."),
	TIMEOUT("http-keep-alive", CFG_PROXIES, http_keep_alive,
		"Maximum time between two requests of a client; the default is http-request."),
	TIMEOUT("http-request", CFG_PROXIES, http_request,
		"Maximum time between the first byte of a request header and its end."),
	TIMEOUT("queue", CFG_BE, queue,
		"Maximum time that a connection waits for a server; the default is the connect "
		"timeout."),
	TIMEOUT("server", CFG_BE, server, "Maximum time without activity on the server's side."),
	TIMEOUT("server-fin", CFG_BE, server_fin,
		"As timeout server, after one direction was closed."),
	TIMEOUT("tarpit", CFG_PROXIES, tarpit,
		"Time after which a tarpitted request is answered; the default is the connect "
		"timeout."),
	TIMEOUT("tunnel", CFG_BE, tunnel,
		"Replaces timeout client and timeout server once the server is connected, in mode "
		"tcp and after an upgrade."),
	{ 0 },
};

const struct cfg_module timeouts_cfg_module = {
	.name = "timeouts",
	.kws = kws,
};
