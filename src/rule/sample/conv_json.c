/* The converter json (manual 7.3.1): text that may stand in a JSON string (RFC 8259, 7). */
#include "rule/sample/conv.h"

enum { JSON_ASCII, JSON_UTF8, JSON_SILENT = 2, JSON_PERMISSIVE = 4 };

static int
init_json(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	static const struct {
		struct str name;
		intptr_t kind;
	} codes[] = {
		{ { "ascii", 5 }, JSON_ASCII },
		{ { "utf8", 4 }, JSON_UTF8 },
		{ { "utf8s", 5 }, JSON_UTF8 | JSON_SILENT },
		{ { "utf8p", 5 }, JSON_UTF8 | JSON_PERMISSIVE },
		{ { "utf8ps", 6 }, JSON_UTF8 | JSON_PERMISSIVE | JSON_SILENT },
	};

	*why = "the input is ascii, utf8, utf8s, utf8p or utf8ps";
	if (a->arg[0].type == ARG_END)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		if (!str_is(codes[i].name, a->arg[0].text))
			continue;
		a->kind = codes[i].kind;
		return 0;
	}
	return -1;
}

/*
 * Parses one UTF-8 character (RFC 3629, 3) at the beginning of t; returns its length. *bad:
 * invalid, or not representable as "\uXXXX"; `permissive` accepts overlong forms.
 */
static size_t
decode_utf8(struct str t, int permissive, uint32_t *out, int *bad)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char c = (unsigned char)t.p[0];
	size_t len = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;
	uint32_t v = len > 1 ? c & (0x7fu >> len) : c;
	size_t i = 1;

	*bad = 1;
	if (len == 0)
		return 1;
	for (; i < len && i < t.len && ((unsigned char)t.p[i] & 0xc0) == 0x80; i++)
		v = v << 6 | ((unsigned char)t.p[i] & 0x3f);
	*out = v;
	*bad = i < len || (v < least[len] && !permissive) || v > 0xffff ||
		(v >= 0xd800 && v < 0xe000);
	return i;
}

static char *
escape_json(char *p, uint32_t c)
{
	static const char hex[] = "0123456789abcdef", after[] = "bfnrt\"\\/",
			  plain[] = "\b\f\n\r\t\"\\/";
	const char *at = c > 0 && c < 0x80 ? strchr(plain, (int)c) : NULL;

	if (!at && c >= 0x20 && c < 0x7f) {
		*p++ = (char)c;
		return p;
	}
	*p++ = '\\';
	if (at) {
		*p++ = after[at - plain];
		return p;
	}
	*p++ = 'u';
	for (int shift = 12; shift >= 0; shift -= 4)
		*p++ = hex[c >> shift & 15];
	return p;
}

#define ESCAPED_MAX 6 /* "\u0000" */

static int
conv_json(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str t = s->u.str;
	size_t max = arena_value_max(cx->arena), most = MIN(t.len, max + 1) * ESCAPED_MAX;
	char *start = arena_get(cx->arena, MIN(most, max + ESCAPED_MAX)), *p = start;

	while (p && t.len > 0) {
		uint32_t c = (unsigned char)t.p[0];
		int bad = 0;
		size_t n = 1;

		if ((size_t)(p - start) > max)
			return conv_too_long(cx);
		if (a->kind & JSON_UTF8)
			n = decode_utf8(t, (a->kind & JSON_PERMISSIVE) != 0, &c, &bad);
		if (bad && !(a->kind & JSON_SILENT))
			return 0;
		if (!bad)
			p = escape_json(p, c);
		t = (struct str){ t.p + n, t.len - n };
	}
	return conv_text(cx, s, start, (size_t)(p - start));
}

const struct rule_conv rule_json_convs[] = {
	{ .name = "json",
		.arg = { ARG_ENUM },
		.in = SAMPLE_STR,
		.out = SAMPLE_STR,
		.conv = conv_json,
		.init = init_json,
		.syntax = "[ascii|utf8|utf8s|utf8p|utf8ps]",
		.doc = "Escapes a string for JSON. With utf8 the result is absent if the input is "
			"no UTF-8 or has code points above U+FFFF; s leaves such bytes out, p "
			"accepts overlong forms." },
	{ .name = NULL },
};
