#include "http/head.h"

#include "base/err.h"
#include "http/scan.h"

void
http_head_init(struct http_head *h, enum http_kind kind, struct http_field *field, unsigned int max)
{
	*h = (struct http_head){ .kind = kind, .version = HTTP_1_1, .field = field, .max = max };
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

/* Their case does matter (RFC 9110, 9.1). */
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
#define HTTP_FIELD(id, name) [HTTP_F_##id] = { name, sizeof(name) - 1 },
#include "http/names.tbl.h"
#undef HTTP_FIELD
};

/* The last id whose name is that long (each row overrides those before it), or HTTP_F_OTHER. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const unsigned char last_of_length[] = {
#define HTTP_FIELD(id, name) [sizeof(name) - 1] = HTTP_F_##id,
#include "http/names.tbl.h"
#undef HTTP_FIELD
};
#pragma GCC diagnostic pop

/* Names of one length are few, and mostly told apart by their first letter. */
enum http_field_id
http_field_id(struct str name)
{
	if (name.len >= ARRAY_LEN(last_of_length))
		return HTTP_F_OTHER;
	for (unsigned int id = last_of_length[name.len]; names[id].len == name.len && id; id--)
		if (str_lower(names[id].p[0]) == str_lower(name.p[0]) &&
			str_is_nocase(names[id], name))
			return (enum http_field_id)id;
	return HTTP_F_OTHER;
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

/* --- looking --- */

int
http_find_id(const struct http_head *h, enum http_field_id id, unsigned int from)
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

/* How many bytes come before the next comma that is not quoted. */
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

int
http_lists(const struct http_head *h, enum http_field_id id, struct str token)
{
	for (int i = http_find_id(h, id, 0); i >= 0; i = http_find_id(h, id, (unsigned int)i + 1)) {
		struct str rest = h->field[i].value, one;

		while (http_list_next(&rest, &one))
			if (str_is_nocase(one, token))
				return 1;
	}
	return 0;
}

/* --- changing --- */

/* A dropped place behind which no field of that name follows, or -1. */
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

int
http_add(struct http_head *h, struct str name, struct str value)
{
	int place;

	if (!http_name_is_valid(name) || !http_value_is_valid(value))
		return -ERR_INVAL;
	if (h->n < h->max)
		place = (int)h->n++;
	else if ((place = free_place(h, name)) < 0)
		return -ERR_RANGE;
	h->field[place] = (struct http_field){
		.name = name, .value = str_trim(value), .id = (uint16_t)http_field_id(name)
	};
	return 0;
}

int
http_set_value(struct http_head *h, unsigned int place, struct str value)
{
	assert(place < h->n);
	if (!http_value_is_valid(value))
		return -ERR_INVAL;
	h->field[place].value = str_trim(value);
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

/* --- writing --- */

/* "HTTP/1.1", and the blanks and the line end of a start line. */
#define VERSION_LEN 8
#define REQUEST_EXTRA (1 + 1 + VERSION_LEN + 2)
#define RESPONSE_EXTRA (VERSION_LEN + 1 + 3 + 1 + 2)
/* ": " and the line end. */
#define FIELD_EXTRA 4

size_t
http_size(const struct http_head *h)
{
	size_t n = 2;

	if (h->kind == HTTP_REQUEST)
		n += h->method_text.len + h->target.len + REQUEST_EXTRA;
	else
		n += h->reason.len + RESPONSE_EXTRA;
	for (unsigned int i = 0; i < h->n; i++)
		if (!h->field[i].dropped)
			n += h->field[i].name.len + h->field[i].value.len + FIELD_EXTRA;
	return n;
}

static inline char *
put(char *out, struct str s)
{
	if (s.len)
		memcpy(out, s.p, s.len);
	return out + s.len;
}

static char *
put_start(char *out, const struct http_head *h)
{
	struct str version = h->version == HTTP_1_0 ? STR("HTTP/1.0") : STR("HTTP/1.1");

	if (h->kind == HTTP_REQUEST) {
		out = put(out, h->method_text);
		*out++ = ' ';
		out = put(out, h->target);
		*out++ = ' ';
		return put(out, version);
	}
	out = put(out, version);
	*out++ = ' ';
	*out++ = (char)('0' + h->status / 100 % 10);
	*out++ = (char)('0' + h->status / 10 % 10);
	*out++ = (char)('0' + h->status % 10);
	*out++ = ' ';
	return put(out, h->reason);
}

size_t
http_write(const struct http_head *h, char *out)
{
	char *p = put(put_start(out, h), STR("\r\n"));

	for (unsigned int i = 0; i < h->n; i++) {
		const struct http_field *f = &h->field[i];

		if (f->dropped)
			continue;
		p = put(put(p, f->name), STR(": "));
		p = put(put(p, f->value), STR("\r\n"));
	}
	p = put(p, STR("\r\n"));
	return (size_t)(p - out);
}

static const char *
move(struct str *s, const char *p)
{
	s->p = p;
	return p + s->len;
}

void
http_move(struct http_head *h, const char *text)
{
	const char *p = text;

	if (h->kind == HTTP_REQUEST) {
		p = move(&h->method_text, p) + 1;
		p = move(&h->target, p);
		p += 1 + VERSION_LEN + 2;
	} else {
		p += VERSION_LEN + 1 + 3 + 1;
		p = move(&h->reason, p) + 2;
	}
	for (unsigned int i = 0; i < h->n; i++) {
		struct http_field *f = &h->field[i];

		if (f->dropped) {
			f->name = f->value = (struct str){ NULL, 0 };
			continue;
		}
		p = move(&f->name, p) + 2;
		p = move(&f->value, p) + 2;
	}
}
