/* Parses the arguments of fetches and converters. Main thread, while the configuration is
 * read; an argument that has to wait for the whole configuration is noted for the check. */
#include "rule/sample/args.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

int
rule_fail(struct rule_err *why, size_t at, int reason, const char *fmt, ...)
{
	va_list ap;

	why->at = at;
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return reason;
}

/* --- the text of one argument --- */

/* The meaning of an escaped character; 0: itself. */
static char
unescape_char(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	case ' ':
	case '\\':
	case '\'':
	case '"':
		return c;
	default:
		return 0;
	}
}

/*
 * Reads one argument from text[at] on, up to an unquoted ',' or ')'. out: room for the rest of the
 * text, or NULL. Returns its end; text.len: no end; *quote: position of an unclosed quote.
 */
static size_t
scan_arg(struct str text, size_t at, char *out, size_t *len, size_t *quote)
{
	char in = 0;
	size_t n = 0;

	*quote = 0;
	for (; at < text.len; at++) {
		char c = text.p[at], e = 0;

		if (in ? c == in : c == '"' || c == '\'') {
			in = in ? 0 : c;
			*quote = at;
			continue;
		}
		if (!in && (c == ',' || c == ')'))
			break;
		if (c == '\\' && in != '\'' && at + 1 < text.len)
			e = unescape_char(text.p[at + 1]);
		if (e) {
			c = e;
			at++;
		}
		if (out)
			out[n] = c;
		n++;
	}
	*len = n;
	if (!in)
		*quote = 0;
	return at;
}

size_t
rule_args_place(struct str text, size_t open, unsigned int i)
{
	size_t at = open + 1, len, quote;

	for (; i > 0 && at < text.len; i--) {
		at = scan_arg(text, at, NULL, &len, &quote);
		if (at < text.len && text.p[at] == ')')
			return at;
		at++;
	}
	return MIN(at, text.len);
}

/* --- its type --- */

static const char *
arg_type_name(enum rule_arg_type t)
{
	switch (t) {
	case ARG_INT:
		return "an integer";
	case ARG_IPV4:
		return "an IPv4 address";
	case ARG_IPV6:
		return "an IPv6 address";
	case ARG_IPMASK4:
		return "an IPv4 mask";
	case ARG_IPMASK6:
		return "an IPv6 mask";
	case ARG_VAR:
		return "a variable";
	case ARG_INTVAR:
		return "an integer or a variable";
	case ARG_REGEX:
		return "a regular expression";
	case ARG_MAP:
		return "a map file";
	case ARG_FRONTEND:
		return "a frontend";
	case ARG_BACKEND:
	case ARG_TABLE:
		return "a backend";
	case ARG_SERVER:
		return "a server";
	case ARG_STRVAR:
	case ARG_ENUM:
	case ARG_STR:
	case ARG_END:
		break;
	}
	return "a string";
}

/* 0; -1: invalid; -2: out of range. */
static int
parse_int(struct str t, int64_t *out)
{
	size_t i = t.len > 0 && (t.p[0] == '-' || t.p[0] == '+');
	int64_t v = 0;

	if (i == t.len)
		return -1;
	for (size_t k = i; k < t.len; k++) {
		if (t.p[k] < '0' || t.p[k] > '9')
			return -1;
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_sub_overflow(v, t.p[k] - '0', &v))
			return -2;
	}
	if (t.p[0] != '-' && v == INT64_MIN)
		return -2;
	*out = t.p[0] == '-' ? v : -v;
	return 0;
}

/* "24" or "255.255.255.0" as a mask of `bits` bits. */
static int
parse_arg_mask(const struct rule_arg *a, int family, int bits, void *out)
{
	unsigned char *p = out;
	int64_t n;
	int r = parse_int(a->text, &n);

	if (r == -1)
		return inet_pton(family, a->text.p, out) == 1 ? 0 : -1;
	if (r || n < 0 || n > bits)
		return -2;
	for (int i = 0; i < bits / 8; i++, n -= 8)
		p[i] = (unsigned char)(n >= 8 ? 0xff : n > 0 ? 0xff00 >> n : 0);
	return 0;
}

