/* The keywords server and default-server, and their options. Main thread, while the
 * configuration is read. */
#include "proxy/config/server_cfg.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "cfg/registry.h"
#include "cfg/value.h"
#include "http/head.h"
#include "net/bind_cfg.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/config/server_name_cfg.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server_list.h"

/* The limits of HAProxy. */
#define OCCURRENCE_MIN (-10)
#define OCCURRENCE_MAX 65535

/* --- source --- */

static int
parse_interface(struct cfg_ctx *ctx, int i, struct source_conf *out)
{
	const char *name = cfg_arg(ctx, i);

	if (!*name || strlen(name) >= sizeof(out->interface))
		return cfg_error(ctx, i,
			"'source' : 'interface' expects a name of 1 to %d bytes.", IFACE_MAX - 1);
	memcpy(out->interface, name, strlen(name) + 1);
	return 0;
}

/* "hdr_ip(<name>[,<occurrence>])" from the parenthesis on. Occurrence 0 disables it. */
static int
usesrc_header(struct cfg_ctx *ctx, int i, const char *paren, struct source_conf *out)
{
	size_t n = strlen(paren), len = strcspn(paren, ",)");
	struct cfg_value_err err;
	int64_t nth = -1;
	char number[16];

	if (n < 3 || paren[n - 1] != ')' || len < 2 || len > sizeof(out->header) ||
		!http_name_is_valid((struct str){ paren + 1, len - 1 }))
		return cfg_error(ctx, i,
			"'source' : 'hdr_ip' expects the name of a header of at most %zu bytes in "
			"parentheses.",
			sizeof(out->header) - 1);
	if (paren[len] == ',') {
		size_t digits = n - len - 2;

		if (digits >= sizeof(number))
			digits = sizeof(number) - 1;
		memcpy(number, paren + len + 1, digits);
		number[digits] = '\0';
		if (cfg_value_int(number, OCCURRENCE_MIN, OCCURRENCE_MAX, &nth, &err) < 0)
			return cfg_error(
				ctx, i, "'source' : occurrence of 'hdr_ip' : %s", err.text);
	}
	memcpy(out->header, paren + 1, len - 1);
	out->header[len - 1] = '\0';
	out->occurrence = (int)nth;
	out->as = nth ? SOURCE_AS_HEADER : SOURCE_AS_SELF;
	return 0;
}

#define USESRC "usesrc "
/* Values: an enum source_as. */
static const struct cfg_enum source_words[] = {
	{ "<address>[:<port>]", 0, "The source address; 0.0.0.0 or * leaves it to the kernel." },
	{ "interface <name>", SOURCE_AS_SELF, "Connections leave by this interface." },
	{ USESRC "<address>[:<port>]", SOURCE_AS_ADDR, "The address that servers see." },
	{ USESRC "client", SOURCE_AS_CLIENT, "Servers see the client's address and port." },
	{ USESRC "clientip", SOURCE_AS_CLIENT_IP, "Servers see the client's address." },
	{ USESRC "hdr_ip(<name>[,<occurrence>])", SOURCE_AS_HEADER, "Servers see the address in a "
		"header field of the request." },
	{ 0 },
};

/* The address that the argument of usesrc stands for. */
static enum source_as
find_usesrc(const char *arg)
{
	size_t n = strcspn(arg, "(");

	for (const struct cfg_enum *e = source_words; e->name; e++) {
		const char *word = e->name + sizeof(USESRC) - 1;

		if (e->value > SOURCE_AS_ADDR && strncmp(word, arg, n) == 0 &&
			word[n] == arg[n])
			return (enum source_as)e->value;
	}
	return SOURCE_AS_ADDR;
}

static int
parse_usesrc(struct cfg_ctx *ctx, int i, struct source_conf *out)
{
	const char *arg = cfg_arg(ctx, i), *why = "";
	struct addr_spec spec;

	if (!*arg)
		return cfg_error(ctx, i,
			"'source' : 'usesrc' expects an address, 'client', 'clientip' or "
			"'hdr_ip(<name>)'.");
	out->as = find_usesrc(arg);
	if (out->as == SOURCE_AS_HEADER)
		return usesrc_header(ctx, i, strchr(arg, '('), out);
	if (out->as != SOURCE_AS_ADDR)
		return 0;
	if (addr_parse(arg, server_cfg_name_flag(ctx), &spec, &why) < 0)
		return cfg_error(ctx, i, "'source' : 'usesrc' : '%.200s' : %s", arg, why);
	out->as_addr = spec.addr;
	return 0;
}

