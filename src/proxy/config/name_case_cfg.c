/* Names whose case is adjusted. Main thread, while the configuration is read. */
#include "proxy/config/name_case_cfg.h"

#include "base/err.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/model/proxies.h"

/* Bytes of a file. */
#define CASE_FILE_MAX 1048576

static int
has_upper_case(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (str_lower(s.p[i]) != s.p[i])
			return 1;
	return 0;
}

/* in: behind the argument, for messages: "", or the place in a file. */
static int
add_adjusted(struct cfg_ctx *ctx, struct str from, struct str to, int is_of_file, const char *in)
{
	struct proxies *ps = ctx->root;
	int rc;

	if (!str_is_nocase(from, to))
		return cfg_error(ctx, 0, "'%s' : <from> and <to> must not differ except in case%s.",
			cfg_kw_name(ctx), in);
	/* HAProxy accepts it and never finds it among its names, which are in lower case. */
	if (has_upper_case(from)) {
		cfg_warn(ctx, 0, "'%s' : '%.*s' has no effect: <from> must be in lower case%s.",
			cfg_kw_name(ctx), (int)from.len, from.p, in);
		return 0;
	}
	rc = name_case_add(&ps->name_case, to, is_of_file);
	if (rc == -ERR_EXISTS)
		return cfg_error(ctx, 0, "'%s' : duplicate entry '%.*s'%s.", cfg_kw_name(ctx),
			(int)from.len, from.p, in);
	return rc < 0 ? cfg_nomem(ctx) : 0;
}

static int
parse_adjust(struct cfg_ctx *ctx)
{
	return add_adjusted(ctx, str_of(cfg_arg(ctx, 0)), str_of(cfg_arg(ctx, 1)), 0, "");
}

/* The text up to the end or the separator; *rest is what follows it. */
static struct str
cut_text(struct str *rest, const char *separators)
{
	struct str part = { rest->p, 0 };

	while (part.len < rest->len && !strchr(separators, rest->p[part.len]))
		part.len++;
	rest->p += part.len + (part.len < rest->len);
	rest->len -= part.len + (part.len < rest->len);
	return part;
}

static int
add_adjusted_line(struct cfg_ctx *ctx, struct str line, unsigned int number)
{
	char in[40];
	struct str from;

	if (line.len && line.p[line.len - 1] == '\r')
		line.len--;
	line = str_trim(line);
	if (!line.len || *line.p == '#')
		return 0;
	(void)snprintf(in, sizeof(in), " (line %u of the file)", number);
	from = cut_text(&line, " \t");
	line = str_trim(line);
	if (!line.len)
		return cfg_error(ctx, 0, "'%s' : <to> is missing%s.", cfg_kw_name(ctx), in);
	return add_adjusted(ctx, from, line, 1, in);
}

/* The last file replaces those before it. */
static int
parse_adjust_file(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct str rest;
	char *text;
	size_t len;
	int rc = 0;

	if (cfg_arg_file(ctx, 0, CASE_FILE_MAX, &text, &len))
		return -1;
	name_case_drop_file(&ps->name_case);
	rest = (struct str){ text, len };
	for (unsigned int number = 1; rc == 0 && rest.len; number++)
		rc = add_adjusted_line(ctx, cut_text(&rest, "\n"), number);
	mem_free(text);
	return rc;
}

static const struct cfg_kw kws[] = {
	{ .name = "h1-case-adjust",
		.dflt = "none",
		.sections = CFG_GLOBAL,
		.min = 2,
		.max = 2,
		.parse = parse_adjust,
		.syntax = "<from> <to>",
		.doc = "The name of a header, in lower case, and how it is written to clients and "
			"servers for which a proxy has option h1-case-adjust-bogus-client or "
			"h1-case-adjust-bogus-server. Other names are sent as they were received; "
			"HAProxy sends them in lower case. Trailers are not changed." },
	{ .name = "h1-case-adjust-file",
		.dflt = "none",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_adjust_file,
		.syntax = "<file>",
		.doc = "Reads pairs of names as those of h1-case-adjust from a file, one in "
			"each line; lines that begin with # are comments. The last of several "
			"files applies." },
	{ 0 },
};

const struct cfg_module name_case_cfg_module = { .name = "case of headers", .kws = kws };
