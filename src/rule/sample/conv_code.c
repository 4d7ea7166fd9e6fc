/* Converters between bytes and their notations (manual 7.3.1). */
#include <stdio.h>

#include "base/str.h"
#include "rule/sample/conv.h"

static char *
put_hex(char *p, unsigned char c)
{
	static const char digits[] = "0123456789ABCDEF";

	*p++ = digits[c >> 4];
	*p++ = digits[c & 15];
	return p;
}

/* --- base64: RFC 4648, 4 and 5 --- */

enum { PLAIN, FOR_URLS };

static int
conv_base64(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	static const char *const alphabet[] = {
		[PLAIN] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
		[FOR_URLS] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
	};
	struct str t = s->u.str;
	const char *set = alphabet[a->kind];
	size_t n = 0;
	char *p = t.len < SIZE_MAX / 2 ? arena_get(cx->arena, (t.len + 2) / 3 * 4) : NULL;

	for (size_t i = 0; p && i < t.len; i += 3) {
		size_t left = MIN(t.len - i, (size_t)3);
		unsigned int v = 0;

		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (k < left ? (unsigned char)t.p[i + k] : 0);
		for (size_t k = 0; k <= left; k++)
			p[n++] = set[v >> (18 - 6 * k) & 63];
		for (size_t k = left; k < 3 && a->kind == PLAIN; k++)
			p[n++] = '=';
	}
	return conv_text(cx, s, p, n);
}

static int
base64_value(char c, int kind)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == (kind == PLAIN ? '+' : '-'))
		return 62;
	return c == (kind == PLAIN ? '/' : '_') ? 63 : -1;
}

/* Strict: padding only at the end, and none for URLs. */
static long
base64_decode(struct str t, int kind, char *out)
{
	unsigned int v = 0, bits = 0;
	long n = 0;

	if (kind == PLAIN) {
		if (t.len % 4)
			return -1;
		for (int i = 0; i < 2 && t.len > 0 && t.p[t.len - 1] == '='; i++)
			t.len--;
	}
	if (t.len % 4 == 1)
		return -1;
	for (size_t i = 0; i < t.len; i++) {
		int x = base64_value(t.p[i], kind);

		if (x < 0)
			return -1;
		v = v << 6 | (unsigned int)x;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[n++] = (char)(v >> bits);
		}
	}
	return n;
}

long
code_b64_decode(struct str text, char *out)
{
	return base64_decode(text, PLAIN, out);
}

long
code_b64url_decode(struct str text, char *out)
{
	return base64_decode(text, FOR_URLS, out);
}

static int
conv_b64dec(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	char *p = arena_get(cx->arena, CODE_B64_ROOM(s->u.str.len));
	long n = p ? base64_decode(s->u.str, (int)a->kind, p) : -1;

	return n >= 0 && conv_bytes(cx, s, p, (size_t)n);
}

/* --- hexadecimal and decimal numbers --- */

static int
conv_hex(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	struct str t = s->u.str;
	char *start = t.len < SIZE_MAX / 2 ? arena_get(cx->arena, t.len * 2) : NULL, *p = start;

	for (size_t i = 0; p && i < t.len; i++)
		p = put_hex(p, (unsigned char)t.p[i]);
	return conv_text(cx, s, start, t.len * 2);
}

/* Converts hexadecimal digits. With more than 16 digits the last ones count. */
static int
conv_hex2i(const struct rule_args *a unused, struct sample_ctx *cx unused, struct sample *s)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s->u.str.len; i++) {
		int d = str_hex_digit(s->u.str.p[i]);

		if (d < 0)
			return 0;
		v = v << 4 | (unsigned int)d;
	}
	sample_set_int(s, (int64_t)v);
	return 1;
}

static int
conv_htonl(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	char *p = arena_get(cx->arena, 4);

	for (unsigned int i = 0; p && i < 4; i++)
		p[i] = (char)((uint64_t)s->u.sint >> (24 - 8 * i));
	return conv_bytes(cx, s, p, 4);
}

#define CHUNK_DECIMAL_MAX 8 /* bytes per chunk of be2dec */

/* kind: decimal. */
static int
init_chunks(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	struct rule_arg *size = &a->arg[1];

	if (a->n < 3 && size->type != ARG_INT && a->arg[0].text.len == 0 && !a->kind)
		size->num = INT32_MAX;
	a->bad = 1;
	*why = a->kind ? "a piece has 1 to 8 bytes" : "a piece has 1 byte or more";
	if (size->num < 1 || size->num > (a->kind ? CHUNK_DECIMAL_MAX : INT32_MAX))
		return -1;
	return 0;
}

/* The chunks of the input, separated by the separator; with a third argument other than 0 an
 * incomplete chunk is omitted. */
