/* Keywords of `bind` lines, and `unix-bind`. Start-up only: parses into bind_conf, opens and binds
 * nothing. */
#include "net/bind_cfg.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "cfg/value_set.h"
#include "net/listener.h"
#include "base/names.h"

/* --- unix sockets --- */

#define MODE_MAX 07777

/* The value of argument i, of `unix-bind` and of a bind line's options alike. 0, or -1 after
 * cfg_error(). */
static int
bind_unix_mode(struct cfg_ctx *ctx, int i, mode_t *out)
{
	const char *s = cfg_arg(ctx, i);
	unsigned int mode = 0;

	for (const char *p = s; *p; p++) {
		mode = mode * 8 + (unsigned int)(*p - '0');
		if (*p < '0' || *p > '7' || mode > MODE_MAX)
			mode = MODE_MAX + 1;
	}
	if (mode == 0 || mode > MODE_MAX)
		return cfg_error(
			ctx, i, "'mode' : '%.40s' is not an octal number (1..%o expected).", s,
				MODE_MAX);
	*out = (mode_t)mode;
	return 0;
}

static int
bind_unix_id(struct cfg_ctx *ctx, int i, id_t *out)
{
	int64_t id;

	if (cfg_arg_int64(ctx, i, 0, UINT32_MAX - 1, &id))
		return -1;
	*out = (id_t)id;
	return 0;
}

static int
bind_unix_user(struct cfg_ctx *ctx, int i, uid_t *out)
{
	if (names_user(cfg_arg(ctx, i), out) < 0)
		return cfg_error(ctx, i, "'user' : unknown user '%.60s'.", cfg_arg(ctx, i));
	return 0;
}

static int
bind_unix_group(struct cfg_ctx *ctx, int i, gid_t *out)
{
	if (names_group(cfg_arg(ctx, i), out) < 0)
		return cfg_error(ctx, i, "'group' : unknown group '%.60s'.", cfg_arg(ctx, i));
	return 0;
}

void
bind_unix_init(struct bind_unix *u)
{
	*u = (struct bind_unix){ .uid = (uid_t)-1, .gid = (gid_t)-1 };
}

void
bind_unix_fini(struct bind_unix *u)
{
	mem_free(u->prefix);
	u->prefix = NULL;
}

static int
parse_setting(struct cfg_ctx *ctx, int i, struct bind_unix *u)
{
	const char *name = cfg_arg(ctx, i);

	if (strcmp(name, "prefix") == 0)
		return cfg_arg_dup(ctx, i + 1, &u->prefix);
	if (strcmp(name, "mode") == 0)
		return bind_unix_mode(ctx, i + 1, &u->mode);
	if (strcmp(name, "user") == 0)
		return bind_unix_user(ctx, i + 1, &u->uid);
	if (strcmp(name, "uid") == 0)
		return bind_unix_id(ctx, i + 1, &u->uid);
	if (strcmp(name, "group") == 0)
		return bind_unix_group(ctx, i + 1, &u->gid);
	if (strcmp(name, "gid") == 0)
		return bind_unix_id(ctx, i + 1, &u->gid);
	return cfg_error(ctx, i,
		"'unix-bind' : unknown setting '%.60s'; there are prefix, mode, user, uid, group "
		"and gid.",
		name);
}

int
bind_unix_parse(struct cfg_ctx *ctx, struct bind_unix *u)
{
	for (int i = 0; i < ctx->argc; i += 2) {
		if (i + 1 == ctx->argc)
			return cfg_error(ctx, i, "'unix-bind' : '%.60s' expects a value.",
				cfg_arg(ctx, i));
		if (parse_setting(ctx, i, u))
			return -1;
	}
	return 0;
}

/* --- values of options --- */

/* TCP_MAXSEG, in either direction. */
#define MSS_MAX 65535
/* One address of the list: host name, prefix, ports. */
#define ADDRESS_MAX 512

/* --- addresses --- */

