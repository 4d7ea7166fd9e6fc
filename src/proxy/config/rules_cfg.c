/* Keywords of rules. Main thread, while the configuration is read; rules are compiled at once,
 * and checked when the configuration is complete. */
#include "proxy/config/rules_cfg.h"

#include "cfg/ctx.h"
#include "proxy/model/proxies.h"
#include "proxy/sample/act_track.h"

/* The order in which they are evaluated, whatever their order in the file. */
static const struct {
	unsigned int list;
	const char *name;
} judges[] = {
	{ RULE_TCP_CONNECTION, "tcp-request connection" },
	{ RULE_TCP_SESSION, "tcp-request session" },
	{ RULE_TCP_REQ_CONTENT, "tcp-request content" },
	{ RULE_HTTP_REQUEST, "http-request" },
	{ RULES_REDIRECT, "redirect" },
};

/* Users may expect the lines to be executed in file order. */
static void
warn_order(struct cfg_ctx *ctx, const struct proxy *p, unsigned int list)
{
	const char *later = list_is_empty(&p->use_backends) ? NULL : "use_backend";
	size_t i = 0;

	while (i < ARRAY_LEN(judges) && judges[i].list != list)
		i++;
	if (i == ARRAY_LEN(judges))
		return;
	for (size_t k = ARRAY_LEN(judges); --k > i;)
		if (!list_is_empty(&p->rules.own[judges[k].list]))
			later = judges[k].name;
	if (later)
		cfg_warn(ctx, -1,
			"a '%s' rule placed after a '%s' rule will still be processed before.",
			judges[i].name, later);
}

/* The keyword's arg is the list. */
static int
parse_proxy_rule(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct proxy *p = ctx->obj;
	unsigned int list = (unsigned int)ctx->kw->arg;
	int r;

	if (ctx->section->bit == CFG_DEFAULTS && !*ctx->name)
		return cfg_error(ctx, -1, "'%s' not allowed in 'defaults' without a name",
			cfg_kw_name(ctx));
	warn_order(ctx, p, list);
	if (list == RULES_REDIRECT)
		r = rule_parse_redirect(&p->rules.own[list], &p->acls, &ps->vocab, ctx);
	else
		r = rule_parse(&p->rules.own[list], (enum rule_place)list, &p->acls, &ps->vocab,
			ctx);
	if (r == 0)
		p->rules.has |= 1u << list;
	return r;
}

/* The keyword's arg: true for responses. */
static int
parse_delay(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	uint64_t ms;

	if (ctx->section->bit == CFG_DEFAULTS && !*ctx->name)
		return cfg_error(ctx, -1, "'%s' not allowed in 'defaults' without a name",
			cfg_kw_name(ctx));
	if (cfg_arg_time(ctx, 0, CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &ms) < 0)
		return -1;
	if (ctx->kw->arg)
		p->rules.inspect_response_ms = (unsigned int)ms;
	else
		p->rules.inspect_ms = (unsigned int)ms;
	return 0;
}

static int
parse_counters(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	int n;

	if (cfg_arg_int(ctx, 0, 0, TRACK_SLOTS_MAX, &n) < 0)
		return -1;
	ps->stick_counters = (unsigned int)n;
	return 0;
}

/* The keyword's arg: true for failures. */
static int
parse_codes(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct status_set *set = ctx->kw->arg ? &ps->fail_codes : &ps->err_codes;
	int is_own = 0;
	const char *why;

	for (int i = 0; i < ctx->argc; i++)
		if (status_set_parse(set, str_of(cfg_arg(ctx, i)), &is_own, &why) < 0)
			return cfg_error(ctx, i, "'%s' : %s, not '%s'.", cfg_kw_name(ctx), why,
				cfg_arg(ctx, i));
	return 0;
}

#define CODES(n, failures, text, ...) \
	{ .name = n, .sections = CFG_GLOBAL, .min = 1, .max = CFG_ANY, .parse = parse_codes, \
		.arg = failures, .syntax = "[+|-]<code>[-<code>][,...]...", .doc = text, \
		__VA_ARGS__ }
#define DELAY(n, where, response, strict, text, ...) \
	{ .name = n, .sections = where, .min = 1, .max = 1, .parse = parse_delay, .flags = \
		CFG_KW_FIRST | (strict), .once = n, .arg = response, .syntax = "<time>", \
		.doc = text, __VA_ARGS__ }
