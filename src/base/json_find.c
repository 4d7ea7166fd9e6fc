/* Finds a value in JSON. Pure, any thread. There is no recursion, and values beside the one that is
 * searched for are skipped, not stored. No library is used: libraries need a whole document, and a
 * buffer may hold only the beginning of a body. */
#include "base/json_find.h"

struct json_text {
	const char *p, *end;
};

static void
skip_json_blanks(struct json_text *t)
{
	while (t->p < t->end && (*t->p == ' ' || *t->p == '\t' || *t->p == '\n' || *t->p == '\r'))
		t->p++;
}

static int
take_json_byte(struct json_text *t, char c)
{
	if (t->p == t->end || *t->p != c)
		return 0;
	t->p++;
	return 1;
}

/* --- strings --- */

/* Four digits; -1: they are not. */
static long
json_hex4(const char *p, const char *end)
{
	long v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int d = str_hex_digit(p[i]);

		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

/* The meaning of the character behind a backslash; 0: no such escape ('u' is another matter). */
static char
json_escaped(char c)
{
	static const char names[] = "\"\\/bfnrt", chars[] = "\"\\/\b\f\n\r\t";
	const char *at = c ? strchr(names, c) : NULL;

	return at ? chars[at - names] : 0;
}

/* Takes a string behind its first quote, up to the last one. */
static int
take_json_string(struct json_text *t, struct str *raw)
{
	const char *start = t->p;

	for (; t->p < t->end && *t->p != '"'; t->p++) {
		if ((unsigned char)*t->p < 0x20)
			return -1;
		if (*t->p != '\\')
			continue;
		if (++t->p == t->end)
			return -1;
		if (*t->p == 'u' ? json_hex4(t->p + 1, t->end) < 0 : !json_escaped(*t->p))
			return -1;
	}
	*raw = (struct str){ start, (size_t)(t->p - start) };
	return take_json_byte(t, '"') ? 0 : -1;
}

static char *
put_json_utf8(char *p, unsigned long c)
{
	if (c < 0x80) {
		*p++ = (char)c;
		return p;
	}
	if (c >= 0x10000) {
		*p++ = (char)(0xf0 | c >> 18);
		*p++ = (char)(0x80 | (c >> 12 & 0x3f));
	} else if (c >= 0x800) {
		*p++ = (char)(0xe0 | c >> 12);
	}
	if (c >= 0x800)
		*p++ = (char)(0x80 | (c >> 6 & 0x3f));
	else
		*p++ = (char)(0xc0 | c >> 6);
	*p++ = (char)(0x80 | (c & 0x3f));
	return p;
}

/* The code point of "XXXX" or "XXXX\uXXXX" at *p, which moves behind it; 0: JSON has none such. */
static unsigned long
take_code_point(const char **p, const char *end)
{
	long hi = json_hex4(*p, end), lo;

	*p += 4;
	if (hi < 0xd800 || hi > 0xdfff)
		return hi > 0 ? (unsigned long)hi : 0;
	if (hi > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
		return 0;
	lo = json_hex4(*p + 2, end);
	*p += 6;
	if (lo < 0xdc00 || lo > 0xdfff)
		return 0;
	return 0x10000 + ((unsigned long)(hi - 0xd800) << 10) + (unsigned long)(lo - 0xdc00);
}

/* Takes one character, or an escape, as bytes. Returns their number; 0: it is invalid. */
static size_t
take_json_char(const char **p, const char *end, char out[4])
{
	unsigned long c;

	out[0] = *(*p)++;
	if (out[0] != '\\')
		return 1;
	out[0] = json_escaped(**p);
	if (*(*p)++ != 'u')
		return 1;
	c = take_code_point(p, end);
	return c ? (size_t)(put_json_utf8(out, c) - out) : 0;
}

long
json_unescape(struct str raw, char *out)
{
	const char *p = raw.p, *end = raw.p + raw.len;
	char *to = out, c[4];

	while (p < end) {
		size_t n = take_json_char(&p, end, c);

		if (n == 0)
			return -1;
		memcpy(to, c, n);
		to += n;
	}
	return to - out;
}

/* True if a string that was taken is that name. */
static int
is_json_name(struct str raw, struct str name)
{
	const char *p = raw.p, *end = raw.p + raw.len;
	size_t at = 0;
	char c[4];

	while (p < end) {
		size_t n = take_json_char(&p, end, c);

		if (n == 0 || n > name.len - at || memcmp(c, name.p + at, n) != 0)
			return 0;
		at += n;
	}
	return at == name.len;
}

/* --- numbers and words --- */

static size_t
take_json_digits(struct json_text *t)
{
	const char *start = t->p;

	while (t->p < t->end && *t->p >= '0' && *t->p <= '9')
		t->p++;
	return (size_t)(t->p - start);
}

static int
take_json_number(struct json_text *t, struct str *text)
{
	const char *start = t->p, *first;
	size_t n;

	(void)take_json_byte(t, '-');
	first = t->p;
	n = take_json_digits(t);
	if (n == 0 || (n > 1 && *first == '0'))
		return -1;
	if (take_json_byte(t, '.') && take_json_digits(t) == 0)
		return -1;
	if (take_json_byte(t, 'e') || take_json_byte(t, 'E')) {
		if (!take_json_byte(t, '-'))
			(void)take_json_byte(t, '+');
		if (take_json_digits(t) == 0)
			return -1;
	}
	*text = (struct str){ start, (size_t)(t->p - start) };
	return 0;
}

/* An exponent beyond it is as good as this one. */
#define JSON_EXPONENT_MAX 1000000000

static int64_t
json_exponent(const char *p, const char *end)
{
	int64_t v = 0;
	int minus = p < end && *p == '-';

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end && v < JSON_EXPONENT_MAX; p++)
		v = v * 10 + (*p - '0');
	return minus ? -v : v;
}

/* The digits are counted from the first one that is not 0 up to where the point belongs: more than
 * 19 do not fit. The sum is negative, since the range of negative numbers is larger by one. */
int
json_to_int(struct str number, int64_t *out)
{
	const char *p = number.p, *end = p + number.len, *point, *e;
	int minus = number.len > 0 && *p == '-';
	int64_t v = 0, places;

	p += minus;
	for (point = p; point < end && *point >= '0' && *point <= '9';)
		point++;
	for (e = point; e < end && *e != 'e' && *e != 'E';)
		e++;
	places = point - p + json_exponent(e < end ? e + 1 : e, end);
	for (; p < e && (*p == '0' || *p == '.'); p++)
		places -= *p == '0';
	*out = 0;
	if (p == e)
		return 0;
	if (places > 19)
		return -1;
	for (; places > 0; places--) {
		int d = 0;

		if (p < e && *p == '.')
			p++;
		if (p < e)
			d = *p++ - '0';
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, d, &v))
			return -1;
	}
	if (!minus && v == INT64_MIN)
		return -1;
	*out = minus ? v : -v;
	return 0;
}