int
bind_conf_add(struct bind_conf *b, const struct addr *a, void *owner)
{
	struct listener *ln = mem_zalloc(sizeof(*ln));

	if (!ln)
		return -ERR_NOMEM;
	listener_init(ln, b);
	ln->owner = owner;
	ln->addr = *a;
	ln->inherit_fd = -1;
	list_append(&b->listeners, &ln->link);
	b->n_listeners++;
	return 0;
}

static int
add_bind_listener(struct cfg_ctx *ctx, struct bind_conf *b, const struct addr_spec *spec,
	unsigned int port, void *owner)
{
	struct addr a = spec->addr;
	struct listener *ln;

	if (b->n_listeners == BIND_LISTENERS_MAX)
		return cfg_error(ctx, 0,
			"'%s' : too many addresses and ports on one line; the limit is %d.",
			cfg_kw_name(ctx), BIND_LISTENERS_MAX);
	addr_set_port(&a, port);
	if (bind_conf_add(b, &a, owner) < 0)
		return cfg_nomem(ctx);
	ln = list_entry(b->listeners.prev, struct listener, link);
	ln->inherit_fd = spec->fd;
	ln->is_mptcp = spec->is_mptcp;
	if (spec->kind != ADDR_FD)
		return 0;
	ln->inherit_name = mem_strdup(spec->given);
	return ln->inherit_name ? 0 : cfg_nomem(ctx);
}

/* As in HAProxy the prefix and the path are joined as they are, also if the path is relative. */
static int
add_prefix(struct cfg_ctx *ctx, int arg, const struct bind_unix *u, struct addr *a)
{
	char path[sizeof(a->u.un.sun_path)];
	int n;

	if (!u || !u->prefix || addr_family(a) != AF_UNIX || !a->u.un.sun_path[0])
		return 0;
	n = snprintf(path, sizeof(path), "%s%s", u->prefix, a->u.un.sun_path);
	if (n < 0 || (size_t)n >= sizeof(path))
		return cfg_error(ctx, arg,
			"'%s' : '%.100s' : with the prefix '%.100s' of 'unix-bind' the path is "
			"longer than %zu bytes.",
			cfg_kw_name(ctx), a->u.un.sun_path, u->prefix, sizeof(path) - 1);
	memcpy(a->u.un.sun_path, path, (size_t)n + 1);
	a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n + 1);
	return 0;
}

static int
add_address(struct cfg_ctx *ctx, int arg, const char *text, const struct bind_unix *u,
	struct bind_conf *b, void *owner)
{
	unsigned int flags = ADDR_WANT_PORT | ADDR_ALLOW_RANGE | ADDR_ALLOW_FD | ADDR_ALLOW_NAME |
		ADDR_ALLOW_UNIX | ADDR_ALLOW_MPTCP | ADDR_ALLOW_FD_NAME;
	struct addr_spec spec;
	const char *why = "";

	if (addr_parse(text, flags, &spec, &why) < 0)
		return cfg_error(ctx, arg, "'%s' : '%s' : %s", cfg_kw_name(ctx), text, why);
	if (add_prefix(ctx, arg, u, &spec.addr))
		return -1;
	for (unsigned int port = spec.port_lo; port <= spec.port_hi; port++) {
		if (add_bind_listener(ctx, b, &spec, port, owner))
			return -1;
	}
	return 0;
}

/* Addresses are separated by commas; a trailing comma is ignored, as in HAProxy. */
static int
add_addresses(struct cfg_ctx *ctx, int arg, const struct bind_unix *u, struct bind_conf *b,
	void *owner)
{
	char one[ADDRESS_MAX], buf[CFG_ADDRESS_MAX];
	const char *s = cfg_arg_address(ctx, arg, buf);

	if (!s)
		return -1;
	do {
		size_t n = strcspn(s, ",");

		if (n >= sizeof(one))
			return cfg_error(ctx, arg,
				"'%s' : address too long; the limit is %d bytes.",
				cfg_kw_name(ctx), ADDRESS_MAX - 1);
		memcpy(one, s, n);
		one[n] = '\0';
		if (add_address(ctx, arg, one, u, b, owner))
			return -1;
		s += n;
		if (*s == ',')
			s++;
	} while (*s);
	return 0;
}

