/* Options of proxies that are one bit each, and option redispatch. Main thread, while the
 * configuration is read. */
#include "proxy/config/proxy_cfg.h"

#include "cfg/ctx.h"
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

#define OPTION(n, where, bits, text)                                                         \
	{                                                                                    \
		.name = "option " n, .sections = where, .flags = CFG_KW_NO,                  \
		.parse = proxy_cfg_option, .arg = bits, .doc = text                          \
	}

static const struct cfg_kw kws[] = {
	OPTION("allbackups", CFG_BE, OPT_ALLBACKUPS,
		"Uses all backup servers instead of the first one only."),
	OPTION("clitcpka", CFG_FE, OPT_CLITCPKA,
		"Enables TCP keep-alive on connections from clients."),
	OPTION("nolinger", CFG_PROXIES, OPT_NOLINGER,
		"Closes connections by a reset, which frees their ports at once."),
	OPTION("persist", CFG_BE, OPT_PERSIST,
		"Uses the server that a client's cookie names even when it is down."),
	{ .name = "option redispatch",
		.sections = CFG_BE,
		.flags = CFG_KW_NO,
		.max = 1,
		.parse = parse_redispatch,
		.syntax = "[<interval>]",
		.doc = "Uses another server for a retry: with -1, the default, at the last "
			"attempt; with N at every Nth attempt." },
	OPTION("splice-auto", CFG_PROXIES, OPT_SPLICE_AUTO,
		"Forwards long transfers through kernel pipes, without a copy. In mode tcp it is "
		"on unless the frontend or the backend has 'no option splice-auto'. If it is set "
		"explicitly, a derived maxconn reserves descriptors for the pipes; otherwise pipes "
		"use what is left. In mode http it applies to bodies with a Content-Length or "
		"delimited by the end of the connection, and to tunnels."),
	OPTION("splice-request", CFG_PROXIES, OPT_SPLICE_REQUEST,
		"As splice-auto for data from clients, from the first read on."),
	OPTION("splice-response", CFG_PROXIES, OPT_SPLICE_RESPONSE,
		"As splice-auto for data from servers, from the first read on."),
	OPTION("srvtcpka", CFG_BE, OPT_SRVTCPKA,
		"Enables TCP keep-alive on connections to servers."),
	OPTION("tcp-smart-accept", CFG_FE, OPT_SMART_ACCEPT,
		"Avoids the ACK of a connection's first data: what is sent next acknowledges them. "
		"In mode http it is on unless 'no option tcp-smart-accept' is set."),
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
	{ .name = "option socket-stats",
		.sections = CFG_FE,
		.flags = CFG_KW_NO,
		.class = CFG_HINT,
		.doc = "sockets are always counted one by one" },
	{ 0 },
};

const struct cfg_module proxy_cfg_options_module = { .name = "proxy options", .kws = kws };
