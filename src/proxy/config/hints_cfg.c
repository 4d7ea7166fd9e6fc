/* Keywords of proxies, and options of bind and server lines, that are accepted and have no effect
 * here, each with the reason that its notice gives. Constant data. */
#include "proxy/config/hints_cfg.h"

#define TABLES "there are no stick tables"
#define QUIC "QUIC is not supported"
#define KTLS "TLS is never moved to the kernel"

static const struct cfg_kw kws[] = {
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
	{ .name = "option use-small-buffers",
		.sections = CFG_PROXIES,
		.flags = CFG_KW_NO,
		.max = CFG_ANY,
		.class = CFG_HINT,
		.doc = "an idle connection has no buffer" },
	{ 0 },
};

#define HINT(n, args, why) { .name = n, .min = args, .max = args, .class = CFG_HINT, .doc = why }

static const struct cfg_opt bind_opts[] = {
	HINT("ktls", 1, KTLS),
	HINT("quic-cc-algo", 1, QUIC),
	HINT("quic-force-retry", 0, QUIC),
	HINT("quic-socket", 1, QUIC),
	{ 0 },
};

static const struct cfg_opt server_opts[] = {
	HINT("ktls", 1, KTLS),
	HINT("non-stick", 0, TABLES),
	HINT("quic-cc-algo", 1, QUIC),
	HINT("shard", 1, TABLES),
	HINT("stick", 0, TABLES),
	{ 0 },
};

const struct cfg_module proxy_hints_module = {
	.name = "proxy-hints",
	.kws = kws,
	.opts = { [CFG_OPT_BIND] = bind_opts, [CFG_OPT_SERVER] = server_opts },
};