/*
 * <address>[:<port>[-<port>]] and keywords from argument 0 on. *taken is the number of arguments
 * that it used, also after an error.
 */
static int
parse_source_args(struct cfg_ctx *ctx, unsigned int flags, struct source_conf *out, int *taken)
{
	struct addr_spec spec;
	const char *why = "", *text;
	char buf[CFG_ADDRESS_MAX];
	int r = 0;

	*taken = 1;
	text = cfg_arg_address(ctx, 0, buf);
	if (!text)
		return -1;
	if (addr_parse(text, flags | server_cfg_name_flag(ctx), &spec, &why) < 0)
		return cfg_error(ctx, 0, "'source' : '%.200s' : %s", text, why);
	memset(out, 0, sizeof(*out));
	out->addr = spec.addr;
	out->port_lo = spec.port_lo;
	out->port_hi = spec.port_hi;
	while (r == 0 && *taken < ctx->argc) {
		int i = *taken;
		const char *word = cfg_arg(ctx, i);
		const struct cfg_enum *e = cfg_enum_find(source_words, word, strlen(word));

		if (!e)
			break;
		*taken = MIN(i + 2, ctx->argc);
		r = e->value == SOURCE_AS_SELF ? parse_interface(ctx, i + 1, out)
					       : parse_usesrc(ctx, i + 1, out);
	}
	return r;
}

/* Parses the line of a backend. */
static int
source_cfg_line(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	int n;

	if (parse_source_args(ctx, 0, &p->source, &n))
		return -1;
	if (n < ctx->argc)
		return cfg_error(ctx, n, "'source' cannot handle unexpected argument '%.60s'.",
			cfg_arg(ctx, n));
	return 0;
}

/* Parses the option of a server: of the arguments those that belong to it are taken. */
static int
source_cfg_option(struct cfg_ctx *ctx, struct source_conf *out)
{
	int n, rc = parse_source_args(ctx, ADDR_ALLOW_RANGE, out, &n);

	cfg_take(ctx, n);
	return rc;
}

/* server-template */
#define TEMPLATE_NUMBER_MAX 65535
#define TEMPLATE_NAME_MAX 256

/* --- options of a server --- */

static int
opt_source(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;

	return source_cfg_option(ctx, &t->conf->source);
}

#define FIELD(name) ((intptr_t)offsetof(struct server_conf, name))

static int *
server_field(const struct cfg_ctx *ctx, const struct server_target *t)
{
	return (int *)(void *)((char *)t->conf + (ctx->opt->arg >> 1));
}

/* The last bit of arg is the value, the rest is the field. */
static int
server_opt_flag(struct cfg_ctx *ctx, void *obj)
{
	*server_field(ctx, obj) = (int)(ctx->opt->arg & 1);
	return 0;
}

static int
server_opt_count(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_int(ctx, 0, 0, INT_MAX, server_field(ctx, obj));
}

/* -1: no limit. */
static int
opt_bound(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_int(ctx, 0, -1, INT_MAX, server_field(ctx, obj));
}

static int
opt_purge(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;

	return cfg_arg_timeout(ctx, 0, &t->conf->pool_purge_ms);
}

static const struct cfg_enum hash_keys[] = {
	{ "id", SERVER_HASH_ID, "Its id." },
	{ "addr", SERVER_HASH_ADDR, "Its address." },
	{ "addr-port", SERVER_HASH_ADDR_PORT, "Its address and port." },
	{ 0 },
};

static int
opt_hash_key(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;
	int key;

	if (cfg_arg_enum(ctx, 0, hash_keys, &key))
		return -1;
	t->conf->hash_key = (enum server_hash_key)key;
	return 0;
}

/* A proxy is reached over TCP. */
static int
opt_socks4(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;
	struct addr_spec spec;
	const char *why = "", *text;
	char buf[CFG_ADDRESS_MAX];

	text = cfg_arg_address(ctx, 0, buf);
	if (!text)
		return -1;
	if (addr_parse(text, ADDR_WANT_PORT | server_cfg_name_flag(ctx), &spec, &why) < 0)
		return cfg_error(ctx, 0, "'socks4' : '%.200s' : %s", text, why);
	t->conf->socks4 = spec.addr;
	return 0;
}

