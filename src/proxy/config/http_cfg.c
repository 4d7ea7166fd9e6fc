/* Keywords of HTTP connections. Main thread, while the configuration is read. */
#include "proxy/config/http_cfg.h"

#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "cfg/ctx.h"
#include "http/head.h"
#include "http/reply.h"
#include "proxy/model/proxies.h"

/* The keywords, for http_conf.given. Timeouts and persistence are not included: they are harmless,
 * and often in defaults for both modes. */
enum given {
	GIVEN_REUSE,
	GIVEN_RETRY_ON,
	GIVEN_MONITOR_URI,
	GIVEN_MONITOR_FAIL,
	GIVEN_BUFFER_REQUEST,
	GIVEN_IGNORE_PROBES,
	GIVEN_SEND_NAME,
	GIVEN_PREFER_LAST,
	GIVEN_CHECKCACHE,
	GIVEN_PROXY_HEADER,
	GIVEN_IDLE_CLOSE,
	GIVEN_DROP_REQ,
	GIVEN_DROP_RES,
	GIVEN_INVALID_REQ,
	GIVEN_INVALID_RES,
	GIVEN_UNSAFE_REQ,
	GIVEN_UNSAFE_RES,
	GIVENS
};

static const char *const names[GIVENS] = {
	[GIVEN_REUSE] = "http-reuse",
	[GIVEN_RETRY_ON] = "retry-on",
	[GIVEN_MONITOR_URI] = "monitor-uri",
	[GIVEN_MONITOR_FAIL] = "monitor fail",
	[GIVEN_BUFFER_REQUEST] = "option http-buffer-request",
	[GIVEN_IGNORE_PROBES] = "option http-ignore-probes",
	[GIVEN_SEND_NAME] = "http-send-name-header",
	[GIVEN_IDLE_CLOSE] = "option idle-close-on-response",
	[GIVEN_DROP_REQ] = "option http-drop-request-trailers",
	[GIVEN_DROP_RES] = "option http-drop-response-trailers",
	[GIVEN_CHECKCACHE] = "option checkcache",
	[GIVEN_PROXY_HEADER] = "option http-use-proxy-header",
	[GIVEN_PREFER_LAST] = "option prefer-last-server",
	[GIVEN_INVALID_REQ] = "option accept-invalid-http-request",
	[GIVEN_INVALID_RES] = "option accept-invalid-http-response",
	[GIVEN_UNSAFE_REQ] = "option accept-unsafe-violations-in-http-request",
	[GIVEN_UNSAFE_RES] = "option accept-unsafe-violations-in-http-response",
};

#define STAY_REFUSED "invalid messages are refused all the same."

static struct http_conf *
mark_given(struct cfg_ctx *ctx, enum given which)
{
	struct proxy *p = ctx->obj;

	p->http.given |= 1u << which;
	return &p->http;
}

static const struct cfg_enum reuse_ways[] = {
	{ "never", HTTP_REUSE_NEVER, "No request does: each client has its own connections." },
	{ "safe", HTTP_REUSE_SAFE, "Any request but the first one of a session: a client repeats a "
		"later one by itself if the connection breaks." },
	{ "aggressive", HTTP_REUSE_AGGRESSIVE, "A first request, too, on a connection that has "
		"carried another request since it was opened." },
	{ "always", HTTP_REUSE_ALWAYS, "Any request." },
	{ 0 },
};

static int
parse_reuse(struct cfg_ctx *ctx)
{
	int way;

	if (cfg_arg_enum(ctx, 0, reuse_ways, &way))
		return -1;
	mark_given(ctx, GIVEN_REUSE)->reuse = (enum http_reuse)way;
	return 0;
}

/* The three exclude each other: the last one applies, and `no` disables only the named one. */
static int
parse_persistence(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	enum http_persistence how = (enum http_persistence)ctx->kw->arg;

	if (ctx->form == CFG_FORM_SET)
		p->http.persistence = how;
	else if (p->http.persistence == how)
		p->http.persistence = HTTP_KEEP_ALIVE;
	return 0;
}

