/* The sections of proxies and their general keywords. Main thread, while the configuration is
 * read. */
#include "proxy/config/proxy_cfg.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "cfg/ctx.h"
#include "cfg/known.h"
#include "net/bind_cfg.h"
#include "proxy/config/proxy_life.h"
#include "proxy/model/proxies.h"
#include "proxy/model/proxy.h"
#include "proxy/sample/route.h"

#define DESCRIPTION_MAX 1024

/* --- guid ------------------------------------------------------------------------------------ */

/*
 * `guid`: a name that is unique in the whole configuration, by which counters and states are
 * found after a reload. Main thread, while the configuration is read.
 */

/* HAProxy's bound. */
#define GUID_MAX 127

/* 0, or -1 after a message. */
static int
check_guid(struct cfg_ctx *ctx, const char *guid)
{
	if (!*guid || strlen(guid) > GUID_MAX)
		return cfg_error(ctx, 0, "'guid' : expects 1 to %d characters.", GUID_MAX);
	for (const char *p = guid; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr(".:-_", *p))
			return cfg_error(ctx, 0,
				"'guid' : character '%c' is not permitted; letters, digits, '.', "
				"':', '-' and '_' are.",
				isprint((unsigned char)*p) ? *p : '?');
	}
	return 0;
}

int
guid_take(struct cfg_ctx *ctx, char **guid, struct cfg_where *where)
{
	struct proxies *ps = ctx->root;
	const char *text = cfg_arg(ctx, 0);
	const struct cfg_where *other;

	if (check_guid(ctx, text))
		return -1;
	/* The index has the memory of the one before. */
	if (*guid)
		return cfg_error(ctx, 0, "'guid' : there is one already: '%s'.", *guid);
	other = name_index_find(&ps->guids, text);
	if (other)
		return cfg_error(ctx, 0, "'guid' : '%s' is used at %s:%u already.", text,
			other->file ? other->file->name : "?", other->line);
	if (cfg_arg_dup(ctx, 0, guid))
		return -1;
	if (name_index_add(&ps->guids, *guid, where) < 0)
		return cfg_nomem(ctx);
	return 0;
}

/* --- sections --- */

static int
begin_proxy(struct cfg_ctx *ctx, unsigned int caps)
{
	struct proxies *ps = ctx->root;
	struct proxy *p;

	if (!(caps & PROXY_DEFAULTS) && ps->n == PROXIES_MAX)
		return cfg_error(ctx, 0, "too many proxies; the limit is %d.", PROXIES_MAX);
	if ((caps & PROXY_DEFAULTS) && ctx->from && ((struct proxy *)ctx->from)->rules.has)
		return cfg_error(ctx, -1,
			"a defaults section cannot inherit from one that has rules.");
	if (!(caps & PROXY_FE) && ctx->from &&
		((struct proxy *)ctx->from)->captures.n[CAPTURE_REQUEST])
		return cfg_error(ctx, -1,
			"a backend cannot inherit from a defaults section whose rules capture "
			"something with 'len': only frontends have captures.");
	p = proxy_new(ctx->name, caps);
	if (!p)
		return cfg_nomem(ctx);
	if (ctx->from && proxy_inherit(p, ctx->from) < 0) {
		proxy_free(&p);
		return cfg_nomem(ctx);
	}
	p->where = cfg_arg_where(ctx, ctx->argc > 0 ? 0 : -1);
	if (caps & PROXY_DEFAULTS) {
		list_append(&ps->defaults, &p->link);
	} else if (proxies_add(ps, p) < 0) {
		return cfg_nomem(ctx);
	}
	ctx->obj = p;
	ps->vocab.section = caps & PROXY_DEFAULTS ? NULL : p->name;
	return 0;
}

static int
begin_defaults(struct cfg_ctx *ctx)
{
	return begin_proxy(ctx, PROXY_DEFAULTS);
}

static int
begin_frontend(struct cfg_ctx *ctx)
{
	return begin_proxy(ctx, PROXY_FE);
}