int
bind_cfg_line(struct cfg_ctx *ctx, int first, const struct bind_unix *u, struct list *binds,
	void *owner, struct bind_conf **out)
{
	struct bind_conf *b = bind_conf_new();
	int r;

	if (!b)
		return cfg_nomem(ctx);
	r = bind_cfg_add(ctx, first, u, b, owner);
	/* Kept even if it is invalid: the proxy has a `bind` line. */
	list_append(binds, &b->link);
	if (out)
		*out = b;
	return r;
}

int
bind_cfg_add(struct cfg_ctx *ctx, int first, const struct bind_unix *u, struct bind_conf *b,
	void *owner)
{
	int bad;

	b->where = cfg_arg_where(ctx, first);
	if (u) {
		b->mode = u->mode;
		b->uid = u->uid;
		b->gid = u->gid;
	}
	/* Options are parsed even if the addresses are invalid, to report all errors in one run. */
	bad = add_addresses(ctx, first, u, b, owner) |
		cfg_parse_opts(ctx, CFG_OPT_BIND, first + 1, b);
	if (!bad && b->id && b->n_listeners > 1)
		bad = cfg_error(ctx, first, "'%s' : 'id' can only be used with a single socket.",
			cfg_kw_name(ctx));
	return bad ? -1 : 0;
}

/* --- options --- */

#define FIELD(name) ((intptr_t)offsetof(struct bind_conf, name))

static int *
int_field(const struct cfg_ctx *ctx, void *obj)
{
	return (int *)(void *)((char *)obj + ctx->opt->arg);
}

static int
opt_flag(struct cfg_ctx *ctx, void *obj)
{
	*int_field(ctx, obj) = 1;
	return 0;
}

static int
opt_count(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_int(ctx, 0, 0, INT_MAX, int_field(ctx, obj));
}

static int
opt_id(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_int(ctx, 0, 1, INT_MAX, int_field(ctx, obj));
}

static int
opt_v4v6(struct cfg_ctx *ctx, void *obj)
{
	struct bind_conf *b = obj;

	b->v6only = (int)ctx->opt->arg;
	b->v4v6 = !b->v6only;
	return 0;
}

static int
opt_mss(struct cfg_ctx *ctx, void *obj)
{
	struct bind_conf *b = obj;
	int mss;

	if (cfg_arg_int(ctx, 0, -MSS_MAX, MSS_MAX, &mss))
		return -1;
	if (mss < 0)
		return cfg_error(ctx, 0,
			"'mss' : negative sizes are not supported (1..%d expected).", MSS_MAX);
	if (mss == 0)
		return cfg_error(ctx, 0, "'mss' : '0' is out of range (1..%d).", MSS_MAX);
	b->mss = mss;
	return 0;
}

static int
opt_tcp_ut(struct cfg_ctx *ctx, void *obj)
{
	struct bind_conf *b = obj;

	return cfg_arg_timeout(ctx, 0, &b->user_timeout_ms);
}

static int
opt_name(struct cfg_ctx *ctx, void *obj)
{
	struct bind_conf *b = obj;

	return cfg_arg_dup(ctx, 0, &b->name);
}

static int
opt_interface(struct cfg_ctx *ctx, void *obj)
{
	struct bind_conf *b = obj;
	const char *name = cfg_arg(ctx, 0);
	size_t n = strlen(name);

	if (n == 0 || n >= sizeof(b->interface))
		return cfg_error(ctx, 0, "'interface' expects a name of 1 to %d bytes.",
			IFACE_MAX - 1);
	memcpy(b->interface, name, n + 1);
	return 0;
}