/* --- retry-on --- */

/* Bits of HTTP_RETRY_x. */
enum {
	RETRY_EARLY_DATA = -1,
	RETRY_NONE = 0,
	RETRY_ALL = 0
#define HTTP_RETRY(id, name, all, text) | all << HTTP_RETRY_##id
#define HTTP_RETRY_STATUS(status, all) | all << HTTP_RETRY_##status
#include "proxy/model/http_retry.tbl.h"
#undef HTTP_RETRY_STATUS
#undef HTTP_RETRY
};

static const struct cfg_enum retry_words[] = {
	{ "none", RETRY_NONE, "A request is never sent again." },
#define HTTP_RETRY(id, name, all, text) { name, 1 << HTTP_RETRY_##id, text },
#define HTTP_RETRY_STATUS(status, all) \
	{ #status, 1 << HTTP_RETRY_##status, "The response has this status." },
#include "proxy/model/http_retry.tbl.h"
#undef HTTP_RETRY_STATUS
#undef HTTP_RETRY
	{ "all-retryable-errors", RETRY_ALL, ""
#define NAME_IF_0(name)
#define NAME_IF_1(name) name ", "
#define HTTP_RETRY(id, name, all, text) NAME_IF_##all(name)
#define HTTP_RETRY_STATUS(status, all) NAME_IF_##all(#status)
#include "proxy/model/http_retry.tbl.h"
#undef HTTP_RETRY_STATUS
#undef HTTP_RETRY
		"all together." },
	{ "0rtt-rejected", RETRY_EARLY_DATA, "Accepted without effect: no early data is sent." },
	{ 0 },
};

static int
retry_word(struct cfg_ctx *ctx, int i, uint32_t *bits)
{
	const char *word = cfg_arg(ctx, i);
	const struct cfg_enum *e = cfg_enum_find(retry_words, word, strlen(word));

	if (!e)
		return cfg_error(ctx, i, "'retry-on' : unknown keyword '%.40s'.", word);
	if (e->value == RETRY_NONE)
		return ctx->argc == 1 ? 0 : cfg_error(ctx, i,
			"'retry-on' : 'none' cannot be combined with others.");
	if (e->value == RETRY_EARLY_DATA)
		cfg_note(ctx, i,
			"'retry-on 0rtt-rejected' is accepted and has no effect: no early data is "
			"sent.");
	else
		*bits |= (uint32_t)e->value;
	return 0;
}

static int
parse_retry_on(struct cfg_ctx *ctx)
{
	uint32_t bits = 0;

	for (int i = 0; i < ctx->argc; i++)
		if (retry_word(ctx, i, &bits))
			return -1;
	mark_given(ctx, GIVEN_RETRY_ON)->retry_on = bits;
	return 0;
}

static int
parse_monitor_uri(struct cfg_ctx *ctx)
{
	return cfg_arg_dup(ctx, 0, &mark_given(ctx, GIVEN_MONITOR_URI)->monitor_uri);
}

/* Fields that only concern one connection, or the body's framing: the request would be read in
 * another way than it was written. */
static int
is_of_transport(enum http_field_id id)
{
	return http_field_is_framing(id) || id == HTTP_F_TE || id == HTTP_F_TRAILER ||
		id == HTTP_F_UPGRADE || id == HTTP_F_KEEP_ALIVE || id == HTTP_F_PROXY_CONNECTION ||
		id == HTTP_F_HTTP2_SETTINGS || id == HTTP_F_EXPECT;
}

static int
parse_send_name(struct cfg_ctx *ctx)
{
	struct str name = str_of(cfg_arg(ctx, 0));

	if (!http_name_is_valid(name))
		return cfg_error(ctx, 0,
			"'http-send-name-header' : '%s' is not a valid header name.", name.p);
	if (is_of_transport(http_field_id(name)))
		return cfg_error(ctx, 0,
			"'http-send-name-header' : '%s' controls how the request is sent, and a "
			"server's name would break it.", name.p);
	return cfg_arg_dup(ctx, 0, &mark_given(ctx, GIVEN_SEND_NAME)->send_name);
}

/* Data available when a request's head is complete. */
#define MONITOR_SCOPES (SAMPLE_AT_CONN | SAMPLE_AT_REQ)

static int
parse_monitor_fail(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	const struct rule_vocab *v = &((const struct proxies *)ctx->root)->vocab;
	struct monitor_rule *r = mem_zalloc(sizeof(*r));

	if (!r)
		return cfg_nomem(ctx);
	list_init(&r->link);
	r->where = cfg_arg_where(ctx, 0);
	if (rule_cond_parse(&p->acls, v, ctx, 0, MONITOR_SCOPES, &r->cond)) {
		monitor_rule_free(&r);
		return -1;
	}
	list_append(&mark_given(ctx, GIVEN_MONITOR_FAIL)->monitor_fails, &r->link);
	return 0;
}

/* --- options of one bit --- */

/* Options that mode tcp warns of. */
static const struct {
	unsigned int bit;
	enum given which;
} marked_options[] = {
	{ OPT_HTTP_BUFFER_REQUEST, GIVEN_BUFFER_REQUEST },
	{ OPT_HTTP_IGNORE_PROBES, GIVEN_IGNORE_PROBES },
	{ OPT_PREFER_LAST_SERVER, GIVEN_PREFER_LAST },
	{ OPT_CHECKCACHE, GIVEN_CHECKCACHE },
	{ OPT_PROXY_HEADER, GIVEN_PROXY_HEADER },
	{ OPT_IDLE_CLOSE, GIVEN_IDLE_CLOSE },
	{ OPT_DROP_REQ_TRAILERS, GIVEN_DROP_REQ },
	{ OPT_DROP_RES_TRAILERS, GIVEN_DROP_RES },
};

static int
parse_option(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	unsigned int bit = (unsigned int)ctx->kw->arg;

	p->options &= ~bit;
	if (ctx->form != CFG_FORM_SET)
		return 0;
	p->options |= bit;
	for (size_t i = 0; i < ARRAY_LEN(marked_options); i++)
		if (marked_options[i].bit == bit)
			(void)mark_given(ctx, marked_options[i].which);
	return 0;
}

/* As in HAProxy any negative number is no limit. */
static int
parse_max_ka_queue(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	return cfg_arg_int(ctx, 0, INT_MIN, INT_MAX, &p->http.max_ka_queue);
}

static const struct cfg_enum name_ways[] = {
	{ "preserve", HTTP_NAMES_PRESERVE, "Leaves them." },
	{ "delete", HTTP_NAMES_DELETE, "Deletes these fields." },
	{ "reject", HTTP_NAMES_REJECT, "Answers the request with 403." },
	{ 0 },
};

/* As in HAProxy it cannot be negated, and mode tcp does not warn of it. */
static int
parse_names(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	int way;

	if (cfg_arg_enum(ctx, 0, name_ways, &way))
		return -1;
	p->http.names = (enum http_names)way;
	return 0;
}

/* Nothing invalid is accepted. A section's mode is known at its end; defaults have none. */
static int
parse_accept_invalid(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	unsigned int bit = 1u << ctx->kw->arg;

	p->http.given &= ~bit;
	if (ctx->form != CFG_FORM_SET)
		return 0;
	p->http.given |= bit;
	if (p->caps & PROXY_DEFAULTS)
		cfg_warn(ctx, 0, "'%s' : " STAY_REFUSED, cfg_kw_name(ctx));
	return 0;
}

#define OPTION(n, where, bit, text)                                                                \
	{                                                                                          \
		.name = "option " n, .sections = where, .flags = CFG_KW_NO, .parse = parse_option, \
		.arg = bit, .doc = text                                                            \
	}
#define PERSISTENCE(n, how, text, ...)                                            \
	{                                                                         \
		.name = "option " n, .sections = CFG_PROXIES, .flags = CFG_KW_NO, \
		.parse = parse_persistence, .arg = how, .doc = text, __VA_ARGS__  \
	}

#define ACCEPT(n, where, which)                                                          \
	{                                                                                \
		.name = "option accept-" n, .sections = where, .flags = CFG_KW_NO,       \
		.parse = parse_accept_invalid, .arg = which,                             \
		.doc = "Accepted with a warning: invalid messages are refused all the same." \
	}

static const struct cfg_kw kws[] = {
	{ .name = "http-reuse",
		.dflt = "safe",
		.values = reuse_ways,
		.once = "http-reuse",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_reuse,
		.syntax = "never|safe|aggressive|always",
		.doc = "Which requests may use an idle connection that another session left." },
	{ .name = "http-send-name-header",
		.dflt = "none",
		.once = "http-send-name-header",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_send_name,
		.syntax = "<header>",
		.doc = "Sets this header field to the name of the server that the request is sent "
			"to." },
	{ .name = "max-keep-alive-queue",
		.dflt = "-1, which is no limit",
		.once = "max-keep-alive-queue",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_max_ka_queue,
		.syntax = "<number>",
		.doc = "With option prefer-last-server: a client's next request is balanced "
			"again when the last server is full and this many sessions wait for it. "
			"After a 401 or 407 it has no effect." },
	{ .name = "monitor fail",
		.example = "monitor-uri /alive\n"
			"monitor fail if { nbsrv(app) lt 2 }",
		.dflt = "none",
		.sections = CFG_FRONTEND | CFG_LISTEN,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_monitor_fail,
		.syntax = "{if | unless} <condition>",
		.doc = "Makes the monitor-uri respond with 503 while the condition is true." },
	{ .name = "monitor-uri",
		.dflt = "none",
		.once = "monitor-uri",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_monitor_uri,
		.syntax = "<uri>",
		.doc = "Responds to requests for this URI at once; they are not logged." },
	OPTION("abortonclose", CFG_BE, OPT_ABORTONCLOSE,
		"Closes a session that waits for a server when its client has closed its side."),
	ACCEPT("invalid-http-request", CFG_FE, GIVEN_INVALID_REQ),
	ACCEPT("invalid-http-response", CFG_BE, GIVEN_INVALID_RES),
	ACCEPT("unsafe-violations-in-http-request", CFG_FE, GIVEN_UNSAFE_REQ),
	ACCEPT("unsafe-violations-in-http-response", CFG_BE, GIVEN_UNSAFE_RES),
	OPTION("checkcache", CFG_BE, OPT_CHECKCACHE,
		"Blocks a response that sets a cookie and that caches may keep: the client gets "
		"502, and an alert is logged. As in HAProxy 2.6 a response without max-age, "
		"s-maxage, Expires, ETag and Last-Modified passes."),
	OPTION("http-buffer-request", CFG_PROXIES, OPT_HTTP_BUFFER_REQUEST,
		"Waits for the whole request body, or for a full buffer, before the request is "
		"processed further."),
	OPTION("http-pretend-keepalive", CFG_BE, OPT_HTTP_PRETEND_KEEPALIVE,
		"Lets the server believe that its connection is kept, though it is closed after "
		"the response (httpclose, http-server-close): some servers send no chunks when "
		"they know."),
	OPTION("http-ignore-probes", CFG_FE, OPT_HTTP_IGNORE_PROBES,
		"Sends no response, writes no log line and counts no error for a client that sent "
		"nothing."),
	OPTION("http-use-proxy-header", CFG_FE, OPT_PROXY_HEADER,
		"For a frontend before proxies: a request whose target begins with neither '/' nor "
		"'*' has its credentials in Proxy-Authorization, which 'http-request auth', 'stats "
		"auth' and the fetches http_auth_* use, and is asked for them by 407. "
		"Proxy-Connection of such requests and of their responses is forwarded. As in "
		"HAProxy 2.6, Connection alone decides whether a connection is kept."),
	PERSISTENCE("http-keep-alive", HTTP_KEEP_ALIVE,
		"Keeps connections on both sides open between requests.",
		.dflt = "on"),
	{ .name = "option http-no-delay",
		.sections = CFG_PROXIES,
		.flags = CFG_KW_NO,
		.class = CFG_HINT,
		.doc = "bytes are never held back for more to come" },
	{ .name = "option http-restrict-req-hdr-names",
		.dflt = "preserve",
		.values = name_ways,
		.sections = CFG_PROXIES,
		.min = 1,
		.max = 1,
		.parse = parse_names,
		.syntax = "preserve|delete|reject",
		.doc = "The treatment, after a proxy's http-request rules, of header fields of "
			"requests whose names have other characters than letters, digits and "
			"hyphens." },
	PERSISTENCE("http-server-close", HTTP_SERVER_CLOSE,
		"Closes the connection to the server after each response."),
	PERSISTENCE("httpclose", HTTP_CLOSE, "Closes the connections on both sides after each "
		"response."),
	OPTION("disable-h2-upgrade", CFG_FE, OPT_NO_H2_UPGRADE,
		"Treats the first bytes of HTTP/2 without TLS as an invalid request. Otherwise a "
		"client that begins with them speaks HTTP/2."),
	OPTION("http-drop-request-trailers", CFG_BE, OPT_DROP_REQ_TRAILERS,
		"Servers get no trailers: some take them for headers, which rules have not seen."),
	OPTION("http-drop-response-trailers", CFG_FE, OPT_DROP_RES_TRAILERS,
		"Clients get no trailers."),
	OPTION("h1-case-adjust-bogus-client", CFG_FE, OPT_H1_CASE_CLIENT,
		"Writes the headers of responses to clients as h1-case-adjust says."),
	OPTION("h1-case-adjust-bogus-server", CFG_BE, OPT_H1_CASE_SERVER,
		"Writes the headers of requests to servers as h1-case-adjust says."),
	OPTION("idle-close-on-response", CFG_FE, OPT_IDLE_CLOSE,
		"Keeps idle connections of clients when the process stops: each is closed after "
		"the response to its next request, which announces it, or by its timeout."),
	OPTION("prefer-last-server", CFG_BE, OPT_PREFER_LAST_SERVER,
		"Sends a client's next request to the server of the last one if the client still "
		"has its own connection to it, as with 'http-reuse never' and send-proxy, unless "
		"the balance algorithm is a hash or persistence says otherwise. A connection that "
		"clients share does not count."),
	{ .name = "retry-on",
		.dflt = "conn-failure",
		.values = retry_words,
		.example = "retries 2\n"
			"retry-on conn-failure empty-response 503",
		.sections = CFG_BE,
		.flags = CFG_KW_STRICT,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_retry_on,
		.syntax = "none|<failure or status>...",
		.doc = "Failures after which a request is sent again." },
	{ 0 },
};

const struct cfg_module http_cfg_module = {
	.name = "http",
	.kws = kws,
};

void
http_conf_check(const struct proxy *p, struct cfg_diag *d)
{
	if (p->disabled)
		return;
	for (unsigned int i = p->mode == PROXY_HTTP ? GIVEN_INVALID_REQ : 0; i < GIVENS; i++) {
		if (!(p->http.given & 1u << i))
			continue;
		if (p->mode == PROXY_HTTP)
			cfg_diag_add(d, CFG_WARNING, &p->where,
				"'%s' in proxy " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
				": " STAY_REFUSED,
				names[i], p->name);
		else
			cfg_diag_add(d, CFG_WARNING, &p->where,
				"'%s' ignored for proxy " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
				" as it requires HTTP mode.",
				names[i], p->name);
	}
}