static int
begin_backend(struct cfg_ctx *ctx)
{
	return begin_proxy(ctx, PROXY_BE);
}

static int
begin_listen(struct cfg_ctx *ctx)
{
	return begin_proxy(ctx, PROXY_FE | PROXY_BE);
}

static int
end_proxy(struct cfg_ctx *ctx)
{
	((struct proxy *)ctx->obj)->errors_read += cfg_section_errors(ctx);
	((struct proxies *)ctx->root)->vocab.section = NULL;
	return 0;
}

static const struct cfg_section sections[] = {
	{ .name = "defaults",
		.bit = CFG_DEFAULTS,
		.flags = CFG_SEC_OPTNAME | CFG_SEC_FROM | CFG_SEC_DEFAULTS,
		.begin = begin_defaults,
		.end = end_proxy,
		.doc = "Default values of the proxies that follow. A proxy uses the last such "
			"section, or the one that it names." },
	{ .name = "frontend",
		.bit = CFG_FRONTEND,
		.flags = CFG_SEC_NAMED | CFG_SEC_FROM,
		.begin = begin_frontend,
		.end = end_proxy,
		.doc = "Accepts connections and selects a backend for each session." },
	{ .name = "backend",
		.bit = CFG_BACKEND,
		.flags = CFG_SEC_NAMED | CFG_SEC_FROM,
		.begin = begin_backend,
		.end = end_proxy,
		.doc = "A set of servers and the way one is selected." },
	{ .name = "listen",
		.bit = CFG_LISTEN,
		.flags = CFG_SEC_NAMED | CFG_SEC_FROM,
		.begin = begin_listen,
		.end = end_proxy,
		.doc = "A frontend and a backend in one section." },
	{ 0 },
};

/* --- kind and names of a proxy --- */

#define MODE_SPOP (PROXY_HTTP + 1)

static const struct cfg_enum mode_words[] = {
	{ "tcp", PROXY_TCP,
		"Forwards the bytes of connections; rules may inspect the first ones." },
	{ "http", PROXY_HTTP,
		"Parses requests and responses, and forwards each request by itself." },
	{ "spop", MODE_SPOP,
		"Of a backend: its servers are agents of 'filter spoe', which alone uses it." },
	{ 0 },
};

static int
parse_mode(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	const char *mode = cfg_arg(ctx, 0);
	int found;

	if (cfg_value_enum(mode, mode_words, &found, NULL) == 0) {
		if (found == MODE_SPOP && ctx->section->bit != CFG_BACKEND)
			return cfg_error(ctx, 0, "'mode spop' is for sections backend only.");
		p->is_spop = found == MODE_SPOP;
		p->mode = p->is_spop ? PROXY_TCP : (enum proxy_mode)found;
		return 0;
	}
	if (strcmp(mode, "health") == 0 || strcmp(mode, "log") == 0)
		return cfg_error(
			ctx, 0, "'mode %s' is not supported ('tcp' or 'http' expected): %s.", mode,
			cfg_known_instead(mode[0] == 'l' ? "mode log" : "mode health"));
	return cfg_error(
		ctx, 0, "unknown proxy mode '%.40s' ('tcp' or 'http' expected).", mode);
}

static int
parse_disabled(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	p->disabled = (int)ctx->kw->arg;
	return 0;
}

static int
parse_id(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	return cfg_arg_int(ctx, 0, 1, INT_MAX, &p->id);
}

static int
parse_guid(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	return guid_take(ctx, &p->guid, &p->where);
}

/* All words of the line, joined. */
static int
parse_proxy_description(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct sbuf text;
	char *copy;

	sbuf_init(&text, DESCRIPTION_MAX);
	for (int i = 0; i < ctx->argc; i++)
		sbuf_addf(&text, "%s%s", i ? " " : "", cfg_arg(ctx, i));
	if (text.failed) {
		sbuf_fini(&text);
		return cfg_error(ctx, 0,
			"'description' : too long; the limit is %d bytes.", DESCRIPTION_MAX);
	}
	copy = mem_strdup(text.p);
	sbuf_fini(&text);
	if (!copy)
		return cfg_nomem(ctx);
	mem_free(p->description);
	p->description = copy;
	return 0;
}

