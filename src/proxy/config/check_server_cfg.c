/* Options of server lines that concern health checks. Main thread, while the configuration is
 * read. */
#include <limits.h>

#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "proxy/check/agent.h"
#include "proxy/config/check_cfg.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/config/server_name_cfg.h"
#include "proxy/model/server.h"

#define FIELD(name) ((intptr_t)offsetof(struct check_server_conf, name))

static struct check_server_conf *
check_conf_of(void *obj)
{
	struct server_target *t = obj;

	return &t->conf->check;
}

static void *
check_field(const struct cfg_ctx *ctx, void *obj)
{
	return (char *)check_conf_of(obj) + (ctx->opt->arg >> 1);
}

/* The last bit of arg is the value, the rest is the field. */
static int
opt_check_flag(struct cfg_ctx *ctx, void *obj)
{
	int *field = check_field(ctx, obj);

	*field = (int)(ctx->opt->arg & 1);
	return 0;
}

static int
opt_check_count(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_int(ctx, 0, 1, INT_MAX, check_field(ctx, obj));
}

static int
opt_check_interval(struct cfg_ctx *ctx, void *obj)
{
	unsigned int *field = check_field(ctx, obj);
	uint64_t ms;

	if (cfg_arg_time(ctx, 0, CFG_UNIT_MS, 1, CFG_TIME_MAX_MS, &ms))
		return -1;
	*field = (unsigned int)ms;
	return 0;
}

static int
opt_slowstart(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_timeout(ctx, 0, &check_conf_of(obj)->slowstart_ms);
}

static int
opt_check_port(struct cfg_ctx *ctx, void *obj)
{
	unsigned int *field = check_field(ctx, obj);
	int port;

	if (cfg_arg_int(ctx, 0, 0, 65535, &port))
		return -1;
	*field = (unsigned int)port;
	return 0;
}

/* An address of health checks may have a port, or be a path. */
static int
opt_check_addr(struct cfg_ctx *ctx, void *obj)
{
	struct check_server_conf *c = check_conf_of(obj);
	struct addr *field = check_field(ctx, obj);
	unsigned int flags = field == &c->addr ? ADDR_ALLOW_UNIX : ADDR_NO_PORT;
	struct addr_spec spec;
	const char *why = "", *text;
	char buf[CFG_ADDRESS_MAX];

	text = cfg_arg_address(ctx, 0, buf);
	if (!text)
		return -1;
	if (addr_parse(text, flags | server_cfg_name_flag(ctx), &spec, &why) < 0)
		return cfg_error(ctx, 0, "'%s' : '%.200s' : %s", ctx->opt->name, text, why);
	*field = spec.addr;
	return 0;
}

static int
opt_check_text(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_dup(ctx, 0, check_field(ctx, obj));
}

static const struct cfg_enum check_protos[] = {
	{ "h1", CHECK_PROTO_H1, "HTTP/1, with option httpchk." },
	{ "h2", CHECK_PROTO_H2, "HTTP/2, with option httpchk." },
	{ "none", CHECK_PROTO_NONE, "Bytes, with other checks." },
	{ 0 },
};

static int
opt_check_proto(struct cfg_ctx *ctx, void *obj)
{
	int proto;

	if (cfg_arg_enum(ctx, 0, check_protos, &proto))
		return -1;
	/* As in HAProxy it is not inherited from default-server. */
	if (((struct server_target *)obj)->server)
		check_conf_of(obj)->proto = (enum check_proto)proto;
	return 0;
}

static const struct cfg_enum observe_modes[] = {
	{ "none", CHECK_OBSERVE_NONE, "None are counted." },
	{ "layer4", CHECK_OBSERVE_LAYER4, "Errors of connections." },
	{ "layer7", CHECK_OBSERVE_LAYER7, "Errors of responses, too, in mode http." },
	{ 0 },
};

