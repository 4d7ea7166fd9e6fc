/* Options of proxies that are one bit each, option redispatch, and the values of TCP's keep-alive.
 * Main thread, while the configuration is read. */
#include "proxy/config/proxy_cfg_options.h"

#include <limits.h>

#include "cfg/ctx.h"
#include "cfg/registry.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/model/proxies.h"

static void
set_options(struct proxy *p, enum cfg_form form, unsigned int bits)
{
	p->options &= ~bits;
	p->no_options &= ~bits;
	if (form == CFG_FORM_SET)
		p->options |= bits;
	else if (form == CFG_FORM_NO)
		p->no_options |= bits;
}

int
proxy_cfg_option(struct cfg_ctx *ctx)
{
	set_options(ctx->obj, ctx->form, (unsigned int)ctx->kw->arg);
	return 0;
}

/* option redispatch [<interval>]: -1 is the last attempt, N every Nth, 0 never. */
static int
parse_redispatch(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	int every = -1;

	if (ctx->form == CFG_FORM_SET && ctx->argc > 0 &&
		cfg_arg_int(ctx, 0, -RETRIES_MAX, RETRIES_MAX, &every))
		return -1;
	set_options(p, every ? ctx->form : CFG_FORM_NO, OPT_REDISPATCH);
	p->redispatch_every = p->options & OPT_REDISPATCH ? every : 0;
	return 0;
}

/* Beyond the kernel's limit the system's value stays, as in HAProxy, without a warning. */
static int
take_keepalive(struct cfg_ctx *ctx, uint64_t value, int max)
{
	int *field = (int *)(void *)((char *)ctx->obj + ctx->kw->arg);

	*field = value > (uint64_t)max ? 0 : (int)value;
	if (value > (uint64_t)max)
		cfg_warn(ctx, 0, "'%s' : '%s' is not set: the kernel's maximum is %d.",
			cfg_kw_name(ctx), cfg_arg(ctx, 0), max);
	return 0;
}

static int
parse_keepalive_count(struct cfg_ctx *ctx)
{
	int n;

	if (cfg_arg_int(ctx, 0, 0, INT_MAX, &n))
		return -1;
	return take_keepalive(ctx, (uint64_t)n, KEEPALIVE_COUNT_MAX);
}

/* A part of a second counts as a whole one. */
static int
parse_keepalive_time(struct cfg_ctx *ctx)
{
	uint64_t ms;

	if (cfg_arg_time(ctx, 0, CFG_UNIT_S, 0, CFG_TIME_MAX_MS, &ms))
		return -1;
	return take_keepalive(ctx, (ms + 999) / 1000, KEEPALIVE_SECONDS_MAX);
}

#define KEEPALIVE(n, where, fn, field, syn, text, ...)                            \
	{                                                                         \
		.name = n, .sections = where, .min = 1, .max = 1, .parse = fn,    \
		.arg = offsetof(struct proxy, field), .syntax = syn, .doc = text, \
		__VA_ARGS__                                                       \
	}
#define OPTION(n, where, bits, text, ...)                                        \
	{                                                                        \
		.name = "option " n, .sections = where, .flags = CFG_KW_NO,      \
		.parse = proxy_cfg_option, .arg = bits, .doc = text, __VA_ARGS__ \
	}

