/* Action redirect, and the keyword that came before it (manual 4.2, "redirect"). */
#include <string.h>

#include "base/mem.h"
#include "http/head.h"
#include "http/uri.h"
#include "rule/action/act.h"
#include "rule/action/answer.h"

/* The words of the line; those of the first row name the place. */
enum { LOCATION = 1, PREFIX, SCHEME,
	CODE, SET_COOKIE, CLEAR_COOKIE,
	DROP_QUERY, APPEND_SLASH, IGNORE_EMPTY };

#define BIT(word) (1 << (word))
#define CODES(X, between) X(301) between X(302) between X(303) between X(307) between X(308)
#define AS_TEXT(code) #code
#define AS_CASE(code) case code:

static const struct cfg_enum redirect_words[] = {
	{ "location <fmt>", LOCATION, "Redirects to this URL." },
	{ "prefix <fmt>", PREFIX,
		"Redirects to this text, with the path and the query of the "
		"request behind it." },
	{ "scheme <fmt>", SCHEME,
		"Redirects to the host, path and query of the request, with this "
		"scheme, such as https." },
	{ "code <code>", CODE, "One of " CODES(AS_TEXT, ", ") "; it is 302 if it is not given." },
	{ "drop-query", DROP_QUERY, "With prefix and scheme: without the query." },
	{ "append-slash", APPEND_SLASH, "With prefix and scheme: the path ends with a slash." },
	{ "ignore-empty", IGNORE_EMPTY,
		"If the text is empty, the rules that follow are evaluated." },
	{ "set-cookie <name>[=<value>]", SET_COOKIE, "Sets a cookie, with the path /." },
	{ "clear-cookie <name>[=]", CLEAR_COOKIE, "Deletes this cookie." },
	{ 0 },
};

/* The rule's num[] and texts. */
enum { AT_KIND, AT_CODE, AT_OPTIONS };
enum { COOKIE };

/* --- reading -------------------------------------------------------------------------------- */

/* The text is a format in rules, and plain text in the keyword `redirect`. */
static int
parse_location(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, int literal)
{
	struct sbuf b;
	struct rule_err why = { 0 };
	int rc = -1;

	if (!act_is_value(str_of(cfg_arg(ctx, arg))))
		return cfg_error(ctx, arg,
			"'redirect' : control characters are not allowed in a header.");
	if (!literal)
		return act_fmt(r, v, ctx, arg, at, &r->fmt[0]);
	sbuf_init(&b, 0);
	for (const char *p = cfg_arg(ctx, arg); *p; p++) {
		if (*p == '%')
			sbuf_addc(&b, '%');
		sbuf_addc(&b, *p);
	}
	rule_fmt_free(&r->fmt[0]);
	if (!b.failed)
		rc = rule_fmt_compile(v, b.p ? b.p : "", 0, at, &r->fmt[0], &why);
	sbuf_fini(&b);
	return rc < 0 ? cfg_nomem(ctx) : 0;
}

static int
parse_code(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	int code;

	if (cfg_arg_int(ctx, arg, 301, 308, &code) < 0)
		return -1;
	switch (code) {
		CODES(AS_CASE, )
		r->num[AT_CODE] = code;
		return 0;
	}
	return cfg_error(ctx, arg, "'redirect' : the code is one of " CODES(AS_TEXT, ", ") ".");
}

/* Browsers distinguish "A=" from "A": clearing only adds an age to the name. */
static int
parse_set_cookie(struct rule *r, struct cfg_ctx *ctx, int arg, int clears)
{
	const char *text = cfg_arg(ctx, arg);
	struct sbuf b;

	if (!*text || !act_is_value(str_of(text)) || strchr(text, ';'))
		return cfg_error(ctx, arg, "'redirect' : '%s' cannot be a cookie.", text);
	sbuf_init(&b, 0);
	sbuf_addf(&b, "%s; path=/;%s", text, clears ? " Max-Age=0;" : "");
	mem_free((char *)(uintptr_t)r->text[COOKIE].p);
	r->text[COOKIE] = (struct str){ b.failed ? NULL : b.p, b.failed ? 0 : b.len };
	if (b.failed) {
		sbuf_fini(&b);
		return cfg_nomem(ctx);
	}
	return 0;
}

/* Parses a word with an argument. */
static int
parse_pair(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, int literal)
{
	int word = cfg_arg_word(ctx, arg, redirect_words);
	const char *text = cfg_arg(ctx, arg);

	if (word < 0)
		return cfg_error(ctx, arg,
			"'redirect' expects 'location', 'prefix', 'scheme', 'code', 'set-cookie', "
			"'clear-cookie', 'drop-query', 'append-slash' or 'ignore-empty', not '%s'.",
			text);
	if (arg + 1 >= ctx->argc)
		return cfg_error(ctx, arg, "'redirect' : '%s' expects an argument.", text);
	if (word == CODE)
		return parse_code(r, ctx, arg + 1);
	if (word == SET_COOKIE || word == CLEAR_COOKIE)
		return parse_set_cookie(r, ctx, arg + 1, word == CLEAR_COOKIE);
	if (word != LOCATION && r->place != RULE_HTTP_REQUEST)
		return cfg_error(ctx, arg,
			"'redirect' : '%s' needs the request, which is not available here; use "
			"'location'.", text);
	r->num[AT_KIND] = word;
	return parse_location(r, v, ctx, arg + 1, at, literal);
}