static int
opt_observe(struct cfg_ctx *ctx, void *obj)
{
	int mode;

	if (cfg_arg_enum(ctx, 0, observe_modes, &mode))
		return -1;
	check_conf_of(obj)->observe = (enum check_observe)mode;
	return 0;
}

static const struct cfg_enum error_modes[] = {
	{ "fastinter", CHECK_ON_FASTINTER, "The next check comes after fastinter." },
	{ "fail-check", CHECK_ON_FAIL, "It counts as a failed check." },
	{ "sudden-death", CHECK_ON_SUDDEN_DEATH, "It counts as a failed check, and one more "
		"fails the server." },
	{ "mark-down", CHECK_ON_MARK_DOWN, "The server is down at once." },
	{ 0 },
};

static int
opt_on_error(struct cfg_ctx *ctx, void *obj)
{
	int mode;

	if (cfg_arg_enum(ctx, 0, error_modes, &mode))
		return -1;
	check_conf_of(obj)->on_error = (enum check_on_error)mode;
	return 0;
}

static const struct cfg_enum down_actions[] = {
	{ "shutdown-sessions", 1, "Its sessions end." },
	{ 0 },
};

static int
opt_on_marked_down(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_enum(ctx, 0, down_actions, &check_conf_of(obj)->shutdown_on_down);
}

static const struct cfg_enum up_actions[] = {
	{ "shutdown-backup-sessions", 1, "The sessions of the backup servers end." },
	{ 0 },
};

static int
opt_on_marked_up(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_enum(ctx, 0, up_actions, &check_conf_of(obj)->shutdown_backups_on_up);
}

static const struct cfg_enum init_states[] = {
	{ "fully-up", CHECK_INIT_FULLY_UP, "Up; it needs fall failed checks to be down." },
	{ "up", CHECK_INIT_UP, "Up; the first failed check brings it down." },
	{ "down", CHECK_INIT_DOWN, "Down; the first passed check brings it up." },
	{ "fully-down", CHECK_INIT_FULLY_DOWN, "Down; it needs rise passed checks to be up." },
	{ 0 },
};

static int
opt_init_state(struct cfg_ctx *ctx, void *obj)
{
	int state;

	if (cfg_arg_enum(ctx, 0, init_states, &state))
		return -1;
	check_conf_of(obj)->init_state = (enum check_init_state)state;
	return 0;
}

#define OPT(n, args, fn, a, syn, text, ...)                                 \
	{                                                                   \
		.name = n, .min = args, .max = args, .parse = fn, .arg = a, \
		.syntax = syn, .doc = text, __VA_ARGS__                     \
	}
#define OPT_FLAG(n, f, value, text, ...) \
	OPT(n, 0, opt_check_flag, (FIELD(f) << 1) | value, NULL, text, __VA_ARGS__)
#define OPT_COUNT(n, f, text, ...) \
	OPT(n, 1, opt_check_count, FIELD(f) << 1, "<number>", text, __VA_ARGS__)
#define OPT_TIME(n, f, text, ...) \
	OPT(n, 1, opt_check_interval, FIELD(f) << 1, "<time>", text, __VA_ARGS__)
#define OPT_PORT(n, f, text, ...) \
	OPT(n, 1, opt_check_port, FIELD(f) << 1, "<port>", text, __VA_ARGS__)
#define OPT_ADDR(n, f, text, ...) \
	OPT(n, 1, opt_check_addr, FIELD(f) << 1, "<address>", text, __VA_ARGS__)