/* 0, -1: wrong type, -2: out of range, -3 with *why. */
static int
set_type(struct rule_arg *a, enum rule_arg_type t, const char **why)
{
	int r = 0;

	a->type = t;
	if (t == ARG_INTVAR || t == ARG_STRVAR) {
		if (var_name_parse(a->text, &a->u.var, why) == 0) {
			a->type = ARG_VAR;
			return 0;
		}
		a->type = t == ARG_INTVAR ? ARG_INT : ARG_STR;
		return t == ARG_INTVAR ? parse_int(a->text, &a->num) : 0;
	}
	if (t == ARG_INT)
		r = parse_int(a->text, &a->num);
	else if (t == ARG_IPV4)
		r = inet_pton(AF_INET, a->text.p, &a->u.ipv4) == 1 ? 0 : -1;
	else if (t == ARG_IPV6)
		r = inet_pton(AF_INET6, a->text.p, &a->u.ipv6) == 1 ? 0 : -1;
	else if (t == ARG_IPMASK4)
		r = parse_arg_mask(a, AF_INET, 32, &a->u.ipv4);
	else if (t == ARG_IPMASK6)
		r = parse_arg_mask(a, AF_INET6, 128, &a->u.ipv6);
	else if (t == ARG_VAR)
		r = var_name_parse(a->text, &a->u.var, why) ? -3 : 0;
	return r;
}

/* --- the list --- */

struct list_at_work {
	const enum rule_arg_type *types;
	unsigned int min;
	const char *what;
	struct str text;
	struct rule_args *out;
	struct rule_err *why;
};

static int
parse_one(struct list_at_work *w, unsigned int i, size_t at, size_t *end)
{
	struct rule_arg *a = &w->out->arg[i];
	const char *why = NULL;
	size_t len, quote;
	char *p = mem_alloc(w->text.len - at + 1);

	if (!p)
		return rule_fail(w->why, at, -ERR_NOMEM, "%s", err_text(-ERR_NOMEM));
	*end = scan_arg(w->text, at, p, &len, &quote);
	p[len] = '\0';
	a->text = (struct str){ p, len };
	if (quote)
		return rule_fail(w->why, quote, -ERR_SYNTAX, "this quote is not closed");
	if (*end == w->text.len)
		return rule_fail(w->why, *end, -ERR_SYNTAX, "')' is missing behind the arguments "
							    "of '%s'", w->what);
	if (strlen(p) != len)
		return rule_fail(w->why, at, -ERR_INVAL, "an argument cannot hold a NUL");
	if (len == 0 && w->types[i] != ARG_STR && w->types[i] != ARG_STRVAR) {
		if (i < w->min)
			return rule_fail(w->why, at, -ERR_MISSING,
				"'%s' needs %s as argument %u", w->what, arg_type_name(w->types[i]),
				i + 1);
		return 0;
	}
	switch (set_type(a, w->types[i], &why)) {
	case -1:
		return rule_fail(w->why, at, -ERR_INVAL, "'%s' is not %s", p,
			arg_type_name(w->types[i]));
	case -2:
		return rule_fail(w->why, at, -ERR_RANGE, "'%s' is out of range", p);
	case -3:
		return rule_fail(w->why, at, -ERR_INVAL, "'%s': %s", p, why);
	}
	return 0;
}

static unsigned int
count_types(const enum rule_arg_type *types)
{
	unsigned int n = 0;

	while (n < RULE_ARGS_MAX && types[n] != ARG_END)
		n++;
	return n;
}

size_t
rule_args_size(const enum rule_arg_type *types)
{
	unsigned int n = MAX(count_types(types), RULE_ARGS_LEAST);

	return offsetof(struct rule_args, arg) + n * sizeof(struct rule_arg);
}

static int
parse_list(struct list_at_work *w, size_t *at, unsigned int max)
{
	size_t open = *at, i = open + 1;
	unsigned int n = 0;
	int r;

	/* "()" is one empty text if a text is required, else no argument */
	if (i < w->text.len && w->text.p[i] == ')' && (w->min == 0 || w->types[0] != ARG_STR)) {
		*at = i + 1;
		return 0;
	}
	for (;;) {
		if (n == max && max == 0)
			return rule_fail(w->why, i, -ERR_SYNTAX, "'%s' takes no argument",
				w->what);
		if (n == max)
			return rule_fail(w->why, i, -ERR_SYNTAX,
				"'%s' takes no more than %u argument%s", w->what, max,
				max == 1 ? "" : "s");
		r = parse_one(w, n++, i, &i);
		if (r)
			return r;
		w->out->n = n;
		if (w->text.p[i++] == ')')
			break;
	}
	*at = i;
	return 0;
}

int
rule_args_parse(const enum rule_arg_type *types, unsigned int min, const char *what,
	struct str text, size_t *at, struct rule_args *out, struct rule_err *why)
{
	struct list_at_work w = { types, min, what, text, out, why };
	size_t open = *at;
	int r;

	memset(out, 0, sizeof(*out));
	if (open < text.len && text.p[open] == '(') {
		r = parse_list(&w, at, count_types(types));
		if (r)
			return r;
	}
	if (out->n < min)
		return rule_fail(why, *at > open ? *at - 1 : open, -ERR_MISSING,
			"'%s' needs %s as argument %u", what, arg_type_name(types[out->n]),
			out->n + 1);
	return 0;
}