/* The name of a file in NETNS_DIR. */
static int
opt_namespace(struct cfg_ctx *ctx, void *obj)
{
	const char *name = cfg_arg(ctx, 0);
	size_t n = strlen(name);

	if (n == 0 || n >= NETNS_MAX || strchr(name, '/') || strcmp(name, ".") == 0 ||
		strcmp(name, "..") == 0)
		return cfg_error(ctx, 0,
			"'namespace' expects the name of a network namespace, of 1 to %d bytes, "
			"as 'ip netns list' shows it.", NETNS_MAX - 1);
	return cfg_arg_dup(ctx, 0, &((struct bind_conf *)obj)->netns);
}

static int
opt_mode(struct cfg_ctx *ctx, void *obj)
{
	return bind_unix_mode(ctx, 0, &((struct bind_conf *)obj)->mode);
}

static int
opt_uid(struct cfg_ctx *ctx, void *obj)
{
	return bind_unix_id(ctx, 0, &((struct bind_conf *)obj)->uid);
}

static int
opt_gid(struct cfg_ctx *ctx, void *obj)
{
	return bind_unix_id(ctx, 0, &((struct bind_conf *)obj)->gid);
}

static int
opt_user(struct cfg_ctx *ctx, void *obj)
{
	return bind_unix_user(ctx, 0, &((struct bind_conf *)obj)->uid);
}

static int
opt_group(struct cfg_ctx *ctx, void *obj)
{
	return bind_unix_group(ctx, 0, &((struct bind_conf *)obj)->gid);
}

static const struct cfg_enum level_names[] = {
	{ "user", BIND_USER, "Commands that show states and counters." },
	{ "operator", BIND_OPERATOR,
		"Also those that show sessions, errors and the environment, and clear counters." },
	{ "admin", BIND_ADMIN, "All commands." },
	{ 0 },
};

static int
opt_level(struct cfg_ctx *ctx, void *obj)
{
	struct bind_conf *b = obj;
	int v;

	if (cfg_arg_enum(ctx, 0, level_names, &v))
		return -1;
	b->level = (enum bind_level)v;
	return 0;
}

/* Other descriptors cannot be passed. */
static int
opt_expose_fd(struct cfg_ctx *ctx, void *obj)
{
	struct bind_conf *b = obj;

	if (strcmp(cfg_arg(ctx, 0), "listeners") != 0)
		return cfg_error(ctx, 0, "'expose-fd' : 'listeners' is expected.");
	b->expose_fd = 1;
	return 0;
}

static const struct cfg_enum severity_names[] = {
	{ "none", BIND_SEVERITY_NONE, "Nothing." },
	{ "number", BIND_SEVERITY_NUMBER, "[<number>]: before each message, 0 to 7." },
	{ "string", BIND_SEVERITY_STRING, "[<level>]: before each message, emerg to debug." },
	{ 0 },
};

static int
opt_severity(struct cfg_ctx *ctx, void *obj)
{
	struct bind_conf *b = obj;
	int v;

	if (cfg_arg_enum(ctx, 0, severity_names, &v))
		return -1;
	b->severity = (enum bind_severity)v;
	return 0;
}

const struct cfg_enum bind_proto_words[] = {
	{ "h1", MUX_H1, "HTTP/1, in mode http." },
	{ "h2", MUX_H2, "HTTP/2, in mode http; without TLS its bytes begin at once." },
	{ "none", MUX_NONE, "Bytes, in mode tcp." },
	{ 0 },
};

int
bind_cfg_proto(struct cfg_ctx *ctx, enum mux_proto *out)
{
	int proto = cfg_arg_word(ctx, 0, bind_proto_words);

	if (proto < 0)
		return cfg_error(ctx, 0,
			"'proto' : '%.40s' is not supported; there are h1 and h2, in mode http, "
			"and none, in mode tcp.",
			cfg_arg(ctx, 0));
	*out = (enum mux_proto)proto;
	return 0;
}

static int
opt_proto(struct cfg_ctx *ctx, void *obj)
{
	return bind_cfg_proto(ctx, &((struct bind_conf *)obj)->proto);
}