static int
conv_chunks(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str t = s->u.str, sep = a->arg[0].text;
	size_t size = (size_t)a->arg[1].num, mark = arena_mark(cx->arena);
	char *start = cx->arena->p + mark;

	for (size_t i = 0, n; i < t.len; i += n) {
		char text[24];
		struct str piece = { text, 0 };
		uint64_t v = 0;
		char *p;

		n = MIN(size, t.len - i);
		if (n < size && a->arg[2].num)
			break;
		if (i > 0 && !arena_copy(cx->arena, sep).p)
			return 0;
		if (!a->kind) {
			p = arena_get(cx->arena, n * 2);
			for (size_t k = 0; p && k < n; k++)
				p = put_hex(p, (unsigned char)t.p[i + k]);
			if (!p)
				return 0;
			continue;
		}
		for (size_t k = 0; k < n; k++)
			v = v << 8 | (unsigned char)t.p[i + k];
		piece.len = (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
		if (!arena_copy(cx->arena, piece).p)
			return 0;
	}
	return conv_text(cx, s, start, arena_mark(cx->arena) - mark);
}

/* --- percent: RFC 3986, 2.1 --- */

static int
conv_url_dec(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str t = s->u.str;
	char *p = arena_get(cx->arena, t.len);
	int in_query = a->arg[0].num != 0;
	size_t n = 0;

	for (size_t i = 0; p && i < t.len; i++) {
		char c = t.p[i];

		if (c == '%') {
			int hi = i + 2 < t.len ? str_hex_digit(t.p[i + 1]) : -1;
			int lo = i + 2 < t.len ? str_hex_digit(t.p[i + 2]) : -1;

			if (i + 2 >= t.len || hi < 0 || lo < 0)
				return 0;
			c = (char)(hi << 4 | lo);
			i += 2;
		} else if (c == '+' && in_query) {
			c = ' ';
		} else if (c == '?') {
			in_query = 1;
		}
		p[n++] = c;
	}
	return conv_text(cx, s, p, n);
}

static int
init_url_enc(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	*why = "the only type is 'query'";
	return a->arg[0].type == ARG_END || str_is(a->arg[0].text, STR("query")) ? 0 : -1;
}

static int
is_unreserved(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		(c && strchr("-_.~", c));
}

static size_t
url_enc_len(struct str t)
{
	size_t n = t.len;

	for (size_t i = 0; i < t.len; i++)
		n += is_unreserved(t.p[i]) ? 0 : 2;
	return n;
}

static int
conv_url_enc(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	struct str t = s->u.str;
	size_t n = url_enc_len(t);
	char *start = n <= arena_value_max(cx->arena) ? arena_get(cx->arena, n) : NULL, *p = start;

	if (!start)
		return conv_too_long(cx);
	for (size_t i = 0; i < t.len; i++) {
		char c = t.p[i];

		if (is_unreserved(c)) {
			*p++ = c;
		} else {
			*p++ = '%';
			p = put_hex(p, (unsigned char)c);
		}
	}
	return conv_text(cx, s, start, (size_t)(p - start));
}

#define TO_TEXT .in = SAMPLE_BIN, .out = SAMPLE_STR
#define TO_BYTES .in = SAMPLE_STR, .out = SAMPLE_BIN
#define TEXT .in = SAMPLE_STR, .out = SAMPLE_STR
#define CHUNKS .arg = { ARG_STR, ARG_INT, ARG_INT }, .conv = conv_chunks, .init = init_chunks

const struct rule_conv rule_code_convs[] = {
	{ .name = "b64dec",
		.example = "str(aGk=),b64dec,upper gives HI",
		TO_BYTES,
		.conv = conv_b64dec,
		.kind = PLAIN,
		.doc = "Decodes base64." },
	{ .name = "base64",
		TO_TEXT,
		.conv = conv_base64,
		.kind = PLAIN,
		.doc = "Encodes as base64.",
		.example = "str(hi),base64 gives aGk=" },
	{ .name = "be2dec",
		.example = "bin(0102),be2dec(.,1) gives 1.2",
		TO_TEXT,
		CHUNKS,
		.min = 2,
		.kind = 1,
		.syntax = "<separator>,<size>[,<truncate>]",
		.doc = "Each chunk of this many bytes as a decimal number; with truncate 1 an "
			"incomplete last chunk is left out." },
	{ .name = "be2hex",
		.example = "bin(0a0b),be2hex(:,1) gives 0A:0B",
		TO_TEXT,
		CHUNKS,
		.kind = 0,
		.syntax = "[<separator>],[<size>],[<truncate>]",
		.doc = "Encodes as hexadecimal digits, with a separator after each chunk of this "
			"many bytes." },
	{ .name = "hex",
		TO_TEXT,
		.conv = conv_hex,
		.doc = "Encodes as hexadecimal digits, two for each byte.",
		.example = "str(hi),hex gives 6869" },
	{ .name = "hex2i",
		.example = "str(ff),hex2i gives 255",
		.in = SAMPLE_STR,
		.out = SAMPLE_SINT,
		.conv = conv_hex2i,
		.doc = "The number that hexadecimal digits represent." },
	{ .name = "htonl",
		.example = "int(1),htonl,hex gives 00000001",
		.in = SAMPLE_SINT,
		.out = SAMPLE_BIN,
		.conv = conv_htonl,
		.doc = "The lower 32 bits as four bytes in network byte order." },
	{ .name = "ub64dec",
		.example = "str(-_8),ub64dec,hex gives FBFF",
		TO_BYTES,
		.conv = conv_b64dec,
		.kind = FOR_URLS,
		.doc = "Decodes base64url." },
	{ .name = "ub64enc",
		.example = "bin(fbff),ub64enc gives -_8",
		TO_TEXT,
		.conv = conv_base64,
		.kind = FOR_URLS,
		.doc = "Encodes as base64url, without padding." },
	{ .name = "url_dec",
		.example = "str(a%20b),url_dec gives a b",
		TEXT,
		.arg = { ARG_INT },
		.conv = conv_url_dec,
		.syntax = "[<in_form>]",
		.doc = "Percent-decodes. '+' becomes a space after '?', or everywhere with an "
			"argument other than 0." },
	{ .name = "url_enc",
		.example = "str(a/b),url_enc gives a%2Fb",
		TEXT,
		.arg = { ARG_ENUM },
		.conv = conv_url_enc,
		.init = init_url_enc,
		.syntax = "[query]",
		.doc = "Percent-encoded, but for letters, digits and -_.~" },
	{ .name = NULL },
};
