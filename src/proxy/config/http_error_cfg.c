/* The keyword http-error: a response with the contents of its line. Main thread, while the
 * configuration is read. */
#include "proxy/config/http_error_cfg.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "cfg/registry.h"
#include "http/errorfile.h"
#include "proxy/model/proxies.h"
#include "rule/action/answer.h"

/* The contents of a line. */
struct custom {
	int id;
	int type;             /* index of the content-type argument; 0: none */
	int source;           /* index of the argument with the reply's source; 0: none yet */
	int is_reset;         /* default-errorfiles */
	const char *group;    /* errorfiles */
	struct http_reply *whole; /* errorfile: complete reply */
	char *file;           /* contents of `file` */
	struct str body;
	int is_fmt;           /* lf-file, lf-string: body is a format */
	int has_fmt;          /* there is a format, here or in a field */
	struct http_field field[HTTP_REPLY_FIELDS];
	int field_arg[HTTP_REPLY_FIELDS]; /* index of the value */
	unsigned int n;
};

/* --- error files ----------------------------------------------------------------------------- */

/*
 * Keywords of error pages, section http-errors. Main thread, while the configuration is read.
 */

/* --- common parts --- */

/* The owner of the line: a proxy or a section http-errors. */
static struct proxy_errors *
errors_cfg_owner(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct error_group *g = ctx->obj;

	return ctx->section->bit == CFG_HTTP_ERRORS ? &g->errors : &p->errors;
}

/* The number of the error with the status in the argument, or -1. */
static int
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

/* Adds a reply, or those of a group, for the errors in `which`. Takes ownership of the reply. 0 or
 * -1. */
static int
errors_cfg_add(
	struct cfg_ctx *ctx, uint32_t which, struct http_reply *reply, const char *group, int i)
{
	if (proxy_errors_add(errors_cfg_owner(ctx), which, reply, group, cfg_arg_where(ctx, i)) < 0)
		return cfg_nomem(ctx);
	return 0;
}

/* Reads the whole reply from the file in argument i. 0 or -1. */
static int
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

#define ERRORLOC(n, status, text, ...)                                            \
	{                                                                         \
		.name = n, .sections = CFG_PROXIES, .min = 2, .max = 2,           \
		.parse = parse_errorloc, .arg = status, .syntax = "<code> <url>", \
		.doc = text, __VA_ARGS__                                          \
	}

static const struct cfg_kw errors_kws[] = {
	{ .name = "errorfile",
		.dflt = "built-in responses",
		.example = "errorfile 503 /etc/tacit/maintenance.http",
		.sections = CFG_PROXIES | CFG_HTTP_ERRORS,
		.min = 2,
		.max = 2,
		.parse = parse_errorfile,
		.syntax = "<code> <file>",
		.doc = "For one of the statuses 200, 400, 401, 403, 404, 405, 407, 408, 410, "
			"413, 414, 421, 422, 425, 429, 431, 500, 501, 502, 503, 504 and 505: "
			"sends the content of a file, a whole HTTP response, instead of a "
			"built-in error response. If the file is empty the connection is closed "
			"without a response." },
	{ .name = "errorfiles",
		.dflt = "none",
		.sections = CFG_PROXIES,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_errorfiles,
		.syntax = "<section> [<code>...]",
		.doc = "Uses all or some of the error responses of a section 'http-errors'." },
	ERRORLOC("errorloc", 302,
		"Sends a redirect (302) instead of a built-in error response, as errorloc302 "
		"does.",
		.dflt = "built-in responses"),
	ERRORLOC("errorloc302", 302, "Sends a redirect (302) instead of a built-in error "
		"response.",
		.dflt = "built-in responses"),
	ERRORLOC("errorloc303", 303,
		"Sends a redirect (303, which changes the method to GET) instead of a built-in "
		"error response.",
		.dflt = "built-in responses"),
	{ 0 },
};

const struct cfg_module errors_cfg_module = {
	.name = "errors",
	.kws = errors_kws,
	.sections = sections,
};

/* --- http-errors ----------------------------------------------------------------------------- */

static int
take_hdr(struct cfg_ctx *ctx, int i, struct custom *c)
{
	struct str name = str_of(cfg_arg(ctx, i + 1)), value = str_of(cfg_arg(ctx, i + 2));

	if (i + 2 >= ctx->argc)
		return cfg_error(ctx, ctx->argc, "'http-error' : 'hdr' expects <name> and <fmt>.");
	if (!http_name_is_valid(name) || !http_value_is_valid(value))
		return cfg_error(ctx, http_name_is_valid(name) ? i + 2 : i + 1,
			"'http-error' : 'hdr' expects a valid name and value.");
	if (http_field_is_framing(http_field_id(name)) ||
		http_field_id(name) == HTTP_F_CONTENT_TYPE) {
		cfg_warn(ctx, i + 1, "header '%s' always ignored by the http reply.", name.p);
		return 0;
	}
	if (c->n == HTTP_REPLY_FIELDS - 2)
		return cfg_error(ctx, i, "'http-error' : more than %d headers.",
			HTTP_REPLY_FIELDS - 2);
	c->has_fmt |= strchr(value.p, '%') != NULL;
	c->field_arg[c->n] = i + 2;
	c->field[c->n++] = (struct http_field){ .name = name, .value = value };
	return 0;
}

