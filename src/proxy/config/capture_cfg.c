/* Keywords of captures. Main thread, while the configuration is read. */
#include "proxy/config/capture_cfg.h"

#include <string.h>

#include "base/err.h"
#include "cfg/ctx.h"
#include "proxy/sample/capture_rule.h"
#include "proxy/model/proxies.h"

static int
need_len(struct cfg_ctx *ctx)
{
	if (strcmp(cfg_arg(ctx, 1), "len") == 0)
		return 0;
	return cfg_error(ctx, 1, "'%s' expects 'len', not '%s'.", cfg_kw_name(ctx),
		cfg_arg(ctx, 1));
}

static int
parse_header(struct cfg_ctx *ctx)
{
	enum capture_kind kind = (enum capture_kind)ctx->kw->arg;
	unsigned int i;

	return need_len(ctx) < 0 ? -1 : capture_slot_add(ctx, 2, kind, cfg_arg(ctx, 0), &i);
}

/* As in HAProxy the last line applies. */
static int
parse_cookie(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	unsigned int i;

	if (need_len(ctx) < 0)
		return -1;
	if (!cfg_arg(ctx, 0)[0])
		return cfg_error(ctx, 0, "'%s' expects a name.", cfg_kw_name(ctx));
	capture_forget(&p->captures, CAPTURE_COOKIE);
	if (capture_slot_add(ctx, 2, CAPTURE_COOKIE, cfg_arg(ctx, 0), &i) < 0)
		return -1;
	return capture_slot_add(ctx, 2, CAPTURE_COOKIE, cfg_arg(ctx, 0), &i);
}

static const struct cfg_enum capture_sides[] = {
	{ "request", CAPTURE_REQUEST, "For rules of requests." },
	{ "response", CAPTURE_RESPONSE, "For rules of responses." },
	{ 0 },
};

static int
parse_declare(struct cfg_ctx *ctx)
{
	unsigned int i;
	int side;

	if (cfg_arg_enum(ctx, 0, capture_sides, &side) < 0 || need_len(ctx) < 0)
		return -1;
	return capture_slot_add(ctx, 2, (enum capture_kind)side, NULL, &i);
}

static int
parse_cookielen(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	int n;

	if (cfg_arg_int(ctx, 0, 0, CAPTURE_LEN_MAX, &n) < 0)
		return -1;
	ps->cookie_max = (unsigned int)n;
	return 0;
}

/* --- the whole configuration --- */

#define HEADER(n, kind, text, ...)                                                    \
	{                                                                             \
		.name = n, .sections = CFG_FRONTEND | CFG_LISTEN, .min = 3, .max = 3, \
		.parse = parse_header, .arg = kind, .syntax = "<name> len <length>",  \
		.doc = text, __VA_ARGS__                                              \
	}

static const struct cfg_kw kws[] = {
	{ .name = "capture cookie",
		.dflt = "none",
		.sections = CFG_FRONTEND | CFG_LISTEN,
		.min = 3,
		.max = 3,
		.parse = parse_cookie,
		.syntax = "<name> len <length>",
		.doc = "Logs the first cookie of requests and responses whose name begins with "
		       "this text." },
	HEADER("capture request header", CAPTURE_REQUEST,
		"Logs the last value of this request header field.",
		.dflt = "none",
		.example = "capture request header User-Agent len 128"),
	HEADER("capture response header", CAPTURE_RESPONSE,
		"Logs the last value of this response header field.",
		.dflt = "none"),
	{ .name = "declare capture",
		.dflt = "none",
		.values = capture_sides,
		.flags = CFG_KW_STRICT,
		.sections = CFG_FRONTEND | CFG_LISTEN,
		.min = 3,
		.max = 3,
		.parse = parse_declare,
		.syntax = "request|response len <length>",
		.doc = "Declares a capture slot that rules can store a sample in, to be logged." },
	{ .name = "tune.http.cookielen",
		.dflt = "63",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_cookielen,
		.syntax = "<number>",
		.doc = "Maximum number of bytes kept of a captured cookie; 0: none is captured." },
	{ 0 },
};

const struct cfg_module capture_cfg_module = {
	.name = "capture",
	.kws = kws,
};