#define RULES(n, where, list, strict, args, text, ...)                                       \
	{                                                                                    \
		.name = n, .sections = where, .min = 1, .max = CFG_ANY, .parse = parse_proxy_rule, \
		.flags = strict, .arg = list,                                                \
		.syntax = args " [{if | unless} <condition>]", .doc = text, __VA_ARGS__      \
	}
#define ACTION "<action> [<argument>...]"

static const struct cfg_kw kws[] = {
	RULES("http-after-response", CFG_PROXIES, RULE_HTTP_AFTER_RESPONSE, 0, ACTION,
		"Rules for each response, including local replies; those of the backend come "
		"first.",
		.dflt = "none",
		.example = "http-after-response set-header Strict-Transport-Security "
			"\"max-age=31536000\""),
	CODES("http-err-codes", 0,
		"The status codes of servers that count in http_err_cnt of stick tables. A sign "
		"adds to those before, or removes.",
		.dflt = "400-499"),
	CODES("http-fail-codes", 1,
		"The status codes of servers that count in http_fail_cnt of stick tables.",
		.dflt = "500-599,-501,-505"),
	RULES("http-request", CFG_PROXIES, RULE_HTTP_REQUEST, 0, ACTION,
		"Rules for each request; those of the frontend come first.",
		.dflt = "none",
		.example = "http-request deny if { path_beg /admin/ } !{ src 192.0.2.0/24 }\n"
			"http-request set-header X-Forwarded-Proto https if { ssl_fc }"),
	RULES("http-response", CFG_PROXIES, RULE_HTTP_RESPONSE, 0, ACTION,
		"Rules for each response of a server; those of the backend come first.",
		.dflt = "none"),
	RULES("redirect", CFG_FRONTEND | CFG_BACKEND | CFG_LISTEN, RULES_REDIRECT, 0,
		"{location | prefix | scheme} <text> [code <status>] [<option>...]",
		"Sends a redirect; the words are those of the action redirect, and the text is "
		"no format; it is evaluated after all http-request rules.",
		.dflt = "none",
		.example = "redirect scheme https code 301 unless { ssl_fc }"),
	RULES("tcp-request connection", CFG_FE, RULE_TCP_CONNECTION, CFG_KW_STRICT, ACTION,
		"Rules for each connection, before any data is read.",
		.dflt = "none",
		.example = "tcp-request connection reject if { src -f /etc/tacit/blocked.lst }"),
	RULES("tcp-request content", CFG_PROXIES, RULE_TCP_REQ_CONTENT, 0, ACTION,
		"Rules for what a client sends before a server is selected; in mode http for each "
		"request, before http-request.",
		.dflt = "none",
		.example = "tcp-request inspect-delay 5s\n"
			"tcp-request content accept if { req.ssl_hello_type 1 }"),
	DELAY("tcp-request inspect-delay", CFG_PROXIES, 0, 0,
		"Maximum time that tcp-request content rules wait for more data in mode tcp. "
		"Without it they are evaluated on the data that is there.",
		.dflt = "0"),
	RULES("tcp-request session", CFG_FE, RULE_TCP_SESSION, CFG_KW_STRICT, ACTION,
		"Rules for each connection that tcp-request connection accepted.",
		.dflt = "none"),
	RULES("tcp-response content", CFG_BE, RULE_TCP_RES_CONTENT, CFG_KW_STRICT, ACTION,
		"Rules for what a server sends, before it is forwarded; in mode http for each "
		"response, before http-response.",
		.dflt = "none"),
	DELAY("tcp-response inspect-delay", CFG_BE, 1, CFG_KW_STRICT,
		"Maximum time that tcp-response content rules wait for more data in mode tcp. "
		"Without it they are evaluated on the first data.",
		.dflt = "0"),
	{ .name = "tune.stick-counters",
		.dflt = "3",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_counters,
		.syntax = "<number>",
		.doc = "Number of counters that rules track-sc can use, from 0 to 100. A counter "
		       "that no rule uses takes no memory." },
	{ 0 },
};

const struct cfg_module rules_cfg_module = {
	.name = "rules",
	.kws = kws,
};