static int
opt_weight(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;

	return cfg_arg_int(ctx, 0, 0, SERVER_WEIGHT_MAX, &t->conf->weight);
}

static int
server_opt_tcp_ut(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;

	return cfg_arg_timeout(ctx, 0, &t->conf->user_timeout_ms);
}

static int
server_opt_proto(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;

	return bind_cfg_proto(ctx, &t->conf->proto);
}

static const struct cfg_enum ws_words[] = {
	{ "auto", MUX_ANY, "That of other requests." },
	{ "h1", MUX_H1, "HTTP/1.1: an error for a server that may speak HTTP/2." },
	{ "h2", MUX_H2, "HTTP/2: an error for a server that may not speak it." },
	{ 0 },
};

static int
server_opt_ws(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;
	int proto;

	if (cfg_arg_enum(ctx, 0, ws_words, &proto))
		return -1;
	t->conf->websocket_proto = (enum mux_proto)proto;
	return 0;
}

static int
server_opt_id(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;
	int id;

	if (!t->server)
		return cfg_error(ctx, -1, "'id' is not allowed in 'default-server'.");
	if (cfg_arg_int(ctx, 0, 1, INT_MAX, &id))
		return -1;
	list_each(it, &t->server->be->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (s->id == id)
			return cfg_error(ctx, 0, "'id' : custom id %d already used by server '%s'.",
				id, s->name);
	}
	t->server->id = id;
	return 0;
}

static int
opt_guid(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;

	if (!t->server)
		return cfg_error(ctx, -1, "'guid' is not allowed in 'default-server'.");
	return guid_take(ctx, &t->server->guid, &t->server->where);
}

/* Takes the value of the cookie, which has no byte that would end it in a header field. */
static int
opt_cookie(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;
	const char *value = cfg_arg(ctx, 0);

	if (!*value || strpbrk(value, ";, \t") || !http_value_is_valid(str_of(value)))
		return cfg_error(
			ctx, 0, "'cookie' : '%.60s' is not a valid cookie value.", value);
	return cfg_arg_dup(ctx, 0, &t->conf->cookie);
}

static int
opt_redir(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;
	const char *value = cfg_arg(ctx, 0);

	if (!*value || strpbrk(value, " \t") || !http_value_is_valid(str_of(value)))
		return cfg_error(ctx, 0, "'redir' : '%.60s' does not begin a URL.", value);
	return cfg_arg_dup(ctx, 0, &t->conf->redir);
}

#define OPT(n, args, fn, a, syn, text, ...)                                 \
	{                                                                   \
		.name = n, .min = args, .max = args, .parse = fn, .arg = a, \
		.syntax = syn, .doc = text, __VA_ARGS__                     \
	}
#define OPT_COUNT(n, f, text, ...) \
	OPT(n, 1, server_opt_count, FIELD(f) << 1, "<number>", text, __VA_ARGS__)
#define OPT_FLAG(n, f, value, text) OPT(n, 0, server_opt_flag, (FIELD(f) << 1) | value, NULL, text)
#define HINT(n, why)                                                                              \
	{                                                                                         \
		.name = n, .min = 1, .max = 1, .class = CFG_HINT, .syntax = "<value>", .doc = why \
	}