/* Threads of the process, or of group 1: the same threads, but the two forms cannot be mixed. */
static int
opt_thread(struct cfg_ctx *ctx, void *obj)
{
	struct bind_conf *b = obj;
	const char *s = cfg_arg(ctx, 0), *slash = strchr(s, '/');
	struct cfg_value_err err;
	uint64_t set;

	if (slash && strncmp(s, "1/", 2) != 0)
		return cfg_error(ctx, 0,
			"'thread' : unknown thread group '%.*s'; group 1 is the only one.",
			(int)MIN(slash - s, 60), s);
	if (cfg_value_set(slash ? slash + 1 : s, BIND_THREADS_MAX, &set, &err))
		return cfg_error(ctx, 0, "'thread' : %s", err.text);
	if (b->threads && b->threads_of_group != (slash != NULL))
		return cfg_error(ctx, 0,
			"'thread' : a line cannot name threads both of a group and of the "
			"process.");
	b->threads |= set;
	b->threads_of_group = slash != NULL;
	return 0;
}

static const struct cfg_enum shard_words[] = {
	{ "<number>", 0, "So many sockets." },
	{ "by-thread", BIND_SHARDS_BY_THREAD, "One for each worker that accepts on it." },
	{ "by-group", BIND_SHARDS_BY_GROUP, "One for each thread group, of which there is one." },
	{ 0 },
};

static int
opt_shards(struct cfg_ctx *ctx, void *obj)
{
	struct bind_conf *b = obj;
	const char *s = cfg_arg(ctx, 0);
	const struct cfg_enum *e = cfg_enum_find(shard_words, s, strlen(s));
	struct cfg_value_err err;
	int64_t n;

	if (e)
		n = e->value;
	else if (cfg_value_int(s, 1, BIND_SHARDS_MAX, &n, &err))
		return cfg_error(
			ctx, 0, "'shards' : %s, 'by-thread' or 'by-group'.", err.text);
	b->shards = (int)n;
	return 0;
}

#define OPT(n, args, fn, syn, text, ...)                                         \
	{                                                                        \
		.name = n, .min = args, .max = args, .parse = fn, .syntax = syn, \
		.doc = text, __VA_ARGS__                                         \
	}
#define OPT_FIELD(n, args, fn, f, syn, text, ...)                                  \
	{                                                                          \
		.name = n, .min = args, .max = args, .parse = fn, .arg = FIELD(f), \
		.syntax = syn, .doc = text, __VA_ARGS__                            \
	}
#define HINT(n, syn, why)                                                                   \
	{                                                                                   \
		.name = n, .min = 1, .max = 1, .class = CFG_HINT, .syntax = syn, .doc = why \
	}

