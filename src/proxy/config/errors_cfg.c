/* Keywords of error pages, section http-errors. Main thread, while the configuration is read. */
#include "proxy/config/errors_cfg.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "http/errorfile.h"
#include "proxy/model/proxies.h"

/* --- common parts --- */

struct proxy_errors *
errors_cfg_owner(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct error_group *g = ctx->obj;

	return ctx->section->bit == CFG_HTTP_ERRORS ? &g->errors : &p->errors;
}

int
errors_cfg_status(struct cfg_ctx *ctx, int i)
{
	unsigned int status = 0;
	const char *s = cfg_arg(ctx, i);

	for (; *s >= '0' && *s <= '9' && status < 1000; s++)
		status = 10 * status + (unsigned int)(*s - '0');
	if (*s || http_error_id(status) < 0)
		return cfg_error(ctx, i, "'%s' : status code '%.20s' not handled. Handled are: %s.",
			cfg_kw_name(ctx), cfg_arg(ctx, i), http_error_list());
	return http_error_id(status);
}

int
errors_cfg_add(
	struct cfg_ctx *ctx, uint32_t which, struct http_reply *reply, const char *group, int i)
{
	if (proxy_errors_add(errors_cfg_owner(ctx), which, reply, group, cfg_arg_where(ctx, i)) < 0)
		return cfg_nomem(ctx);
	return 0;
}

int
errors_cfg_read(struct cfg_ctx *ctx, int i, struct http_reply **out)
{
	const char *why = "";
	char *text;
	size_t len;
	int rc;

	if (cfg_arg_file(ctx, i, ERRORS_CFG_FILE_MAX, &text, &len))
		return -1;
	rc = http_errorfile((struct str){ text, len }, out, &why);
	mem_free(text);
	if (rc == -ERR_NOMEM)
		return cfg_nomem(ctx);
	if (rc < 0)
		return cfg_error(
			ctx, i, "'%s' : '%s': %s.", cfg_kw_name(ctx), cfg_arg(ctx, i), why);
	return 0;
}

/* --- errorfile, errorloc, errorfiles --- */

static int
parse_errorfile(struct cfg_ctx *ctx)
{
	struct http_reply *r;
	int id = errors_cfg_status(ctx, 0);

	if (id < 0 || errors_cfg_read(ctx, 1, &r))
		return -1;
	return errors_cfg_add(ctx, 1u << id, r, NULL, 1);
}

static int
parse_errorloc(struct cfg_ctx *ctx)
{
	struct http_field field[] = {
		{ .name = STR("Cache-Control"), .value = STR("no-cache") },
		{ .name = STR("Location"), .value = str_of(cfg_arg(ctx, 1)) },
	};
	struct http_reply *r;
	int id = errors_cfg_status(ctx, 0), rc;

	if (id < 0)
		return -1;
	rc = http_reply_new((unsigned int)ctx->kw->arg, field, ARRAY_LEN(field), STR(""), &r);
	if (rc == -ERR_NOMEM)
		return cfg_nomem(ctx);
	if (rc < 0)
		return cfg_error(ctx, 1,
			"'%s' : the URL contains a character that a header cannot hold.",
			cfg_kw_name(ctx));
	return errors_cfg_add(ctx, 1u << id, r, NULL, 1);
}

static int
parse_errorfiles(struct cfg_ctx *ctx)
{
	uint32_t which = ctx->argc > 1 ? 0 : UINT32_MAX;

	for (int i = 1; i < ctx->argc; i++) {
		int id = errors_cfg_status(ctx, i);

		if (id < 0)
			return -1;
		which |= 1u << id;
	}
	return errors_cfg_add(ctx, which, NULL, cfg_arg(ctx, 0), 0);
}

/* --- http-errors --- */

static int
begin_group(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct error_group *g;

	if (error_group_find(ps, ctx->name))
		return cfg_error(ctx, 0, "http-errors section '%s' already exists.", ctx->name);
	g = mem_zalloc(sizeof(*g));
	if (!g)
		return cfg_nomem(ctx);
	list_init(&g->link);
	proxy_errors_init(&g->errors);
	g->name = mem_strdup(ctx->name);
	if (!g->name) {
		error_group_free(&g);
		return cfg_nomem(ctx);
	}
	list_append(&ps->error_groups, &g->link);
	ctx->obj = g;
	return name_index_add(&ps->error_group_names, g->name, g) < 0 ? cfg_nomem(ctx) : 0;
}

static const struct cfg_section sections[] = {
	{ .name = "http-errors",
		.bit = CFG_HTTP_ERRORS,
		.flags = CFG_SEC_NAMED,
		.begin = begin_group,
		.doc = "A set of error responses that proxies use with errorfiles, instead of the "
			"built-in ones." },
	{ 0 },
};

#define ERRORLOC(n, status, text)                                               \
	{                                                                       \
		.name = n, .sections = CFG_PROXIES, .min = 2, .max = 2,         \
		.parse = parse_errorloc, .arg = status, .syntax = "<code> <url>", \
		.doc = text                                                     \
	}

static const struct cfg_kw kws[] = {
	{ .name = "errorfile",
		.sections = CFG_PROXIES | CFG_HTTP_ERRORS,
		.min = 2,
		.max = 2,
		.parse = parse_errorfile,
		.syntax = "<code> <file>",
		.doc = "Sends the content of a file, a whole HTTP response, instead of a built-in "
			"error response. If the file is empty the connection is closed without a "
			"response." },
	{ .name = "errorfiles",
		.sections = CFG_PROXIES,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_errorfiles,
		.syntax = "<section> [<code>...]",
		.doc = "Uses all or some of the error responses of a section 'http-errors'." },
	ERRORLOC("errorloc", 302, "Sends a redirect (302) instead of a built-in error response."),
	ERRORLOC("errorloc302", 302, "Sends a redirect (302) instead of a built-in error "
		"response."),
	ERRORLOC("errorloc303", 303,
		"Sends a redirect (303, which changes the method to GET) instead of a built-in "
		"error response."),
	{ 0 },
};

const struct cfg_module errors_cfg_module = {
	.name = "errors",
	.kws = kws,
	.sections = sections,
};