static int
take_json_word(struct json_text *t, struct json_value *out)
{
	static const struct {
		struct str word;
		enum json_kind kind;
	} words[] = {
		{ { "true", 4 }, JSON_TRUE },
		{ { "false", 5 }, JSON_FALSE },
		{ { "null", 4 }, JSON_NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		struct str w = words[i].word;

		if ((size_t)(t->end - t->p) < w.len || memcmp(t->p, w.p, w.len) != 0)
			continue;
		*out = (struct json_value){ words[i].kind, { t->p, w.len } };
		t->p += w.len;
		return 0;
	}
	return -1;
}

/* --- values --- */

/* Takes a value, or the bracket that a list or an object begins with. */
static int
begin_json_value(struct json_text *t, struct json_value *out)
{
	skip_json_blanks(t);
	out->text = (struct str){ t->p, 0 };
	out->kind = JSON_OBJECT;
	if (take_json_byte(t, '{'))
		return 0;
	out->kind = JSON_LIST;
	if (take_json_byte(t, '['))
		return 0;
	out->kind = JSON_STRING;
	if (take_json_byte(t, '"'))
		return take_json_string(t, &out->text);
	out->kind = JSON_NUMBER;
	if (t->p < t->end && (*t->p == '-' || (*t->p >= '0' && *t->p <= '9')))
		return take_json_number(t, &out->text);
	return take_json_word(t, out);
}

/* Goes to the next value of an object or list, behind its name. 1; 0: it has ended; -1: invalid. */
static int
next_json_item(struct json_text *t, int is_object, int is_first, struct str *name)
{
	skip_json_blanks(t);
	if (take_json_byte(t, is_object ? '}' : ']'))
		return 0;
	if (!is_first && !take_json_byte(t, ','))
		return -1;
	if (!is_object)
		return 1;
	skip_json_blanks(t);
	if (!take_json_byte(t, '"') || take_json_string(t, name))
		return -1;
	skip_json_blanks(t);
	return take_json_byte(t, ':') ? 1 : -1;
}

/* Takes a whole value. Open containers are a bit each: an object or not. */
static int
skip_json_value(struct json_text *t)
{
	uint64_t open = 0;
	unsigned int depth = 0;
	struct json_value v;
	struct str name;

	do {
		int more = 0, is_first;

		if (begin_json_value(t, &v))
			return -1;
		is_first = v.kind == JSON_OBJECT || v.kind == JSON_LIST;
		if (is_first && depth++ == JSON_DEPTH_MAX)
			return -1;
		if (is_first)
			open = open << 1 | (v.kind == JSON_OBJECT);
		while (depth > 0) {
			more = next_json_item(t, open & 1, is_first, &name);
			if (more < 0)
				return -1;
			if (more)
				break;
			open >>= 1;
			depth--;
			is_first = 0;
		}
	} while (depth > 0);
	return 0;
}

/* Goes to the value that a step leads to, behind the bracket. */
static int
enter_json(struct json_text *t, const struct json_step *step)
{
	int is_object = step->name.p != NULL, more;
	struct str name = { NULL, 0 };

	for (size_t i = 0;; i++) {
		more = next_json_item(t, is_object, i == 0, &name);
		if (more <= 0)
			return 0;
		if (is_object ? is_json_name(name, step->name) : i == step->nth)
			return 1;
		if (skip_json_value(t))
			return 0;
	}
}

int
json_find(struct str text, const struct json_step *step, size_t n, struct json_value *out)
{
	struct json_text t = { text.p, text.p + text.len };

	if (text.len == 0 || begin_json_value(&t, out))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (out->kind != (step[i].name.p ? JSON_OBJECT : JSON_LIST) ||
			!enter_json(&t, &step[i]) || begin_json_value(&t, out))
			return 0;
	}
	return 1;
}