static const struct cfg_opt opts[] = {
	OPT_FLAG("backup", backup, 1, "Uses the server only when no other server is usable."),
	OPT("cookie", 1, opt_cookie, 0, "<value>",
		"The server's value in the persistence cookie; several servers may share one.",
		.dflt = "none"),
	OPT_FLAG("disabled", disabled, 1, "Starts the server in maintenance."),
	OPT("redir", 1, opt_redir, 0, "<prefix>",
		"Mode http: the server gets no GET or HEAD; their clients are redirected with 302 "
		"to this text with the path and the query behind it. Other requests go to the "
		"server.", .dflt = "none"),
	OPT_FLAG("enabled", disabled, 0, "Starts the server ready, whatever the defaults say."),
	OPT("hash-key", 1, opt_hash_key, 0, "{id | addr | addr-port}",
		"The value that gives the server its place in consistent hashing. Processes that "
		"list the same addresses in another order choose the same servers, but with addr "
		"and addr-port not those that HAProxy chooses. Without an address it is the id.",
		.dflt = "id",
		.values = hash_keys),
	{ .name = "guid",
		.dflt = "none",
		.min = 1,
		.max = 1,
		.parse = opt_guid,
		.syntax = "<string>",
		.doc = "A name that no other server or proxy has: after a reload counters and "
		       "states are found by it, whatever the server's name is then.",
		.only_at_start = 1 },
	OPT("id", 1, server_opt_id, 0, "<number>", "The server's number in the statistics.",
		.dflt = "the next free one"),
	OPT_COUNT("maxconn", maxconn, "Maximum number of concurrent connections; 0 sets no limit.",
		.dflt = "0"),
	OPT_FLAG("strict-maxconn", strict_maxconn, 1,
		"maxconn limits the connections to the server: idle ones count, too. One of them "
		"is closed when a request needs a new connection and cannot use it. A request "
		"waits for timeout connect at most if none can be closed, since clients have "
		"authenticated on them."),
	OPT("max-reuse", 1, opt_bound, FIELD(max_reuse) << 1, "<number>",
		"Maximum number of further requests on a connection.",
		.dflt = "-1, which sets no limit"),
	OPT_COUNT("maxqueue", maxqueue,
		"Maximum number of connections in the server's queue; 0 sets no limit.",
		.dflt = "0"),
	OPT_COUNT("minconn", minconn,
		"The limit at low load: it grows to maxconn with the sessions of the backend, see "
		"fullconn.",
		.dflt = "0: the limit is maxconn"),
	OPT_FLAG("no-backup", backup, 0, "The server is no backup, whatever the defaults say."),
	OPT_FLAG("no-tfo", tfo, 0, "Disables TCP Fast Open, whatever the defaults say."),
	OPT_FLAG("non-backup", backup, 0,
		"The server is no backup, whatever the defaults say: another name of no-backup."),
	OPT_FLAG("non-stick", non_stick, 1, "The server is not stored by stick rules."),
	OPT_COUNT("pool-low-conn", pool_low,
		"More idle connections than requests have use for are closed only beyond this "
		"number, of which each worker gets its share.",
		.dflt = "0"),
	OPT("pool-max-conn", 1, opt_bound, FIELD(pool_max) << 1, "<number>",
		"Maximum number of idle connections; 0 keeps none, -1 sets no limit.",
		.dflt = "-1"),
	OPT("pool-purge-delay", 1, opt_purge, 0, "<time>",
		"Interval at which half of the surplus idle connections are closed; 0 keeps "
		"none.",
		.dflt = "5 s"),
	OPT("proto", 1, server_opt_proto, 0, "h1|h2|none",
		"The protocol of connections; one that the mode does not know is an error.",
		.dflt = "in mode http what TLS agrees on by alpn, and h1 without TLS; none in mode "
			"tcp",
		.values = bind_proto_words),
	OPT_FLAG("stick", non_stick, 0,
		"The server is stored by stick rules, whatever the defaults say."),
	OPT("socks4", 1, opt_socks4, 0, "<address>:<port>",
		"Connects to the server through this SOCKS4 proxy. The server's address has to be "
		"an IPv4 address. Health checks do not use the proxy, see check-via-socks4.",
		.dflt = "none"),
	{ .name = "source",
		.dflt = "the source of the backend",
		.min = 1,
		.max = CFG_ANY,
		.parse = opt_source,
		.syntax = "<address>[:<port>[-<port>]] " SOURCE_SYNTAX,
		.doc = "Source address of connections to the server, and the one that the "
			"server sees instead, with the words of the keyword source." },
	{ .name = "tcp-md5sig",
		.min = 1,
		.max = 1,
		.class = CFG_UNSUPPORTED,
		.syntax = "<key>",
		.doc = "there are no TCP MD5 signatures (RFC 2385), which routers use." },
	OPT("tcp-ut", 1, server_opt_tcp_ut, 0, "<time>",
		"Maximum time that sent data may stay unacknowledged.",
		.dflt = "none: what the kernel allows"),
	OPT_FLAG("tfo", tfo, 1, "Connects with TCP Fast Open, in mode tcp if there are bytes."),
	OPT("weight", 1, opt_weight, 0, "<number>", "The server's share of the load, 0 to 256.",
		.dflt = "1"),
	OPT("ws", 1, server_opt_ws, 0, "auto|h1|h2",
		"The protocol of websockets: that of other requests. With HTTP/2 they are extended "
		"CONNECTs (RFC 8441), which the server has to permit.",
		.dflt = "auto",
		.values = ws_words),
	{ 0 },
};