static int
parse_words(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, int literal)
{
	r->num[AT_CODE] = 302;
	for (; arg < ctx->argc && !act_is(ctx, arg, "if") && !act_is(ctx, arg, "unless");) {
		int word = cfg_arg_word(ctx, arg, redirect_words);
		int option = word >= DROP_QUERY;

		r->num[AT_OPTIONS] |= option ? BIT(word) : 0;
		if (!option && parse_pair(r, v, ctx, arg, at, literal) < 0)
			return -1;
		arg += option ? 1 : 2;
	}
	if (!r->num[AT_KIND])
		return cfg_error(ctx, arg, "'redirect' expects 'location', 'prefix' or 'scheme'.");
	return arg;
}

static int
parse_redirect(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	return parse_words(r, v, ctx, arg, at, 0);
}

static int
parse_keyword(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	return parse_words(r, v, ctx, arg, at, 1);
}

/* --- running -------------------------------------------------------------------------------- */

static void
add_path(const struct rule *r, const struct http_head *req, struct sbuf *b)
{
	int64_t options = r->num[AT_OPTIONS];
	struct http_uri u;

	http_uri_split(req->target, &u);
	if (!u.path.p || u.path.len == 0)
		u.path = STR("/");
	sbuf_add(b, u.path.p, u.path.len);
	if ((options & BIT(APPEND_SLASH)) && u.path.p[u.path.len - 1] != '/')
		sbuf_addc(b, '/');
	if (!(options & BIT(DROP_QUERY)) && u.query.p) {
		sbuf_addc(b, '?');
		sbuf_add(b, u.query.p, u.query.len);
	}
}

static void
add_host(const struct http_head *req, struct sbuf *b)
{
	int i = http_find_id(req, HTTP_F_HOST, 0);

	if (i >= 0)
		sbuf_add(b, req->field[i].value.p, req->field[i].value.len);
}

static void
add_location(const struct rule *r, const struct http_head *req, struct str text, struct sbuf *b)
{
	if (r->num[AT_KIND] == SCHEME) {
		sbuf_add(b, text.p, text.len);
		sbuf_adds(b, "://");
		if (req)
			add_host(req, b);
	} else if (r->num[AT_KIND] == LOCATION || !str_is(text, STR("/"))) {
		sbuf_add(b, text.p, text.len);
	}
	if (r->num[AT_KIND] != LOCATION && req)
		add_path(r, req, b);
}

/* 0, or -1: the result is too long or invalid. */
static int
make_location(const struct rule *r, struct sample_ctx *cx, struct str text, struct str *out)
{
	struct arena *a = cx->arena;
	struct sbuf b;

	if (a->used == a->cap)
		return -1;
	sbuf_init_fixed(&b, a->p + a->used, a->cap - a->used);
	add_location(r, cx->req, text, &b);
	*out = (struct str){ b.p, b.len };
	if (b.failed)
		a->refused++;
	else
		a->used += b.len;
	return b.failed || !act_is_value(*out) ? -1 : 0;
}

static int
make_answer(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *v, struct str where)
{
	unsigned int code = (unsigned int)r->num[AT_CODE];

	answer_begin(v, code);
	if (answer_length(cx, v) < 0 || answer_field(v, STR("Location"), where) < 0)
		return -1;
	/* These are not kept, as in HAProxy. */
	if ((code == 302 || code == 303 || code == 307) &&
		answer_field(v, STR("Cache-Control"), STR("no-cache")) < 0)
		return -1;
	return r->text[COOKIE].p ? answer_field(v, STR("Set-Cookie"), r->text[COOKIE]) : 0;
}

static enum rule_result
run_redirect(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct str text, where;
	int rc = act_write(r->fmt[0], cx, &text);

	if (rc == 0 && text.len == 0 && (r->num[AT_OPTIONS] & BIT(IGNORE_EMPTY)))
		return RULE_CONT;
	if (rc < 0 || make_location(r, cx, text, &where) < 0 || make_answer(r, cx, out, where) < 0)
		return answer_failed(out);
	out->what = RULE_END_REPLY;
	return RULE_FINAL;
}

#define SYNTAX                                                                              \
	"location|prefix|scheme <text> [code <code>] [drop-query] [append-slash] "          \
	"[ignore-empty] [set-cookie <name>[=<value>]] [clear-cookie <name>[=]]"

const struct rule_action rule_redirect_actions[] = {
	{ .name = "redirect",
		.values = redirect_words,
		.example = "http-request redirect scheme https code 301 unless { ssl_fc }\n"
			"http-request redirect prefix https://www.example.org if { req.hdr(host) "
			"-i example.org }",
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.parse = parse_redirect,
		.ends = 1,
		.run = run_redirect,
		.syntax = SYNTAX,
		.doc = "Sends a redirect; the text is a format. In http-response only location "
			"is allowed." },
	{ 0 },
};

const struct rule_action rule_redirect_keyword = {
	.name = "redirect",
	.places = RULE_IN(HTTP_REQUEST),
	.parse = parse_keyword,
	.ends = 1,
	.run = run_redirect,
	.syntax = SYNTAX,
};
