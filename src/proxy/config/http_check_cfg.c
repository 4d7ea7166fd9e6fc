/* The keyword http-check. Main thread, while the configuration is read. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "http/head.h"
#include "proxy/config/check_cfg.h"
#include "proxy/config/check_rule_cfg.h"
#include "proxy/model/proxy.h"

/* --- send --- */

static int
take_request_method(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	return cfg_arg_dup(ctx, i, &r->u.send.method) ? -1 : 1;
}

static int
take_version(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	return cfg_arg_dup(ctx, i, &r->u.send.version) ? -1 : 1;
}

/* Content-Length is made from the body. */
static int
frames_body(const char *name)
{
	return str_is_nocase(str_of(name), STR("content-length")) ||
		str_is_nocase(str_of(name), STR("transfer-encoding"));
}

static int
has_host(const struct check_send *s)
{
	for (unsigned int i = 0; i < s->n_headers; i++)
		if (str_is_nocase(str_of(s->headers[i].name), STR("host")))
			return 1;
	return 0;
}

static int
take_send_header(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	struct check_send *s = &r->u.send;
	struct check_header h = { 0 }, *all;

	if (!http_name_is_valid(str_of(cfg_arg(ctx, i))))
		return cfg_error(ctx, i, "'%s' : '%.60s' cannot be the name of a header.",
			cfg_kw_name(ctx), cfg_arg(ctx, i));
	if (frames_body(cfg_arg(ctx, i)))
		return 2;
	if (str_is_nocase(str_of(cfg_arg(ctx, i)), STR("host")) && has_host(s))
		return cfg_error(ctx, i, "'%s' : there is a 'Host' header already.",
			cfg_kw_name(ctx));
	if (check_cfg_fmt(ctx, i + 1, 0, &h.value))
		return -1;
	all = mem_resize(s->headers, s->n_headers + 1, sizeof(*all));
	if (all)
		s->headers = all;
	h.name = all ? mem_strdup(cfg_arg(ctx, i)) : NULL;
	if (!h.name) {
		rule_fmt_free(&h.value);
		return cfg_nomem(ctx);
	}
	s->headers[s->n_headers++] = h;
	return 2;
}

enum {
	SEND_METH,
	SEND_URI,
	SEND_URI_LF,
	SEND_VER,
	SEND_HDR,
	SEND_BODY,
	SEND_BODY_LF,
	SEND_COMMENT
};

static const struct cfg_enum http_send_words[] = {
	{ "meth <method>", SEND_METH, "The method: OPTIONS if neither this line nor option "
		"httpchk has one." },
	{ "uri <uri>", SEND_URI, "The target; / if there is none." },
	{ "uri-lf <fmt>", SEND_URI_LF, "The target, by a format." },
	{ "ver <version>", SEND_VER, "HTTP/1.0, which counts if there is none, or HTTP/1.1." },
	{ "hdr <name> <fmt>", SEND_HDR, "A header field; may be repeated." },
	{ "body <text>", SEND_BODY, "A body." },
	{ "body-lf <fmt>", SEND_BODY_LF, "A body, by a format." },
	{ "comment <text>", SEND_COMMENT, "A comment, for the log." },
	{ 0 },
};

static int
parse_http_check_send(struct cfg_ctx *ctx)
{
	static const struct check_word rows[] = {
		[SEND_METH] = { 1, take_request_method, 0 },
		[SEND_URI] = { 1, check_cfg_text, offsetof(struct check_rule, u.send.uri) },
		[SEND_URI_LF] = { 1, check_cfg_text_fmt,
			offsetof(struct check_rule, u.send.uri) },
		[SEND_VER] = { 1, take_version, 0 },
		[SEND_HDR] = { 2, take_send_header, 0 },
		[SEND_BODY] = { 1, check_cfg_text, offsetof(struct check_rule, u.send.body) },
		[SEND_BODY_LF] = { 1, check_cfg_text_fmt,
			offsetof(struct check_rule, u.send.body) },
		[SEND_COMMENT] = { 1, check_cfg_comment, 0 },
	};
	struct check_rule *r = check_cfg_add(ctx, CHECK_RULE_SEND);

	if (!r)
		return -1;
	r->u.send.is_http = 1;
	return check_cfg_words(ctx, 0, http_send_words, rows, r);
}

/* --- expect --- */

#define STATUS_DIGITS 9