/* A number of a proxy by its offset, the keyword's arg. */
static int
parse_count(struct cfg_ctx *ctx)
{
	return cfg_arg_int(ctx, 0, 0, INT_MAX, (int *)(void *)((char *)ctx->obj + ctx->kw->arg));
}

static int
parse_retries(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	return cfg_arg_int(ctx, 0, 0, RETRIES_MAX, &p->retries);
}

/* --- addresses and backends --- */

static int
parse_bind(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	const struct proxies *ps = ctx->root;

	return bind_cfg_line(ctx, 0, &ps->unix_bind, &p->binds, p, NULL);
}

static int
parse_default_backend(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	p->default_be_where = cfg_arg_where(ctx, 0);
	return cfg_arg_dup(ctx, 0, &p->default_be_name);
}

/* Places where use_backend may be evaluated in either mode. */
#define ROUTE_SCOPES (SAMPLE_AT_CONN | SAMPLE_AT_REQ | SAMPLE_AT_BODY)

static const struct rule_vocab *
vocab_of(const struct cfg_ctx *ctx)
{
	return &((const struct proxies *)ctx->root)->vocab;
}

static int
parse_acl(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	if (ctx->section->bit == CFG_DEFAULTS && !*ctx->name)
		return cfg_error(ctx, -1,
			"'acl' not allowed in 'defaults' without a name.");
	return rule_acl_parse(&p->acls, vocab_of(ctx), ctx);
}

/* A name with a '%' is a format. */
static int
parse_dynamic_backend(struct cfg_ctx *ctx, struct use_backend *u)
{
	struct cfg_where where = cfg_arg_where(ctx, 0);
	struct rule_err why;

	if (!strchr(u->name, '%'))
		return 0;
	if (rule_fmt_compile(vocab_of(ctx), u->name, 0, ROUTE_SCOPES, &u->fmt, &why) == 0)
		return 0;
	where.col += (unsigned int)why.at;
	cfg_diag_add(ctx->diag, CFG_ALERT, &where, "'use_backend' : %s", why.text);
	return -1;
}

static int
parse_use_backend(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct use_backend *u, *last;

	u = mem_zalloc(sizeof(*u));
	if (!u)
		return cfg_nomem(ctx);
	/* Checked by route_check(), once the mode is known. */
	if (cfg_arg_dup(ctx, 0, &u->name) || parse_dynamic_backend(ctx, u) ||
		(ctx->argc > 1 && rule_cond_parse(&p->acls, vocab_of(ctx), ctx, 1, ROUTE_SCOPES,
					  &u->cond))) {
		use_backend_free(&u);
		return -1;
	}
	u->where = cfg_arg_where(ctx, 0);
	last = list_is_empty(&p->use_backends)
		? NULL
		: list_entry(p->use_backends.prev, struct use_backend, link);
	if (last && !last->cond)
		cfg_note(ctx, 0, "'use_backend' is never reached: the one before it has no "
				 "condition.");
	list_append(&p->use_backends, &u->link);
	return 0;
}

static int
parse_force_be_switch(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct be_switch *b = mem_zalloc(sizeof(*b));

	if (!b)
		return cfg_nomem(ctx);
	b->where = cfg_arg_where(ctx, 0);
	if (rule_cond_parse(&p->acls, vocab_of(ctx), ctx, 0, ROUTE_SCOPES, &b->cond)) {
		be_switch_free(&b);
		return -1;
	}
	list_append(&p->be_switches, &b->link);
	return 0;
}

static int
parse_be_unpublished(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	p->unpublished = 1;
	return 0;
}

#define COUNT(n, where, field, text, ...)                                                \
	{                                                                                \
		.name = n, .sections = where, .min = 1, .max = 1, .parse = parse_count,  \
		.arg = offsetof(struct proxy, field), .syntax = "<number>", .doc = text, \
		__VA_ARGS__                                                              \
	}