static const struct cfg_kw kws[] = {
	KEEPALIVE("clitcpka-cnt", CFG_FE, parse_keepalive_count, client_keepalive.count, "<count>",
		"Keep-alive probes without an answer that end a connection from a client, 1 to "
		"127. It applies with option clitcpka or tcpka, as clitcpka-idle and "
		"clitcpka-intvl do.",
		.dflt = "0, which uses the system's value"),
	KEEPALIVE("clitcpka-idle", CFG_FE, parse_keepalive_time, client_keepalive.idle, "<time>",
		"Time without data before keep-alive probes are sent to a client, 1 to 32767 s; "
		"the unit is seconds.",
		.dflt = "0, which uses the system's value"),
	KEEPALIVE("clitcpka-intvl", CFG_FE, parse_keepalive_time, client_keepalive.interval,
		"<time>",
		"Time between two keep-alive probes to a client, 1 to 32767 s; the unit is "
		"seconds.",
		.dflt = "0, which uses the system's value"),
	KEEPALIVE("srvtcpka-cnt", CFG_BE, parse_keepalive_count, server_keepalive.count, "<count>",
		"Keep-alive probes without an answer that end a connection to a server, 1 to "
		"127. It applies with option srvtcpka or tcpka, as srvtcpka-idle and "
		"srvtcpka-intvl do.",
		.dflt = "0, which uses the system's value"),
	KEEPALIVE("srvtcpka-idle", CFG_BE, parse_keepalive_time, server_keepalive.idle, "<time>",
		"Time without data before keep-alive probes are sent to a server, 1 to 32767 s; "
		"the unit is seconds.",
		.dflt = "0, which uses the system's value"),
	KEEPALIVE("srvtcpka-intvl", CFG_BE, parse_keepalive_time, server_keepalive.interval,
		"<time>",
		"Time between two keep-alive probes to a server, 1 to 32767 s; the unit is "
		"seconds.",
		.dflt = "0, which uses the system's value"),
	{ .name = "bind-process",
		.sections = CFG_PROXIES,
		.max = CFG_ANY,
		.class = CFG_HINT,
		.doc = "there is one process" },
	OPTION("allbackups", CFG_BE, OPT_ALLBACKUPS,
		"Uses all backup servers instead of the first one only."),
	OPTION("clitcpka", CFG_FE, OPT_CLITCPKA,
		"Enables TCP keep-alive on connections from clients."),
	OPTION("nolinger", CFG_PROXIES, OPT_NOLINGER,
		"Closes connections by a reset, which frees their ports at once."),
	OPTION("persist", CFG_BE, OPT_PERSIST,
		"Uses the server that a client's cookie names even when it is down."),
	{ .name = "option redispatch",
		.dflt = "off: a retry uses the same server",
		.sections = CFG_BE,
		.flags = CFG_KW_NO,
		.max = 1,
		.parse = parse_redispatch,
		.syntax = "[<interval>]",
		.doc = "Uses another server for a retry: with -1 at the last attempt, with N at "
			"every Nth attempt. Without a number it is -1." },
	OPTION("socket-stats", CFG_FE, OPT_SOCKET_STATS,
		"Shows the counters of each listening socket: in show stat, on the statistics page "
		"and in the metrics haproxy_listener_*. Sockets are named as their bind line, or "
		"sock-1, sock-2 and so on. They count from the start of the process."),
	OPTION("splice-auto", CFG_PROXIES, OPT_SPLICE_AUTO,
		"Forwards long transfers through kernel pipes, without a copy. In mode tcp it is "
		"on unless the frontend or the backend has 'no option splice-auto'. If it is set "
		"explicitly, a derived maxconn reserves descriptors for the pipes; otherwise pipes "
		"use what is left. In mode http it applies to bodies with a Content-Length or "
		"delimited by the end of the connection, and to tunnels.",
		.dflt = "on in mode tcp, off in mode http"),
	OPTION("splice-request", CFG_PROXIES, OPT_SPLICE_REQUEST,
		"Forwards data from clients through kernel pipes, without a copy, from the "
		"first read on; see option splice-auto.",
		.dflt = "off"),
	OPTION("splice-response", CFG_PROXIES, OPT_SPLICE_RESPONSE,
		"Forwards data from servers through kernel pipes, without a copy, from the "
		"first read on; see option splice-auto.",
		.dflt = "off"),
	OPTION("srvtcpka", CFG_BE, OPT_SRVTCPKA,
		"Enables TCP keep-alive on connections to servers."),
	OPTION("tcp-smart-accept", CFG_FE, OPT_SMART_ACCEPT,
		"Avoids the ACK of a connection's first data: what is sent next acknowledges them. "
		"In mode http it is on unless 'no option tcp-smart-accept' is set.",
		.dflt = "on in mode http, off in mode tcp"),
	OPTION("tcp-smart-connect", CFG_BE, OPT_SMART_CONNECT,
		"Avoids the ACK that completes a connection to a server when there is data to "
		"send. In mode http a connection that the server has closed is also reset, which "
		"saves two segments and costs one system call."),
	OPTION("tcpka", CFG_PROXIES, OPT_CLITCPKA | OPT_SRVTCPKA,
		"Enables TCP keep-alive on both sides."),
	{ .name = "option contstats",
		.sections = CFG_FE,
		.flags = CFG_KW_NO,
		.class = CFG_HINT,
		.doc = "counters are always continuous" },
	{ 0 },
};

const struct cfg_module proxy_cfg_options_module = { .name = "proxy options", .kws = kws };

/* --- hints ----------------------------------------------------------------------------------- */

/*
 * Keywords of proxies, and options of bind and server lines, that are accepted and have no
 * effect here, each with the reason that its notice gives. Constant data.
 */

#define SHARD "a server of a backend is in no shard; a peer may be: 'shard' of 'peer'"
#define QUIC "QUIC is not supported"
#define KTLS "TLS is never moved to the kernel"

static const struct cfg_kw hint_kws[] = {
	{ .name = "max-session-srv-conns",
		.sections = CFG_FE,
		.max = 1,
		.class = CFG_HINT,
		.doc = "a client keeps one connection to a server" },
	{ .name = "option independent-streams",
		.sections = CFG_PROXIES,
		.flags = CFG_KW_NO,
		.class = CFG_HINT,
		.doc = "what is sent to a side counts as its activity, so that a connection may "
			"stay open for longer" },
	{ .name = "option assume-rfc6587-ntf",
		.sections = CFG_PROXIES,
		.flags = CFG_KW_NO,
		.class = CFG_HINT,
		.doc = "no section receives log messages" },
	{ .name = "option use-small-buffers",
		.sections = CFG_PROXIES,
		.flags = CFG_KW_NO,
		.max = CFG_ANY,
		.class = CFG_HINT,
		.doc = "an idle connection has no buffer" },
	{ 0 },
};

#define RENEGOTIATION "TLS is never renegotiated"
#define HINT(n, args, why) { .name = n, .min = args, .max = args, .class = CFG_HINT, .doc = why }

static const struct cfg_opt bind_opts[] = {
	HINT("ktls", 1, KTLS),
	HINT("no-renegotiate", 0, RENEGOTIATION),
	HINT("quic-cc-algo", 1, QUIC),
	HINT("quic-force-retry", 0, QUIC),
	HINT("quic-socket", 1, QUIC),
	{ 0 },
};

static const struct cfg_opt server_opts[] = {
	HINT("ktls", 1, KTLS),
	HINT("no-renegotiate", 0, RENEGOTIATION),
	HINT("quic-cc-algo", 1, QUIC),
	HINT("shard", 1, SHARD),
	{ 0 },
};

const struct cfg_module proxy_hints_module = {
	.name = "proxy-hints",
	.kws = hint_kws,
	.opts = { [CFG_OPT_BIND] = bind_opts, [CFG_OPT_SERVER] = server_opts },
};
