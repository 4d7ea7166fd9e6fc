/* The head of a message as data: words, look-ups and changes. Pure; the caller owns the head and
 * its texts. It knows nothing of how a version of HTTP writes it. */
#include "http/head.h"

#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "http/scan.h"

void
http_head_init(struct http_head *h, enum http_kind kind, struct http_field *field, unsigned int max)
{
	mem_clear(h, sizeof(*h));
	h->kind = kind;
	h->version = HTTP_1_1;
	h->field = field;
	h->max = max;
}

int
http_head_copy(struct http_head *to, const struct http_head *from)
{
	struct http_field *field = to->field;
	unsigned int max = to->max;

	if (from->n > max)
		return -ERR_RANGE;
	if (from->n)
		memcpy(field, from->field, from->n * sizeof(*field));
	*to = *from;
	to->field = field;
	to->max = max;
	return 0;
}

/* --- words --- */

static const struct {
	struct str text;
	enum http_method method;
} methods[] = {
	{ { "GET", 3 }, HTTP_GET },
	{ { "HEAD", 4 }, HTTP_HEAD },
	{ { "POST", 4 }, HTTP_POST },
	{ { "PUT", 3 }, HTTP_PUT },
	{ { "DELETE", 6 }, HTTP_DELETE },
	{ { "CONNECT", 7 }, HTTP_CONNECT },
	{ { "OPTIONS", 7 }, HTTP_OPTIONS },
	{ { "TRACE", 5 }, HTTP_TRACE },
	{ { "PATCH", 5 }, HTTP_PATCH },
};

/* Methods are case-sensitive (RFC 9110, 9.1). */
struct str
http_version_name(enum http_version v)
{
	static const char *const names[] = { [HTTP_1_0] = "HTTP/1.0", [HTTP_1_1] = "HTTP/1.1",
		[HTTP_2] = "HTTP/2.0" };

	return str_of(names[v]);
}

enum http_method
http_method_of(struct str text)
{
	for (unsigned int i = 0; i < ARRAY_LEN(methods); i++)
		if (str_is(methods[i].text, text))
			return methods[i].method;
	return HTTP_OTHER;
}

static const struct str names[] = {
	[HTTP_F_OTHER] = { "", 0 },
#define HTTP_FIELD(id, name, letter) [HTTP_F_##id] = { name, sizeof(name) - 1 },
#include "http/names.tbl.h"
#undef HTTP_FIELD
};

#define LONGEST_NAME 19
/* Both cases of a letter, without their common bits. */
#define LETTER(c) ((c) & 0x1f)

/* The only id whose name has this length and first letter, or HTTP_F_OTHER. */
static const unsigned char id_of[LONGEST_NAME + 1][LETTER(0xff) + 1] = {
#define HTTP_FIELD(id, name, letter) [sizeof(name) - 1][LETTER(letter)] = HTTP_F_##id,
#include "http/names.tbl.h"
#undef HTTP_FIELD
};

/* True if they differ in more than the case of letters: the other bytes of a name in the table, '-'
 * and digits, have no bit 0x40. */
static inline int
differs_8(uint64_t name, uint64_t other)
{
	return ((name ^ other) & ~((name & 0x4040404040404040u) >> 1)) != 0;
}

static inline int
differs_4(uint32_t name, uint32_t other)
{
	return ((name ^ other) & ~((name & 0x40404040u) >> 1)) != 0;
}

/* True if n bytes are this name of the table in any case; the last ones are compared together. */
static int
is_name(const char *name, const char *p, size_t n)
{
	uint64_t a, b;
	uint32_t c, d;

	if (n < 4)
		return str_is_nocase((struct str){ name, n }, (struct str){ p, n });
	if (n < 8) {
		for (size_t at = 0;; at = n - 4) {
			memcpy(&c, name + at, 4);
			memcpy(&d, p + at, 4);
			if (differs_4(c, d))
				return 0;
			if (at == n - 4)
				return 1;
		}
	}
	for (size_t at = 0;; at = MIN(at + 8, n - 8)) {
		memcpy(&a, name + at, 8);
		memcpy(&b, p + at, 8);
		if (differs_8(a, b))
			return 0;
		if (at == n - 8)
			return 1;
	}
}