#define ANYWHERE (CFG_FRONTEND | CFG_BACKEND | CFG_LISTEN)
#define FRONT (CFG_FRONTEND | CFG_LISTEN)

static const struct cfg_kw kws[] = {
	{ .name = "acl",
		.dflt = "none",
		.sections = CFG_PROXIES,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_acl,
		.syntax = "<name> <criterion> [<flags>] [<operator>] [<value>...]",
		.doc = "Defines a condition. Several lines with one name are combined by OR." },
	COUNT("backlog", CFG_FE, backlog,
		"Length of the kernel's queue of connections that are not accepted yet.",
		.dflt = "0, which uses maxconn"),
	{ .name = "bind",
		.dflt = "none",
		.example = "bind :80\n"
			"bind 192.0.2.1:443,[2001:db8::1]:443 ssl crt /etc/tacit/site.pem\n"
			"bind unix@/run/tacit/web.sock mode 660",
		.sections = FRONT,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_bind,
		.syntax = "<address>[,...] [<option>...]",
		.doc = "Addresses to accept connections on. With mptcp@, mptcp4@ and mptcp6@ in "
			"front they are of Multipath TCP; without it in the kernel the start "
			"fails." },
	{ .name = "default_backend",
		.dflt = "none: without a backend a request is answered with 503, and a "
			"connection of mode tcp is closed",
		.once = "default_backend",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_default_backend,
		.syntax = "<backend>",
		.doc = "Backend of sessions that no use_backend rule applies to." },
	{ .name = "description",
		.dflt = "none",
		.sections = ANYWHERE,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_proxy_description,
		.syntax = "<text>",
		.doc = "A description of the proxy." },
	{ .name = "disabled",
		.sections = CFG_PROXIES,
		.parse = parse_disabled,
		.arg = 1,
		.doc = "Disables the proxy." },
	{ .name = "enabled",
		.sections = CFG_PROXIES,
		.parse = parse_disabled,
		.arg = 0,
		.doc = "Enables a proxy that the defaults disabled." },
	COUNT("fullconn", CFG_BE, fullconn,
		"Number of sessions at which servers with minconn reach their maxconn.",
		.dflt = "a tenth of the sum of the maxconn of all frontends that may use the "
			"backend, at least 1"),
	{ .name = "guid",
		.dflt = "none",
		.sections = ANYWHERE,
		.min = 1,
		.max = 1,
		.parse = parse_guid,
		.syntax = "<string>",
		.doc = "A name that no other proxy or server has: after a reload counters are "
			"found by it, whatever the name of the section is then." },
	{ .name = "id",
		.dflt = "the next free one, from 2",
		.sections = ANYWHERE,
		.min = 1,
		.max = 1,
		.parse = parse_id,
		.syntax = "<number>",
		.doc = "The proxy's number in the statistics." },
	COUNT("maxconn", CFG_FE, maxconn,
		"Maximum number of concurrent connections.",
		.dflt = "0, which uses the process's limit"),
	{ .name = "mode",
		.dflt = "tcp",
		.values = mode_words,
		.once = "mode",
		.sections = CFG_PROXIES,
		.min = 1,
		.max = 1,
		.parse = parse_mode,
		.syntax = "{ tcp | http | spop }",
		.doc = "The protocol that a proxy forwards. A frontend and its backends usually "
			"have the same mode." },
	COUNT("rate-limit sessions", CFG_FE, sess_limit.max,
		"Maximum number of new sessions per second; at the limit no connection is "
		"accepted.",
		.dflt = "0, which sets no limit"),
	{ .name = "retries",
		.dflt = "3",
		.once = "retries",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_retries,
		.syntax = "<number>",
		.doc = "Maximum number of connection attempts after the first one." },
	{ .name = "be-unpublished",
		.dflt = "backends are published",
		.sections = CFG_LISTEN | CFG_BACKEND,
		.parse = parse_be_unpublished,
		.doc = "Rules use_backend and default_backend of other sections pass over it, "
			"while its health checks run, until the command publish backend; see also "
			"force-be-switch." },
	{ .name = "force-be-switch",
		.dflt = "none",
		.example = "force-be-switch if { src 192.0.2.0/28 }\n"
			"use_backend api if { path_beg /api/ }",
		.sections = FRONT,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_force_be_switch,
		.syntax = "{if | unless} <condition>",
		.doc = "If the condition is true use_backend and default_backend choose backends "
			"that are not published, too (be-unpublished), and those that are "
			"disabled: with such a line in the configuration a disabled backend "
			"section begins as one that is not published, with health checks. A "
			"disabled listen section is never chosen." },
	{ .name = "use_backend",
		.dflt = "none",
		.example = "use_backend api if { path_beg /api/ }\n"
			"use_backend %[req.hdr(host),lower,map(/etc/tacit/hosts.map,www)]",
		.sections = FRONT,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_use_backend,
		.syntax = "{<backend> | <format>} [{if | unless} <condition>]",
		.doc = "Selects a backend if the condition is true; the first matching line "
			"applies." },
	{ 0 },
};

