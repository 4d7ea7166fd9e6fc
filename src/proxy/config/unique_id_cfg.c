/* Keywords of the unique id. Main thread, while the configuration is read. */
#include "proxy/config/unique_id_cfg.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "http/scan.h"
#include "proxy/model/proxies.h"
#include "proxy/sample/unique_id.h"

#define SCOPE (SAMPLE_AT_CONN | SAMPLE_AT_REQ | SAMPLE_AT_TXN)

/* --- lines --- */

static int
parse_unique_id_format(struct cfg_ctx *ctx)
{
	const struct rule_vocab *v = &((struct proxies *)ctx->root)->vocab;
	struct proxy *p = ctx->obj;
	struct rule_err why = { 0 };
	struct rule_fmt *f;

	/* The id is sent in a header field. */
	if (!http_value_is_valid(str_of(cfg_arg(ctx, 0))))
		return cfg_error(ctx, 0,
			"'unique-id-format' : control characters are not allowed.");
	/* The mode may be set later in the section: it is checked at the end. */
	if (rule_fmt_compile(v, cfg_arg(ctx, 0), RULE_FMT_MERGE, SCOPE, &f, &why) < 0)
		return cfg_error(ctx, 0, "failed to parse unique-id : %s (byte %zu)", why.text,
			why.at + 1);
	rule_fmt_free(&f);
	p->unique_id.where = cfg_arg_where(ctx, 0);
	return cfg_arg_dup(ctx, 0, &p->unique_id.text);
}

/* Fields that route or frame a message must not be used. */
static int
is_free(struct str name)
{
	static const enum http_field_id taken[] = { HTTP_F_HOST, HTTP_F_CONTENT_LENGTH,
		HTTP_F_TRANSFER_ENCODING, HTTP_F_CONNECTION, HTTP_F_UPGRADE };

	for (size_t i = 0; i < ARRAY_LEN(taken); i++)
		if (http_field_id(name) == taken[i])
			return 0;
	for (size_t i = 0; i < name.len; i++)
		if (!http_is(name.p[i], HTTP_C_TOKEN))
			return 0;
	return name.len > 0;
}

static int
parse_unique_id_header(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	if (!is_free(str_of(cfg_arg(ctx, 0))))
		return cfg_error(ctx, 0, "'unique-id-header' : '%s' is not a valid header name.",
			cfg_arg(ctx, 0));
	p->unique_id.header_where = cfg_arg_where(ctx, 0);
	return cfg_arg_dup(ctx, 0, &p->unique_id.header);
}

/* --- their contents --- */

static int
compile_unique_id(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	struct unique_id_conf *c = &p->unique_id;
	unsigned int at = p->mode == PROXY_HTTP ? SCOPE : SAMPLE_AT_CONN;
	struct rule_err why = { 0 };
	unsigned int i;

	if (rule_fmt_compile(&root->vocab, c->text, RULE_FMT_MERGE, at, &c->fmt, &why) == 0 &&
		rule_fmt_check(c->fmt, root, &why) == 0 &&
		capture_add(&p->captures, CAPTURE_ID, NULL, UNIQUE_ID_MAX, &i) == 0)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &c->where, "failed to parse unique-id : %s, at byte %zu of '%s'",
		why.text[0] ? why.text : "there is no room for it", why.at + 1, c->text);
	return -1;
}

int
unique_id_conf_finish(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	struct unique_id_conf *c = &p->unique_id;

	if (!(p->caps & PROXY_FE))
		return 0;
	if (c->header && (!c->text || p->mode != PROXY_HTTP))
		cfg_diag_add(d, CFG_WARNING, &c->header_where,
			"'unique-id-header' ignored for frontend '%s': it needs %s.", p->name,
			c->text ? "'mode http'" : "'unique-id-format'");
	return c->text ? compile_unique_id(p, root, d) : 0;
}

static const struct cfg_kw kws[] = {
	{ .name = "unique-id-format",
		.dflt = "none",
		.example = "unique-id-format %{+X}o%ci:%cp_%fi:%fp_%Ts_%rt:%pid\n"
			"unique-id-header X-Unique-ID",
		.once = "unique-id-format",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_unique_id_format,
		.syntax = "<format>",
		.doc = "Format of a unique id that each request gets, for logs, rules and "
			"servers." },
	{ .name = "unique-id-header",
		.dflt = "none",
		.once = "unique-id-header",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse_unique_id_header,
		.syntax = "<name>",
		.doc = "Header field that sends the unique id to servers." },
	{ 0 },
};

const struct cfg_module unique_id_cfg_module = {
	.name = "unique-id",
	.kws = kws,
};