enum http_field_id
http_field_id(struct str name)
{
	unsigned int id;

	if (!name.len || name.len > LONGEST_NAME)
		return HTTP_F_OTHER;
	id = id_of[name.len][LETTER(name.p[0])];
	return id && is_name(names[id].p, name.p, name.len) ? (enum http_field_id)id
							    : HTTP_F_OTHER;
}

const char *
http_field_name(enum http_field_id id)
{
	return names[id].p;
}

int
http_name_is_valid(struct str name)
{
	return name.len && http_scan_token(name.p, name.len) == name.len;
}

int
http_value_is_valid(struct str value)
{
	return http_scan_value(value.p, value.len) == value.len;
}

int
http_length_of(struct str value, uint64_t *n)
{
	uint64_t sum = 0;

	if (!value.len || value.len > HTTP_LENGTH_DIGITS)
		return -ERR_SYNTAX;
	for (size_t i = 0; i < value.len; i++) {
		if (!http_is(value.p[i], HTTP_C_DIGIT))
			return -ERR_SYNTAX;
		if (sum > (INT64_MAX - (uint64_t)(value.p[i] - '0')) / 10)
			return -ERR_RANGE;
		sum = 10 * sum + (uint64_t)(value.p[i] - '0');
	}
	*n = sum;
	return 0;
}

struct str
http_length_text(uint64_t n, char *digits)
{
	size_t len = 1;

	for (uint64_t rest = n; rest >= 10; rest /= 10)
		len++;
	for (size_t i = len; i-- > 0; n /= 10)
		digits[i] = (char)('0' + n % 10);
	return (struct str){ digits, len };
}

/* --- look-ups --- */

int
http_search_id(const struct http_head *h, enum http_field_id id, unsigned int from)
{
	for (unsigned int i = from; i < h->n; i++)
		if (h->field[i].id == id && !h->field[i].dropped)
			return (int)i;
	return -1;
}

int
http_find(const struct http_head *h, struct str name, unsigned int from)
{
	enum http_field_id id = http_field_id(name);

	if (id != HTTP_F_OTHER)
		return http_find_id(h, id, from);
	for (unsigned int i = from; i < h->n; i++) {
		const struct http_field *f = &h->field[i];

		if (f->id == HTTP_F_OTHER && !f->dropped && str_is_nocase(f->name, name))
			return (int)i;
	}
	return -1;
}

/* Number of bytes before the next unquoted comma. */
static size_t
element_length(struct str s)
{
	int quoted = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '"')
			quoted = !quoted;
		else if (s.p[i] == '\\' && quoted)
			i++;
		else if (s.p[i] == ',' && !quoted)
			return i;
	}
	return s.len;
}

int
http_list_next(struct str *rest, struct str *out)
{
	while (rest->len) {
		size_t n = element_length(*rest);
		size_t step = n < rest->len ? n + 1 : n;

		*out = str_trim((struct str){ rest->p, n });
		rest->p += step;
		rest->len -= step;
		if (out->len)
			return 1;
	}
	return 0;
}

/* Most lists have one element. */
int
http_list_has(struct str list, struct str token)
{
	struct str one;

	if (list.len <= token.len || !memchr(list.p, ',', list.len))
		return str_is_nocase(str_trim(list), token);
	while (http_list_next(&list, &one))
		if (str_is_nocase(one, token))
			return 1;
	return 0;
}

int
http_lists(const struct http_head *h, enum http_field_id id, struct str token)
{
	for (int i = http_find_id(h, id, 0); i >= 0; i = http_find_id(h, id, (unsigned int)i + 1))
		if (http_list_has(h->field[i].value, token))
			return 1;
	return 0;
}

/* --- changing --- */