/* A number at *p. HAProxy accepts numbers that are no statuses, and so does this. */
static int
take_status(const char **p, unsigned int *out)
{
	unsigned int v = 0;
	int n = 0;

	for (; isdigit((unsigned char)**p) && n < STATUS_DIGITS; n++)
		v = v * 10 + (unsigned int)(*(*p)++ - '0');
	*out = v;
	return n == 0 || isdigit((unsigned char)**p) ? -1 : 0;
}

static int
add_range(struct check_expect *e, struct check_range range)
{
	struct check_range *all = mem_resize(e->ranges, e->n_ranges + 1, sizeof(*all));

	if (!all)
		return -1;
	e->ranges = all;
	e->ranges[e->n_ranges++] = range;
	return 0;
}

/* "200" or "300-310" at *p. */
static int
take_range(const char **p, struct check_range *range)
{
	if (take_status(p, &range->lo))
		return -1;
	range->hi = range->lo;
	if (**p != '-')
		return 0;
	++*p;
	return take_status(p, &range->hi) || range->hi < range->lo ? -1 : 0;
}

/* "200,300-310": empty elements are skipped. */
static int
take_statuses(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	const char *p = cfg_arg(ctx, i);
	struct check_range range;

	if (check_cfg_expect_match(ctx, i, r, CHECK_MATCH_STATUS))
		return -1;
	while (*p) {
		if (*p == ',') {
			p++;
			continue;
		}
		if (take_range(&p, &range) || (*p && *p != ','))
			return cfg_error(ctx, i,
				"'%s' : '%.60s' is not a list of statuses and ranges of them.",
				cfg_kw_name(ctx), cfg_arg(ctx, i));
		if (add_range(&r->u.expect, range))
			return cfg_nomem(ctx);
	}
	return check_cfg_text(ctx, i, r, offsetof(struct check_rule, u.expect.pattern.text));
}

static const struct cfg_enum header_methods[] = {
	{ "str", CHECK_METHOD_STR, "The whole text." },
	{ "beg", CHECK_METHOD_BEG, "Its beginning." },
	{ "end", CHECK_METHOD_END, "Its end." },
	{ "sub", CHECK_METHOD_SUB, "Any part of it." },
	{ "reg", CHECK_METHOD_REG, "A regular expression." },
	{ 0 },
};

static int
take_header_method(struct cfg_ctx *ctx, int i, enum check_match_method *out)
{
	int m;

	if (cfg_arg_enum(ctx, i, header_methods, &m))
		return -1;
	*out = (enum check_match_method)m;
	return 0;
}

/* [-m <method>] <pattern>: the number of arguments. */
static int
take_header_pattern(struct cfg_ctx *ctx, int i, int is_fmt, struct check_rule *r,
	struct check_pattern *p)
{
	int n = 0;

	if (strcmp(cfg_arg(ctx, i), "-m") == 0) {
		if (take_header_method(ctx, i + 1, &p->how))
			return -1;
		n = 2;
	}
	if (!*cfg_arg(ctx, i + n))
		return cfg_error(ctx, MIN(i + n, ctx->argc), "'%s' : '%s' expects a pattern.",
			cfg_kw_name(ctx), cfg_arg(ctx, i - 1));
	if (is_fmt && p->how == CHECK_METHOD_REG)
		return cfg_error(ctx, i - 1,
			"'%s' : a regular expression cannot be a format.", cfg_kw_name(ctx));
	if (is_fmt)
		return check_cfg_fmt(ctx, i + n, RULE_FMT_RAW, &p->text.fmt) ? -1 : n + 1;
	if (p->how == CHECK_METHOD_REG &&
		check_cfg_regex(ctx, i + n, p == &r->u.expect.pattern ? REGEX_NOCASE : 0,
			&p->regex))
		return -1;
	return check_cfg_text(ctx, i + n, r, (char *)&p->text - (char *)r) < 0 ? -1 : n + 1;
}

/* { name | name-lf } [-m <method>] <name> [{ value | value-lf } [-m <method>] <value>] */
static int
take_expected_header(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	struct check_expect *e = &r->u.expect;
	const char *word = cfg_arg(ctx, i);
	int n, m, is_fmt = strcmp(word, "name-lf") == 0;

	if (check_cfg_expect_match(ctx, i, r, (enum check_match)arg))
		return -1;
	if (!is_fmt && strcmp(word, "name") != 0)
		return cfg_error(ctx, i, "'%s' : '%s' expects 'name' or 'name-lf', not '%.40s'.",
			cfg_kw_name(ctx), cfg_arg(ctx, i - 1), word);
	n = take_header_pattern(ctx, i + 1, is_fmt, r, &e->pattern);
	if (n < 0)
		return -1;
	n++;
	word = cfg_arg(ctx, i + n);
	is_fmt = strcmp(word, "value-lf") == 0;
	if (!is_fmt && strcmp(word, "value") != 0)
		return n;
	e->has_value = 1;
	m = take_header_pattern(ctx, i + n + 1, is_fmt, r, &e->value);
	return m < 0 ? -1 : n + 1 + m;
}