static const struct cfg_opt opts[] = {
	OPT_ADDR("addr", addr, "Address to check, instead of the server's.",
		.dflt = "the server's address"),
	OPT_ADDR("agent-addr", agent_addr, "Address of the agent, instead of the server's.",
		.dflt = "the server's address"),
	OPT_FLAG("agent-check", agent, 1,
		"Asks a program on the server, every agent-inter: connects to agent-port, sends "
		"agent-send, and reads a line. Its words, which blanks or commas separate, "
		"change the server. Where it or the checks fail, the server is down.",
		.values = agent_words,
		.example = "server a 192.0.2.11:80 check weight 100 agent-check agent-port 9707"),
	OPT_TIME("agent-inter", agent_inter_ms,
		"Interval between questions to the agent.",
		.dflt = "2 s"),
	OPT_PORT("agent-port", agent_port, "Port of the agent.",
		.dflt = "none: agent-check needs it"),
	OPT("agent-send", 1, opt_check_text, FIELD(agent_send) << 1, "<text>",
		"Text that is sent to the agent.",
		.dflt = "none"),
	OPT_FLAG("check", check, 1, "Enables health checks."),
	OPT("check-proto", 1, opt_check_proto, 0, "{h1 | h2 | none}",
		"Protocol of health checks.",
		.dflt = "proto, or what ALPN has agreed on",
		.values = check_protos),
	OPT_FLAG("check-send-proxy", send_proxy, 1, "Sends a PROXY header with health checks."),
	OPT_FLAG("check-via-socks4", via_socks4, 1,
		"Health checks use the proxy of socks4 too; those of agents do not."),
	OPT_TIME("downinter", downinter_ms,
		"Interval between checks of a server that is down.",
		.dflt = "inter"),
	OPT_COUNT("error-limit", error_limit,
		"Number of errors in a row that trigger on-error.",
		.dflt = "10"),
	OPT_COUNT("fall", fall,
		"Number of failed checks in a row after which the server is down.",
		.dflt = "3"),
	OPT_TIME("fastinter", fastinter_ms,
		"Interval between checks while the state changes.",
		.dflt = "inter"),
	OPT("init-state", 1, opt_init_state, 0, "{fully-up | up | down | fully-down}",
		"State before the first check.",
		.dflt = "up",
		.values = init_states),
	OPT_TIME("inter", inter_ms,
		"Interval between checks.",
		.dflt = "2 s"),
	OPT_FLAG("no-agent-check", agent, 0, "Asks no agent, whatever the defaults say."),
	OPT_FLAG("no-check", check, 0, "Disables health checks, whatever the defaults say."),
	OPT_FLAG("no-check-send-proxy", send_proxy, 0,
		"Sends no PROXY header with health checks, whatever the defaults say."),
	OPT("observe", 1, opt_observe, 0, "{none | layer4 | layer7}",
		"Counts errors of sessions, as if they were results of checks: see error-limit "
		"and on-error.",
		.dflt = "none",
		.values = observe_modes),
	OPT("on-error", 1, opt_on_error, 0, "{fastinter | fail-check | sudden-death | mark-down}",
		"The action after error-limit errors.",
		.dflt = "fail-check",
		.values = error_modes),
	OPT("on-marked-down", 1, opt_on_marked_down, 0, "shutdown-sessions",
		"The action when the server goes down.",
		.dflt = "none: its sessions continue",
		.values = down_actions),
	OPT("on-marked-up", 1, opt_on_marked_up, 0, "shutdown-backup-sessions",
		"The action when the server comes up.",
		.dflt = "none: sessions of backup servers continue",
		.values = up_actions),
	OPT_PORT("port", port, "Port to check, instead of the server's.",
		.dflt = "the server's port"),
	OPT_COUNT("rise", rise,
		"Number of passed checks in a row after which the server is up.",
		.dflt = "2"),
	OPT("slowstart", 1, opt_slowstart, 0, "<time>",
		"Time in which a server that comes up reaches its full weight and maxconn.",
		.dflt = "0: it has them at once"),
	OPT("track", 1, opt_check_text, FIELD(track) << 1, "[<backend>/]<server>",
		"Has the state of another server, instead of checks of its own.",
		.dflt = "none"),
	{ 0 },
};

const struct cfg_module check_server_cfg_module = {
	.name = "server checks",
	.opts = { [CFG_OPT_SERVER] = opts },
};