/* --- server lines --- */

static int
check_name(struct cfg_ctx *ctx, const struct proxy *be, const char *name)
{
	const struct server *other;

	if (server_cfg_check_name(ctx, name))
		return -1;
	other = name_index_find(&be->server_names, name);
	if (other)
		return cfg_error(ctx, 0,
			"another server named '%s' was already defined at line %u, please use "
			"distinct names",
			name, other->where.line);
	return 0;
}

/* The server of a line with its address in argument i, and options behind it. like: as for
 * server_cfg_init_addr(). */
static int
add_server(struct cfg_ctx *ctx, const char *name, int i, const struct server *like)
{
	struct proxy *p = ctx->obj;
	struct server *s;
	struct server_target t;
	int bad = check_name(ctx, p, name);

	s = server_new(p, name, &p->default_server);
	if (!s)
		return cfg_nomem(ctx);
	if (name_index_add(&p->server_names, s->name, s) < 0) {
		server_free(&s);
		return cfg_nomem(ctx);
	}
	t = (struct server_target){ .conf = &s->conf, .server = s };
	s->where = cfg_arg_where(ctx, 0);
	bad |= server_cfg_address(ctx, i, s);
	bad |= cfg_parse_opts(ctx, CFG_OPT_SERVER, i + 1, &t);
	if (!bad)
		bad = server_cfg_init_addr(ctx, i, s, like);
	/* Kept even if it is invalid: references to it are valid. */
	s->uweight = s->conf.weight;
	s->admin = (s->admin & SERVER_MAINT_UNRESOLVED) |
		(s->conf.disabled ? SERVER_MAINT_FORCED : SERVER_READY);
	server_list_append(p, s);
	return bad ? -1 : 0;
}

static int
parse_server(struct cfg_ctx *ctx)
{
	return add_server(ctx, cfg_arg(ctx, 0), 1, NULL);
}

/* "3" is 1 to 3, "2-4" is 2 to 4: 0, or -1. */
static int
parse_numbers(const char *text, int64_t *low, int64_t *high)
{
	const char *dash = strchr(text, '-');
	char first[16];
	size_t n = dash ? (size_t)(dash - text) : 0;

	*low = 1;
	if (!dash)
		return cfg_value_int(text, 1, TEMPLATE_NUMBER_MAX, high, NULL);
	if (n >= sizeof(first))
		return -1;
	memcpy(first, text, n);
	first[n] = '\0';
	if (cfg_value_int(first, 0, TEMPLATE_NUMBER_MAX, low, NULL) < 0 ||
		cfg_value_int(dash + 1, 0, TEMPLATE_NUMBER_MAX, high, NULL) < 0)
		return -1;
	return *low <= *high ? 0 : -1;
}

/* Each server is read from the same line. The first one alone asks for the name's address. */
static int
parse_server_template(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	const struct server *like = NULL;
	char name[TEMPLATE_NAME_MAX];
	int64_t low, high;

	if (parse_numbers(cfg_arg(ctx, 1), &low, &high) < 0)
		return cfg_error(ctx, 1, "Wrong server-template number or range arg '%.60s'.",
			cfg_arg(ctx, 1));
	for (int64_t i = low; i <= high; i++) {
		int n = snprintf(name, sizeof(name), "%s%d", cfg_arg(ctx, 0), (int)i);

		if (n < 0 || n >= (int)sizeof(name))
			return cfg_error(ctx, 0, "the prefix '%.60s' is too long.",
				cfg_arg(ctx, 0));
		if (add_server(ctx, name, 2, like))
			return -1;
		if (!like)
			like = list_entry(p->servers.prev, struct server, link);
	}
	return 0;
}

static int
parse_default_server(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct server_target t = { .conf = &p->default_server };

	if (!ctx->argc)
		cfg_warn(ctx, -1, "'default-server' has no option and no effect.");
	return cfg_parse_opts(ctx, CFG_OPT_SERVER, 0, &t);
}