enum {
	HTTP_STATUS = CHECK_EXPECT_OWN,
	HTTP_RSTATUS,
	HTTP_STRING,
	HTTP_STRING_LF,
	HTTP_RSTRING,
	HTTP_HDR,
	HTTP_FHDR
};

static const struct cfg_enum http_expect_words[] = {
	{ "status <list>", HTTP_STATUS, "The status is one of a list such as 200,300-399." },
	{ "rstatus <regex>", HTTP_RSTATUS, "The status matches." },
	{ "string <text>", HTTP_STRING, "The body contains the text." },
	{ "string-lf <fmt>", HTTP_STRING_LF, "The body contains the text that the format makes." },
	{ "rstring <regex>", HTTP_RSTRING, "The body matches." },
	{ "hdr {name | name-lf} [-m <method>] <name> [{value | value-lf} [-m <method>] <value>]",
		HTTP_HDR, "There is such a header field, and one of its values, which commas "
		"separate, is as given. The methods are str, beg, end, sub and reg; it is str if "
		"none is given." },
	{ "fhdr {name | name-lf} [-m <method>] <name> [{value | value-lf} [-m <method>] <value>]",
		HTTP_FHDR, "As hdr, but the value is compared as a whole." },
	CHECK_EXPECT_NAMES,
	{ 0 },
};

static int
parse_http_check_expect(struct cfg_ctx *ctx)
{
	static const struct check_word rows[] = {
		CHECK_EXPECT_ROWS,
		[HTTP_STATUS] = { 1, take_statuses, 0 },
		[HTTP_RSTATUS] = { 1, check_cfg_expect_regex, CHECK_MATCH_RSTATUS },
		[HTTP_STRING] = { 1, check_cfg_expect_text, CHECK_MATCH_STRING },
		[HTTP_STRING_LF] = { 1, check_cfg_expect_text_fmt, CHECK_MATCH_STRING },
		[HTTP_RSTRING] = { 1, check_cfg_expect_regex, CHECK_MATCH_RSTRING },
		[HTTP_HDR] = { 1, take_expected_header, CHECK_MATCH_HDR },
		[HTTP_FHDR] = { 1, take_expected_header, CHECK_MATCH_FHDR },
	};

	return check_cfg_parse_expect(ctx, http_expect_words, rows, 1);
}

/* --- settings --- */

static int
parse_http_check_flag(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	*((uint8_t *)&p->check + ctx->kw->arg) = 1;
	return 0;
}

static const struct cfg_kw kws[] = {
	CHECK_RULE_KWS("http-check"),
	{ .name = "http-check disable-on-404",
		.sections = CFG_BE,
		.parse = parse_http_check_flag,
		.arg = offsetof(struct check_conf, disable_on_404),
		.doc = "A response with status 404 stops new sessions of the server, but not those "
		       "with a persistence cookie." },
	{ .name = "http-check expect",
		.dflt = "a status from 200 to 399",
		.values = http_expect_words,
		.example = "http-check expect status 200-299\n"
			"http-check expect ! rstring \"(?i)error\"",
		.sections = CFG_BE,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_http_check_expect,
		.syntax = "[<option>...] [!] <match> <pattern>",
		.doc = "A condition that the response has to meet." },
	{ .name = "http-check send",
		.dflt = "the request of option httpchk",
		.values = http_send_words,
		.sections = CFG_BE,
		.max = CFG_ANY,
		.parse = parse_http_check_send,
		.syntax = "[meth <method>] [{uri <uri> | uri-lf <fmt>}] [ver <version>] "
			  "[hdr <name> <fmt>]... [{body <text> | body-lf <fmt>}] [comment <text>]",
		.doc = "Sends a request; option httpchk sets what is not given." },
	{ .name = "http-check send-state",
		.sections = CFG_BE,
		.parse = parse_http_check_flag,
		.arg = offsetof(struct check_conf, send_state),
		.doc = "Adds the header X-Haproxy-Server-State to the requests." },
	{ 0 },
};

const struct cfg_module http_check_cfg_module = { .name = "http-check", .kws = kws };