/* The source of the reply; only one is allowed. word: ANSWER_DEFAULT or one behind it. Returns the
 * number of words used, or -1. */
static int
take_source(struct cfg_ctx *ctx, int i, int word, struct custom *c)
{
	if (c->source)
		return cfg_error(ctx, i,
			"'http-error' : '%s' cannot be combined with '%s'.", cfg_arg(ctx, i),
			cfg_arg(ctx, c->source));
	c->source = i;
	if (word == ANSWER_DEFAULT) {
		c->is_reset = 1;
		return 1;
	}
	if (i + 1 >= ctx->argc)
		return cfg_error(ctx, ctx->argc, "'http-error' : '%s' expects an argument.",
			cfg_arg(ctx, i));
	if (word == ANSWER_ERRORFILE)
		return errors_cfg_read(ctx, i + 1, &c->whole) ? -1 : 2;
	c->is_fmt = word == ANSWER_LF_FILE || word == ANSWER_LF_STRING;
	c->has_fmt |= c->is_fmt;
	if (word == ANSWER_ERRORFILES)
		c->group = cfg_arg(ctx, i + 1);
	else if (word == ANSWER_STRING || word == ANSWER_LF_STRING)
		c->body = str_of(cfg_arg(ctx, i + 1));
	else if (cfg_arg_file(ctx, i + 1, ERRORS_CFG_FILE_MAX, &c->file, &c->body.len))
		return -1;
	if (c->file)
		c->body.p = c->file;
	return 2;
}

static const struct cfg_enum http_error_words[] = {
	{ "status <code>", ANSWER_STATUS, "The status whose response this is; see errorfile for "
		"those that there are." },
	{ "default-errorfiles", ANSWER_DEFAULT, "The page of errorfile or errorfiles that would "
		"be sent otherwise." },
	ANSWER_WORDS,
	{ "hdr <name> <fmt>", ANSWER_HDR, "A header field; may be repeated." },
	{ 0 },
};

static int
take_type(struct cfg_ctx *ctx, int i, struct custom *c)
{
	c->type = i;
	if (!http_value_is_valid(str_of(cfg_arg(ctx, i))) || i >= ctx->argc)
		return cfg_error(ctx, i, "'http-error' : '%s' expects a type.",
			cfg_arg(ctx, i - 1));
	return 0;
}

/* The word of argument i. Returns the number of arguments used, or -1. */
static int
take_reply_word(struct cfg_ctx *ctx, int i, struct custom *c)
{
	const char *word = cfg_arg(ctx, i);
	const struct cfg_enum *e = cfg_enum_find(http_error_words, word, strlen(word));

	if (!e)
		return cfg_error(ctx, i, "'http-error' : unknown argument '%.40s'.", word);
	if (e->value == ANSWER_STATUS) {
		c->id = errors_cfg_status(ctx, i + 1);
		return c->id < 0 ? -1 : 2;
	}
	if (e->value == ANSWER_TYPE)
		return take_type(ctx, i + 1, c) ? -1 : 2;
	if (e->value == ANSWER_HDR)
		return take_hdr(ctx, i, c) ? -1 : 3;
	return take_source(ctx, i, e->value, c);
}

static int
take_words(struct cfg_ctx *ctx, struct custom *c)
{
	for (int i = 0, n; i < ctx->argc; i += n) {
		n = take_reply_word(ctx, i, c);
		if (n < 0)
			return -1;
	}
	return 0;
}

/* Content-Type requires a body, and vice versa. */
static int
check_type(struct cfg_ctx *ctx, struct custom *c)
{
	if (c->body.len && !c->type)
		return cfg_error(ctx, c->source,
			"'http-error' : a content type must be defined when non-empty payload is "
			"configured");
	if (c->type && !c->body.len) {
		cfg_warn(ctx, c->type,
			"content-type '%s' ignored by the http reply when used with an empty "
			"payload.",
			cfg_arg(ctx, c->type));
		c->type = 0;
	}
	return 0;
}