static const struct cfg_kw kws[] = {
	{ .name = "default-server",
		.dflt = "none",
		.example = "default-server check inter 2s fall 3 rise 2 maxconn 200",
		.sections = CFG_BE,
		.flags = CFG_KW_STRICT,
		.min = 0,
		.max = CFG_ANY,
		.parse = parse_default_server,
		.syntax = "<option>...",
		.doc = "Options of the servers that follow." },
	{ .name = "server",
		.dflt = "none",
		.example = "server a 192.0.2.11:8080 check maxconn 100\n"
			"server b unix@/run/app.sock\n"
			"server c app.example.org:443 ssl verify required ca-file @system-ca sni "
			"str(app.example.org)",
		.sections = CFG_BACKEND | CFG_LISTEN,
		.flags = CFG_KW_STRICT,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_server,
		.syntax = "<name> <address>[:<port>] [<option>...]",
		.doc = "Defines a server of the backend. With mptcp@, mptcp4@ or mptcp6@ in front "
			"of the address Multipath TCP is used if the kernel has it; health checks "
			"use TCP." },
	{ .name = "server-template",
		.dflt = "none",
		.example = "server-template app 1-10 _http._tcp.app.example.org resolvers dns "
			"check",
		.sections = CFG_BACKEND | CFG_LISTEN,
		.flags = CFG_KW_STRICT,
		.min = 3,
		.max = CFG_ANY,
		.parse = parse_server_template,
		.syntax = "<prefix> <number | range> <name>[:<port>] [<option>...]",
		.doc = "Defines servers that differ in their names only: the prefix and a number, "
		       "1 to <number> or those of the range <low>-<high>. With resolvers they get "
		       "different addresses of the name, or its SRV records." },
	{ .name = "source",
		.values = source_words,
		.dflt = "what the kernel chooses",
		.sections = CFG_BE,
		.min = 1,
		.max = CFG_ANY,
		.parse = source_cfg_line,
		.syntax = "<address>[:<port>] " SOURCE_SYNTAX,
		.doc = "Source address of connections to servers, and the one that they see "
		       "instead: usesrc needs the capability CAP_NET_RAW or CAP_NET_ADMIN, and "
		       "servers that route their answers through this host. Checks do not use "
		       "it." },
	{ 0 },
};

const struct cfg_module server_cfg_module = {
	.name = "server",
	.kws = kws,
	.opts = { [CFG_OPT_SERVER] = opts },
};

/* --- states ---------------------------------------------------------------------------------- */

/*
 * load-server-state-from-file and server-state-file-name (manual 4). Main thread, before
 * anything is started.
 */

static const struct cfg_enum state_words[] = {
	{ "global", STATE_FILE_GLOBAL, "From server-state-file of the section global." },
	{ "local", STATE_FILE_LOCAL, "From a file of the backend, in server-state-base: see "
		"server-state-file-name." },
	{ "none", STATE_FILE_NONE, "They are not loaded." },
	{ 0 },
};

static int
parse_state_source(struct cfg_ctx *ctx)
{
	const char *word = cfg_arg(ctx, 0);
	struct proxy *p = ctx->obj;
	int found;

	if (cfg_value_enum(word, state_words, &found, NULL) == 0) {
		p->state_file = (enum state_file)found;
		return 0;
	}
	return cfg_error(ctx, 0,
		"'load-server-state-from-file' expects 'global', 'local' or 'none'. Got '%s'",
		word);
}

/* Without a name it is that of the backend. */
static int
parse_state_name(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	mem_free(p->state_file_name);
	p->state_file_name = NULL;
	if (ctx->argc == 0 || strcmp(cfg_arg(ctx, 0), "use-backend-name") == 0)
		return 0;
	return cfg_arg_dup(ctx, 0, &p->state_file_name);
}

static const struct cfg_kw state_kws[] = {
	{ .name = "load-server-state-from-file",
		.dflt = "none",
		.values = state_words,
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_state_source,
		.syntax = "{ global | local | none }",
		.doc = "The files from which states of servers are loaded at start." },
	{ .name = "server-state-file-name",
		.dflt = "the name of the backend",
		.sections = CFG_BE,
		.min = 0,
		.max = 1,
		.parse = parse_state_name,
		.syntax = "[ use-backend-name | <file> ]",
		.doc = "File with the states of the backend's servers, with "
			"load-server-state-from-file local; use-backend-name stands for the "
			"backend's name." },
	{ 0 },
};

const struct cfg_module server_state_cfg_module = {
	.name = "server-state",
	.kws = state_kws,
};