static const struct cfg_opt opts[] = {
	OPT_FIELD("accept-proxy", 0, opt_flag, accept_proxy, NULL,
		"Requires every connection to begin with a PROXY header of version 1 or 2. Its "
		"addresses replace the client's address and the destination."),
	OPT_FIELD("backlog", 1, opt_count, backlog, "<number>",
		"Length of the kernel's queue of connections that are not accepted yet; 0 uses the "
		"frontend's value.",
		.dflt = "0: the frontend's"),
	OPT_FIELD("defer-accept", 0, opt_flag, defer_accept, NULL,
		"Accepts a connection only when it has received data."),
	OPT("expose-fd", 1, opt_expose_fd, "listeners",
		"Lets a process that is started with -x take over all listening sockets through "
		"this stats socket, whatever its level.",
		.dflt = "none"),
	OPT("gid", 1, opt_gid, "<gid>", "Group of a unix socket, as a number.",
		.dflt = "that of the process"),
	OPT("group", 1, opt_group, "<name>", "Group of a unix socket.",
		.dflt = "that of the process"),
	OPT_FIELD("id", 1, opt_id, id, "<number>", "The socket's number in the statistics.",
		.dflt = "the next free one"),
	OPT("interface", 1, opt_interface, "<name>",
		"Accepts only connections that arrive on this interface.",
		.dflt = "none: any"),
	OPT("level", 1, opt_level, "user|operator|admin", "Permission level of a stats socket.",
		.dflt = "operator",
		.values = level_names),
	OPT_FIELD("maxconn", 1, opt_count, maxconn, "<number>",
		"Maximum number of concurrent connections of each socket; 0 sets no limit. Each "
		"worker counts the connections that it accepted: with several workers the limit "
		"applies to each of them. For an exact total use the frontend's maxconn.",
		.dflt = "0"),
	OPT("mode", 1, opt_mode, "<octal>", "Permissions of a unix socket.",
		.dflt = "what the umask of the process leaves"),
	OPT("mss", 1, opt_mss, "<size>", "TCP maximum segment size to announce.",
		.dflt = "what the kernel chooses"),
	OPT("name", 1, opt_name, "<name>", "The sockets' name in the statistics.",
		.dflt = "none"),
	OPT("namespace", 1, opt_namespace, "<name>",
		"Makes the sockets in the network namespace of this name (ip-netns(8)). The start "
		"needs CAP_SYS_ADMIN for it, or root, and a master gives that up: a reload keeps "
		"such sockets, and cannot make new ones. Connections to servers are made in the "
		"namespace of the process.",
		.dflt = "the namespace of the process",
		.example = "bind :80 namespace blue"),
	OPT("proto", 1, opt_proto, "h1|h2|none",
		"The protocol of connections; one that the mode does not know is an error.",
		.dflt = "in mode http what TLS agrees on by alpn, and without TLS what a "
			"connection begins with; none in mode tcp",
		.values = bind_proto_words),
	OPT("severity-output", 1, opt_severity, "none|number|string",
		"The severity that is written before each message of a stats socket.",
		.dflt = "none",
		.values = severity_names),
	OPT("shards", 1, opt_shards, "<number>|by-thread|by-group",
		"Number of sockets for each address, at most one for each worker that accepts on "
		"it.",
		.dflt = "that of tune.listener.default-shards",
		.values = shard_words),
	{ .name = "tcp-md5sig",
		.min = 1,
		.max = 1,
		.class = CFG_UNSUPPORTED,
		.syntax = "<key>",
		.doc = "there are no TCP MD5 signatures (RFC 2385), which routers use." },
	OPT("tcp-ut", 1, opt_tcp_ut, "<time>",
		"Maximum time that sent data may stay unacknowledged.",
		.dflt = "none: what the kernel allows"),
	OPT_FIELD("tfo", 0, opt_flag, tfo, NULL, "Accepts TCP Fast Open."),
	OPT("thread", 1, opt_thread, "[<group>/]<set>",
		"Workers that may accept on this line; may be repeated.",
		.dflt = "all workers",
		.values = cfg_set_words),
	OPT_FIELD("transparent", 0, opt_flag, transparent, NULL,
		"Allows binding to addresses that the machine does not have."),
	OPT("uid", 1, opt_uid, "<uid>", "Owner of a unix socket, as a number.",
		.dflt = "that of the process"),
	OPT("user", 1, opt_user, "<name>", "Owner of a unix socket.",
		.dflt = "that of the process"),
	{ .name = "v4v6",
		.parse = opt_v4v6,
		.arg = 0,
		.doc = "Makes an IPv6 socket accept IPv4 connections too." },
	{ .name = "v6only",
		.parse = opt_v4v6,
		.arg = 1,
		.doc = "Makes an IPv6 socket accept IPv6 "
		       "connections only." },
	HINT("guid-prefix", "<string>", "counters of sockets begin at zero with a process"),
	HINT("label", "<label>", "nothing depends on a group of sockets"),
	HINT("nice", "<number>", "all connections are treated alike"),
	HINT("process", "<set>", "there is one process"),
	{ 0 },
};

const struct cfg_module bind_cfg_module = {
	.name = "bind",
	.opts = { [CFG_OPT_BIND] = opts },
};
