/* The writer of HTTP/1 heads. Pure: it reads the head alone. The parser reads its output as the
 * same head. */
#include "http/h1_write.h"

#include <string.h>

/* "HTTP/1.1", and the blanks and the line end of a start line. */
#define VERSION_LEN 8
#define REQUEST_EXTRA (1 + 1 + VERSION_LEN + 2)
#define RESPONSE_EXTRA (VERSION_LEN + 1 + 3 + 1 + 2)
_Static_assert(RESPONSE_EXTRA + 2 == H1_EXTRA_MAX && REQUEST_EXTRA < RESPONSE_EXTRA, "most of all");

size_t
h1_size(const struct http_head *h)
{
	size_t n = 2 + http_texts_size(h);

	if (h->kind == HTTP_REQUEST)
		n += REQUEST_EXTRA;
	else if (h->kind == HTTP_RESPONSE)
		n += RESPONSE_EXTRA;
	return n;
}

static inline char *
write_text(char *out, struct str s)
{
	if (s.len)
		memcpy(out, s.p, s.len);
	return out + s.len;
}

static char *
put_start_line(char *out, const struct http_head *h)
{
	struct str version = h->version == HTTP_1_0 ? STR("HTTP/1.0") : STR("HTTP/1.1");

	if (h->kind == HTTP_REQUEST) {
		out = write_text(out, h->method_text);
		*out++ = ' ';
		out = write_text(out, h->target);
		*out++ = ' ';
		return write_text(write_text(out, version), STR("\r\n"));
	}
	out = write_text(out, version);
	*out++ = ' ';
	*out++ = (char)('0' + h->status / 100 % 10);
	*out++ = (char)('0' + h->status / 10 % 10);
	*out++ = (char)('0' + h->status % 10);
	*out++ = ' ';
	return write_text(write_text(out, h->reason), STR("\r\n"));
}

static inline char *
put_field(char *out, struct str name, struct str value)
{
	out = write_text(write_text(out, name), STR(": "));
	return write_text(write_text(out, value), STR("\r\n"));
}

/* True if the line of the field still stands where it was parsed, with this value: the byte behind
 * a value is then a CR, which no value has. */
static inline int
is_unchanged(const struct http_field *f)
{
	return f->is_line && f->value.p == f->name.p + f->name.len + 2 &&
		f->value.p[f->value.len] == '\r';
}

/* Copies the lines of fields that stand side by side. Returns the index behind them. */
static unsigned int
put_lines(char **out, const struct http_head *h, unsigned int i)
{
	const char *from = h->field[i].name.p, *end = from;

	for (; i < h->n; i++) {
		const struct http_field *f = &h->field[i];

		if (f->name.p != end || f->dropped || !is_unchanged(f))
			break;
		end = f->value.p + f->value.len + 2;
	}
	*out = write_text(*out, (struct str){ from, (size_t)(end - from) });
	return i;
}

size_t
h1_write(const struct http_head *h, char *out)
{
	char *p = h->kind == HTTP_TRAILERS ? out : put_start_line(out, h);
	unsigned int i = 0;

	while (i < h->n) {
		const struct http_field *f = &h->field[i];

		if (f->dropped) {
			i++;
		} else if (is_unchanged(f)) {
			i = put_lines(&p, h, i);
		} else {
			p = put_field(p, f->name, f->value);
			i++;
		}
	}
	p = write_text(p, STR("\r\n"));
	return (size_t)(p - out);
}