/* A page is sent unchanged. */
static void
warn_unused(struct cfg_ctx *ctx, const struct custom *c)
{
	if (c->n)
		cfg_warn(ctx, c->source,
			"'http-error' : 'hdr' has no effect on a page, which is sent as it is.");
	if (c->type)
		cfg_warn(ctx, c->type - 1,
			"'http-error' : 'content-type' has no effect without a payload.");
}

/* --- with formats --- */

static int
compile_error_fmt(struct cfg_ctx *ctx, int i, const char *text, struct rule_fmt **out)
{
	const struct proxies *ps = ctx->root;
	struct rule_err why = { 0 };

	if (rule_fmt_compile(&ps->vocab, text, 0, ERROR_PAGE_SCOPE, out, &why) == 0)
		return 0;
	return cfg_error(ctx, i, "'http-error' : %s (byte %zu of '%.60s').", why.text, why.at + 1,
		cfg_arg(ctx, i));
}

static int
fill_page(struct cfg_ctx *ctx, const struct custom *c, struct error_page *p)
{
	for (unsigned int i = 0; i < c->n; i++) {
		struct rule_fmt *value = NULL;

		if (compile_error_fmt(ctx, c->field_arg[i], c->field[i].value.p, &value) < 0)
			return -1;
		if (error_page_add_hdr(p, c->field[i].name.p, value) < 0)
			return cfg_nomem(ctx);
	}
	if (c->type && cfg_arg_dup(ctx, c->type, &p->type) < 0)
		return -1;
	if (!c->is_fmt) {
		/* The text may contain a NUL. */
		p->text = mem_alloc(c->body.len + 1);
		p->len = c->body.len;
		if (p->text && p->len)
			memcpy(p->text, c->body.p, p->len);
		return p->text ? 0 : cfg_nomem(ctx);
	}
	if (strlen(c->body.p) != c->body.len)
		return cfg_error(ctx, c->source + 1,
			"'http-error' : file '%s' contains a NUL byte.",
			cfg_arg(ctx, c->source + 1));
	return compile_error_fmt(ctx, c->source + 1, c->body.p, &p->fmt);
}

static int
add_page(struct cfg_ctx *ctx, const struct custom *c)
{
	enum http_error_id id = (enum http_error_id)c->id;
	struct error_page *p = error_page_new(http_error(id)->status);

	if (!p)
		return cfg_nomem(ctx);
	if (fill_page(ctx, c, p) < 0) {
		error_page_put(&p);
		return -1;
	}
	if (proxy_errors_add_page(errors_cfg_owner(ctx), id, p, cfg_arg_where(ctx, 0)) < 0)
		return cfg_nomem(ctx);
	return 0;
}

static int
make_custom(struct cfg_ctx *ctx, struct custom *c)
{
	struct http_reply *r = NULL;

	if (c->id < 0)
		return cfg_error(
			ctx, 0, "'http-error' : expects at least a <status> as arguments.");
	if (c->is_reset || c->group || c->whole)
		warn_unused(ctx, c);
	if (c->is_reset || c->group)
		return errors_cfg_add(ctx, 1u << c->id, NULL, c->group, c->source);
	if (c->whole) {
		r = http_reply_get(c->whole);
		return errors_cfg_add(ctx, 1u << c->id, r, NULL, c->source);
	}
	if (check_type(ctx, c))
		return -1;
	if (c->has_fmt)
		return add_page(ctx, c);
	if (c->type)
		c->field[c->n++] = (struct http_field){ .name = STR("Content-Type"),
			.value = str_of(cfg_arg(ctx, c->type)) };
	if (http_reply_new(http_error((enum http_error_id)c->id)->status, c->field, c->n, c->body,
		    &r) < 0)
		return cfg_nomem(ctx);
	return errors_cfg_add(ctx, 1u << c->id, r, NULL, 0);
}

static int
parse_http_error(struct cfg_ctx *ctx)
{
	struct custom c = { .id = -1 };
	int rc = take_words(ctx, &c);

	if (rc == 0)
		rc = make_custom(ctx, &c);
	http_reply_put(&c.whole);
	mem_free(c.file);
	return rc;
}

static const struct cfg_kw kws[] = {
	{ .name = "http-error",
		.dflt = "built-in responses",
		.values = http_error_words,
		.example = "http-error status 503 content-type text/html file "
			"/etc/tacit/sorry.html",
		.sections = CFG_PROXIES,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_http_error,
		.syntax = "status <code> [content-type <type>] [default-errorfiles | "
			  "errorfile <file> | errorfiles <section> | file <file> | "
			  "lf-file <file> | string <text> | lf-string <fmt>] "
			  "[hdr <name> <fmt>]...",
		.doc = "Sends this response instead of a built-in error response." },
	{ 0 },
};

const struct cfg_module http_error_cfg_module = { .name = "http-error", .kws = kws };