/* Index of a dropped field with no field of that name after it, or -1. */
static int
free_place(const struct http_head *h, struct str name)
{
	int behind = -1;

	for (int i = http_find(h, name, 0); i >= 0; i = http_find(h, name, (unsigned int)i + 1))
		behind = i;
	for (int i = (int)h->n - 1; i > behind; i--)
		if (h->field[i].dropped)
			return i;
	return -1;
}

static int
add_named(struct http_head *h, struct str name, enum http_field_id id, struct str value)
{
	int place = (int)h->n;

	if (!http_value_is_valid(value))
		return -ERR_INVAL;
	if (h->n == h->max && (place = free_place(h, name)) < 0)
		return -ERR_RANGE;
	h->field[place] = (struct http_field){
		.name = name, .value = str_trim(value), .id = (uint16_t)id
	};
	h->n += h->n < h->max;
	h->had |= (uint64_t)1 << id;
	return 0;
}

int
http_add(struct http_head *h, struct str name, struct str value)
{
	if (!http_name_is_valid(name))
		return -ERR_INVAL;
	return add_named(h, name, http_field_id(name), value);
}

int
http_add_id(struct http_head *h, enum http_field_id id, struct str value)
{
	return add_named(h, names[id], id, value);
}

int
http_set_value(struct http_head *h, unsigned int place, struct str value)
{
	assert(place < h->n);
	if (!http_value_is_valid(value))
		return -ERR_INVAL;
	h->field[place].value = str_trim(value);
	h->field[place].arrived = 0;
	return 0;
}

void
http_drop(struct http_head *h, unsigned int place)
{
	assert(place < h->n);
	h->field[place].dropped = 1;
}

unsigned int
http_drop_all(struct http_head *h, struct str name)
{
	unsigned int n = 0;

	for (int i = http_find(h, name, 0); i >= 0; i = http_find(h, name, (unsigned int)i + 1)) {
		http_drop(h, (unsigned int)i);
		n++;
	}
	return n;
}

void
http_drop_id(struct http_head *h, enum http_field_id id)
{
	for (int i = http_find_id(h, id, 0); i >= 0; i = http_find_id(h, id, (unsigned int)i + 1))
		http_drop(h, (unsigned int)i);
}

int
http_set_length(struct http_head *h, uint64_t length, char *digits)
{
	http_drop_id(h, HTTP_F_TRANSFER_ENCODING);
	http_drop_id(h, HTTP_F_CONTENT_LENGTH);
	h->framing = HTTP_BODY_LENGTH;
	h->length = length;
	return http_add_id(h, HTTP_F_CONTENT_LENGTH, http_length_text(length, digits));
}

/* --- its texts --- */

static size_t
field_size(const struct http_field *f)
{
	return f->name.len + f->value.len + HTTP_FIELD_EXTRA;
}

size_t
http_texts_size(const struct http_head *h)
{
	size_t n = h->method_text.len + h->target.len + h->reason.len;

	for (unsigned int i = 0; i < h->n; i++)
		if (!h->field[i].dropped)
			n += field_size(&h->field[i]);
	return n;
}

size_t
http_fields_size(const struct http_head *h, struct str name)
{
	size_t n = 0;

	for (int i = http_find(h, name, 0); i >= 0; i = http_find(h, name, (unsigned int)i + 1))
		n += field_size(&h->field[i]);
	return n;
}

static char *
pack_text(struct str *s, char *out, ptrdiff_t away)
{
	if (s->len)
		memcpy(out, s->p, s->len);
	s->p = out + away;
	return out + s->len;
}

size_t
http_pack(struct http_head *h, char *out, const char *home)
{
	ptrdiff_t away = home - out;
	char *p = out;

	p = pack_text(&h->method_text, p, away);
	p = pack_text(&h->target, p, away);
	p = pack_text(&h->reason, p, away);
	for (unsigned int i = 0; i < h->n; i++) {
		struct http_field *f = &h->field[i];

		f->is_line = 0;
		if (f->dropped) {
			f->name = f->value = (struct str){ NULL, 0 };
			continue;
		}
		p = pack_text(&f->name, p, away);
		p = pack_text(&f->value, p, away);
	}
	return (size_t)(p - out);
}