const struct cfg_module proxy_cfg_module = {
	.name = "proxy",
	.kws = kws,
	.sections = sections,
};

/* --- timeouts -------------------------------------------------------------------------------- */

/* Keywords of timeouts. Main thread, while the configuration is read. */

static int
parse_timeout(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	unsigned int *field = (unsigned int *)(void *)((char *)&p->to + ctx->kw->arg);

	return cfg_arg_timeout(ctx, 0, field);
}

#define TIMEOUT(n, where, field, text, ...)                                            \
	{                                                                              \
		.name = "timeout " n, .sections = where, .min = 1, .max = 1,           \
		.parse = parse_timeout, .arg = offsetof(struct proxy_timeouts, field), \
		.once = "timeout " n, .syntax = "<time>", .doc = text, __VA_ARGS__     \
	}
static const struct cfg_kw timeout_kws[] = {
	TIMEOUT("client", CFG_FE, client, "Maximum time without activity on the client's side.",
		.dflt = "none: clients are waited for without limit"),
	TIMEOUT("client-fin", CFG_FE, client_fin,
		"As timeout client, after one direction was closed.",
		.dflt = "timeout client"),
	TIMEOUT("client-hs", CFG_FE, client_hs,
		"Maximum time of a client's TLS handshake.",
		.dflt = "timeout client"),
	TIMEOUT("connect", CFG_BE, connect, "Maximum time to connect to a server.",
		.dflt = "none: the kernel gives up after about two minutes"),
	TIMEOUT("check", CFG_BE, check, "Maximum time for a health check after the connection is "
		"established.",
		.dflt = "none: inter limits the whole check"),
	TIMEOUT("http-keep-alive", CFG_PROXIES, http_keep_alive,
		"Maximum time between two requests of a client.",
		.dflt = "timeout http-request, else timeout client"),
	TIMEOUT("http-request", CFG_PROXIES, http_request,
		"Maximum time between the first byte of a request header and its end.",
		.dflt = "none: timeout client limits the whole header"),
	TIMEOUT("queue", CFG_BE, queue,
		"Maximum time that a connection waits for a server.",
		.dflt = "timeout connect"),
	TIMEOUT("server", CFG_BE, server, "Maximum time without activity on the server's side.",
		.dflt = "none: servers are waited for without limit"),
	TIMEOUT("server-fin", CFG_BE, server_fin,
		"As timeout server, after one direction was closed.",
		.dflt = "timeout server"),
	TIMEOUT("tarpit", CFG_PROXIES, tarpit,
		"Time after which a tarpitted request is answered.",
		.dflt = "timeout connect"),
	TIMEOUT("tunnel", CFG_BE, tunnel,
		"Replaces timeout client and timeout server once the server is connected, in mode "
		"tcp and after an upgrade.",
		.dflt = "none: timeout client and timeout server apply"),
	{ 0 },
};

const struct cfg_module timeouts_cfg_module = {
	.name = "timeouts",
	.kws = timeout_kws,
};
